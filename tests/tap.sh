# Sourced by scripts that speak TAP: the programs on the path, a fresh folder that is left behind as soon as the
# script ends, and ok.
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0

ok() {	# ok WHAT COMMAND...: what the command said is shown where it fails
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/log" 2>&1; then echo "ok $n - $what"; else echo "not ok $n - $what"; sed 's/^/# /' "$work/log" | tail -n 20; fi
}
