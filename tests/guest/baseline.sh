#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The machine alone, without the module, at length with storms: whatever the kernel
# reports here is not ours.
# vm: kernels=5.10,6.1,6.12,7.3,debug-7.3 all-kernels=debian,debug cpus=2 mem=1024 timeout=300

. ./lib.sh

is "$(nproc)" 2 "has the processors it was given"
grep -q debugfs /proc/mounts
ok $? "has debugfs"
if [ -e long ]; then
	no_fair_server
	storm-make
	ok $? "has files for storms"
	storm 30 all >/dev/null
	ok $? "has storms"
fi
done_testing
