#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The scanner of kernel logs catches the first line of every kind of report, in
# the midst of a log, and nothing else. Nor do its judges let anything pass.
# host: cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/lib/report.sh
. "$ROOT/tests/lib/report.sh"
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

# race [LINE]...: a report of KCSAN's with these lines in it.
race()
{
	echo ==================================================================
	echo "BUG: KCSAN: data-race in enqueue / dequeue"
	echo
	echo "read to 0xffff888100000000 of 4 bytes by task 1 on cpu 0:"
	echo " dequeue+0x1/0x2"
	printf '%s\n' "$@"
	echo " vfs_read+0x1/0x2"
	echo
	echo "Reported by Kernel Concurrency Sanitizer on:"
	echo "CPU: 1 UID: 0 PID: 2 Comm: cat"
	echo ==================================================================
}

# race_is REPORT DESCRIPTION [LINE]...: the first one of such a log.
race_is()
{
	local wanted=$1 what=$2

	shift 2
	race "$@" >"$log"
	is "$(first_report "$log")" "$wanted" "$what"
}

its="BUG: KCSAN: data-race in enqueue / dequeue"
frame=" op_sync_pass+0x1/0x2 [oprofile]"
race_is "" "a race of the kernel's own is none"
race_is "$its" "one with a frame of ours is" "$frame"
race_is "" "but not where an interrupt came" " asm_sysvec_call+0x1/0x2" "$frame"
race_is "$its" "one in memory of ours is" \
	"write to 0xffffffffa0201010 of 8 bytes by task 2 on cpu 1:"
race_is "BUG: another" "one with another report in it is that one" "BUG: another"
race "$frame" | sed 's/^BUG: KCSAN.*/** 12 printk messages dropped **/' >"$log"
is "$(first_report "$log")" "** 12 printk messages dropped **" "lost lines are one"
race | sed '/^Reported/,$d' >"$log"
is "$(first_report "$log")" "$its" "one that does not end is"

# verdict JUDGE: of the log on stdin, which ends lines as a serial port does.
verdict()
{
	sed 's/$/\r/' >"$log"
	"$1" "$log" | grep -E '^(not )?ok ' | tr '\n' ';'
}

# planted NAME [LINE]...: a bug, and what the kernel says of it.
planted()
{
	echo "[    2.000000] planted $1: ^BUG: KASAN: use-after-free in opbug_$1"
	shift
	[ $# -eq 0 ] || printf '[    2.000000] %s\n' "$@"
}

nothing="the kernel reported nothing"
bug="the kernel reported the planted bug"
one="BUG: KASAN: use-after-free in opbug_one+0x1/0x2 [opbug]"
two="BUG: KASAN: use-after-free in opbug_two+0x1/0x2 [opbug]"
other="BUG: KASAN: use-after-free in op_sync+0x1/0x2 [oprofile]"
is "$(verdict judge_log <"$lines/innocent")" "ok - $nothing;" "nothing to judge"
is "$({ cat "$lines/innocent"; planted one "$one"; } | verdict judge_log)" \
	"not ok - $nothing;" "a report is one, though it was planted"
is "$({ cat "$lines/innocent"; planted one "$one"; planted two "$two"; } |
	verdict judge_planted)" "ok - $nothing;ok - $bug, one;ok - $bug, two;" \
	"planted bugs that were reported"
is "$({ planted one; planted two "$two"; } | verdict judge_planted)" \
	"not ok - $bug, one;ok - $bug, two;" "one that was not"
is "$({ planted one "$two"; planted two; } | verdict judge_planted)" \
	"not ok - $bug, one;not ok - $bug, two;" "one in another's place"
is "$(planted one "$one" "$other" | verdict judge_planted)" \
	"not ok - $bug, one;" "one that was not the only one"
is "$(planted one "${one/opbug_/op_}" | verdict judge_planted)" \
	"not ok - $bug, one;" "another one"
is "$({ planted none "$other" | tail -n 1; planted one "$one"; } |
	verdict judge_planted)" "not ok - $nothing;ok - $bug, one;" \
	"one before any was planted"
is "$(verdict judge_planted <"$lines/innocent")" \
	"ok - $nothing;not ok - a bug was planted;" "no bug at all"

has="[    0.300000] kmemleak: Kernel memory leak detector initialized"
is "$(echo "$has" | verdict judge_leaks)" "not ok - kmemleak was asked;" \
	"kmemleak that was not asked"
is "$(printf '%s\n' "$has" "[    9.000000] kmemleak has been asked" |
	verdict judge_leaks)" "ok - kmemleak was asked;" "kmemleak that was"
is "$(echo "[    0.300000] Linux" | verdict judge_leaks)" "" "no kmemleak"
done_testing
