#!/usr/bin/env bash
# bert-tokenize --never-split beside transformers' slow BertTokenizer, on random text (never-split.py). Speaks TAP; skipped where
# transformers 4 cannot be had.
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-never.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
if ! { python3 -m venv "$work/venv" && "$work/venv/bin/pip" -q install 'transformers<5'; } >"$work/log" 2>&1; then
	echo "ok 1 - never split # SKIP no transformers: $(tail -n 1 "$work/log")"
elif "$work/venv/bin/python" "$TOP/tests/long/never-split.py" check "$BIN/bert-tokenize" "$TOP/tests/data/vocab/bert-base-uncased.txt" 10000 >"$work/log" 2>&1; then
	echo "ok 1 - never split: $(grep -c ' 0 of ' "$work/log") comparisons"
else
	echo "not ok 1 - never split"
	tail -n 30 "$work/log" | sed 's/^/# /'
fi
echo 1..1
