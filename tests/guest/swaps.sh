#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A process that does nothing but run at one address, where something else is
# mapped now and then: each time has its file. Nothing that the sync core
# remembers may outlive a swap, and no other place pushes it out here.
# vm: kernels=5.10,7.3 all-kernels=x86-64 cpus=1 icount=yes timeout=300

. ./lib.sh

# of FILE: its samples.
of()
{
	grep -c "	$1	0x" /tmp/samples
}

load event=cpu-clock count=1000000
ok $? "loads"
start
cat "$OP/samples" >/tmp/samples &
reader=$!
swaps /tmp/first /tmp/second 6 2.2
ok $? "swapped files"
stop
wait $reader
law "$(count_samples </tmp/samples)" "of the text"
first=$(of /tmp/first)
second=$(of /tmp/second)
diag "$first in the first file, $second in the second"
# Each has 6,600, and whatever one loop took too long.
[ "$first" -gt 6400 ] && [ "$first" -lt 6900 ]
ok $? "the first file has what it should have"
[ "$second" -gt 6400 ] && [ "$second" -lt 6900 ]
ok $? "so has the second"
unload
ok $? "unloads"
done_testing
