#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Processes and mappings come and go as fast as the machine can: no sample is
# lost for that, and none is booked to a file that is not its own. Each storm for
# a little while, all of them together, and the same with hardly any room.
# vm: kernels=6.12 all-kernels=debian,debug-7.3 cpus=2 mem=1024 timeout=900

# storm-long.sh and storm-long8.sh are this script with other numbers,
# storm-code.sh looks at the code itself, and in nmi.sh samples come as NMIs.
: "${storm_long:=}" "${storm_code:=}" "${storm_nmi:=}"
: "${storm_period:=100000}" "${storm_factor:=1}"
enough=100
# A kernel that checks itself would do nothing but take samples.
case $(uname -r) in
*-debug)	storm_period=2000000
		enough=10 ;;
esac

. ./lib.sh

PROCESSES="exec fork vfork threads kill reexec migrate"
MAPPINGS="dlopen mmap same fixed mremap mprotect jit"
SWAPS="swap-fixed swap-munmap swap-mprotect swap-mremap"

# lost_to_room: what found a ring or the event buffer full.
lost_to_room()
{
	cat "$OP"/stats/cpu*/sample_lost_overflow \
		"$OP/stats/event_lost_overflow" | sum
}

centiseconds()
{
	awk '{ printf "%d\n", $1 * 100 }' /proc/uptime
}

# shellcheck disable=SC2317 # for make_storm
# hotplug PID: the last CPU goes and comes as long as that process is there.
hotplug()
{
	local cpu

	cpu=/sys/devices/system/cpu/cpu$(($(nproc) - 1))/online
	while [ -d "/proc/$1" ]; do
		echo 0 >"$cpu"
		usleep 300000
		echo 1 >"$cpu"
		usleep 700000
	done
}

# make_storm NAME SECONDS [COMMAND]: in a run that has begun, which it ends. The
# status is that of the storm. The command gets the number of its process.
make_storm()
{
	local pid begin status=0

	begin=$(centiseconds)
	storm "$2" "$1" >/tmp/runs &
	pid=$!
	[ -z "${3:-}" ] || $3 $pid
	wait $pid || status=$?
	storm_time=$(($(centiseconds) - begin))
	stop
	return $status
}

# judge NAME: judge_stream, and how much there was to judge.
judge()
{
	judge_stream "$1" ${storm_code:+-c}
	diag "$1: $(($(received) * 100 / storm_time)) samples a second," \
		"$(value stormuser) user samples of storms, $(value judged)" \
		"judged, $(value wrong) wrong"
}

# tell NAME LIMIT WANTED USER LOST: the storm has brought as many user samples of
# its own as wanted, and lost no more than the limit per 10,000, or two; 0 is none
# at all, and - is no limit.
tell()
{
	local limit=0

	if [ "$2" = - ]; then
		diag "$1: $5 of $4 user samples lost"
	else
		[ "$2" -eq 0 ] || limit=$(($4 * $2 / 10000))
		[ "$2" -eq 0 ] || [ $limit -gt 2 ] || limit=2
		[ "$5" -le $limit ]
		ok $? "$1: $5 of $4 user samples lost, $limit allowed"
	fi
	[ "$4" -ge "$3" ]
	ok $? "$1: $4 user samples, $3 wanted"
}

# storm_of NAME SECONDS LIMIT WANTED [COMMAND]: again and again, where one storm
# does not bring so many samples.
storm_of()
{
	local user=0 lost=0 times=0

	while [ $user -lt "$4" ] && [ $times -lt 30 ]; do
		# A reader that opens the buffer of a run that is over gets its
		# end.
		begin_stream
		make_storm "$1" "$2" "${5:-}"
		ok $? "$1: the storm did what it should in $2 s"
		wait "$reader"
		judge "$1"
		user=$((user + $(value stormuser)))
		lost=$((lost + $(lost) - $(lost_to_room)))
		times=$((times + 1))
		[ "$3" != 0 ] || is "$(value filesseen)" "$(value filesrun)" \
			"$1: each file that was run often has samples"
	done
	tell "$1" "$3" "$4" $user $lost
}

# swaps_of NAME SECONDS WANTED: while a place is not executable a thread that
# wants to run there shows up at its address, where no file is. How often, is up
# to the scheduler.
swaps_of()
{
	storm_of "$1" "$2" - "$3"
	[ "$(value jumps)" -le $((3 * $(value changes))) ]
	ok $? "$1: no more threads find themselves in the new file than can be"
}

# caught OPTION DESCRIPTION: the last stream with two cookies swapped.
caught()
{
	if stormcheck ${storm_code:+-c} "$1" -f /tmp/stream >/tmp/verdict; then
		fail "$2 is noticed"
	else
		[ "$(value wrong)" -gt 0 ]
		ok $? "$2 is noticed"
	fi
	diag "$(grep -E '^(swapped|outside|foreign|code|app|wrong) ' /tmp/verdict)"
}

# shellcheck disable=SC2317 # for make_storm
# slow_reader PID: a little now and then, while that process is there.
slow_reader()
{
	while [ -d "/proc/$1" ]; do
		dd bs=8000 count=1 <&3 >>/tmp/stream 2>/dev/null
		usleep 200000
	done
}

# most_lost NAME
most_lost()
{
	[ "$(lost)" -gt "$(cat "$OP/stats/sample_delivered")" ]
	ok $? "$1: most samples are lost"
	[ "$(value stormuser)" -ge $((enough / 2)) ]
	ok $? "$1: some are not"
}

# oom_storm SECONDS WANTED: a group of processes takes more memory than it may
# have. What the kernel says of each that it kills is not for the console.
oom_storm()
{
	local group=/sys/fs/cgroup

	mount -t cgroup2 cgroup2 $group 2>/dev/null
	if ! echo +memory >$group/cgroup.subtree_control 2>/dev/null; then
		diag "oom: this kernel has no groups with a limit on memory"
		return
	fi
	mkdir $group/storm
	echo 16M >$group/storm/memory.max
	log_mark
	dmesg -n 1
	storm_of oom "$1" 0 "$2"
	dmesg -n 8
	log_since >/tmp/log
	grep -q 'Memory cgroup out of memory: Killed process' /tmp/log
	ok $? "oom: the kernel kills"
	! grep -E 'WARNING:|BUG:|KASAN|oprofile' /tmp/log
	ok $? "oom: the kernel reported nothing else"
}

storms_short()
{
	local storm

	for storm in $PROCESSES; do
		storm_of "$storm" 2 0 $enough
	done
	for storm in $MAPPINGS; do
		storm_of "$storm" 2 1 $enough
	done
	for storm in $SWAPS; do
		swaps_of "$storm" 2 $enough
	done
	oom_storm 3 $((enough / 2))
	storm_of processes 4 0 $((10 * enough)) hotplug
	storm_of together 6 1 $((10 * enough))
	swaps_of all 4 $((10 * enough))
	caught -i "a stream with two images swapped"
	caught -a "a stream with two programs swapped"
	caught -x "a stream with two cookies swapped"
}

# With page faults as well, each of them: more than rings so small can hold.
storms_without_room()
{
	op 1/name page-faults
	op 1/count 1
	op 1/enabled 1
	op cpu_buffer_size 16
	begin_stream
	make_storm all 5
	ok $? "tiny rings: the storm did what it should"
	wait "$reader"
	judge "tiny rings"
	[ "$(cat "$OP"/stats/cpu*/sample_lost_overflow | sum)" -gt 0 ]
	ok $? "tiny rings: they overflow"

	op cpu_buffer_size 8192
	op buffer_watershed 256
	op buffer_size 1024
	: >/tmp/stream
	start
	exec 3<"$OP/buffer"
	make_storm all 5 slow_reader
	ok $? "a slow reader: the storm did what it should"
	cat <&3 >>/tmp/stream
	exec 3<&-
	judge "a slow reader"
	most_lost "a slow reader"

	op cpu_buffer_size 16
	: >/tmp/stream
	start
	exec 3<"$OP/buffer"
	make_storm all 5 slow_reader
	ok $? "no room at all: the storm did what it should"
	cat <&3 >>/tmp/stream
	exec 3<&-
	judge "no room at all"
	most_lost "no room at all"
}

# Two files take turns where threads are running: the truth is the code that
# stood there when the sample was taken.
storms_code()
{
	local storm judged i storms=swaps

	[ ! -e long ] || storms="$SWAPS swaps"
	for storm in $storms; do
		i=0
		judged=0
		while [ $i -lt 10 ] && [ $judged -lt "$storm_code" ]; do
			begin_stream
			make_storm "$storm" 10
			ok $? "$storm: the storm did what it should"
			wait "$reader"
			judge "$storm"
			judged=$((judged + $(value paircodes)))
			i=$((i + 1))
		done
		[ $judged -ge "$storm_code" ]
		ok $? "$storm: the code of $judged samples was judged," \
			"$storm_code wanted"
	done
	caught -i "a stream with the two files swapped"
	[ "$(value code)" -gt 100 ]
	ok $? "by their code too: $(value code)"
}

# nmi_count NUMBER DESCRIPTION: how often that was, by the module's own count.
nmi_count()
{
	local count

	count=$(cut -d ' ' -f "$1" /sys/module/oprofile/parameters/nmi_counts)
	[ "$count" -ge 10 ]
	ok $? "$2: $count times"
}

# Another event, whose handlers are there to be interrupted.
storms_nmi()
{
	op_event 1 cpu-clock 1700000
	storms_short
	nmi_count 1 "overflows came as NMIs"
	nmi_count 2 "they interrupted a handler that wrote to the ring"
	nmi_count 3 "they interrupted a hook"
	nmi_count 4 "they interrupted the worker"
}

storms_long()
{
	local storm

	for storm in $PROCESSES; do
		storm_of "$storm" "$storm_long" 0 20000
	done
	oom_storm "$storm_long" 20000
	storm_of processes "$storm_long" 0 20000 hotplug
	for storm in $MAPPINGS mappings; do
		storm_of "$storm" "$storm_long" 1 20000
	done
	storm_of together "$storm_long" 1 20000
	for storm in $SWAPS swaps all; do
		swaps_of "$storm" "$storm_long" 20000
	done
}

all_pids
no_fair_server
storm-make "$storm_factor"
ok $? "there are files for the storms"
load event="${storm_event:=cpu-clock}" count="$storm_period" buffer_size=1048576 \
	buffer_watershed=786432 cpu_buffer_size=16384
ok $? "loads"
if [ -n "$storm_code" ]; then
	storms_code
elif [ -n "$storm_nmi" ]; then
	storms_nmi
elif [ -z "$storm_long" ]; then
	storms_short
	storms_without_room
else
	storms_long
fi
unload
ok $? "unloads"
done_testing
