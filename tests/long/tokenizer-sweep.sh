#!/usr/bin/env bash
# bert-tokenize beside its peers: every code point, and random text (tokenizer-sweep.py). Speaks TAP; a peer
# that cannot be had is skipped, with the reason. Some minutes. SWEEP_TEXTS random texts (default 200000).
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-sweep.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
vocab=$TOP/tests/data/vocab/bert-base-uncased.txt
n=0

# held NAME PYTHON KIND: one peer, and its digests beside those that are kept.
held() {
	n=$((n + 1))
	if "$2" "$TOP/tests/long/tokenizer-sweep.py" "$3" "$BIN/bert-tokenize" "$vocab" "${SWEEP_TEXTS:-200000}" >"$work/log" 2>&1 &&
		grep -- '^--compat' "$work/log" | awk -F '\t' 'NR == FNR { kept[$1] = $2; next } $1 in kept && kept[$1] != $2 { print; bad = 1 } END { exit bad }' \
			"$TOP/tests/data/tokenizer/sweep.tsv" -; then
		echo "ok $n - $1: $(grep -c ' 0 differ$' "$work/log") comparisons"
	else
		echo "not ok $n - $1"
		tail -n 30 "$work/log" | sed 's/^/# /'
	fi
}

skipped() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

for version in 14.0.0 15.0.0; do
	found=
	for python in /usr/bin/python3 python3.11 python3.12 python3; do
		[ "$("$python" -c 'import unicodedata; print(unicodedata.unidata_version)' 2>/dev/null)" = $version ] && found=$python && break
	done
	if [ -n "$found" ]; then
		held "google, Unicode $version" "$found" google
	else
		skipped "google, Unicode $version" "no Python of that Unicode version here"
	fi
done

if python3 -m venv "$work/venv" >"$work/log" 2>&1 && "$work/venv/bin/pip" -q install 'tokenizers==0.23.*' >"$work/log" 2>&1; then
	held "Hugging Face" "$work/venv/bin/python" hf
else
	skipped "Hugging Face" "no tokenizers package: $(tail -n 1 "$work/log")"
fi
echo "1..$n"
