#!/usr/bin/env bash
# shards/FORMAT.md against the programs: format.py, written from it alone, reads shards and token documents
# and makes every instance again. read_shard.py, a reader of 60 lines, prints what bert-cat does. Speaks TAP.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 0; }
n=0
as_told() {	# as_told WHAT OPTIONS...
	local what=$1 out
	shift
	n=$((n + 1))
	rm -rf shards
	if out=$(bert-shard -q --vocab "$vocab" -o shards "$@" in.tok 2>&1 && python3 "$TOP/tests/long/format.py" shards in.tok 2>&1 &&
		python3 "$TOP/tests/long/read_shard.py" shards/*.shard >read.json 2>&1 && bert-cat shards >shown.json 2>&1 && cmp read.json shown.json); then
		echo "ok $n - $what: $out"
	else
		echo "not ok $n - $what"
		printf '%s\n' "$out" | sed 's/^/# /' | cut -c1-300 | head -n 20
	fi
}
vocab=$TOP/tests/data/man/vocab.txt
# Thrice the corpus, two of them equal; a document without tokens; one of one sentence.
{ cat "$TOP/tests/data/man/corpus.txt"; echo; sed 's/the/a/g' "$TOP/tests/data/man/corpus.txt"; echo; cat "$TOP/tests/data/man/corpus.txt"; printf '\n\342\200\213\n\nOne.\n'; } >in
bert-tokenize --vocab "$vocab" --to docs in >in.tok || exit 1

as_told "static masks" --shards 3 --dupe-factor 3
as_told "whole words, positions of two bytes" --whole-word-mask --shards 2 --max-seq-length 300 --max-predictions-per-seq 40 --dupe-factor 2
as_told "dynamic masks" --masking dynamic
as_told "the least length" --max-seq-length 5 --max-predictions-per-seq 2 --dupe-factor 1
as_told "all short, all masked" --max-seq-length 64 --short-seq-prob 1 --masked-lm-prob 1 --max-predictions-per-seq 64 --dupe-factor 1
as_told "the greatest seed, none short, not packed" --seed 9223372036854775807 --short-seq-prob 0 --shards 7 --dupe-factor 1 --compress 0
as_told "n-grams" --mask-spans ngram --shards 2 --dupe-factor 3
as_told "spans" --mask-spans span --dupe-factor 3 --max-seq-length 200 --max-predictions-per-seq 40
as_told "spans of full sentences, nearly all masked" --mask-spans span --pairs none --cross-documents --masked-lm-prob 0.8 --max-predictions-per-seq 100 --dupe-factor 2
as_told "words replaced as one" --whole-word-mask --word-draws --dupe-factor 3
as_told "n-grams of words replaced as one" --mask-spans ngram --word-draws --dupe-factor 2
as_told "lengths of documents" --document-lengths --short-seq-prob 0.5 --dupe-factor 4 --max-seq-length 48
as_told "lengths of documents, sentence order" --document-lengths --pairs sop --short-seq-prob 0.5 --dupe-factor 4 --max-seq-length 48
as_told "lengths of documents, full sentences" --document-lengths --pairs none --short-seq-prob 0.5 --dupe-factor 4 --max-seq-length 48
for x in 0 0.25 1; do
	as_told "random next: $x" --random-next $x --shards 2 --dupe-factor 3
	as_told "random next: $x, short instances" --random-next $x --max-seq-length 24 --max-predictions-per-seq 4 --short-seq-prob 0.5 --dupe-factor 3
done
as_told "sentence order" --pairs sop --shards 3 --dupe-factor 3
as_told "sentence order, short instances" --pairs sop --max-seq-length 24 --max-predictions-per-seq 4 --short-seq-prob 0.5 --dupe-factor 2 --whole-word-mask
as_told "full sentences" --pairs none --shards 3 --dupe-factor 3
as_told "full sentences, short instances" --pairs none --max-seq-length 24 --max-predictions-per-seq 4 --short-seq-prob 0.5 --dupe-factor 2
as_told "full sentences across documents" --pairs none --cross-documents --shards 2 --dupe-factor 3 --max-seq-length 512 --max-predictions-per-seq 77
as_told "full sentences across documents, short instances" --pairs none --cross-documents --dupe-factor 2 --max-seq-length 40 --max-predictions-per-seq 6 --short-seq-prob 0.5
as_told "Google's instances" --compat google --shards 3 --dupe-factor 2
as_told "Google's instances, whole words" --compat google --whole-word-mask --dupe-factor 2 --max-seq-length 64 --max-predictions-per-seq 10 --short-seq-prob 0.5 --seed 9223372036854775807

head -n 4 "$TOP/tests/data/man/corpus.txt" >one
{ cat one; echo; cat one; } | bert-tokenize --vocab "$vocab" --to docs >in.tok
as_told "one key only" --dupe-factor 5
as_told "one key only, random next" --dupe-factor 5 --random-next 0.5
as_told "one key only, sentence order" --dupe-factor 5 --pairs sop
as_told "one key only, Google's instances" --dupe-factor 5 --compat google

vocab=$TOP/tests/data/man/chinese-vocab.txt
cat - "$TOP/tests/data/man/chinese-words.txt" >words <<'END'
科学家研究
研究生
的大学
END
{ cat "$TOP/tests/data/man/chinese.txt"; echo; sed 's/，/书/; s/的/书看/g' "$TOP/tests/data/man/chinese.txt"; } | bert-tokenize --vocab "$vocab" --to docs >in.tok
as_told "words of characters" --masking-words words --dupe-factor 5 --masked-lm-prob 0.3
as_told "words of characters replaced as one" --masking-words words --word-draws --dupe-factor 5 --max-seq-length 40
as_told "n-grams of words of characters" --masking-words words --mask-spans ngram --dupe-factor 5 --masked-lm-prob 0.3
as_told "spans of words of characters" --masking-words words --mask-spans span --dupe-factor 5 --pairs none --cross-documents

cat "$vocab" <(grep -v '\[' "$vocab" | sed 's/^/##/') >pieces
vocab=pieces
sed -E "s/$(grep .. words | sort -r | paste -sd '|')/ & /g" "$TOP/tests/data/man/chinese.txt" | bert-tokenize --vocab "$vocab" --split-cjk no --to docs >in.tok
as_told "pieces read as characters" --plain-cjk --whole-word-mask --dupe-factor 5 --masked-lm-prob 0.3
as_told "pieces read as characters, n-grams" --plain-cjk --mask-spans ngram --dupe-factor 5

for i in $(seq 300); do echo "token$i"; done | cat - <(printf '[UNK]\n[CLS]\n[SEP]\n[MASK]\n') <(seq 70000 | sed 's/^/w/') >wide
vocab=wide
for d in $(seq 30); do for s in $(seq 6); do echo "w$((d * 2222)) w$((s * 11111)) token$((d * s)) w$((d + s)) w7 w8 w9"; done; echo; done | bert-tokenize --vocab "$vocab" --to docs >in.tok
as_told "ids of three bytes" --max-seq-length 40 --max-predictions-per-seq 6 --dupe-factor 2

: >wide
for t in '[UNK]' '[CLS]' '[SEP]' '[MASK]' a b c d e f g; do echo "$t" >>wide; done
for d in $(seq 20); do for s in $(seq $((1 + d % 5))); do echo "a b c d e f g" | cut -c$((1 + (d + s) % 7))-; done; echo; done | bert-tokenize --vocab "$vocab" --to docs >in.tok
as_told "ids of one byte" --max-seq-length 20 --max-predictions-per-seq 3 --dupe-factor 2
echo "1..$n"
