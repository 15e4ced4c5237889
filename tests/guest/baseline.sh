#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The machine alone, without the module: whatever the kernel reports here is
# not ours.

. ./lib.sh

plan 2
is "$(nproc)" 2 "has the processors it was given"
grep -q debugfs /proc/mounts
ok $? "has debugfs"
done_testing
