#!/usr/bin/env bash
# bert-tokenize beside its peers on random and mutated text, for some time (tokenizer-fuzz.py). Speaks TAP; a peer that cannot be
# had is skipped, with the reason. TOKENIZER_FUZZ_SECONDS (default 60) are shared by the peers; TOKENIZER_FUZZ_SEED repeats
# a run; TOKENIZER_PEERS_PYTHON names a Python that has the tokenizers package.
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-fuzz.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
seconds=${TOKENIZER_FUZZ_SECONDS:-60} seed=${TOKENIZER_FUZZ_SEED:-$(date +%s)}
peers=() n=0

for version in 14.0.0 15.0.0; do
	found=
	for python in /usr/bin/python3 python3.11 python3.12 python3; do
		[ "$("$python" -c 'import unicodedata; print(unicodedata.unidata_version)' 2>/dev/null)" = $version ] && found=$python && break
	done
	[ -n "$found" ] && peers+=("google $found Unicode $version")
	[ -n "$found" ] || echo "ok $((++n)) - google, Unicode $version # SKIP no Python of that Unicode version here"
done
python=${TOKENIZER_PEERS_PYTHON:-}
if [ -z "$python" ] && python3 -m venv "$work/venv" >"$work/log" 2>&1 && "$work/venv/bin/pip" -q install 'tokenizers==0.23.*' >"$work/log" 2>&1; then
	python=$work/venv/bin/python
fi
[ -n "$python" ] && peers+=("hf $python Hugging Face")
[ -n "$python" ] || echo "ok $((++n)) - Hugging Face # SKIP no tokenizers package: $(tail -n 1 "$work/log")"

for peer in "${peers[@]}"; do
	read -r kind python name <<<"$peer"
	n=$((n + 1))
	if "$python" "$TOP/tests/long/tokenizer-fuzz.py" "$kind" "$BIN/bert-tokenize" $((seconds / ${#peers[@]})) "$seed" \
		"$TOP/tests/data/vocab/bert-base-uncased.txt" "$TOP/tests/data/vocab/topdown-cased-600.txt" >"$work/log" 2>&1; then
		echo "ok $n - $name: $(cat "$work/log")"
	else
		echo "not ok $n - $name"
		tail -n 30 "$work/log" | sed 's/^/# /'
	fi
done
echo "1..$n"
