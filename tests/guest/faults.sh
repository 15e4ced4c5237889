#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Memory that is short: each allocation of the module fails in turn (of those of a
# load, which are hundreds and mostly alike, every fifth, or each at length), then
# any in the midst of a profile. And signals: whatever waits is interrupted.
# vm: kernels=debug-7.3 all-kernels=debug-6.12,debug-7.3 cpus=2 timeout=900 make=CFLAGS_MODULE=-DPOOL_PER_CPU=8

. ./lib.sh

FAULTS=/sys/kernel/debug

# fault NAME VALUE: for both kinds of allocation.
fault()
{
	local kind

	for kind in failslab fail_page_alloc; do
		[ ! -e "$FAULTS/$kind/$1" ] || echo "$2" >"$FAULTS/$kind/$1"
	done
}

# faults_left: of those that were to come.
faults_left()
{
	cat "$FAULTS/failslab/times" "$FAULTS/fail_page_alloc/times" | sum
}

# shellcheck disable=SC2317 # for wait_for
# fewer_left THAN
fewer_left()
{
	[ "$(faults_left)" -lt "$1" ]
}

scan_leaks()
{
	echo scan >/sys/kernel/debug/kmemleak
}

tap_run faults /lib/modules/oprofile.ko

load
ok $? "loads"
tap_run signals buffer
tap_run signals samples

# The workers' allocations, for pictures, cookies, and samples that wait, are
# nobody's call: some of them fail while a profile runs. The filter is the one
# that is set still: under the module's own functions.
op 0/name cpu-clock
op 0/freq 500
text=$(cat /sys/module/oprofile/sections/.text)
fault require-start "$text"
fault require-end "$(printf '0x%x' $((text + 262144)))"
busy burn mix
busy burn crowd
start
# The reader must be there before any memory is short.
exec 3<"$OP/buffer"
opread -q -f - <&3 >/tmp/count &
reader=$!
exec 3<&-
fault probability 20
fault times 300
wait_for 300 fewer_left 500
ok $? "allocations fail in a profile"
diag "$(faults_left) of 600 did not"
fault times 0
fault probability 0
stop
wait $reader
ok $? "the stream is well formed all the same"
law "$(cat /tmp/count)" "allocations that fail in a profile"
diag "$(grep . "$OP"/stats/*lost* "$OP/stats/pictures_missed")"

start
wait_for 60 received_more 500
calm
stop
law "$(opread -q)" "the next profile"
unload
ok $? "unloads"

# kmemleak says nothing any more once it has had no memory itself.
scan_leaks
ok $? "kmemleak has stood it all"
done_testing
