#!/usr/bin/env bash
# The demo's recipe with a few steps of training: run straight, and run again and again while it is killed
# or asked to stop on its way: the same models and figures. Speaks TAP.
set -u
. "${TOP:?}/tests/tap.sh"
cd "$TOP" || exit 1

OUT=$work/out
demo() {	# in the folder OUT, since manifests name their input
	"$@" make -f pipelines/demo/demo.mk BIN="$BIN" OUT="$OUT" STEPS=12 \
		PRETRAIN='--steps 12 --batch 4 --compat torch --learning-rate 2e-3 --eval-instances 16 --save-every 3 --keep 2' \
		FINETUNE='--task classify --label Sentiment --max-seq-length 16 --epochs 0.05 --batch 16 --learning-rate 1e-3'
}
stopped() {	# stopped SIGNAL SECONDS: begins it, and signals all of it after so long
	(demo timeout -k 20 -s "$1" "$2" & wait $!) >/dev/null 2>&1
	return 0
}
# What must not depend on where it was interrupted. The log's averages begin anew at a checkpoint, and so the curves of them.
made() { (cd "$OUT" && sha256sum ./*.txt ./*.tok ./*.tsv ./*/*.shard ./*/manifest.json model/checkpoint-12/* \
	sentiment*/*.json sentiment*/model.safetensors | grep -v table.txt); }
times() { find "$OUT" -type f -printf '%T@ %p\n' | sort; }
idle() { times > "$work/times" && demo && cmp "$work/times" <(times); }

ok "the demo" demo
ok "both curves are drawn" grep -c '</svg>' "$OUT/pretraining.svg" "$OUT/finetuning.svg"
ok "the table has its rows" grep -E 'masked-LM loss|next-sentence|sentiment accuracy|random weights' "$OUT/table.txt"
made > "$work/straight"
ok "a second one does nothing" idle

rm -rf "$OUT"
for s in 0.3 0.6 1 1.5 2 2.5; do stopped KILL $s; done
for s in 1 2; do stopped TERM $s; done
ok "killed and run again" demo
ok "killed and run again = straight" diff <(made) "$work/straight"
echo "1..$n"
