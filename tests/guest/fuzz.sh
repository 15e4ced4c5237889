#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Random system calls on all files by 8 processes, while storms go on and
# profiles start and stop. N operations, with the random numbers that follow from
# SEED; both are environment variables, as the kernel makes them of its command
# line. What a failure says of the seed is repeated by
#	make fuzz N=50000 SEED=...
# The order in which the processes take turns is the machine's, so that it may
# take more than one try.
# vm: kernels=debug-7.3 all-kernels=debug-6.12,debug-7.3,debug-7.3-kcsan,debug-7.3-rt cpus=2 timeout=900

. ./lib.sh

: "${N:=50000}"
: "${SEED:=$(hexdump -n 4 -e '"%u"' /dev/urandom)}"

load event=cpu-clock
ok $? "loads"
# A debug kernel would do nothing else but take samples.
echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate
busy burn mix
busy burn crowd
busy burn faults 0 1
tap_run fuzz "$N" "$SEED"
calm
# The files that a process had open when it ended may take a moment to go.
wait_for 60 unload
ok $? "unloads"
done_testing
