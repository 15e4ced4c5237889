#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every event by name, as a raw code, by period and by frequency, up to eight at
# once. What this machine can't count is refused at the start, with perf's error.
# vm: kernels=6.12 cpus=2 mem=768 timeout=300

. ./lib.sh

all_off()
{
	for n in 0 1 2 3 4 5 6 7; do
		op $n/enabled 0
	done
}

# The one that is there as long as the module is does not count.
probes()
{
	grep -cv generic_shutdown_super /sys/kernel/debug/kprobes/list
}

# events_of FILE: events in that text, and how often.
events_of()
{
	awk -F '\t' 'NR > 1 { n[$4]++ } END { for (e in n) print e }' "$1" | sort
}

load
ok $? "loads"
is "$(cat "$OP/0/enabled") $(cat "$OP/1/enabled") $(cat "$OP/7/enabled")" "1 0 0" \
	"event 0 is on"
default=cpu-clock
[ "$(try perf cycles)" != OK ] || default=cycles
is "$(cat "$OP/0/name")" $default "it is what this machine has"
is "$(cat "$OP/0/freq")" 1000 "a thousand times a second"
case $default in
cpu-clock) is "$(cat "$OP/cpu_type")" timer "cpu_type" ;;
*)	[ -d "/sys/bus/event_source/devices/$(cat "$OP/cpu_type")" ]
	ok $? "cpu_type is a PMU: $(cat "$OP/cpu_type")" ;;
esac
case $(uname -m) in
i686)	bytes=4 ;;
*)	bytes=8 ;;
esac
is "$(cat "$OP/pointer_size")" $bytes "pointer_size"
is "$(probes)" 0 "no probe before the first start"

# By name.
for name in cpu-clock task-clock page-faults context-switches \
		cycles instructions cache-references cache-misses \
		branches branch-misses r1c2; do
	case $name in
	*-clock)	count=1000000 ;;
	page-faults)	count=10 ;;
	context-switches) count=2 ;;
	cycles|instructions) count=1000000 ;;
	*)		count=10000 ;;
	esac
	op_event 0 "$name" "$count"
	is "$(cat "$OP/0/name") $(cat "$OP/0/count")" "$name $count" "$name is set"
	can=$(try perf "$name")
	log_mark
	is "$(try write "$OP/enable" 1)" "$can" "$name starts if perf can count it ($can)"
	if [ "$can" = OK ]; then
		burn mix 1 &
		burn switches 100
		wait $!
		stop
		cat "$OP/samples" >/tmp/samples
		law "$(count_samples </tmp/samples)" "$name"
		is "$(events_of /tmp/samples)" "$name" "and only $name is there"
		continue
	fi
	log_since | grep -i oprofile | grep -qF "$name"
	ok $? "the log names $name"
	is "$(cat "$OP/enable") $(probes)" "0 0" "nothing half-started stays"
done

# One that can't be counted takes the others with it.
bad=
for name in cycles branch-misses r1c2 r0; do
	[ "$(try perf $name)" = OK ] || bad=$name
done
if [ "$bad" ]; then
	all_off
	op_event 0 cpu-clock 1000000
	op_event 1 page-faults 1
	op_event 2 "$bad" 100000
	op_event 3 context-switches 1
	[ "$(try write "$OP/enable" 1)" != OK ]
	ok $? "three events and $bad do not start"
	is "$(cat "$OP/enable") $(probes)" "0 0" "nothing half-started stays"
	before=$(received)
	burn mix 0.5
	is "$(received)" "$before" "nobody samples"
	op 2/enabled 0
	start
	burn mix 1
	stop
	cat "$OP/samples" >/tmp/samples
	law "$(count_samples </tmp/samples)" "the three without it"
	is "$(events_of /tmp/samples | tr '\n' ' ')" \
		"context-switches cpu-clock page-faults " "they are all there"
else
	pass "no event is beyond this machine # SKIP"
fi

# A page fault's sample is taken a moment after it, and yet in the right place.
all_off
op_event 0 page-faults 1
start
lone /tmp/lone 5000
ok $? "page faults of code between what was unmapped"
stop
cat "$OP/samples" >/tmp/samples
law "$(count_samples </tmp/samples)" "page faults"
n=$(awk -F '\t' '$7 == "/tmp/lone" { n++ } END { print n + 0 }' /tmp/samples)
[ "$n" -ge 5000 ]
ok $? "$n samples in that file"
is "$(lost)" 0 "none is lost"

# No event at all.
all_off
[ "$(try write "$OP/enable" 1)" != OK ]
ok $? "without an event it does not start"
is "$(cat "$OP/enable")" 0 "and is off"

# The raw code.
op 0/name cpu-clock
op 0/event 60
is "$(cat "$OP/0/name")" "" "a raw code takes the name's place"
is "$(cat "$OP/0/event")" 60 "and can be read back"
op 0/unit_mask 1
is "$(cat "$OP/0/unit_mask")" 1 "so can its unit mask"
op 0/enabled 1
is "$(try write "$OP/enable" 1)" "$(try perf r13c)" "it is what perf knows as r13c"
[ "$(cat "$OP/enable")" = 0 ] || stop
op 0/name cpu-clock
op 0/unit_mask 2
is "$(cat "$OP/0/name")" "" "so does a unit mask"
op 0/name r1ff
is "$(cat "$OP/0/name")" r1ff "a raw code as a name"
op 0/name task-clock
is "$(cat "$OP/0/name")" task-clock "a name is a name again"

# Period and frequency: the last one written counts.
# n = samples of a program that has 2 s of CPU time. A machine that has to share
# its own CPUs misses some, hence the wide limits.
rate()
{
	start
	burn cpu 2
	stop
	cat "$OP/samples" >/tmp/samples
	law "$(count_samples </tmp/samples)" "of that rate"
	n=$(awk -F '\t' '$6 ~ /\/burn$/' /tmp/samples | wc -l)
}
all_off
op_event 0 cpu-clock 10000000
rate
[ "$n" -ge 80 ] && [ "$n" -le 260 ]
ok $? "2 s of a clock with a period of 10 ms: $n samples"
op 0/freq 1000
rate
[ "$n" -ge 800 ] && [ "$n" -le 2600 ]
ok $? "and then with a frequency of 1000: $n samples"
op 0/count 50000000
rate
[ "$n" -ge 16 ] && [ "$n" -le 52 ]
ok $? "and then with a period of 50 ms: $n samples"

# Eight at once: who is who is in the number.
i=0
for name in cpu-clock task-clock page-faults context-switches \
		cpu-clock task-clock page-faults context-switches; do
	case $name in
	*-clock)	op_event $i $name $((1000000 * (i + 1))) ;;
	page-faults)	op_event $i $name $((i + 1)) ;;
	*)		op_event $i $name $((i + 1)) ;;
	esac
	i=$((i + 1))
done
busy burn mix
busy burn crowd
start
burn mix 2
stop
calm
opread >/tmp/count
ok $? "eight events: well formed"
law "$(awk '$1 == "samples" { print $2 }' /tmp/count)" "eight events"
is "$(grep -c '^event[0-7] [1-9]' /tmp/count)" 8 "each has samples"
diag "$(grep ^event /tmp/count)"

# kernel, user, idle.
# modes = those that there were samples of
modes()
{
	start
	burn mix 1
	stop
	cat "$OP/samples" >/tmp/samples
	law "$(count_samples </tmp/samples)" "of those modes"
	modes=$(awk -F '\t' 'NR > 1 { print $5 }' /tmp/samples | sort -u | tr -d '\n')
}
all_off
op_event 0 cpu-clock 1000000
is "$(cat "$OP/0/kernel") $(cat "$OP/0/user") $(cat "$OP/0/idle")" "1 1 0" \
	"the kernel and user space are counted, idle is not"
modes
is "$modes" ku "both modes"
is "$(awk -F '\t' 'NR > 1 && $3 == 0' /tmp/samples | wc -l)" 0 "no idle samples"
op 0/kernel 0
modes
is "$modes" u "user space only"
op 0/kernel 1
op 0/user 0
modes
is "$modes" k "the kernel only"
op 0/user 1
op 0/idle 1
modes
[ "$(awk -F '\t' 'NR > 1 && $3 == 0' /tmp/samples | wc -l)" -gt 100 ]
ok $? "idle samples too, when asked for"

unload
ok $? "unloads"

# As parameters.
load event=task-clock count=3000000 enable=1
ok $? "an event as a parameter"
is "$(cat "$OP/0/name") $(cat "$OP/0/count") $(cat "$OP/enable")" \
	"task-clock 3000000 1" "is set and runs"
burn cpu 1
stop
law "$(opread -q)" "of it"
unload
if [ "$bad" ]; then
	is "$(try insmod /lib/modules/oprofile.ko "event=$bad enable=1")" \
		"$(try perf "$bad")" "an event that can't be counted, as a parameter"
	[ ! -e "$OP" ] && [ ! -e /sys/module/oprofile ]
	ok $? "nothing of that stays"
fi
done_testing
