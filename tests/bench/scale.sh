#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What a sample costs where there are many processes, mappings or files, and
# with larger rings. Samples of page faults, so that each can be had where it is
# wanted.
# vm: cpus=1 mem=3072 timeout=3600 icount=yes mods=opbare append="norandmaps nokaslr"

. ./bench.sh

page_faults=2	# PERF_COUNT_SW_PAGE_FAULTS
fault_samples=50000
# Small, so that what the worker and the reader have not yet done at the end of a
# run is little of it.
sizes="buffer_size=65536 buffer_watershed=49152"

# scale_row WHAT SIZE SAMPLES BASE FIRST SECOND
scale_row()
{
	row scale "$1" "$2" "$3" "$(per "$3" "$5" "$4")" "$(per "$3" "$6" "$4")"
}

# with_samples COMMAND...: sets its time and how many samples that brought.
with_samples()
{
	local reader

	start
	cat "$OP/buffer" >/dev/null &
	reader=$!
	"$@" >/tmp/first
	samples=$(received)
	time=$("$@")
	samples=$(($(received) - samples))
	stop
	wait $reader
	law_holds '' || fail "the law: $law_text"
}

# fault_scale LOAD SIZE...
fault_scale()
{
	local what=$1 size base first

	shift
	for size; do
		unload
		bare config=$page_faults period=1
		bench "$what" $fault_samples "$size" >/dev/null
		base=$(bench "$what" $fault_samples "$size")
		rmmod opbare
		# shellcheck disable=SC2086 # words
		load event=page-faults count=1 $sizes
		with_samples bench "$what" $fault_samples "$size"
		first=$time
		with_samples bench "$what" $fault_samples "$size"
		scale_row "$what" "$size" $fault_samples "$base" "$first" "$time"
	done
}

ring_scale()
{
	local size base first

	unload
	bare period=100000
	bench user 1000 >/dev/null
	base=$(bench user 1000)
	rmmod opbare
	for size; do
		# shellcheck disable=SC2086 # words
		load event=cpu-clock count=100000 cpu_buffer_size="$size" $sizes
		with_samples bench user 1000
		first=$time
		with_samples bench user 1000
		scale_row ring "$size" "$samples" "$base" "$first" "$time"
		unload
	done
	load
}

echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate
echo 1000000 >/proc/sys/vm/max_map_count
mkdir /tmp/many
many make /tmp/many 100000
ok $? "there are files with code"
ready
fault_scale files 10 100 1000 10000 100000
fault_scale mappings 10 100 1000 10000 60000
fault_scale processes 1 10 100 1000 10000
ring_scale 1024 8192 65536 1048576
finish
