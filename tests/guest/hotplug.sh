#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# CPUs go and come while they are profiled, with software counters of every kind.
# vm: kernels=6.1 all-kernels=6.1,debug-7.3 cpus=4 mem=1024 timeout=900

. ./lib.sh

cpu_online()
{
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

received_on()
{
	cat "$OP/stats/cpu$1/sample_received"
}

# seen CPU LINE: samples of each of the four events from that CPU, in the text
# after that line.
# shellcheck disable=SC2317 # for wait_for
seen()
{
	tail -n "+$2" /tmp/samples | awk -F '\t' -v cpu="$1" '
		NF == 8 && $1 == cpu && !event[$4]++ { n++ }
		END { exit n < 4 }'
}

lines()
{
	wc -l </tmp/samples
}

# A kernel that checks itself is slow.
runs=20
period=4000000
case $(uname -r) in
*-debug)	runs=3
		period=16000000 ;;
esac

no_fair_server
load buffer_size=1048576 buffer_watershed=524288
ok $? "loads"
op_event 0 cpu-clock $period
op_event 1 task-clock $period
op_event 2 page-faults $((period / 80000))
op_event 3 context-switches $((period / 400000))

# One is away when the run begins.
cpu_online 3 0
start
cat "$OP/samples" >/tmp/samples &
reader=$!
for cpu in 0 1 2; do
	busy burn mix 0 $cpu
done
for cpu in 0 1 2; do
	wait_for 120 seen $cpu 1
	ok $? "CPU $cpu: samples of every event"
done
mark=$(lines)
cpu_online 3 1
busy burn mix 0 3
wait_for 120 seen 3 "$mark"
ok $? "CPU 3 joins the run"

for cpu in 0 1 2 3; do
	[ -e "/sys/devices/system/cpu/cpu$cpu/online" ] || continue
	mark=$(lines)
	wait_for 120 seen $cpu "$mark"
	ok $? "CPU $cpu: samples before it goes"
	cpu_online $cpu 0
	is "$(cat "/sys/devices/system/cpu/cpu$cpu/online")" 0 "CPU $cpu goes"
	before=$(received_on $cpu)
	[ "$before" -gt 0 ]
	ok $? "its counters stay"
	mark=$(lines)
	for other in 0 1 2 3; do
		[ $other -eq $cpu ] || wait_for 120 seen $other "$mark" ||
			fail "CPU $other: samples meanwhile"
	done
	is "$(received_on $cpu)" "$before" "nothing comes from it"
	cpu_online $cpu 1
	mark=$(lines)
	busy burn mix 0 $cpu
	wait_for 120 seen $cpu "$mark"
	ok $? "CPU $cpu: samples when it is back"
done
stop
wait $reader
law "$(count_samples </tmp/samples)" "CPUs that go and come"

# Starts and stops that meet a CPU on its way.
(
	i=0
	while [ $i -lt $runs ]; do
		cpu_online 2 $((i % 2))
		i=$((i + 1))
	done
) &
other=$!
bad=0
i=0
while [ $i -lt $runs ] || [ -d "/proc/$other" ]; do
	start || bad=$((bad + 1))
	wait_for 60 received_more 20
	stop || bad=$((bad + 1))
	law_holds "$(opread -q)" || {
		bad=$((bad + 1))
		diag "run $i: $law_text"
	}
	i=$((i + 1))
done
wait $other
is $bad 0 "$i runs while a CPU goes and comes"
cpu_online 2 1 2>/dev/null

# A CPU that is away when the run ends, and when the module goes.
start
wait_for 60 received_more 20
cpu_online 1 0
stop
law "$(opread -q)" "a run that ends without a CPU"
calm
unload
ok $? "unloads without it"
cpu_online 1 1
ok $? "which comes back afterwards"
done_testing
