#!/usr/bin/env bash
# Replays every fuzz corpus through its target and speaks TAP; a target without a corpus fails.
set -u
: "${TESTS:?}" "${TOP:?}"
n=0
for source in "$TOP"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	n=$((n + 1))
	corpus=("$TOP/tests/fuzz/corpus/${name#fuzz_}"/*)
	if [ -e "${corpus[0]}" ] && out=$(timeout 120 "$TESTS/replay_$name" "${corpus[@]}" 2>&1); then
		echo "ok $n - $name: $out"
	else
		echo "not ok $n - $name"
		echo "${out-no corpus}" | tail -n 20 | sed 's/^/# /'
	fi
done
echo "1..$n"
