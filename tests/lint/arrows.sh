#!/usr/bin/env bash
# Holds every #include to the table of arrows: usage arrows.sh 'FOLDER: USED FOLDERS' ...
# tools/ may use all folders; tests/ too; nobody includes from tools/, tests/ or examples/.
set -u
bad=0
say() { echo "lint: $*" >&2; bad=1; }

declare -A uses
for row in "$@"; do
	uses[${row%%:*}]=" ${row%%:*} ${row#*: } "
done

while IFS= read -r hit; do
	file=${hit%%:*} rest=${hit#*:}
	line=${rest%%:*}
	target=$(sed -E 's/.*#[ \t]*include[ \t]*"([^"]*)".*/\1/' <<<"$rest")
	from=${file%%/*} to=${target%%/*}
	if [ "$to" = "$target" ] && [ -e "${file%/*}/$target" ]; then
		say "$file:$line: includes are written from the root: \"${file%/*}/$target\""
	elif [ ! -e "$target" ]; then
		say "$file:$line: no such file: $target"
	elif [ "$to" = tools ] && [ "${target%/*}" != tools ]; then
		# Code private to some programs: seen from tools/*.c and its own folder only.
		[ "${file%/*}" = tools ] || [ "${file%/*}" = "${target%/*}" ] || say "$file:$line: $target is private to its programs"
	elif [ "$to" = tools ] || [ "$to" = examples ] || { [ "$to" = tests ] && [ "$from" != tests ]; }; then
		say "$file:$line: nobody includes from $to/"
	elif [ "$from" = examples ]; then
		say "$file:$line: examples see installed headers: <$target>"
	elif [ -n "${uses[$from]-}" ] && [[ "${uses[$from]}" != *" $to "* ]]; then
		say "$file:$line: $from/ may not see $to/"
	fi
done < <(git ls-files -co --exclude-standard '*.c' '*.h' | xargs -r grep -nE '^[ \t]*#[ \t]*include[ \t]*"' /dev/null)

# main( only under tools/, tests/ and examples/.
while IFS= read -r file; do
	say "$file: main() belongs to tools/, tests/ and examples/"
done < <(git ls-files -co --exclude-standard '*.c' | grep -vE '^(tools|tests|examples)/' | xargs -r grep -lE '^int main\(' /dev/null)

# One name, one file (outside tests/ and kernels/).
while IFS= read -r name; do
	say "two files are called $name"
done < <(git ls-files -co --exclude-standard '*.c' '*.h' | grep -vE '^(tests|kernels)/' | sed 's|.*/||' | sort | uniq -d)

# Every folder opens with a README.
for folder in "${!uses[@]}" tools pipelines tests examples; do
	[ -e "$folder/README.md" ] || say "$folder/README.md is missing"
done
exit $bad
