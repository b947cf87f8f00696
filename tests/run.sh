#!/usr/bin/env bash
# Runs one test file for prove and speaks TAP: bats files, shell scripts, cmocka programs.
set -u
case $1 in
*.bats) exec bats --tap "$1" ;;
*.sh) exec bash "$1" ;;
*) CMOCKA_MESSAGE_OUTPUT=TAP exec "$1" 2>&1 ;;
esac
