#!/usr/bin/env bash
# The house budgets: functions of at most 80 lines (main: 120), files of at most 800, headers of at
# most 200, no tabs-as-spaces, no trailing blanks. Generated tables (files named *_tables*.c, or under
# a folder tables/) are exempt.
set -u
bad=0
say() { echo "lint: $*" >&2; bad=1; }
mapfile -t files < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.cu' | grep -vE '_tables[^/]*\.c$|/tables/')
[ ${#files[@]} -gt 0 ] || exit 0

while read -r lines file; do
	[ "$file" = total ] && continue
	limit=800
	[[ $file == *.h ]] && limit=200
	[ "$lines" -le $limit ] || say "$file: $lines lines (at most $limit)"
done < <(wc -l "${files[@]}")

while read -r file name start end; do
	limit=80
	[ "$name" = main ] && limit=120
	[ $((end - start + 1)) -le $limit ] || say "$file:$start: $name has $((end - start + 1)) lines (at most $limit)"
done < <(printf '%s\n' "${files[@]}" | ctags -x --c-kinds=f --fields=+ne -L - --_xformat='%F %N %n %e')

while IFS= read -r hit; do
	say "$hit: trailing blank"
done < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.mk' '*.bats' Makefile | xargs -r grep -nE '[ 	]+$' /dev/null | cut -d: -f1,2)

while IFS= read -r hit; do
	say "$hit"
done < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.cu' | xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b' /dev/null)
exit $bad
