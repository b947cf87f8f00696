#!/usr/bin/env bash
# Sizes past memory: the data stage in 192 MiB of address space (ulimit -v), on a text of MEMORY_MB (default
# 250) megabytes and a shard of more than that, to the same bytes as without a limit. Speaks TAP.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-memory.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work
(ulimit -v 196608 && bert-shard --version >/dev/null 2>&1) || { echo "1..0 # SKIP the programs need more address space than that, as with sanitizers"; exit 0; }
mb=${MEMORY_MB:-250} limit=196608 n=0	# KiB
data=$TOP/pipelines/demo/data

bert-extract -q --from gutenberg --chapters "$data"/*.txt.zst | bert-sentences -q -o base.txt || exit 1
copy=0
: >text.txt
while [ "$(stat -c %s text.txt)" -lt $((mb * 1000000)) ]; do
	copy=$((copy + 1))
	awk -v seed=$copy 'BEGIN { srand(seed) } { for (i = 1; i <= NF; i++) if (length($i) > 5 && $i ~ /[a-z]$/ && rand() < .05)
		$i = substr($i, 1, length($i) - 1) substr("aeiostrn", 1 + int(rand() * 8), 1); print } END { print "" }' base.txt >>text.txt
done

# ok WHAT COMMAND...: it ends with 0, in any memory.
ok() {
	local what=$1 out
	shift
	n=$((n + 1))
	if out=$("$@" 2>&1 >/dev/null); then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		printf '%s\n' "$out" | sed 's/^/# /' | head -n 5
	fi
}
# The command in little address space.
narrow() { (ulimit -v "$limit" && exec "$@"); }
same() { cmp "$1" "$2"; }

ok "bert-vocab" narrow bert-vocab -q --threads 2 --memory 16M --size 20000 text.txt -o vocab.txt
ok "bert-tokenize" narrow bert-tokenize -q --threads 2 --vocab vocab.txt --to docs text.txt -o text.tok
bert-shard -q --vocab vocab.txt --memory 8G --shards 1 --dupe-factor 4 -o wide text.txt
fails() { ! narrow bert-shard -q --threads 2 --vocab vocab.txt --memory 8G --shards 1 --dupe-factor 4 -o narrow text.txt; }
ok "bert-shard: one shard does not fit" fails
ok "bert-shard: ... and leaves none" eval '! ls narrow/*.shard narrow/manifest.json 2>/dev/null'
ok "bert-shard: with --memory it goes on" narrow bert-shard -q --threads 2 --vocab vocab.txt --memory 16M --shards 1 --dupe-factor 4 -o narrow text.txt
shard='shard-00000-of-00001.shard'
ok "bert-shard: the same as in much memory" same narrow/$shard wide/$shard
ok "the shard is larger than the memory" test "$(stat -c %s narrow/$shard)" -gt $((limit * 1024))
ok "the text is larger than the memory" test "$(stat -c %s text.txt)" -gt $((limit * 1024))
rm -rf wide
# Of a shard that is larger than memory its instances cannot be drawn again in it, which is said.
unverified() { ! narrow bert-verify -q --threads 2 --memory 64M narrow 2>err && grep -q "which memory does not hold" err && ! grep -q fault err; }
ok "bert-verify: what is drawn again does not fit, which is no fault" unverified
ok "bert-verify: in memory that holds it" bert-verify -q --threads 2 narrow
ok "bert-stat, token documents too" narrow bert-stat -q --threads 2 narrow text.tok
ok "bert-cat" narrow bert-cat -q --threads 2 narrow
ok "bert-diff" narrow bert-diff narrow narrow
ok "bert-trace" narrow bert-trace narrow/$shard:100000 text.txt
rm -rf narrow
ok "bert-shard, many shards, token documents, dynamic" narrow bert-shard -q --threads 2 --vocab vocab.txt --memory 16M --masking dynamic --shard-size 4M -o narrow text.tok
ok "bert-verify, many shards" narrow bert-verify -q --threads 2 narrow
ok "bert-export, bins of TFRecord" narrow bert-export -q --threads 2 --to tfrecord --bin-size 32 --epoch 1 -o out narrow
set -- out/*.128.tfrecord
ok "bert-import" narrow bert-import -q --threads 2 --vocab vocab.txt -o back "$1"
rm -rf out back
if bert-export --version | grep -q "^with:.* hdf5"; then
	set -- narrow/*.shard
	ok "bert-export, bins of HDF5" narrow bert-export -q --threads 2 --to hdf5 --bin-size 32 --epoch 1 -o out "$1"
fi
echo "1..$n"
