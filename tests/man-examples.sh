#!/usr/bin/env bash
# Runs the examples of every man page and speaks TAP. Between .EX and .EE under EXAMPLES, lines that
# begin with "$ " are commands, run in order by one bash in a fresh folder that holds a copy of
# tests/data/man/; the lines after a command are what it prints (stdout and stderr), where "..." stands
# for any lines.
set -u
: "${BIN:?}" "${TOP:?}"
export PATH="$BIN:$PATH" LC_ALL=C.UTF-8
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The .EX blocks of a page's EXAMPLES, roff escapes undone; \f fonts dropped.
examples() {
	awk '/^\.SH/ { on = ($2 == "EXAMPLES") } on && /^\.EX/ { in_ex = 1; next } /^\.EE/ { if (in_ex) print "@END"; in_ex = 0 } in_ex' "$1" |
		sed -E 's/\\f[BIRP]//g; s/\\&//g; s/\\\(aq/'"'"'/g; s/\\\(dq/"/g; s/\\\(ti/~/g; s/\\\(ha/^/g; s/\\-/-/g; s/\\e/\\/g; s/\\\\/\\/g'
}

# matches WANT GOT: the same lines, "..." in WANT standing for any number of lines.
matches() {
	awk -v want="$1" -v got="$2" 'function m(i, j) {
		while (i <= nw && w[i] != "...") { if (j > ng || w[i] != g[j]) return 0; i++; j++ }
		if (i > nw) return j > ng
		for (; j <= ng + 1; j++) if (m(i + 1, j)) return 1
		return 0
	} BEGIN { nw = split(want, w, "\n"); ng = split(got, g, "\n"); exit !m(1, 1) }'
}

n=0
check() {	# check PAGE NUMBER COMMAND WANT
	local got
	got=$(cd "$work/here" && bash -o pipefail -c "$3" 2>&1)
	n=$((n + 1))
	if matches "$4" "$got"; then
		echo "ok $n - $1: $3"
	else
		echo "not ok $n - $1: $3"
		printf '# wanted:\n%s\n# got:\n%s\n' "$4" "$got" | sed 's/^/# /'
	fi
}

for page in "$TOP"/tools/*.1; do
	rm -rf "$work/here" && mkdir "$work/here" && cp -r "$TOP"/tests/data/man/. "$work/here/"
	name=$(basename "$page" .1) command='' want='' found=0
	while IFS= read -r line; do
		if [[ $line == '$ '* || $line == @END ]]; then
			if [ -n "$command" ]; then
				check "$name" "$n" "$command" "${want%$'\n'}"
				found=1
			fi
			want='' command=''
			[[ $line == @END ]] || command=${line#'$ '}
		elif [ -n "$command" ] && [[ $command == *\\ ]] && [ -z "$want" ]; then
			command="${command%\\}${line# }"
		else
			want+="$line"$'\n'
		fi
	done < <(examples "$page")
	if [ $found = 0 ]; then
		n=$((n + 1))
		echo "not ok $n - $name has no tested example"
	fi
done
echo "1..$n"
