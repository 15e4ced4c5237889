#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Nonsense for every file and parameter. It is refused, changes nothing, and is
# not worth a line in the log.
# vm: kernels=6.1 cpus=1 mem=768 timeout=300

. ./lib.sh

# The first load may taint the kernel, which it says.
load event=cpu-clock
ok $? "loads"
log_mark
tap_run badinput files
is "$(log_loud)" "" "nothing of it is in the log above notice level"
log_mark
tap_run badinput sysfs
is "$(log_loud)" "" "nor of that"

# And it still works.
start
burn cpu 1
stop
law "$(opread -q)" "after bad input"
unload
ok $? "unloads"

log_mark
tap_run badinput parameters /lib/modules/oprofile.ko
is "$(log_loud)" "" "no bad parameter is in the log above notice level"
load event=cpu-clock enable=1
ok $? "loads after that"
burn cpu 1
stop
law "$(opread -q)" "after bad parameters"

# The check of the log can fail.
log_mark
echo '<4>a warning' >/dev/kmsg
is "$(log_loud | grep -c 'a warning')" 1 "a line above notice level is noticed"
unload
ok $? "unloads"
done_testing
