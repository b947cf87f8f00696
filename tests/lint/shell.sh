#!/usr/bin/env bash
# Runs shellcheck over every shell script of the tree.
set -u
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' '*.bash' .ci/run pipelines/demo/run)
existing=()
for s in "${scripts[@]}"; do [ -e "$s" ] && existing+=("$s"); done
[ ${#existing[@]} -eq 0 ] || shellcheck -s bash -e SC1091 "${existing[@]}"
