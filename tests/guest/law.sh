#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Every sample that was received is delivered or counted as lost, when all goes
# well and when hardly anything does.
# vm: kernels=6.1,6.12 cpus=2 mem=1024 timeout=300

. ./lib.sh

# lost_most: more than were delivered.
lost_most()
{
	[ "$(lost)" -gt "$(cat "$OP/stats/sample_delivered")" ]
}

# some STAT...: the sum of those counters is not 0.
some()
{
	[ "$(cat "$@" | sum)" -gt 0 ]
}

load buffer_size=1048576 buffer_watershed=524288
ok $? "loads"

# A reader that is always there.
busy burn mix
busy burn mix
busy burn crowd
start
opread >/tmp/count &
wait_for 60 received_more 3000
stop
wait $!
ok $? "the stream is well formed"
law "$(awk '$1 == "samples" { print $2 }' /tmp/count)" "a reader from the start on"
diag "$(cat /tmp/count)"

# The text, in the same way.
start
cat "$OP/samples" >/tmp/samples &
wait_for 60 received_more 3000
stop
wait $!
law "$(count_samples </tmp/samples)" "a reader of the text"

# No reader until the end; reads that are as large as the buffer.
start
wait_for 60 received_more 2000
stop
law "$(opread -q -B -w 1048576)" "whole batches in reads of the buffer's size"

# Batch by batch while it runs: dump makes them small and many.
start
opread -B -w 1048576 >/tmp/count &
i=0
while [ $i -lt 50 ]; do
	op dump 1
	i=$((i + 1))
done
stop
wait $!
ok $? "whole batches while they come"
law "$(awk '$1 == "samples" { print $2 }' /tmp/count)" "many small batches"
calm

# A buffer far too small, and a reader that has it open and sleeps.
op buffer_watershed 256
op buffer_size 1024
op 0/name page-faults
op 0/count 1
busy burn faults
busy burn mix
exec 3<"$OP/buffer"
start
wait_for 60 received_more 30000
calm
stop
decoded=$(opread -q -f - <&3)
exec 3<&-
law "$decoded" "a sleeping reader of a small buffer"
lost_most
ok $? "most samples are lost then"
some "$OP/stats/event_lost_overflow"
ok $? "to the event buffer"

# The same with the text.
busy burn faults
exec 3<"$OP/samples"
start
wait_for 60 received_more 30000
calm
stop
decoded=$(count_samples <&3)
exec 3<&-
law "$decoded" "a sleeping reader of the text of a small buffer"
lost_most
ok $? "most samples are lost then too"

# A slow reader: losses come and go, so that what follows one has to restate
# its context.
busy burn mix
busy burn faults 0 1
busy burn crowd
op 0/count 7
start
opread -q -s 800 >/tmp/count &
wait_for 60 received_more 20000
stop
wait $!
ok $? "the stream is well formed around its gaps"
law "$(cat /tmp/count)" "a slow reader of a small buffer"
calm

# Rings that hold next to nothing.
op buffer_size 1048576
op buffer_watershed 524288
op cpu_buffer_size 16
op 0/count 1
busy burn faults
busy burn faults
busy burn mix
busy burn crowd
start
opread -q >/tmp/count &
wait_for 60 received_more 30000
wait_for 60 some "$OP"/stats/cpu*/sample_lost_overflow
ok $? "samples are lost to the rings"
calm
stop
wait $!
ok $? "the stream is well formed around them"
law "$(cat /tmp/count)" "tiny rings"

unload
ok $? "unloads"
done_testing
