#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Counters of the CPU itself: they overflow, are as many as there are, and go and
# come with their CPU. QEMU has those of arm64.
# vm: set=all kernels=6.12-arm64 all-kernels=6.12-arm64,debug-6.12-arm64 cpus=2 timeout=600

. ./lib.sh

# samples_of EVENT [CPU]: of that in the text, on any CPU or on that.
samples_of()
{
	awk -F '\t' -v event="$1" -v cpu="${2:-}" '
		$4 == event && (cpu == "" || $1 == cpu) { n++ }
		END { print n + 0 }' /tmp/samples
}

# enough EVENT [CPU]
enough()
{
	[ "$(samples_of "$@")" -ge 20 ]
}

# run_of SECONDS: a run, and its text.
run_of()
{
	start && burn mix "$1" && stop && cat "$OP/samples" >/tmp/samples
}

cpu_online()
{
	echo "$2" >/sys/devices/system/cpu/cpu1/online
}

load
ok $? "loads"
is "$(cat "$OP/0/name")" cycles "the default event is cycles"
[ -d "/sys/bus/event_source/devices/$(cat "$OP/cpu_type")" ]
ok $? "cpu_type is a PMU: $(cat "$OP/cpu_type")"

run_of 2
ok $? "a run at the default frequency"
law "$(count_samples </tmp/samples)" "cycles"
enough cycles
ok $? "cycles overflow: $(samples_of cycles) samples"

# CPU_CYCLES, by its number
op_event 0 r11 2000000
run_of 2
ok $? "a run with a raw code"
law "$(count_samples </tmp/samples)" "a raw code"
enough r11
ok $? "it overflows: $(samples_of r11) samples"

op 0/event 17
run_of 2
ok $? "a run with event and unit_mask"
law "$(count_samples </tmp/samples)" "event and unit_mask"
enough r11
ok $? "they overflow: $(samples_of r11) samples"

op_event 0 cycles 2000000
op_event 1 r11 3000000
run_of 2
ok $? "a run with two events"
law "$(count_samples </tmp/samples)" "two events"
enough cycles && enough r11
ok $? "both overflow: $(samples_of cycles) and $(samples_of r11) samples"
op 1/enabled 0

start
burn mix 1
cpu_online 1 0
ok $? "a CPU goes while it is profiled"
burn mix 1
cpu_online 1 1
ok $? "it comes back"
cat "$OP/samples" >/tmp/samples &
reader=$!
# What it has had before is read by then.
op dump 1
sleep 1
mark=$(wc -l </tmp/samples)
busy burn mix 0 1
sleep 4
stop
calm
wait $reader
law "$(count_samples </tmp/samples)" "a CPU that went and came"
sed -i "2,${mark}d" /tmp/samples
enough cycles 1
ok $? "it is profiled again: $(samples_of cycles 1) samples"

# More than there are: six, and one that only counts cycles.
for n in 0 1 2 3 4 5 6 7; do
	op_event $n r11 2000000
done
log_mark
is "$(try write "$OP/enable" 1)" EBUSY "more events than counters are refused"
log_since | grep -q "oprofile: event . (r11) can't be counted"
ok $? "the log says which"
is "$(cat "$OP/enable")" 0 "nothing half-started stays"
op 7/enabled 0
run_of 2
ok $? "as many as there are can run"
law "$(count_samples </tmp/samples)" "as many as there are"
unload
ok $? "unloads"
done_testing
