#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module that is loaded in a run is noted in the stream, its code is in the
# profile, and its name stays there when it has gone.
# vm: kernels=6.1,6.12 cpus=2 timeout=200 mods=optest

. ./lib.sh

optest()
{
	insmod /lib/modules/optest.ko
	echo "${1:-300}" >/sys/module/optest/parameters/spin
	rmmod optest
}

notices()
{
	awk '$1 == "modules" { print $2 }' /tmp/count
}

load event=cpu-clock count=1000000
ok $? "loads"
insmod /lib/modules/optest.ko
ok $? "a module while nothing runs"
rmmod optest
start
burn cpu 0.3
stop
opread >/tmp/count
is "$(notices)" 0 "no notice without a load"

start
optest
optest
optest
stop
opread >/tmp/count
ok $? "the stream is well formed around the notices"
is "$(notices)" 3 "a notice for each load"
law "$(awk '$1 == "samples" { print $2 }' /tmp/count)" "with notices"

start
optest 500
stop
[ ! -e /sys/module/optest ]
ok $? "the module is gone"
cat "$OP/samples" >/tmp/samples
law "$(count_samples </tmp/samples)" "of the text"
n=$(awk -F '\t' '$7 == "[optest]"' /tmp/samples | wc -l)
[ "$n" -gt 50 ]
ok $? "its name is in the profile all the same ($n samples)"

# While it is still there.
insmod /lib/modules/optest.ko
start
echo 500 >/sys/module/optest/parameters/spin
stop
cat "$OP/samples" >/tmp/samples
n=$(awk -F '\t' '$7 == "[optest]" && $8 ~ /^optest_spin\+0x/' /tmp/samples | wc -l)
[ "$n" -gt 50 ]
ok $? "a module from before the run ($n samples)"
start
echo 500 >/sys/module/optest/parameters/spin
stop
opread -t >/tmp/counts
n=$(awk -F '\t' '$8 == "[optest]" && $9 ~ /^optest_spin\+0x/ { n += $1 } END { print n + 0 }' /tmp/counts)
[ "$n" -gt 50 ]
ok $? "the stream has its addresses ($n samples)"
rmmod optest
unload
ok $? "unloads"
done_testing
