#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Who may read when, and what becomes of the data: with and without a reader,
# after a stop, over unread data, after a reader was killed.
# vm: kernels=6.1 cpus=2 mem=768 timeout=300

. ./lib.sh

load
ok $? "loads"
busy burn mix
busy burn crowd

# A start without a reader, a read after the stop.
start
is "$(cat "$OP/enable")" 1 "runs without a reader"
wait_for 60 received_more 500
stop
is "$(cat "$OP/enable")" 0 "and is stopped"
decoded=$(opread -q)
ok $? "what has waited is well formed"
law "$decoded" "a read after the stop"

# A start over unread data: it is gone, and nobody counts it any more.
start
wait_for 60 received_more 1000
stop
old=$(received)
start
is "$(($(received) < old))" 1 "a start clears the counters"
wait_for 60 received_more 10
stop
decoded=$(opread -q)
ok $? "only the new run is there to read"
law "$decoded" "a start over unread data"

# A run that was read in part only: the rest is not the next run's.
start
wait_for 60 received_more 1000
stop
opread -q -w 500 -n 1 >/dev/null
start
wait_for 60 received_more 10
stop
decoded=$(opread -q)
ok $? "half of a run read, the rest dropped"
law "$decoded" "a start over half-read data"

# An open file stays good over a start.
exec 3<"$OP/buffer"
start
wait_for 60 received_more 300
stop
law "$(opread -q -f - <&3)" "a file that was open before the start"
start
wait_for 60 received_more 300
stop
law "$(opread -q -f - <&3)" "and again"
exec 3<&-

# Readers, one at a time.
exec 3<"$OP/buffer"
is "$(try open "$OP/buffer")" EBUSY "a second reader of buffer"
is "$(try open "$OP/samples")" EBUSY "a reader of samples beside one of buffer"
is "$(try open "$OP/dcookies")" OK "dcookies is for all"
is "$(try rmmod oprofile)" EAGAIN "no unload while a file is open"
exec 3<&-
exec 3<"$OP/samples"
is "$(try open "$OP/buffer")" EBUSY "a reader of buffer beside one of samples"
is "$(try rmmod oprofile)" EAGAIN "nor then"
exec 3<&-
is "$(try open "$OP/buffer")" OK "a reader when the other is gone"

# killed OPTION...: adds to bad if it wasn't, to sum what it has read.
killed()
{
	local n status=0

	{ n=$(opread -q "$@" 2>&1) || status=$?; } 2>/dev/null
	if [ $status -eq 137 ]; then
		sum=$((sum + n))
	else
		diag "opread $*: $n"
		bad=$((bad + 1))
	fi
}

# Readers that are killed anywhere in the stream, the next one goes on. The
# number of words that each reads walks over all places in a record.
start
wait_for 60 received_more 2000
stop
sum=0
words=1
bad=0
while [ $words -le 120 ]; do
	killed -w 1 -k $words
	words=$((words + 1))
done
is $bad 0 "readers are killed after 1 to 120 words"
rest=$(opread -q)
ok $? "the last reader gets restated context and whole records"
[ $sum -gt 1000 ]
ok $? "the killed ones had read something ($sum samples, then $rest)"
law "$((sum + rest))" "killed readers"

# The same while it runs, and of the text.
start
sum=0
words=1
bad=0
while [ $words -le 60 ]; do
	killed -w $words -k 3
	words=$((words + 1))
done
stop
is $bad 0 "readers are killed in mid-run"
rest=$(opread -q)
ok $? "the last one gets whole records then too"
law "$((sum + rest))" "readers killed in mid-run"

start
wait_for 60 received_more 2000
stop
lines=0
bytes=50
while [ $bytes -le 300 ]; do
	dd if="$OP/samples" of=/tmp/part bs=1 count=$bytes 2>/dev/null
	head -n 1 /tmp/part | grep -q '^# cpu' || fail "no header for a reader"
	n=$(wc -l </tmp/part)
	lines=$((lines + n - 1))
	bytes=$((bytes + 1))
done
[ $lines -gt 100 ]
ok $? "readers of the text stop after 50 to 300 bytes"
cat "$OP/samples" >/tmp/rest
rest=$(count_samples </tmp/rest)
law "$((lines + rest))" "half-read lines"

# A reader that sleeps in its read when it is killed.
op 0/enabled 0
op_event 1 page-faults 1000000000
start
cat "$OP/buffer" >/dev/null &
reader=$!
wait_for 60 grep -q '^State:.S' /proc/$reader/status
kill -9 $reader
wait $reader
is "$(try open "$OP/buffer")" OK "the next reader may open after a sleeping one was killed"
stop
op 1/enabled 0
op 0/enabled 1

# Permissions.
is "$(stat -c %a "$OP")" 700 "the folder is root's"
is "$(stat -c %a "$OP/stats" "$OP/stats/cpu0" "$OP/0" "$OP/7" | sort -u)" 700 \
	"and those in it"
is "$(stat -c %a "$OP/enable" "$OP/buffer_size" "$OP/0/name" | sort -u)" 600 \
	"what can be set is root's"
is "$(find "$OP" -type f ! -perm 600 ! -perm 400 ! -name dump)" "" \
	"every file is 0600 or 0400"
is "$(stat -c %a "$OP/dump")" 200 "dump can only be written"
chmod 755 /sys/kernel/debug "$OP" "$OP/0"
for file in buffer samples dcookies enable; do
	is "$(runas user try open "$OP/$file")" EACCES "a user opens $file"
done
is "$(runas user try write "$OP/enable" 1)" EACCES "a user writes enable"
is "$(runas user try write "$OP/dump" 1)" EACCES "a user writes dump"
chmod 700 /sys/kernel/debug "$OP" "$OP/0"
for who in userns nocaps; do
	for file in buffer samples dcookies; do
		is "$(runas $who try open "$OP/$file")" EPERM "$who opens $file"
	done
	for file in enable dump buffer_size 0/name 0/count; do
		is "$(runas $who try write "$OP/$file" 1)" EPERM \
			"$who writes $file"
	done
	is "$(runas $who try write /sys/module/oprofile/parameters/enable 1)" \
		EPERM "$who writes the parameter enable"
done
for file in buffer samples dcookies; do
	is "$(runas perfmon try open "$OP/$file")" OK \
		"root with CAP_PERFMON alone opens $file"
done
is "$(runas perfmon try write "$OP/dump" 1)" OK "and writes dump"
is "$(cat "$OP/enable")" 0 "nobody has started it"

calm
unload
ok $? "unloads when no file is open"
done_testing
