#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Where hooks or room are short, samples may be lost, but each is counted, the
# kernel log and "hooks" say why, and it is over when the shortage is. For a
# module with little room, in which a profile event can be without a function.
# vm: kernels=6.12 all-kernels=debian cpus=2 mem=1024 timeout=300 make=OP_TEST_LIMITS=y

. ./lib.sh

missed()
{
	cat "$OP/stats/pictures_missed"
}

# load_small [PARAMETER...]
load_small()
{
	load event=cpu-clock count=200000 buffer_size=1048576 \
		buffer_watershed=786432 cpu_buffer_size=16384 "$@"
}

# without EVENT [WRONG]...: a run in which no function tells of that event. Only
# what the checker calls by these names may be wrong, and where there is no
# room for a picture of an exiting task its samples have no app.
without()
{
	local event=$1 allowed

	shift
	allowed=" $* noapp wrong "
	log_mark
	load_small "no_event=$event"
	ok $? "$event: loads"
	begin_stream
	storm 2 processes mmap same >/dev/null
	ok $? "$event: a storm"
	end_stream
	is "$(awk -v event="$event" '$1 == event && $2 != "none"' "$OP/hooks")" \
		"" "$event: hooks shows no function"
	is "$(awk -v event="$event" '$1 == event { n += $3 } END { print n }' \
		"$OP/hooks")" 0 "$event: and no hits"
	is "$(awk '!/^#/ && $3 > 0 { seen[$1] } END { for (e in seen) n++; print n + 0 }' \
		"$OP/hooks")" 3 "$event: the other events are seen"
	log_since | grep -q "oprofile: no $event: no function to probe"
	ok $? "$event: the log says so"
	is "$(log_loud | grep -c "no $event")" 0 "$event: without alarm"

	stormcheck -f /tmp/stream >/tmp/verdict
	[ -n "$(value wrong)" ]
	ok $? "$event: the stream is well formed"
	law "$(value samples)" "$event"
	[ "$(value stormuser)" -ge 100 ]
	ok $? "$event: $(value stormuser) user samples of the storm"
	is "$(awk -v allowed="$allowed" '
		/^(outside|foreign|anon|code|app|noapp|identity|wrong) / &&
		$2 > 0 && !index(allowed, " " $1 " ")' /tmp/verdict)" "" \
		"$event: no sample in a wrong file${*:+, but for $*}"
	grep -E '^(#|storm |outside|foreign|anon|app|noapp|stats/.*lost)' \
		/tmp/verdict | sed 's/^\(# \)*/#   /'
}

# bursts: until there was no room for one, of as many as that takes.
bursts()
{
	local i=0

	while [ $i -lt 10 ] && [ "$(missed)" -eq 0 ]; do
		storm 1 burst >/tmp/runs || fail "burst: the storm has failed"
		i=$((i + 1))
	done
}

all_pids
storm-make
ok $? "there are files for the storms"

# What a task does in the kernel after it has let go of its memory has no app.
without EXIT_TASK
[ "$(value noapp)" -gt 0 ]
ok $? "EXIT_TASK: it is missed"
unload
ok $? "EXIT_TASK: unloads"

without EXIT_MMAP
[ "$(cat "$OP/stats/sample_lost_no_mm")" -gt 0 ]
ok $? "EXIT_MMAP: it is missed"
unload
ok $? "EXIT_MMAP: unloads"

# Nobody knows then what was where the next file is now.
without EXEC_UNMAP outside foreign anon
unload
ok $? "EXEC_UNMAP: unloads"

without EXEC_MAP
unload
ok $? "EXEC_MAP: unloads"

# More mappings go at once than there is room for.
load_small
ok $? "loads"
begin_stream
bursts
end_stream
judge_stream "burst"
[ "$(missed)" -gt 0 ]
ok $? "burst: the pool is empty $(missed) times"

# In one run: after that there is room again, and nothing is missed.
begin_stream
bursts
before=$(missed)
[ "$before" -gt 0 ]
ok $? "breeze: the pool was empty $before times"
storm 3 breeze >/tmp/runs &
pid=$!
wait $pid
ok $? "breeze: the storm did what it should"
is "$(missed)" "$before" "breeze: the pool is never empty"
end_stream
judge_stream "breeze" -e $pid
[ "$(value stormuser)" -ge 100 ] && [ "$(value exempt)" -gt 0 ]
ok $? "breeze: $(value stormuser) user samples"
is "$(value filesseen) $(value filesrun)" "1 1" "breeze: of the file that was run"

# More files than the table may hold.
mkdir /tmp/many
many make /tmp/many 1000
op 0/name page-faults
op 0/count 1
start
cat "$OP/samples" >/tmp/samples &
reader=$!
many call /tmp/many 1000 32
ok $? "files: 1000 of them"
end_stream
law "$(count_samples </tmp/samples)" "files"
n=$(cat "$OP/stats/sample_lost_no_cookie")
[ "$n" -ge 600 ]
ok $? "files: what has no cookie is counted ($n)"
is "$(grep -c '' "$OP/dcookies")" 400 "files: the table holds 400"
n=$(awk -F '\t' '$5 == "u" && $7 ~ /^\/tmp\/many\//' /tmp/samples | wc -l)
[ "$n" -gt 300 ] && [ "$n" -le 400 ]
ok $? "files: samples of $n of them were delivered"

start
cat "$OP/samples" >/tmp/samples &
reader=$!
many call /tmp/many 200 32
end_stream
law "$(count_samples </tmp/samples)" "fewer files"
is "$(cat "$OP/stats/sample_lost_no_cookie")" 0 "fewer files: a start has made room"
is "$(awk -F '\t' '$7 ~ /^\/tmp\/many\// { seen[$7] }
	END { for (file in seen) n++; print n + 0 }' /tmp/samples)" 200 \
	"fewer files: each is there"

unload
ok $? "unloads"
done_testing
