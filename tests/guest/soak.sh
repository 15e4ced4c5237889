#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# All of it at once: every storm, while runs begin and end with other sizes,
# readers are killed, kprobes are disarmed, CPUs and another module go and come,
# and memory is short. Each run keeps the law, and no sample is in a wrong file,
# but in runs in which kprobes were disarmed, where nobody can promise.
# Two minutes, or ten at length ("make soak"), and at least until all of that has
# happened. Its order comes from a seed, which OPROFILE_SEED sets: the same seed
# brings the same disturbances, though not at the same instants.
# vm: kernels=debug-7.3 all-kernels=debug cpus=4 mem=1280 mods=optest timeout=2400

. ./lib.sh

seconds=120
[ ! -e long ] || seconds=600
SEED=${OPROFILE_SEED:-$(($(od -An -tu2 -N2 /dev/urandom)))}
KPROBES=/sys/kernel/debug/kprobes/enabled

# any LIMIT: sets any to a number below it. Each process goes on from the seed it
# has.
any()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	any=$((seed / 65536 % $1))
}

# pause MS: so long, or less.
pause()
{
	any "$1"
	usleep $((any * 1000))
}

# one_of WORD...: sets word to one of them.
one_of()
{
	any $#
	shift "$any"
	word=$1
}

# shuffle WORD...: sets shuffled to them.
shuffle()
{
	shuffled=
	while [ $# -gt 0 ]; do
		any $#
		while [ "$any" -gt 0 ]; do
			set -- "$@" "$1"
			shift
			any=$((any - 1))
		done
		shuffled="$shuffled $1"
		shift
	done
}

# done_once NAME: counts that it was done.
done_once()
{
	echo >>"/tmp/done/$1"
}

# What goes on beside the runs, until /tmp/soaking is gone: each its own process.

hotplug()
{
	while [ -e /tmp/soaking ]; do
		one_of 1 2 3
		cpu=/sys/devices/system/cpu/cpu$word/online
		echo 0 >"$cpu" && pause 1000 && echo 1 >"$cpu" &&
			done_once hotplug
		pause 2000
	done
}

modules()
{
	while [ -e /tmp/soaking ]; do
		insmod /lib/modules/optest.ko &&
			echo 50 >/sys/module/optest/parameters/spin &&
			rmmod optest && done_once modules
		pause 2000
	done
}

pressure()
{
	while [ -e /tmp/soaking ]; do
		one_of 64 96 128
		hog 3 "$word" >/dev/null && done_once pressure
		echo 3 >/proc/sys/vm/drop_caches
		pause 4000
	done
}

# A run: its reader, what happens to it, and its end.

# begin: with sizes of its own.
begin()
{
	one_of 1048576 131072 512
	op buffer_watershed 1
	op buffer_size "$word"
	op buffer_watershed $((word / 4))
	one_of 16384 8192 16
	op cpu_buffer_size "$word"
	killed=
	blind=
	# There may be too little memory just now.
	wait_for 60 start || fail "a run can be started"
	read_stream
}

read_stream()
{
	cat "$OP/buffer" >/tmp/stream &
	reader=$!
}

kill_reader()
{
	kill -9 "$reader"
	wait "$reader" 2>/dev/null
	killed=1
}

# finish: what was read is all that was delivered, unless a reader has died with
# what it had just read. The stream waits to be judged until the storm is over.
finish()
{
	wait_for 60 received_more 0
	stop
	wait "$reader" || fail "the reader reads to the end"
	decoded=
	[ -n "$killed" ] || decoded=$(opread -q -f /tmp/stream) ||
		fail "the stream is well formed"
	law_holds "$decoded" || {
		unlawful=$((unlawful + 1))
		diag "run $runs: $law_text"
	}
	runs=$((runs + 1))
	[ -z "$blind" ] || return
	mv /tmp/stream "/tmp/runs/$runs"
	cat "$OP/dcookies" >"/tmp/runs/$runs.cookies"
}

# in_place STREAM COOKIES: no sample is in a wrong file, nor has a wrong app. None
# at all is not wrong here: a task that was reaped can be held up for seconds
# before its last instruction, when its app has been forgotten.
in_place()
{
	stormcheck -f "$1" -d "$2" >/tmp/verdict && return
	diag "$(grep -v '^s' /tmp/verdict)"
	[ -n "$(value wrong)" ] && [ "$(value wrong)" = "$(value noapp)" ]
}

# judge_runs: sets wrong to how many runs of this storm have a sample in a wrong
# file.
judge_runs()
{
	wrong=0
	for stream in /tmp/runs/*.cookies; do
		[ -e "$stream" ] || break
		in_place "${stream%.cookies}" "$stream" || wrong=$((wrong + 1))
		n=$(value stormuser)
		judged=$((judged + ${n:-0}))
	done
	rm -f /tmp/runs/*
}

# size_refused FILE VALUE
size_refused()
{
	! op "$1" "$2" 2>/dev/null || fail "$1 can't be changed in a run"
}

# disturb: in the next way. When all have been, they come in another order.
disturb()
{
	[ -n "$shuffled" ] ||
		shuffle readers restarts kprobes sizes dumps looks
	# shellcheck disable=SC2086 # words
	set -- $shuffled
	what=$1
	shift
	shuffled=$*
	case $what in
	readers)
		kill_reader
		cat "$OP/samples" >/tmp/samples &
		reader=$!
		pause 1000
		kill_reader
		read_stream ;;
	restarts)
		finish
		pause 300
		begin ;;
	kprobes)
		finish
		begin
		blind=1
		echo 0 >$KPROBES || fail "kprobes can be disarmed"
		pause 2000
		echo 1 >$KPROBES || fail "kprobes can be armed again"
		finish
		begin ;;
	sizes)
		size_refused buffer_size 65536
		size_refused cpu_buffer_size 100 ;;
	dumps)
		op dump 1 ;;
	looks)
		cat "$OP/dcookies" "$OP/hooks" "$OP"/stats/*_* \
			"$OP"/stats/cpu*/* >/dev/null ;;
	esac
	done_once "$what"
	pause 1500
}

# soak_round NUMBER: of some seconds.
soak_round()
{
	runs=0
	unlawful=0
	begin
	any 8
	storm $((5 + any)) all >/tmp/counts &
	storm=$!
	while [ -d "/proc/$storm" ]; do
		disturb
	done
	wait $storm
	ok $? "round $1: the storm did what it should"
	finish
	is $unlawful 0 "round $1: the law, in $runs runs"
	judge_runs
	is $wrong 0 "round $1: no sample in a wrong file"
	diag "$(uptime_seconds) s: $judged user samples of storms judged by now"
}

# enough: the time is over, all that should happen has, and there was something
# to judge.
enough()
{
	[ "$(uptime_seconds)" -ge "$over" ] && [ "$judged" -ge 200 ] &&
		[ "$(find /tmp/done -type f | wc -l)" -eq 9 ]
}

diag "OPROFILE_SEED=$SEED"
all_pids
# The kernel begins to look for memory long before there is none.
echo 1000 >/proc/sys/vm/watermark_scale_factor
no_fair_server
# Where KCSAN is, it looks at one access in so many.
[ ! -e /sys/module/kcsan/parameters/skip_watch ] ||
	echo 1000 >/sys/module/kcsan/parameters/skip_watch
# Where there are counters, their overflows come as NMIs. The emulated CPU is fast
# beside its counter, so what runs in user space does so for longer.
event='cpu-clock'
factor=1
if [ "$(uname -m)" = aarch64 ]; then
	event=cycles
	factor=8
fi
storm-make $factor
ok $? "there are files for the storms"
load event=$event count=2000000
ok $? "loads"
op_event 1 page-faults 20
op_event 2 context-switches 200

# Or this script would hardly have its turns. More would starve the storms where the
# machine is slow: they have to come to an end, and hold locks meanwhile.
storm()
{
	sh -c 'renice -n 10 $$ >/dev/null && exec storm "$@"' sh "$@"
}

mkdir /tmp/done /tmp/runs
: >/tmp/soaking
seed=$SEED
hotplug &
beside=$!
seed=$((SEED + 1))
modules &
beside="$beside $!"
seed=$((SEED + 2))
pressure &
beside="$beside $!"
seed=$((SEED + 3))
shuffled=
judged=0
round=0
over=$(($(uptime_seconds) + seconds))
until enough; do
	round=$((round + 1))
	soak_round $round
done
rm /tmp/soaking
for pid in $beside; do
	wait "$pid"
done
diag "$(wc -l /tmp/done/* | tr '\n' ,)"

# After all that, a run like any other.
is "$(nproc)" 4 "all CPUs are there"
begin_stream
storm 5 all >/tmp/counts
ok $? "a storm by itself"
end_stream
in_place /tmp/stream "$OP/dcookies"
ok $? "a run by itself: no sample in a wrong file"
law "$(value samples)" "a run by itself"
[ "$(value stormuser)" -ge 10 ]
ok $? "a run by itself: $(value stormuser) user samples of storms"
unload
ok $? "unloads"
done_testing
