#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The scanner of kernel logs catches the first line of every kind of report, in
# the midst of a log, and nothing else.
# host: cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

lines=$ROOT/tests/host/kernel-log
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# first_report FILE: where its first report begins, if it has one.
first_report()
{
	{ "$ROOT/tests/lib/kernel-log" "$1" || true; } | head -n 1
}

is "$(first_report "$lines/innocent")" "" "an innocent log has no report"
while IFS= read -r line; do
	{
		cat "$lines/innocent"
		printf '%s\r\n' "$line"
		cat "$lines/innocent"
	} >"$log"
	text=$(sed -E 's/^\[[ 0-9.]*\](\[[^]]*\])? //' <<<"$line")
	is "$(first_report "$log")" "$text" "reports: $text"
done <"$lines/reports"
done_testing
