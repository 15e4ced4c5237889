#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The hardest case: two files take turns at code that other threads are running.
# A module built for this test hands out the code at each sampled address, so that
# each sample can be held against the file it was booked to.
# vm: kernels=6.12 all-kernels=5.10,6.1,6.12,7.3 cpus=2 mem=1024 timeout=900 make=OP_TEST_CODE=y

# shellcheck disable=SC2034 # for storm.sh
storm_code=10000
[ ! -e long ] || storm_code=20000
. ./storm.sh
