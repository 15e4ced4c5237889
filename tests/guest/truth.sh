#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Where programs spend their time, by their own clocks, there their samples are,
# by function, by file and by program: one program, and fifty that run at once and
# go from CPU to CPU.
# vm: kernels=6.12 all-kernels=x86-64 cpus=2 mem=768 timeout=400 icount=yes

. ./lib.sh

# lines FILE NUMBER: it has as many.
# shellcheck disable=SC2317 # for wait_for
lines()
{
	[ -e "$1" ] && [ "$(grep -c '' "$1")" -ge "$2" ]
}

# release FIFO: lets those go on that wait there.
release()
{
	: >"/tmp/truth/$1"
}

# profile COUNT MS DESCRIPTION: of so many programs, between their begin and end.
# Each second one has a quarter of the time.
profile()
{
	local i=0 pids='' status=0 pid ms

	rm -rf /tmp/truth
	mkdir -p /tmp/truth
	mkfifo /tmp/truth/go /tmp/truth/end
	while [ $i -lt "$1" ]; do
		cp /bin/truth "/tmp/truth/program$i"
		ms=$(($2 / (1 + 3 * (i % 2))))
		"/tmp/truth/program$i" /tmp/truth "$i" $ms &
		pids="$pids $!"
		i=$((i + 1))
	done
	wait_for 120 lines /tmp/truth/ready "$1"
	ok $? "$3: it can begin"
	start
	cat "$OP/samples" >/tmp/samples &
	reader=$!
	release go
	wait_for 200 lines /tmp/truth/done "$1"
	ok $? "$3: it has come to its end"
	stop
	wait $reader
	release end
	for pid in $pids; do
		wait "$pid" || status=$?
	done
	is $status 0 "$3: nothing has failed"
	awk -F '\t' '
		!/^#/	{ n[$1 FS $5 FS $6 FS $7 FS ($5 == "u" ? $8 : "")]++ }
		END	{ for (line in n) print n[line] FS line }' \
		/tmp/samples >/tmp/counts
	law "$(cut -f 1 /tmp/counts | sum)" "$3"
	is "$(lost)" 0 "$3: no sample is lost"
	cat /tmp/truth/*.truth >/tmp/told
	is "$(grep -c '' /tmp/told)" $((6 * $1)) "$3: the truth is told"
}

# extremes COLUMN: the program (1) or part (2) with most of the time, and that
# with least.
extremes()
{
	awk -F '\t' -v column="$1" '
		{ ns[$column] += $3 }
		END {
			for (part in ns) {
				if (!most || ns[part] > ns[most])
					most = part
				if (!least || ns[part] < ns[least])
					least = part
			}
			print most "," least
		}' /tmp/told
}

# tells_wrong SWAP: a truth in which those two are exchanged is noticed.
tells_wrong()
{
	local swap=$1

	! awk -v swap="$swap" -f truth.awk /tmp/told /tmp/counts >/tmp/verdict
	ok $? "a wrong truth is noticed: $swap exchanged"
	diag "$(grep -c '^# .* of the time$' /tmp/verdict) complaints"
}

# Nothing but the period says how many samples a second there are.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
load event=cpu-clock count=50000 buffer_size=1048576 buffer_watershed=786432 \
	cpu_buffer_size=32768
ok $? "loads"

profile 1 1100 "one program"
awk -v fine=1 -f truth.awk /tmp/told /tmp/counts
ok $? "one program: the samples tell the truth"
tells_wrong "$(extremes 2)"

profile 50 40 "fifty programs"
awk -v fine=1 -f truth.awk /tmp/told /tmp/counts
ok $? "fifty programs: the samples tell the truth"
tells_wrong "$(extremes 2)"
tells_wrong "$(extremes 1)"
unload
ok $? "unloads"
done_testing
