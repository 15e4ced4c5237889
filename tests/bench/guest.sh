#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What a sample costs, and what the hooks cost at an exit and an unmap; and the
# same with what there is besides: perf record where the machine has it, and the
# kernel's own OProfile driver up to 5.11.
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
	[ ! -x /usr/bin/perf ] || perf_cost "$load" "$n" "$3" "$base" "$again"
}

# perf_record PERIOD: in the background, until perf_end.
perf_record()
{
	perf record -q -a -e cpu-clock -c "$1" -o /tmp/perf.data \
		sleep 100000 >/dev/null 2>/tmp/perf.log &
	perf=$!
	wait_for 60 test -s /tmp/perf.data
}

perf_end()
{
	kill -INT $perf
	wait $perf
}

# perf_cost LOAD N HZ BASE AGAIN
perf_cost()
{
	local period=$((1000000000 / $3)) samples bytes

	perf_record $period
	time_of "$1" "$2"
	perf_end
	# Also those of the run to warm up, and between.
	bytes=$(perf report --stats -i /tmp/perf.data 2>/dev/null |
		awk -v size="$(stat -c %s /tmp/perf.data)" \
		'/SAMPLE events:/ && $3 > 0 { printf "%.2f\n", size / $3; exit }')
	samples=$((first / period))
	row sample "$1" "$3" "perf record -a" "$first" "$second" "$samples" \
		"$(per "$samples" "$first" "$4") $(per "$samples" "$second" "$5")" \
		"$bytes"
	rm /tmp/perf.data
}

# driver_cost LOAD N: the kernel's own driver, by the kernel's tick, and above
# nothing at all. Reads must be of its whole buffer.
driver_cost()
{
	local driver=/dev/oprofile base again reader samples size

	unload
	time_of "$1" "$2"
	base=$first
	again=$second
	insmod /etc/driver.ko timer=1
	ok $? "the kernel's own driver loads"
	mkdir -p $driver
	mount -t oprofilefs none $driver
	size=$(($(cat $driver/buffer_size) * 8))
	dd if=$driver/buffer of=/tmp/stream bs=$size 2>/dev/null &
	reader=$!
	sleep 1
	echo 1 >$driver/enable
	bench "$1" $(($2 / 10 + 1)) >/dev/null
	samples=$(cat $driver/stats/cpu0/sample_received)
	first=$(bench "$1" "$2")
	samples=$(($(cat $driver/stats/cpu0/sample_received) - samples))
	second=$(bench "$1" "$2")
	echo 0 >$driver/enable
	echo 1 >$driver/dump
	sleep 1
	kill $reader
	wait $reader
	row sample "$1" tick "kernel's driver" "$first" "$second" "$samples" \
		"$(per "$samples" "$first" "$base") $(per "$samples" "$second" \
		"$again")" "$(awk -v size="$(stat -c %s /tmp/stream)" -v n="$(cat \
		$driver/stats/cpu0/sample_received)" \
		'BEGIN { printf "%.2f\n", size / n }')"
	umount $driver
	rmmod oprofile
	rm /tmp/stream
	load event=cpu-clock buffer_size=1048576 buffer_watershed=524288
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
	[ -x /usr/bin/perf ] || return 0
	unload
	perf_record 1000000
	exit_row "$load" "$n" "perf record -a, 1000 samples a second"
	perf_end
	load event=cpu-clock
}

ready event=cpu-clock buffer_size=1048576 buffer_watershed=524288
case $(cat /etc/bench-part) in
quick)
	sample_cost user 8000 1000 ;;
sample)
	for hz in 250 1000 10000; do
		sample_cost user 8000 $hz
		sample_cost kernel 1600 $hz
		sample_cost mix 20000 $hz
		sample_cost libraries 20000 $hz
	done ;;
driver)
	sample_cost user 2000 250
	sample_cost kernel 400 250
	driver_cost user 2000
	driver_cost kernel 400 ;;
exit)
	exit_cost exec 200
	exit_cost mmap 4000 ;;
*)
	fail "no such part" ;;
esac
finish
