#!/usr/bin/env bash
# What bert-export writes, read by TensorFlow, h5py and numpy (exports.py). Speaks TAP; skipped, with the reason, where
# these cannot be had. EXPORT_PEERS_PYTHON names a Python that has them, and saves the download.
set -u
: "${BIN:?}" "${TOP:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/berttools-exports.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
python=${EXPORT_PEERS_PYTHON:-}

if ! "$BIN/bert-export" --version | grep -q '^with:.* hdf5'; then
	echo "1..0 # SKIP built without HDF5"
	exit 0
fi
if [ -z "$python" ]; then
	if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
		! "$work/venv/bin/pip" -q install tensorflow-cpu h5py numpy >"$work/log" 2>&1; then
		echo "1..0 # SKIP no TensorFlow, h5py and numpy: $(tail -n 1 "$work/log")"
		exit 0
	fi
	python=$work/venv/bin/python
fi
mkdir "$work/run" && cd "$work/run" || exit 1
"$python" "$TOP/tests/long/exports.py" "$BIN" "$TOP/tests/data/man/vocab.txt" "$TOP/tests/data/man/corpus.txt" 2>"$work/log" || {
	echo "Bail out! $(tail -n 3 "$work/log" | tr '\n' ' ')"
	exit 1
}
