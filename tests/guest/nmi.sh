#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Where counters' overflows come as NMIs, as on most machines, they interrupt the
# module itself anywhere: here arm64's pseudo-NMIs do, in storm.sh's storms. A
# module built for this test counts what they have interrupted, and lets them into
# hooks, as x86 does: without that, arm64 has them wait for a kprobe's end.
# vm: set=all kernels=debug-6.12-arm64 all-kernels=debug-6.12-arm64 cpus=2 mem=1024 timeout=2400 make=OP_TEST_NMI=y

# shellcheck disable=SC2034 # for storm.sh
storm_nmi=1
# shellcheck disable=SC2034
storm_event=cycles
# An emulated CPU is fast beside its counter.
# shellcheck disable=SC2034
storm_factor=4
. ./storm.sh
