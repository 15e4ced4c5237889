# SPDX-License-Identifier: GPL-2.0
#
# TAP for the guest's scripts (busybox sh). A script sources this file as
# ./lib.sh, says its plan first or done_testing last, and one line a test.

tap_count=0
tap_failed=0
tap_planned=

plan()
{
	tap_planned=$1
	echo "1..$1"
}

pass()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $*"
}

fail()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $*"
}

# ok STATUS DESCRIPTION: passes when STATUS is 0.
ok()
{
	local status=$1

	shift
	if [ "$status" -eq 0 ]; then
		pass "$@"
	else
		fail "$@"
	fi
}

# is GOT WANTED DESCRIPTION
is()
{
	local got=$1 wanted=$2

	shift 2
	if [ "$got" = "$wanted" ]; then
		pass "$@"
	else
		fail "$@"
		diag "got '$got', wanted '$wanted'"
	fi
}

diag()
{
	echo "$*" | sed 's/^/# /'
}

done_testing()
{
	[ -n "$tap_planned" ] || echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# tap_run COMMAND...: the tests of a program that speaks TAP itself become tests
# of this script. So does its end.
tap_run()
{
	local line fifo=/tmp/tap.$$ wanted='' seen=0 failed=$tap_failed status=0

	mkfifo "$fifo"
	"$@" >"$fifo" &
	while IFS= read -r line; do
		case $line in
		'ok '*)		pass "${line#ok * - }" ;;
		'not ok '*)	fail "${line#not ok * - }" ;;
		1..*)		wanted=${line#1..}
				continue ;;
		*)		echo "$line"
				continue ;;
		esac
		seen=$((seen + 1))
	done <"$fifo"
	wait "$!" || status=$?
	rm "$fifo"
	[ "$status" -eq 0 ] || [ "$tap_failed" -gt "$failed" ] ||
		fail "$1 ended with status 0, not $status"
	is "$seen" "$wanted" "$1 ran all its tests"
}

# wait_for SECONDS COMMAND...: until it succeeds. The limit is for what hangs.
wait_for()
{
	local end

	end=$(($(uptime_seconds) + $1))
	shift
	until "$@"; do
		[ "$(uptime_seconds)" -lt "$end" ] || return 1
		usleep 100000
	done
}

uptime_seconds()
{
	cut -d . -f 1 /proc/uptime
}

# sum: of the numbers on stdin.
sum()
{
	awk '{ s += $1 } END { printf "%d\n", s }'
}

# The module.

OP=/sys/kernel/debug/oprofile

# load [PARAMETER...]
load()
{
	insmod /lib/modules/oprofile.ko "$@"
}

unload()
{
	rmmod oprofile
}

# op FILE VALUE
op()
{
	echo "$2" >"$OP/$1"
}

# op_event NUMBER NAME COUNT: switches that event on.
op_event()
{
	op "$1/name" "$2" && op "$1/count" "$3" && op "$1/enabled" 1
}

start()
{
	op enable 1
}

stop()
{
	op enable 0
}

received()
{
	cat "$OP"/stats/cpu*/sample_received | sum
}

lost()
{
	find "$OP/stats" \( -name 'sample_lost_*' -o -name sample_invalid_eip \
		-o -name event_lost_overflow \) -exec cat {} + | sum
}

# received_more THAN
received_more()
{
	[ "$(received)" -gt "$1" ]
}

# law_holds [DECODED]: the accounting law of the last run, after all was read.
law_holds()
{
	local received lost delivered

	received=$(received)
	lost=$(lost)
	delivered=$(cat "$OP/stats/sample_delivered")
	law_text="$received received, $delivered delivered, $lost lost"
	law_text="$law_text${1:+, $1 decoded}"
	[ "$received" -gt 0 ] && [ "$received" -eq $((delivered + lost)) ] &&
		[ "${1:-$delivered}" = "$delivered" ]
}

# law DECODED DESCRIPTION: as a test. DECODED is '' where nobody counted.
law()
{
	local status=0

	law_holds "$1" || status=1
	ok "$status" "the law: $2"
	diag "$law_text"
}

# count_samples: from the text that "samples" gives, after a look at its form.
# What is wrong with it is shown on stderr; -1 is no number of samples. A kernel
# address without a name (a trampoline's) is a rare exception.
count_samples()
{
	awk -F '\t' '
		function bad(why)
		{
			print "# line " NR ", " why ": " $0 >"/dev/stderr"
			bads++
		}
		NR == 1 {
			if ($0 != "# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset")
				bad("no header")
			next
		}
		NF != 8		{ bad("columns"); next }
		$1 !~ /^[0-9]+$/ || $2 !~ /^[0-9]+$/ || $3 !~ /^[0-9]+$/ {
			bad("number")
		}
		$4 == "" || $5 !~ /^[uk]$/ { bad("event or mode") }
		$6 !~ /^(\/|-$|\[kthread\]$)/ { bad("app") }
		$5 == "u" && $7 !~ /^(\/|\[anon\]$|\[vdso\]$)/ { bad("image") }
		$5 == "u" && $8 !~ /^0x[0-9a-f]+$/ { bad("offset") }
		$5 == "k" && $7 !~ /^\[[^]]+\]$/ { bad("image") }
		$5 == "k" { kernel++ }
		$5 == "k" && $8 !~ /^[^ ]+\+0x[0-9a-f]+$/ {
			if ($8 ~ /^0x[0-9a-f]+$/ && ++nameless < 5 + kernel / 20)
				next
			bad("symbol")
		}
		END { print bads ? -1 : NR ? NR - 1 : 0 }'
}

# share_agrees COUNT TOTAL TRUTH: COUNT of TOTAL samples is a share of TRUTH (0
# to 1), within five standard deviations of the binomial plus half a point.
# Fewer than 20,000 samples can't tell. (busybox's awk knows no sqrt.)
share_agrees()
{
	awk -v count="$1" -v total="$2" -v p="$3" 'BEGIN {
		if (total < 20000)
			exit 1
		off = count / total - p
		off = (off < 0 ? -off : off) - 0.005
		exit off > 0 && off * off > 25 * p * (1 - p) / total
	}'
}

# Something to profile.

busy_pids=

# busy COMMAND...: in the background, until calm.
busy()
{
	"$@" &
	busy_pids="$busy_pids $!"
}

calm()
{
	local pid

	for pid in $busy_pids; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	busy_pids=
}

# all_pids: as many as there can be, so that none is used twice in a run. 32-bit
# kernels have 32,768.
all_pids()
{
	echo 4194304 >/proc/sys/kernel/pid_max 2>/dev/null || true
}

# no_fair_server: 6.12 counts a CPU's fair server as one of its tasks. Where it
# waits for its turn, or its timer is pending, as the CPU goes, the kernel warns
# ("Dying CPU not properly vacated", "running_bw > old"), whatever is loaded.
no_fair_server()
{
	local file

	for file in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do
		[ ! -e "$file" ] || echo 0 >"$file"
	done
}

# Storms: storm-make has made their files, storm makes them, stormcheck judges.

# value NAME: what the checker said last.
value()
{
	awk -v name="$1" '$1 == name { print $2 }' /tmp/verdict
}

# begin_stream: a run, with a reader that keeps what it gets for the checker.
begin_stream()
{
	start
	cat "$OP/buffer" >/tmp/stream &
	reader=$!
}

end_stream()
{
	stop
	wait "$reader"
}

# judge_stream DESCRIPTION [OPTION...]: the law, and that no sample is in a wrong
# file.
judge_stream()
{
	local what=$1 status=0

	shift
	stormcheck -f /tmp/stream "$@" >/tmp/verdict || status=$?
	ok $status "$what: no sample in a wrong file"
	law "$(value samples)" "$what"
	grep -E '^(#|storm |stats/.*(lost|throttled|invalid|pictures)|exempt|jumps|doors|changes|nofile|files|codes|paircodes)' \
		/tmp/verdict |
		sed 's/^\(# \)*/#   /'
}

# The kernel's log.

# log_mark: log_since starts here.
log_mark()
{
	log_name="mark $$ $(cat /proc/uptime)"
	echo "$log_name" >/dev/kmsg
}

# log_since: lines of the log since log_mark, with their levels.
log_since()
{
	dmesg -r | awk -v mark="$log_name" '
		index($0, mark) { lines = 0; next }
		{ line[++lines] = $0 }
		END { for (i = 1; i <= lines; i++) print line[i] }'
}

# log_loud: those above notice level. What the kernel itself says about the
# parameters of a module that it refuses is not the module's choice, nor is a
# machine that is slow.
log_loud()
{
	log_since | awk -F '[<>]' '
		/ for parameter `| expects an argument|: `/ { next }
		/hrtimer: interrupt took|perf: interrupt took|clocksource/ { next }
		$2 % 8 < 5'
}
