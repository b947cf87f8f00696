#!/usr/bin/env bash
# Sizes: what shards take beside the same instances as TFRecord, as create_pretraining_data.py writes them: of the demo's
# novels, at 128/20 and 512/76, static and dynamic, raw and packed. Dynamic shards stand beside the static TFRecords of dupe factor
# 10, which they replace. Prints a Markdown table; nothing is timed.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work
data=$TOP/pipelines/demo/data

bert-extract -q --from gutenberg --chapters "$data"/*.txt.zst | bert-sentences -q -o text.txt &&
	bert-vocab -q --size 30000 text.txt -o vocab.txt || exit 1

# bytes FOLDER GLOB: of all files in it that match.
bytes() { find "$1" -name "$2" -printf '%s\n' | awk '{ n += $1 } END { print n }'; }
# shards OPTION...: their bytes and instances
shards() {
	rm -rf out
	bert-shard -q --vocab vocab.txt --max-seq-length "$length" --max-predictions-per-seq "$predictions" "$@" -o out text.txt || exit 1
	made=$(bytes out '*.shard')
	instances=$(sed -E 's/.*"instances":([0-9]+).*/\1/' <<<"$(grep -o '"totals":{[^}]*}' out/manifest.json)")
}
# records: the same as TFRecord
records() {
	rm -rf records
	bert-export -q --to tfrecord -o records out || exit 1
	bytes records '*.tfrecord'
}
row() { awk -v name="$1" -v n="$instances" -v made="$made" -v them="$2" 'BEGIN { printf "| %s | %d | %.1f | %.2f |\n", name, n, made / n, them / made }'; }

echo "$(bert-shard --version | head -n 1); $(stat -c %s text.txt) bytes of novels"
echo
echo "| | instances | bytes each | TFRecord / shards |"
echo "|---|---:|---:|---:|"
for shape in 128/20 512/76; do
	length=${shape%/*} predictions=${shape#*/}
	shards --dupe-factor 1 --compress 0
	once=$(records)
	row "$shape, static, not packed" "$once"
	for level in 1 3; do
		shards --dupe-factor 1 --compress $level
		row "$shape, static, level $level" "$once"
	done
	shards --dupe-factor 10
	tenfold=$(records)
	shards --masking dynamic
	row "$shape, dynamic, level 1, beside static TFRecords of dupe factor 10" "$tenfold"
done
