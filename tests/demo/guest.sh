#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the demo's machine runs: the same as the host with --host. In emulation
# an instruction takes a nanosecond of the machine's time (icount), so that its
# CPU clocks tell the truth however busy the host is. That allows one CPU.
# vm: cpus=1 icount=yes timeout=300

# shellcheck source=tests/guest/lib.sh
. ./lib.sh

plan 1
status=0
./demo.sh /lib/modules/oprofile.ko /demo /out >/out/profile 2>&1 || status=$?
diag "$(cat /out/profile)"
ok "$status" "profile.sh ends well, with every sample accounted for"
gzip /out/samples
done_testing
