#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# 100 starts and stops, or 500 at length, while processes run, exec and exit. One
# CPU, for the reason that reloads.sh gives.
# vm: kernels=6.12 cpus=1 mem=768 timeout=1500

. ./lib.sh

busy burn gentle
busy burn gentle

runs=100
[ ! -e long ] || runs=500
load
bad=0
broken=0
checked=0
i=1
while [ $i -le $runs ]; do
	start || bad=$((bad + 1))
	# Every tenth run has samples for sure, the others stop as they like.
	[ $((i % 10)) -ne 0 ] || wait_for 60 received_more 0
	stop || bad=$((bad + 1))
	if [ $((i % 10)) -eq 0 ]; then
		checked=$((checked + 1))
		law_holds "$(opread -q)" || {
			broken=$((broken + 1))
			diag "run $i: $law_text"
		}
	fi
	[ $((i % 100)) -ne 0 ] || diag "$i runs"
	i=$((i + 1))
done
is $bad 0 "$runs starts and stops"
is $broken 0 "the law in $checked of them"
unload
ok $? "unloads"
calm
done_testing
