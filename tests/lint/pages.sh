#!/usr/bin/env bash
# Every program has a man page that mandoc accepts, with the usual sections, and a command-line test.
# (tests/cli/manners.bats holds the options against --help.)
set -u
bad=0
say() { echo "lint: $*" >&2; bad=1; }
for source in tools/bert-*.c; do
	[ -e "$source" ] || continue
	tool=$(basename "$source" .c) page=${source%.c}.1
	[ -e "tests/cli/$tool.bats" ] || say "$tool: no tests/cli/$tool.bats"
	if [ ! -e "$page" ]; then
		say "$tool: no man page $page"
		continue
	fi
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		grep -qE "^\\.SH \"?$section\"?\$" "$page" || say "$page: no section $section"
	done
	complaints=$(mandoc -T lint -W warning "$page" 2>&1 | grep -vE 'missing date|referenced manual not found|outdated mandoc|operating system')
	[ -z "$complaints" ] || say "$complaints"
done
exit $bad
