#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# storm.sh at length, on eight CPUs. Where an emulator shares two CPUs among them,
# locks and the others' interrupts take most of the time; so what runs in user
# space does so for longer.
# vm: set=all kernels=6.1,6.12 all-kernels=6.1,6.12 cpus=8 mem=2048 timeout=7200

storm_long=20
storm_period=500000
storm_factor=8
. ./storm.sh
