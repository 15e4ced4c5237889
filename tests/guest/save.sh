#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The examples for a profile that is always on: the script saves every sample,
# rotates its files and stops cleanly; the module takes the options.
# vm: kernels=6.1 all-kernels=x86-64 cpus=2 timeout=120 tools=split add=examples

. ./lib.sh

PATH=/tools:$PATH
logs=/tmp/logs

# save SIZE KEEP: in the background, as a service would.
save()
{
	rm -rf "$logs"
	mkdir "$logs"
	LOGS_DIRECTORY=$logs SIZE=$1 KEEP=$2 sh /oprofile-save &
	saver=$!
	wait_for 10 running
}

# shellcheck disable=SC2317 # wait_for calls it
running()
{
	[ "$(cat "$OP/enable")" = 1 ]
}

# too_large SIZE: the files that are.
too_large()
{
	find "$logs" -type f -size "+$1"
}

files()
{
	find "$logs" -type f | wc -l
}

load event=cpu-clock count=1000000
ok $? "loads"
busy burn mix

save 32K 1000
wait_for 60 received_more 2000
kill -TERM "$saver"
wait "$saver"
ok $? "the script ends well"
is "$(cat "$OP/enable")" 0 "and the profile with it"
law "$(cat "$logs"/samples-* | count_samples)" "all samples are in the files"
[ "$(files)" -gt 2 ]
ok $? "there are several files"
diag "$(files) files"
is "$(too_large 32k)" "" "of the size asked for"

save 8K 3
wait_for 60 received_more 2000
stop
wait "$saver"
ok $? "the script ends well when the profile is stopped"
is "$(files)" 3 "three files are kept"
is "$(cat "$logs"/samples-* | awk -F '\t' 'NF != 8' | wc -l)" 0 "of whole lines"
last=$(cat "$OP/stats/sample_delivered")
[ "$(cat "$logs"/samples-* | wc -l)" -lt "$last" ]
ok $? "older ones are not"

start
cat "$OP/samples" >/dev/null &
reader=$!
wait_for 10 received_more 10
save 8K 3
! wait "$saver"
ok $? "the script fails while another reads"
is "$(cat "$OP/enable")" 1 "and stops nobody's profile"
stop
wait "$reader"
calm
unload
ok $? "unloads"

# shellcheck disable=SC2046 # words
load $(sed -n 's/^options oprofile //p' /modprobe.conf)
ok $? "loads with the example's options"
is "$(cat "$OP/enable")" 1 "and profiles"
stop
unload
is "$(grep -v '^#' /modules-load.conf)" oprofile "the name to be loaded at boot"
done_testing
