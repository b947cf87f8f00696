#!/usr/bin/env bash
# Growth: time and memory of the data stage over inputs of BENCH_GROWTH megabytes (default 20 200 2000, MB being 10^6
# bytes of text) with --memory BENCH_MEMORY (default 64M): seconds should be linear in bytes, peaks flat. The text is
# the demo's, in copies whose words differ, so that no document stands there twice. Prints a Markdown table. Needs
# about three times the largest size of disk in TMPDIR.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
sizes=${BENCH_GROWTH:-20 200 2000} memory=${BENCH_MEMORY:-64M}
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work
data=$TOP/pipelines/demo/data

bert-extract -q "$data"/*.xml.bz2 -o wiki.par && bert-extract -q --from gutenberg --chapters "$data"/*.txt.zst -o books.par || exit 1
cat wiki.par books.par | bert-sentences -q -o base.txt && bert-vocab -q --size 30000 base.txt -o vocab.txt || exit 1

# One word in twenty of the long ones gets another last letter.
vary() {
	awk -v seed="$1" 'BEGIN { srand(seed) } { for (i = 1; i <= NF; i++) if (length($i) > 5 && $i ~ /[a-z]$/ && rand() < .05)
		$i = substr($i, 1, length($i) - 1) substr("aeiostrn", 1 + int(rand() * 8), 1); print }' base.txt
}
size() { stat -c %s "$1"; }

# row NAME COMMAND...: seconds by the clock and of the processors, MB of text for each of the latter, peak.
row() {
	local name=$1
	shift
	rm -rf out
	command time -q -f '%e %U %S %M' -o figures "$@" > /dev/null || { echo "$name failed" >&2; exit 1; }
	awk -v name="$name" -v b="$(size text.txt)" '{ s = $2 + $3 > 0 ? $2 + $3 : .01
		printf "| %s | %.0f | %.2f | %.2f | %.0f | %d |\n", name, b / 1e6, $1, s, b / 1e6 / s, $4 / 1024 }' figures
}

echo "$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors; $(bert-shard --version | head -n 1); --memory $memory"
echo
echo "| stage | MB of text | seconds | of processors | MB for each of these | peak MiB |"
echo "|---|---|---|---|---|---|"
: > text.txt
copy=0
for mb in $sizes; do
	while [ "$(size text.txt)" -lt $((mb * 1000000)) ]; do
		copy=$((copy + 1))
		vary $copy >> text.txt
		echo >> text.txt
	done
	row "bert-vocab --size 30000" bert-vocab -q --threads 1 --memory "$memory" --size 30000 -o out text.txt
	row "bert-shard, dupe 1" bert-shard -q --threads 1 --memory "$memory" --vocab vocab.txt --dupe-factor 1 -o out text.txt
	row "bert-shard, dupe 1, 2 threads" bert-shard -q --threads 2 --memory "$memory" --vocab vocab.txt --dupe-factor 1 -o out text.txt
	mv out shards
	row "bert-verify" bert-verify -q --threads 1 shards
	row "bert-stat" bert-stat -q --threads 1 shards
	rm -rf shards
	row "bert-shard, dupe 1, one shard" bert-shard -q --threads 1 --memory "$memory" --vocab vocab.txt --dupe-factor 1 --shards 1 -o out text.txt
done
