#!/usr/bin/env bash
# bert-vocab --method topdown beside tensorflow-text's learner (vocab-topdown.py), for PEER_SECONDS (default 120).
# Speaks TAP; skipped, with the reason, where the peer cannot be had.
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-topdown.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
lib=tensorflow_text/tools/wordpiece_vocab/wordpiece_tokenizer_learner_lib.py

# Of the package this one file is used, which needs no tensorflow.
if python3 -m venv "$work/venv" >"$work/log" 2>&1 && "$work/venv/bin/pip" -q install numpy >"$work/log" 2>&1 &&
	"$work/venv/bin/pip" -q download --no-deps 'tensorflow-text==2.*' -d "$work" >"$work/log" 2>&1 &&
	python3 -m zipfile -e "$work"/tensorflow_text-*.whl "$work/unpacked" >"$work/log" 2>&1 && cp "$work/unpacked/$lib" "$work"; then
	if "$work/venv/bin/python" "$TOP/tests/long/vocab-topdown.py" "$BIN" "$work" "${PEER_SECONDS:-120}" >"$work/log" 2>&1; then
		echo "ok 1 - $(cat "$work/log")"
	else
		echo "not ok 1 - topdown differs from the learner"
		sed 's/^/# /' "$work/log"
	fi
else
	echo "ok 1 - topdown # SKIP no tensorflow-text package: $(tail -n 1 "$work/log")"
fi
echo "1..1"
