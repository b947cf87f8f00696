#!/usr/bin/env bash
# table.sh OUT: the demo's closing table, from what the stages left in OUT.
set -u
out=$1

stat() { jq -r "$1" "$out/stat.json"; }
count() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
bytes() { cat "$@" 2>/dev/null | wc -c; }
documents() { awk 'NF { if (!inside) n++; inside = 1 } !NF { inside = 0 } END { print n + 0 }' "$@"; }
heldout() { jq -rs "[.[].data | select(.eval_loss)] | last | $1" "$out/model/log.jsonl"; }
tuned() { jq -r "def percent: \"\\(. * 1000 | round / 10)%\"; $1" "$out/$2/results.json"; }
rows() { printf '  %-34s %20s\n' "$@"; }

loss=$(heldout .eval_masked_lm_loss)
by_frequency=$(jq .unigram_cross_entropy "$out/unigram.json")

echo
echo "The demo is complete."
echo
rows \
	"text, bytes" "$(count "$(bytes "$out/sentences.txt")")" \
	"documents" "$(count "$(documents "$out/sentences.txt")")" \
	"sentences" "$(count "$(grep -c . "$out/sentences.txt")")" \
	"training sentences" "$(count "$(stat .sentences)")" \
	"training documents" "$(count "$(stat .documents)")" \
	"training tokens" "$(count "$(stat .tokens)")" \
	"bytes per token" "$(awk -v b="$(bytes "$out/split/train.txt")" -v t="$(stat .tokens)" 'BEGIN { printf "%.2f", b / t }')" \
	"[UNK] share of the tokens" "$(stat '.unk_share * 10000 | round / 100')%" \
	"instances" "$(count "$(stat .instances)")" \
	"padding share at max_seq_length" "$(stat '.padding_share * 1000 | round / 10')%" \
	"random next sentences" "$(stat '.random_next_share * 1000 | round / 10')%" \
	"shard bytes" "$(count "$(bytes "$out"/train/*.shard)")"
echo
rows \
	"pre-training steps" "$(count "$(jq -rs '[.[].step | numbers] | max' "$out/model/log.jsonl")")" \
	"held-out masked-LM loss, nats" "$(printf %.3f "$loss")" \
	"the same by token frequency alone" "$(printf %.3f "$by_frequency")" \
	"better than frequency by" "$(awk -v a="$by_frequency" -v b="$loss" 'BEGIN { printf "%.3f", a - b }')" \
	"held-out next-sentence accuracy" "$(heldout '.eval_next_sentence_accuracy * 1000 | round / 10')%" \
	"sentiment accuracy, 3 seeds" "$(tuned '"\(.accuracy.mean | percent), sd \(.accuracy.sd | percent)"' sentiment)" \
	"the same from random weights" "$(tuned '.accuracy.mean | percent' sentiment-random)" \
	"the same by the larger class alone" "$(tuned '.majority | percent' sentiment)"
echo
printf '  %-16s %8s %10s\n' stage seconds 'peak MiB'
for stage in fetch extract-wiki extract-books sentences split vocab tokenize shard shard-heldout verify stat \
	pretrain finetune finetune-random predict; do
	read -r seconds kib 2>/dev/null < "$out/.figures/$stage" || { seconds=- kib=0; }
	printf '  %-16s %8s %10s\n' "$stage" "$seconds" $((kib / 1024))
done
echo
tail -n +2 "$out/predictions.tsv" | paste - <(tail -n +2 "$(dirname "$0")/opinions.tsv") |
	while IFS=$'\t' read -r _ class probability text; do
		printf '  %-8s %.2f  %s\n' "$class" "$probability" "$text"
	done
cat <<END

Where things lie:
  $out/sentences.txt         one sentence a line, a blank line after each document
  $out/vocab.txt             the vocabulary, 8,000 pieces
  $out/train, $out/heldout   shards, with manifest.json
  $out/wiki-report.json      what bert-extract dropped, and how often
  $out/model                 the pre-trained model, checkpoint by checkpoint, with log.jsonl and TensorBoard's events
  $out/sentiment             the fine-tuned one; results.json has every seed
  $out/pretraining.svg       losses and learning rates as curves; finetuning.svg too

What to try next:
  build/release/bin/bert-cat --tokens $out/train | head -n 3
  echo 'The whale breathes.' | build/release/bin/bert-tokenize --vocab $out/vocab.txt --to tokens
  build/release/bin/bert-verify -v $out/train
  printf 'text\nI liked it.\n' | build/release/bin/bert-predict --task classify --model $out/sentiment
END
