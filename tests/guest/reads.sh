#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Reads of every size and kind, what ends a wait, and end of file.
# vm: kernels=6.12 cpus=2 mem=768 timeout=300

. ./lib.sh

load
ok $? "loads"
tap_run reads

# The other ways to wait, and other sizes, while it runs.
op 0/name cpu-clock
op 0/freq 1000
op cpu_buffer_size 8192
busy burn mix
busy burn crowd
for options in "-w 1" "-v -s 999" "-s 17" "-p" "-e" "-p -v -s 4001" "-e -w 1"; do
	start
	# shellcheck disable=SC2086 # words
	opread -q $options >/tmp/count &
	wait_for 60 received_more 600
	stop
	wait $!
	ok $? "opread $options: well formed"
	law "$(cat /tmp/count)" "opread $options"
done
calm
unload
ok $? "unloads"
done_testing
