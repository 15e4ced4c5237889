#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The module loads, shows its files and leaves nothing behind.

. ./lib.sh

plan 4
load
ok $? "loads"
[ -f "$OP/enable" ]
ok $? "has its files in debugfs"
unload
ok $? "unloads"
[ ! -e "$OP" ]
ok $? "takes its files away"
done_testing
