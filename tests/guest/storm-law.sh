#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# storm.sh, but only that the counters add up and that no sample is in a wrong
# file, however busy the machine is.
# vm: kernels=6.12 cpus=2 mem=1024 timeout=300

# shellcheck disable=SC2034 # for storm.sh
storm_law=1
. ./storm.sh
