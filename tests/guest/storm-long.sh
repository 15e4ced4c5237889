#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# storm.sh at length, on two CPUs: each storm until it has brought 20,000 user
# samples, 20 seconds at least.
# vm: set=all kernels=6.1,6.12 all-kernels=6.1,6.12 cpus=2 mem=1024 timeout=7200

storm_long=20
. ./storm.sh
