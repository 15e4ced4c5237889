#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Profiles the whole system while a command runs, and prints where the samples
# fell. Needs root, and of programs only insmod or modprobe, mount, cat and awk.

set -eu

op=/sys/kernel/debug/oprofile
event='' count='' module='' samples=oprofile.samples

usage()
{
	cat >&2 <<-end
	usage: profile.sh [option...] command [argument...]
	  -e EVENT   what to count: cycles, cpu-clock, page-faults, r<hex>, ...
	  -c COUNT   a sample every COUNT events (clocks count nanoseconds)
	  -m FILE    insmod this oprofile.ko instead of modprobe oprofile
	  -o FILE    where the samples go ($samples)
	end
	exit 2
}

while getopts e:c:m:o: option; do
	case $option in
	e)	event=$OPTARG ;;
	c)	count=$OPTARG ;;
	m)	module=$OPTARG ;;
	o)	samples=$OPTARG ;;
	*)	usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
# awk would take NAME=TEXT for an assignment
case $samples in
/*)	;;
*)	samples=./$samples ;;
esac
: >"$samples"

load()
{
	if [ -n "$module" ]; then
		insmod "$module" "$@"
	else
		modprobe oprofile "$@"
	fi
}

# Whatever happens, the profile ends with this script.
started=
# shellcheck disable=SC2317 # the trap calls it
finish()
{
	[ -z "$started" ] || echo 0 >"$op/enable"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The module, with its settings as parameters. Where it is loaded already, they
# go into its files.
awk '$3 == "debugfs" { found = 1 } END { exit !found }' /proc/mounts ||
	mount -t debugfs debugfs /sys/kernel/debug
if [ ! -d "$op" ]; then
	load buffer_size=262144 buffer_watershed=131072 \
		${event:+"event=$event"} ${count:+"count=$count"}
elif [ "$(cat "$op/enable")" = 0 ]; then
	if [ -n "$event" ]; then
		for folder in 1 2 3 4 5 6 7; do
			echo 0 >"$op/$folder/enabled"
		done
		echo 1 >"$op/0/enabled"
		echo "$event" >"$op/0/name"
		echo 1000 >"$op/0/freq"
	fi
	[ -z "$count" ] || echo "$count" >"$op/0/count"
else
	echo 'profile.sh: a profile is running already' >&2
	exit 1
fi

# Start, and read from the start on: the buffer holds only some seconds. The
# reader ends by itself when the profile has stopped and everything is read.
started=1
echo 1 >"$op/enable"
cat "$op/samples" >"$samples" &
reader=$!

status=0
"$@" || status=$?

echo 0 >"$op/enable"
started=
wait "$reader"

# Columns: 1 cpu, 2 tgid, 3 tid, 4 event, 5 mode, 6 app, 7 image, 8 offset.
awk -F '\t' -v rows=20 '
	/^#/		{ next }
	$5 == "k"	{ sub(/\+0x[0-9a-f]+$/, "", $8) }
			{ n[$7 "\t" $8]++; total++ }
	END {
		printf "%7s %8s  %-32s %s\n", "share", "samples", "image", "offset"
		while (rows-- > 0) {
			most = ""
			for (row in n)
				if (most == "" || n[row] > n[most])
					most = row
			if (most == "")
				break
			split(most, part, "\t")
			printf "%5.1f %% %8d  %-32s %s\n", \
				100 * n[most] / total, n[most], part[1], part[2]
			delete n[most]
		}
	}' "$samples"

# Every sample is either in the file, or in a counter that says why it is not.
awk '
	FILENAME == ARGV[1]	{ lines += !/^#/; next }
				{ name = FILENAME; sub(/.*\//, "", name) }
	name == "sample_received"	{ received += $1 }
	name == "sample_delivered"	{ delivered += $1 }
	name == "throttled"		{ throttled += $1 }
	name ~ /^(sample|event)_lost_/ || name == "sample_invalid_eip" {
		lost += $1
		if ($1 > 0)
			why = why ", " name " " $1
	}
	END {
		printf "\n%d samples taken: %d read, %d lost%s\n", \
			received, lines, lost, why
		if (throttled)
			print "throttled " throttled " times: the period is too short"
		if (lines != delivered || received != delivered + lost) {
			print "the counters do not add up"
			exit 1
		}
	}' "$samples" "$op"/stats/*_* "$op"/stats/cpu*/*

exit "$status"
