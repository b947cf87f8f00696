#!/usr/bin/env bash
# Speed and memory of reading shards as trainers do: the demo's novels as 128-token instances, static (dupe factor 5) and
# dynamic, in one shard and in 64; in the order of an epoch and at random places; read and mapped; and as batches
# made ahead, when every request waits 5 ms, as on a network. Prints Markdown tables. Best of BENCH_RUNS (default 3)
# runs, since the machine may be shared; instances a second are those of one core's time, but for
# the last table, which is by the clock. BENCH_TEXT is another text, one sentence a line.
set -u
: "${BIN:?}" "${TESTS:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
runs=${BENCH_RUNS:-3} reading=$TESTS/bench/reading
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

if [ -n "${BENCH_TEXT-}" ]; then
	cp "$BENCH_TEXT" text.txt
else
	bert-extract -q --from gutenberg --chapters "$TOP"/pipelines/demo/data/*.txt.zst | bert-sentences -q -o text.txt
fi
bert-vocab -q --size 30522 text.txt -o vocab.txt || exit 1
make_set() { bert-shard -q --vocab vocab.txt --short-seq-prob 0 -o "$@" text.txt || exit 1; }
for n in 1 64; do
	make_set "static $n" --dupe-factor 5 --shards $n
	make_set "dynamic $n" --masking dynamic --shards $n
done
make_set "static raw 1" --dupe-factor 5 --shards 1 --compress 0

# run COLUMN ARGUMENTS...: the run of those whose seconds, number COLUMN, are least
run() {
	local column=$1
	shift
	"$reading" "$@" >/dev/null || exit 1	# into the page cache
	for _ in $(seq 1 "$runs"); do
		"$reading" "$@" || exit 1
	done | sort -g -k "$column" | head -n 1
}
shard_bytes() { find "$1" -name '*.shard' -printf '%s\n' | awk '{ n += $1 } END { print n }'; }

echo "$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors; $(bert-shard --version | head -n 1); best of $runs runs"
echo
echo "| in the order of epochs, one core | instances of one | instances/s | mapped: | requests of one | bytes read / those of the shards | peak MiB | mapped: |"
echo "|---|---|---|---|---|---|---|---|"
for set in "static 1" "static 64" "static raw 1" "dynamic 1" "dynamic 64"; do
	read -r n cpu _ _ requests bytes kib <<<"$(run 2 order "$set")"
	read -r _ cpu_mapped _ _ _ _ kib_mapped <<<"$(run 2 order mmap "$set")"
	one=$(jq '[.shards[].instances] | add' "$set/manifest.json")
	awk -v set="$set" -v one="$one" -v n="$n" -v s="$cpu" -v m="$cpu_mapped" -v r="$requests" -v b="$bytes" -v f="$(shard_bytes "$set")" -v p="$kib" -v q="$kib_mapped" \
		'BEGIN { printf "| %s | %d | %.0f | %.0f | %d | %.3f | %.1f | %.1f |\n", set, one, n / s, n / m, r, b / f, p / 1024, q / 1024 }'
done
echo
echo "| at random places, one core | blocks/s | mapped: | instances/s |"
echo "|---|---|---|---|"
for set in "static 1" "static 64" "static raw 1" "dynamic 1" "dynamic 64"; do
	read -r n cpu _ blocks _ _ _ <<<"$(run 2 random "$set")"
	read -r _ cpu_mapped _ _ _ _ _ <<<"$(run 2 random mmap "$set")"
	awk -v set="$set" -v n="$n" -v s="$cpu" -v b="$blocks" -v m="$cpu_mapped" 'BEGIN { printf "| %s | %.0f | %.0f | %.0f |\n", set, b / s, b / m, n / s }'
done
echo
echo "| batches, with threads that read ahead | instances/s | when requests take 5 ms | seconds of waiting, one after the other | peak MiB |"
echo "|---|---|---|---|---|"
for set in "static 1" "static 64" "dynamic 1" "dynamic 64"; do
	read -r n _ s _ _ _ kib <<<"$(run 3 train "$set")"
	read -r _ _ slow _ requests _ _ <<<"$(run 3 train delay 5 "$set")"
	awk -v set="$set" -v n="$n" -v s="$s" -v d="$slow" -v r="$requests" -v p="$kib" \
		'BEGIN { printf "| %s | %.0f | %.0f | %.1f | %.1f |\n", set, n / s, n / d, r * .005, p / 1024 }'
done
