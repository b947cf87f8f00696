#!/usr/bin/env bash
# Runs one test file for prove and speaks TAP: bats files, shell scripts, cmocka programs.
set -u
case $1 in
*.bats) exec bats --tap "$1" ;;
*.sh) exec bash "$1" ;;
*)
	# cmocka writes a skipped test as "not ok N # SKIP", which TAP counts as failed.
	CMOCKA_MESSAGE_OUTPUT=TAP "$1" 2>&1 | sed -E 's/^not ok ([0-9]+ # SKIP)/ok \1/'
	exit "${PIPESTATUS[0]}"
	;;
esac
