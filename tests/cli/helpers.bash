# Shared by the command-line tests: programs on PATH, a fresh folder for each test.
# shellcheck disable=SC2154	# bats sets status and output
: "${BIN:?BIN names the folder of the programs; run these by make test}"
: "${TOP:?}"

setup() {
	export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
	export DATA="$TOP/tests/data"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# exits CODE COMMAND...: the command ends with that status; its output is in $output (both streams).
exits() {
	local want=$1
	shift
	run "$@"
	if [ "$status" -ne "$want" ]; then
		echo "exit $status, wanted $want: $*"
		echo "$output"
		return 1
	fi
}

# says TEXT: the last output holds TEXT.
says() {
	if [[ "$output" != *"$1"* ]]; then
		echo "output lacks: $1"
		echo "$output"
		return 1
	fi
}

# nothing_in FOLDER: no file is left there, hidden ones included.
nothing_in() {
	local left
	[ -e "$1" ] || return 0
	left=$(find "$1" -mindepth 1 2>/dev/null)
	if [ -n "$left" ]; then
		echo "left behind: $left"
		return 1
	fi
}
