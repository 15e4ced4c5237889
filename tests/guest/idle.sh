#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# While no sample arrives, the module's worker does not run.
# vm: kernels=6.12 cpus=2 timeout=400

. ./lib.sh

runs()
{
	cat "$OP/stats/sync_runs"
}

# shellcheck disable=SC2317 # for wait_for
runs_more()
{
	[ "$(runs)" -gt "$1" ]
}

load event=page-faults count=1
ok $? "loads"
start
before=$(runs)
burn faults 1000
wait_for 60 runs_more "$before"
ok $? "the worker runs when there are samples"
n=$(idlewatch)
ok $? "a while without samples"
is "$n" 0 "runs of the worker in it, page-faults"
stop
law "$(opread -q)" "page-faults"

op 0/name cpu-clock
op 0/freq 100
start
before=$(runs)
burn cpu 1
wait_for 60 runs_more "$before"
ok $? "the worker runs when there are samples"
n=$(idlewatch)
ok $? "a while without samples"
is "$n" 0 "runs of the worker in it, cpu-clock"
stop
law "$(opread -q)" "cpu-clock"

# Stopped, it has nothing to do at all.
n=$(idlewatch)
ok $? "a while after the stop"
is "$n" 0 "runs of the worker in it"
unload
ok $? "unloads"
done_testing
