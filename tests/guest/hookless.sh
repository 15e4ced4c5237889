#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Somebody disarms all kprobes in the midst of a storm: nothing breaks, each
# sample is counted, and what comes after they are armed again is right. Which
# file a sample is booked to that came meanwhile, nobody can promise.
# vm: kernels=6.12 all-kernels=debian cpus=2 mem=1024 timeout=300

. ./lib.sh

hits()
{
	awk '!/^#/ { n += $3 } END { print n }' "$OP/hooks"
}

# shellcheck disable=SC2317 # for wait_for
# hits_more THAN
hits_more()
{
	[ "$(hits)" -gt "$1" ]
}

kprobes()
{
	echo "$1" >/sys/kernel/debug/kprobes/enabled
}

# judge DESCRIPTION [OPTION...]: judge_stream, and there was something to judge.
judge()
{
	judge_stream "$@"
	[ "$(value stormuser)" -ge 100 ]
	ok $? "$1: $(value stormuser) user samples of storms"
}

all_pids
storm-make
ok $? "there are files for the storms"
load event=cpu-clock count=200000 buffer_size=1048576 \
	buffer_watershed=786432 cpu_buffer_size=16384
ok $? "loads"

# Or this script would hardly have its turns.
renice -n -19 $$ >/dev/null
storm()
{
	sh -c 'renice -n 19 $$ >/dev/null && exec storm "$@"' sh "$@" >/tmp/runs
}

# storms: one after the other, until there is no /tmp/stormy any more.
storms()
{
	while [ -e /tmp/stormy ]; do
		storm 4 all || return 1
	done
}

# A storm goes on while the probes go and come, several times.
begin_stream
: >/tmp/stormy
storms &
pid=$!
gone=0
back=0
i=0
while [ $i -lt 3 ]; do
	wait_for 60 hits_more "$(($(hits) + 100))" && back=$((back + 1))
	kprobes 0
	before=$(hits)
	wait_for 60 received_more "$(($(received) + 500))"
	[ "$(hits)" != "$before" ] || gone=$((gone + 1))
	kprobes 1
	i=$((i + 1))
done
is $gone 3 "no hits while they are disarmed"
wait_for 60 hits_more "$(hits)"
is $? 0 "and some when they are armed"
is $back 3 "each time"
rm /tmp/stormy
wait $pid
ok $? "the storm did what it should"

# In the same run, with the probes armed: the older processes are exempt.
storm 3 all &
pid=$!
wait $pid
ok $? "another storm, with the probes armed"
end_stream
judge "armed again" -e $pid
[ "$(value exempt)" -gt 1000 ]
ok $? "what came before is exempt: $(value exempt) samples"

# A run that begins without them, and stays so.
kprobes 0
begin_stream
storm 2 all
ok $? "a storm without any probe"
end_stream
is "$(hits)" 0 "no hits at all"
if stormcheck -f /tmp/stream >/tmp/verdict; then
	diag "nothing is in a wrong file all the same"
fi
law "$(value samples)" "without any probe"
diag "$(grep -E '^(outside|foreign|wrong|stats/.*lost)' /tmp/verdict)"

# One that begins without them, and gets them before anything happens.
begin_stream
kprobes 1
storm 3 all
ok $? "a storm after they were armed"
end_stream
judge "armed in the run"

begin_stream
storm 3 all
ok $? "a storm in a run like any other"
end_stream
judge "a run after all that"
unload
ok $? "unloads"
done_testing
