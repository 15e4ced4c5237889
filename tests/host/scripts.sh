#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every script is clean: bash on this machine, busybox sh in the guest (dash is
# what shellcheck calls the shell nearest to it).
# host: cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

# scripts: every file that is one, by its name or its first line.
scripts()
{
	find . \( -path ./.git -o -path ./debian \) -prune -o \
		-type f -size -200k \( -name '*.sh' -o ! -name '*.*' \) -print |
		LC_ALL=C sort |
		while IFS= read -r file; do
			case $file in
			*.sh) echo "$file" ;;
			*) ! head -n 1 "$file" | grep -qaE '^#!.*\b(ba)?sh\b' ||
				echo "$file" ;;
			esac
		done
}

dialect()
{
	if head -n 3 "$1" | grep -qE '^#!.*bash|shell=bash'; then
		echo bash
	else
		echo dash
	fi
}

need_packages shellcheck
cd "$ROOT"
for file in $(scripts); do
	report=$(shellcheck -x -P "$ROOT:$(dirname "$file")" \
		-s "$(dialect "$file")" "$file" 2>&1) ||
		report+="(exit status $?)"
	is "$report" "" "shellcheck ${file#./}"
done
done_testing
