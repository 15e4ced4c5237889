#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What a sample costs, and what the hooks cost at an exit and an unmap.
# vm: cpus=1 mem=768 timeout=1800 icount=yes mods=opbare append="norandmaps nokaslr"

. ./bench.sh

# The functions that the module probes on this kernel.
probed()
{
	awk '$2 != "none" && !/^#/ { print $2 }' "$OP/hooks" | tr '\n' ','
}

# sample_cost LOAD N HZ
sample_cost()
{
	local load=$1 n=$2 period=$((1000000000 / $3)) file base again reader
	local samples bytes

	bare period=$period
	time_of "$load" "$n"
	base=$first
	again=$second
	rmmod opbare
	row sample "$load" "$3" "empty handler" "$base" "$again" - - -
	for file in buffer samples; do
		op 0/count $period
		start
		cat "$OP/$file" >/dev/null &
		reader=$!
		bench "$load" $((n / 10 + 1)) >/dev/null
		samples=$(received)
		first=$(bench "$load" "$n")
		samples=$(($(received) - samples))
		second=$(bench "$load" "$n")
		stop
		wait $reader
		law_holds '' || fail "the law: $law_text"
		start
		cat "$OP/$file" >/tmp/stream &
		reader=$!
		bench "$load" "$n" >/dev/null
		stop
		wait $reader
		bytes=$(awk -v size="$(stat -c %s /tmp/stream)" \
			-v n="$(cat "$OP/stats/sample_delivered")" \
			'BEGIN { printf "%.2f\n", size / n }')
		row sample "$load" "$3" "cat $file" "$first" "$second" "$samples" \
			"$(per "$samples" "$first" "$base") $(per "$samples" \
			"$second" "$again")" "$bytes"
		rm /tmp/stream
	done
}

# exit_row LOAD N NAME: what it costs, and how much that is above the bare one.
exit_row()
{
	time_of "$1" "$2"
	[ "$3" != bare ] || bare_time=$first
	row exit "$1" "$(per "$2" "$first" 0)" "$(per "$2" "$second" 0)" \
		"$(per "$2" "$first" "$bare_time")" "$3"
}

exit_cost()
{
	local load=$1 n=$2 symbols reader

	rmmod oprofile
	exit_row "$load" "$n" bare
	load event=cpu-clock
	exit_row "$load" "$n" "module loaded"
	start
	symbols=$(probed)
	stop
	bare symbols="${symbols%,}"
	exit_row "$load" "$n" "bare kprobes"
	rmmod opbare
	# no overflow in all this time
	op 0/name context-switches
	op 0/count 4000000000
	start
	exit_row "$load" "$n" "enabled, no samples"
	stop
	op 0/name cpu-clock
	op 0/count 1000000
	start
	cat "$OP/buffer" >/tmp/stream &
	reader=$!
	exit_row "$load" "$n" "enabled, 1000 samples a second"
	stop
	wait $reader
	law_holds '' || fail "the law: $law_text"
	rm /tmp/stream
}

ready event=cpu-clock buffer_size=1048576 buffer_watershed=524288
if [ -e /etc/bench-exit ]; then
	:
elif [ -e /etc/bench-quick ]; then
	sample_cost user 1000 1000
else
	for hz in 250 1000 10000; do
		sample_cost user 2000 $hz
		sample_cost kernel 400 $hz
		sample_cost mix 20000 $hz
		sample_cost libraries 20000 $hz
	done
fi
if [ ! -e /etc/bench-sample ]; then
	exit_cost exec 200
	exit_cost mmap 4000
fi
finish
