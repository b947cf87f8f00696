#!/usr/bin/env bash
# table.sh OUT: the demo's closing table, from what the stages left in OUT/.figures and OUT/stat.json.
set -u
out=$1

stat() { jq -r "$1" "$out/stat.json"; }
count() { sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$1"; }
bytes() { cat "$@" 2>/dev/null | wc -c; }
documents() { awk 'NF { if (!inside) n++; inside = 1 } !NF { inside = 0 } END { print n + 0 }' "$@"; }

echo
echo "The demo is complete."
echo
printf '  %-34s %15s\n' \
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
printf '  %-16s %8s %10s\n' stage seconds 'peak MiB'
for stage in fetch extract-wiki extract-books sentences split vocab tokenize shard shard-heldout verify stat; do
	read -r seconds kib < "$out/.figures/$stage"
	printf '  %-16s %8s %10s\n' "$stage" "$seconds" $((kib / 1024))
done
cat <<END

Where things lie:
  $out/sentences.txt         one sentence a line, a blank line after each document
  $out/vocab.txt             the vocabulary, 8,000 pieces
  $out/train, $out/heldout   shards, with manifest.json
  $out/wiki-report.json      what bert-extract dropped, and how often

What to try next:
  build/release/bin/bert-cat --tokens $out/train | head -n 3
  echo 'The whale breathes.' | build/release/bin/bert-tokenize --vocab $out/vocab.txt --to tokens
  build/release/bin/bert-verify -v $out/train
  build/release/bin/bert-shard --vocab $out/vocab.txt --masking dynamic -o /tmp/dynamic $out/train.tok
END
