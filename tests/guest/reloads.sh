#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# 100 loads and unloads with a profile running, while processes run, exec and
# exit. One CPU: each load patches the probed functions, and an emulator may keep
# running, on another CPU, code that has been patched while it was translated.
# vm: kernels=6.1 cpus=1 mem=768 timeout=1500

. ./lib.sh

busy burn gentle
busy burn gentle

bad=0
silent=0
i=1
while [ $i -le 100 ]; do
	load enable=1 || bad=$((bad + 1))
	wait_for 60 received_more 0 || silent=$((silent + 1))
	unload || bad=$((bad + 1))
	[ $((i % 20)) -ne 0 ] || diag "$i loads"
	i=$((i + 1))
done
is $bad 0 "100 loads and unloads"
is $silent 0 "with samples in each"
[ ! -e "$OP" ] && [ ! -e /sys/module/oprofile ]
ok $? "nothing stays of the module"
is "$(cat /sys/kernel/debug/kprobes/list)" "" "nor of its probes"
# An idle worker of the kernel's own bears the name of what it did last.
is "$(cat /proc/[0-9]*/comm 2>/dev/null | grep oprofile | grep -vc '^kworker/u')" \
	0 "nor of its threads"
calm
done_testing
