#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A kernel that is locked down takes the signed module, refuses writes to debugfs,
# and lets the profile be switched by the module's parameter and be read. It lets
# nobody ask kmemleak either.
# vm: kernels=debug-7.3 all-kernels=debug-6.12,debug-7.3 cpus=2 append=lockdown=integrity sign=yes leaks=no mods=optest

. ./lib.sh

ENABLE=/sys/module/oprofile/parameters/enable

# switch VALUE
switch()
{
	echo "$1" >$ENABLE
}

# shellcheck disable=SC2317 # for wait_for
has_data()
{
	[ -s "$1" ]
}

dmesg | grep -q 'Kernel is locked down'
ok $? "the kernel is locked down"
! insmod /lib/modules/optest.ko 2>/dev/null
ok $? "it refuses a module that is not signed"
load event=cpu-clock count=1000000 buffer_size=65536 enable=0
ok $? "it takes the signed one"

for file in enable buffer_size dump 0/count; do
	is "$(try write "$OP/$file" 1)" EPERM "it refuses a write to $file"
done
is "$(cat $ENABLE)" 0 "nothing is enabled"

switch 1
ok $? "the parameter can be written"
is "$(cat $ENABLE)" 1 "it is enabled"
busy burn cpu
cat "$OP/buffer" >/tmp/stream &
reader=$!
wait_for 20 has_data /tmp/stream
ok $? "a reader of buffer gets data while the profile runs"
kill $reader
wait $reader 2>/dev/null
cat "$OP/samples" >/tmp/samples &
reader=$!
wait_for 20 has_data /tmp/samples
ok $? "so does one of samples"
[ "$(received)" -gt 0 ]
ok $? "stats can be read"
cat "$OP/hooks" "$OP/dcookies" >/dev/null
ok $? "so can hooks and dcookies"
switch 0
ok $? "the parameter ends it"
wait $reader
ok $? "the reader gets the rest, and its end"
calm
[ "$(count_samples </tmp/samples)" -gt 0 ]
ok $? "its text is well-formed"
law '' "locked down"
is "$(cat $ENABLE)" 0 "it is disabled"
unload
ok $? "unloads"
done_testing
