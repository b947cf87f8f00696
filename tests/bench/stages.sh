#!/usr/bin/env bash
# Speed and memory of every stage: BENCH_MB (default 100) megabytes of distinct English documents, made
# from the demo's input, through each program with one thread and with two. Prints a Markdown table; MB are
# 10^6 bytes of the stage's input text (for bert-fetch and bert-extract: of the files as they are, unpacked).
# Best of BENCH_RUNS (default 3) runs, since the machine may be shared.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
mb=${BENCH_MB:-100} runs=${BENCH_RUNS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
data=$TOP/pipelines/demo/data

# Text that no cache has seen whole: each copy of the demo's text gets other letters in one long word of twenty.
vary() {
	awk -v seed="$1" 'BEGIN { srand(seed) } { for (i = 1; i <= NF; i++) if (length($i) > 5 && rand() < .05)
		$i = substr($i, 1, length($i) - 1) substr("aeiostrn", 1 + int(rand() * 8), 1); print }' "$2"
}
bzip2 -dc "$data"/*.xml.bz2 > one.xml
zstd -dcq "$data"/*.txt.zst > books.raw
bert-extract -q one.xml -o wiki.par && bert-extract -q --from gutenberg --chapters "$data"/*.txt.zst -o books.par || exit 1
cat wiki.par books.par > base.par
: > paragraphs.txt
copy=0
while [ "$(stat -c %s paragraphs.txt)" -lt $((mb * 1000000)) ]; do
	copy=$((copy + 1))
	vary $copy base.par >> paragraphs.txt
	echo >> paragraphs.txt
done
bert-sentences -q paragraphs.txt -o text.txt && bert-vocab -q --size 30000 text.txt -o vocab.txt || exit 1
bert-tokenize -q --vocab vocab.txt --to docs text.txt -o text.tok || exit 1

# row NAME BYTES COMMAND...: best seconds and largest peak, with 1 and with 2 threads. @T is the number of threads.
row() {
	local name=$1 bytes=$2 line="| $1" t best peak from seconds kib
	shift 2
	for t in 1 2; do
		best=1000000 peak=0
		for _ in $(seq 1 "$runs"); do
			rm -rf out
			from=$EPOCHREALTIME
			command time -q -f %M -o figures "${@//@T/$t}" >/dev/null || { echo "$name failed" >&2; exit 1; }
			seconds=$(awk -v a="${from/./}" -v b="${EPOCHREALTIME/./}" 'BEGIN { print (b - a) / 1e6 }')
			read -r kib < figures
			best=$(awk -v a="$best" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
			[ "$kib" -gt "$peak" ] && peak=$kib
		done
		line+=" | $(awk -v b="$bytes" -v s="$best" 'BEGIN { printf "%.1f", b / 1e6 / s }') | $((peak / 1024))"
	done
	echo "$line |"
}
size() { stat -c %s "$1"; }

echo "$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors; $(bert-shard --version | head -n 1); $mb MB of text, best of $runs"
echo
echo "| stage | MB/s, 1 thread | peak MiB | MB/s, 2 threads | peak MiB |"
echo "|---|---|---|---|---|"
row "bert-extract (XML)" "$(size one.xml)" bert-extract -q --threads @T -o out one.xml
row "bert-extract (novels)" "$(size books.raw)" bert-extract -q --from gutenberg --chapters --threads @T -o out books.raw
row "bert-sentences" "$(size paragraphs.txt)" bert-sentences -q --threads @T -o out paragraphs.txt
row "bert-split" "$(size text.txt)" bert-split -q --threads @T --split held=0.01 -o out text.txt
row "bert-vocab --size 30000" "$(size text.txt)" bert-vocab -q --threads @T --size 30000 -o out text.txt
row "bert-vocab --method likelihood" "$(size text.txt)" bert-vocab -q --threads @T --method likelihood --size 30000 -o out text.txt
row "bert-vocab --method topdown" "$(size text.txt)" bert-vocab -q --threads @T --method topdown --size 30000 -o out text.txt
row "bert-tokenize --to docs" "$(size text.txt)" bert-tokenize -q --threads @T --vocab vocab.txt --to docs -o out text.txt
row "bert-tokenize --to docs, AVX2" "$(size text.txt)" env BERTTOOLS_CPU=avx2 bert-tokenize -q --threads @T --vocab vocab.txt --to docs -o out text.txt
row "bert-tokenize --to docs, plain C" "$(size text.txt)" env BERTTOOLS_CPU=none bert-tokenize -q --threads @T --vocab vocab.txt --to docs -o out text.txt
row "bert-tokenize --to ids" "$(size text.txt)" bert-tokenize -q --threads @T --vocab vocab.txt -o out text.txt
row "bert-shard, text, dupe 1" "$(size text.txt)" bert-shard -q --threads @T --vocab vocab.txt --dupe-factor 1 --shards 4 -o out text.txt
row "bert-shard, text, dupe 5" "$(size text.txt)" bert-shard -q --threads @T --vocab vocab.txt --dupe-factor 5 --shards 4 -o out text.txt
row "bert-shard, .tok, dupe 1" "$(size text.txt)" bert-shard -q --threads @T --vocab vocab.txt --dupe-factor 1 --shards 4 -o out text.tok
row "bert-shard, .tok, dynamic" "$(size text.txt)" bert-shard -q --threads @T --vocab vocab.txt --masking dynamic --shards 4 -o out text.tok
row "bert-shard, .tok, in 16 MiB" "$(size text.txt)" bert-shard -q --threads @T --memory 16M --vocab vocab.txt --dupe-factor 1 --shards 1 -o out text.tok
row "bert-shard --compat google, dupe 1" "$(size text.txt)" bert-shard -q --threads @T --vocab vocab.txt --compat google --dupe-factor 1 --shards 4 -o out text.txt
bert-shard -q --vocab vocab.txt --dupe-factor 1 --shards 4 -o shards text.txt || exit 1
row "bert-export --to tfrecord" "$(size text.txt)" bert-export -q --threads @T --to tfrecord -o out shards
bert-export -q --to tfrecord -o records shards || exit 1
row "bert-import (TFRecord)" "$(size text.txt)" bert-import -q --threads @T --vocab vocab.txt -o out records/shard-00000-of-00004.tfrecord records/shard-00001-of-00004.tfrecord records/shard-00002-of-00004.tfrecord records/shard-00003-of-00004.tfrecord
row "bert-cat" "$(size text.txt)" bert-cat -q --threads @T shards
row "bert-verify" "$(size text.txt)" bert-verify -q --threads @T shards
row "bert-stat" "$(size text.txt)" bert-stat -q --threads @T shards
