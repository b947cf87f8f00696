#!/usr/bin/env bash
# Speed and memory of training: BERT-tiny, -mini and -small (BENCH_MODELS) in fp32 with dropout 0.1, on instances of
# 128 tokens and 20 predictions made from the demo's novels, for BENCH_SECONDS (default 20) each with one
# thread and with two. Prints a Markdown table; the second peak is that of a run four times as long, which
# must be no higher. Best of BENCH_RUNS (default 2) runs, since the machine may be shared.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
seconds=${BENCH_SECONDS:-20} runs=${BENCH_RUNS:-2} models=${BENCH_MODELS:-"2/128 4/256 4/512"}
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

bert-extract -q --from gutenberg --chapters "$TOP"/pipelines/demo/data/*.txt.zst | bert-sentences -q -o text.txt
bert-vocab -q --size 30522 --min-count 1 text.txt -o vocab.txt || exit 1
bert-shard -q --vocab vocab.txt --short-seq-prob 0 --dupe-factor 1 --shards 1 -o shards text.txt || exit 1

config() {	# config LAYERS HIDDEN
	jq -n --argjson l "$1" --argjson h "$2" --argjson v "$(wc -l < vocab.txt)" '{model_type: "bert", architectures: ["BertForPreTraining"],
		vocab_size: $v, hidden_size: $h, num_hidden_layers: $l, num_attention_heads: ($h / 64), intermediate_size: (4 * $h),
		max_position_embeddings: 512, type_vocab_size: 2, hidden_dropout_prob: 0.1, attention_probs_dropout_prob: 0.1}'
}

# run THREADS SECONDS: sequences/s, tokens/s and peak KiB of a run that long
run() {
	rm -rf out
	command time -q -f %M -o peak bert-train -q --data shards --config config.json --steps 1000000 --batch 32 --save-every 0 --log-every 0 \
		--threads "$1" --time-budget "$2" -o out || { echo "bert-train failed" >&2; exit 1; }
	jq -rs '[.[].data | select(.training_tokens_per_second)] | last | "\(.training_sequences_per_second) \(.training_tokens_per_second)"' out/log.jsonl |
		tr '\n' ' '
	cat peak
}

echo "Training, fp32, batch 32, vocabulary of $(wc -l < vocab.txt), best of $runs runs of $seconds s"
echo
echo "| layers/hidden | threads | sequences/s | tokens/s | peak MiB | peak MiB, four times as long |"
echo "|---|---|---|---|---|---|"
for model in $models; do
	config "${model%/*}" "${model#*/}" > config.json
	for threads in 1 2; do
		best=0
		for _ in $(seq 1 "$runs"); do
			read -r sequences tokens kib <<<"$(run "$threads" "$seconds")"
			best=$(printf '%s %s %s\n%s\n' "$sequences" "$tokens" "$kib" "$best" | sort -g | tail -n 1)
		done
		read -r sequences tokens kib <<<"$best"
		longer=-
		[ "$model $threads" = "${models%% *} 2" ] && longer=$(run 2 $((4 * seconds)) | awk '{ print int($3 / 1024) }')
		printf '| %s | %s | %.1f | %.0f | %d | %s |\n' "$model" "$threads" "$sequences" "$tokens" $((kib / 1024)) "$longer"
	done
done
