#!/usr/bin/env bash
# bert-tokenize: how long it takes to start, many scripts, and its memory on large input. Prints Markdown tables; MB are 10^6 bytes
# of text. BENCH_MB megabytes of text (default 100), BENCH_PIPE_MB through a pipe (default 4000), a line of BENCH_LINE_MB (default
# 1000); best of BENCH_RUNS (default 3) runs, since the machine may be shared. Of a text of your own: BENCH_TEXT, with BENCH_VOCAB.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
mb=${BENCH_MB:-100} runs=${BENCH_RUNS:-3} pipe_mb=${BENCH_PIPE_MB:-4000} line_mb=${BENCH_LINE_MB:-1000}
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

perl "$TOP/tests/bench/many-scripts.pl" "$mb" < "$TOP/tests/data/tokenizer/cases.txt" > many.txt || exit 1
zstd -dcq "$TOP"/pipelines/demo/data/*.txt.zst > books.raw
bert-extract -q --from gutenberg --chapters "$TOP"/pipelines/demo/data/*.txt.zst -o books.par && bert-sentences -q books.par -o english.txt || exit 1
bert-vocab -q --size 30000 english.txt -o 30k.txt && bert-vocab -q --cased --size 120000 many.txt -o 120k.txt || exit 1
awk '{ print } END { for (i = NR; i < 120000; i++) print "##~" i }' 120k.txt > filled.txt && mv filled.txt 120k.txt	# where the text has not so many

# timed COMMAND...: its best seconds and its largest peak in MiB, in $seconds and $peak.
timed() {
	local from took i kib
	seconds=1000000 peak=0
	for ((i = 0; i < runs; i++)); do
		rm -f out
		from=$EPOCHREALTIME
		command time -q -f %M -o figures "$@" >/dev/null || { echo "$* failed" >&2; exit 1; }
		took=$((${EPOCHREALTIME/./} - ${from/./}))
		seconds=$(awk -v a="$seconds" -v b="$took" 'BEGIN { b /= 1e6; print a < b ? a : b }')
		read -r kib < figures
		[ $((kib / 1024)) -gt "$peak" ] && peak=$((kib / 1024))
	done
}
rate() { awk -v b="$1" -v s="$2" 'BEGIN { printf "%.1f", b / 1e6 / s }'; }
size() { stat -c %s "$1"; }

echo "| start, empty input | ms | peak MiB |"
echo "|---|---|---|"
for vocab in 30k.txt 120k.txt; do
	runs=20 timed bert-tokenize -q --threads 1 --vocab $vocab --to docs /dev/null
	echo "| $(wc -l < $vocab) tokens | $(awk -v s="$seconds" 'BEGIN { printf "%.1f", s * 1000 }') | $peak |"
done

# row NAME TEXT COMMAND...: with 1 and with 2 threads. @T is the number of threads.
row() {
	local line="| $1" bytes first t
	bytes=$(size "$2")
	shift 2
	for t in 1 2; do
		timed "${@//@T/$t}"
		[ $t = 1 ] && first=$seconds
		line+=" | $(rate "$bytes" "$seconds") | $peak"
	done
	echo "$line | $(awk -v a="$first" -v b="$seconds" 'BEGIN { printf "%.2f", a / b }') |"
}
echo
echo "| bert-tokenize --to docs | MB/s, 1 thread | peak MiB | MB/s, 2 threads | peak MiB | times |"
echo "|---|---|---|---|---|---|"
row "many scripts, cased, $(wc -l < 120k.txt) tokens" many.txt bert-tokenize -q --threads @T --cased --vocab 120k.txt --to docs -o out many.txt
row "many scripts, lower-cased, 30000 tokens" many.txt bert-tokenize -q --threads @T --vocab 30k.txt --to docs -o out many.txt
row "many scripts, cased, as Hugging Face" many.txt bert-tokenize -q --threads @T --cased --compat hf --vocab 120k.txt --to docs -o out many.txt
if [ -n "${BENCH_TEXT:-}" ]; then
	row "$(basename "$BENCH_TEXT"), cased" "$BENCH_TEXT" bert-tokenize -q --threads @T --cased --vocab "${BENCH_VOCAB:?}" --to docs -o out "$BENCH_TEXT"
fi

# repeat FILE MB: FILE again and again.
repeat() {
	local n=$(($2 * 1000000 / $(size "$1") + 1)) i
	for ((i = 0; i < n; i++)); do cat "$1" || return; done
}
tr -s '\n' < english.txt | head -c 7900000 > large.txt
echo >> large.txt
echo >> large.txt
echo
echo "| large input, through a pipe | MB/s, 1 thread | peak MiB | MB/s, 2 threads | peak MiB |"
echo "|---|---|---|---|---|"
for text in english.txt large.txt; do
	line="| $pipe_mb MB, documents of at most $(awk 'BEGIN { RS = "" } length > most { most = length } END { printf "%.1f", most / 1e6 }' $text) MB"
	for t in 1 2; do
		runs=1 timed bert-tokenize -q --threads $t --vocab 30k.txt --to docs -o out < <(repeat $text "$pipe_mb")
		line+=" | $(rate $((pipe_mb * 1000000)) "$seconds") | $peak"
	done
	echo "$line |"
done
tr '\n' ' ' < english.txt > words.txt
repeat words.txt "$line_mb" | head -c "${line_mb}000000" > line.txt
for to in docs ids; do
	runs=1 timed bert-tokenize -q --threads 1 --vocab 30k.txt --to $to -o out line.txt
	echo "| a line of $line_mb MB, from a file, --to $to | $(rate $((line_mb * 1000000)) "$seconds") | $peak | | |"
done
