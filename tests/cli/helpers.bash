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

# not COMMAND...: the command fails. (A line "! COMMAND" fails no test unless it is the last one.)
not() {
	if "$@"; then
		echo "this should have failed: $*"
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

# relabel FILE PERL: the header of a safetensors file, which is in $_, becomes what PERL makes of it.
relabel() {
	perl -e '
		local $/; open F, "<:raw", $ARGV[0] or die; my $all = <F>;
		my $n = unpack "Q<", $all; $_ = substr $all, 8, $n; my $data = substr $all, 8 + $n; my $was = $_;
		eval $ARGV[1]; die $@ if $@; die "nothing to change" if $_ eq $was;
		open F, ">:raw", $ARGV[0] or die; print F pack("Q<", length), $_, $data' "$1" "$2"
}

# bad_safetensors FILE COMMAND...: the command ends with 3 and names the file, in each state that is no safetensors.
# shellcheck disable=SC2016	# the variables are perl's
bad_safetensors() {
	local file=$1 change
	shift
	cp "$file" "$file.good"
	for change in 's/(key.bias":\{[^}]*"data_offsets":)(\[\d+,\d+\])(.*?query.bias":\{[^}]*"data_offsets":)\[\d+,\d+\]/$1$2$3$2/' \
		's/"data_offsets":\[(\d+),(\d+)\]/sprintf "\"data_offsets\":[%d,%d]", $1 + 1000000000, $2 + 1000000000/e' \
		's/"data_offsets":\[(\d+),(\d+)\]/"data_offsets":[$2,$1]/' 's/"shape":\[\d+/"shape":[4611686018427387904,4/' \
		's/"shape":\[\d+/"shape":[-1/' 's/"F32"/"F99"/' 's/\}\s*\z//' 's/"([^"]+bias)":/"$1":1,"$1":/'; do
		cp "$file.good" "$file"
		relabel "$file" "$change" || return 1
		exits 3 "$@" || { echo "after $change"; return 1; }
		says "$file" || { echo "after $change"; return 1; }
	done
	for change in 'print pack("Q<", 1 << 62), substr($_, 8)' 'print pack("Q<", 0), substr($_, 8)' 'print substr($_, 0, -1)' 'print substr($_, 0, 7)' \
		'print $_, "x"' 'print substr($_, 0, 8 + unpack("Q<", $_))'; do
		perl -0777 -ne "binmode STDOUT; $change" "$file.good" >"$file"
		exits 3 "$@" || { echo "after $change"; return 1; }
		says "$file" || { echo "after $change"; return 1; }
	done
	mv "$file.good" "$file"
}
