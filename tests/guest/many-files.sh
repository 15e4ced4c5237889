#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Thousands of files with code, each of them seen: every one is in the profile
# under its own name, and what the module remembers of it takes little memory.
# vm: kernels=6.12 all-kernels=x86-64 cpus=2 mem=1280 timeout=600

. ./lib.sh

files=10000
[ ! -e long ] || files=100000
programs=300

# What the table of files may take, each: see dcookie.c, whose bound is 64 MiB.
bytes_allowed=512

# kernel_memory: KiB that the kernel has taken and can't do without.
kernel_memory()
{
	awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { n += $2 }
		END { print n }' /proc/meminfo
}

# available: KiB
available()
{
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

cookies()
{
	grep -c '' "$OP/dcookies"
}

run()
{
	start
	cat "$OP/samples" >/tmp/samples &
	reader=$!
	"$@"
	status=$?
	stop
	wait $reader
	return $status
}

# A sample of each page fault: the first call of a file is one.
mkdir /tmp/many
many make /tmp/many $files && many make-programs /tmp/many $programs
ok $? "there are $files files with code, and $programs programs"
load event=page-faults count=1 buffer_size=1048576 buffer_watershed=786432 \
	cpu_buffer_size=16384
ok $? "loads"
# More than a tick may bring at the kernel's default, where it is a fast machine.
echo 1000000 >/proc/sys/kernel/perf_event_max_sample_rate

# What a run leaves behind is there before.
run burn faults 10000
law "$(count_samples </tmp/samples)" "a run without them"
before=$(kernel_memory)
before_available=$(available)
before_cookies=$(cookies)

run many call /tmp/many $files
ok $? "each is mapped and called"
is "$(cat "$OP"/stats/cpu*/throttled | sum)" 0 "no sample was throttled away"
after=$(kernel_memory)
after_available=$(available)
law "$(count_samples </tmp/samples)" "with $files files"
is "$(cat "$OP/stats/sample_lost_no_cookie")" 0 "the table has room for all"
awk -F '\t' -v files=$files '
	$7 !~ /^\/tmp\/many\// { next }
	{
		file = substr($7, 11)
		if ($5 != "u" || $6 != "/bin/many" ||
		    $8 != sprintf("0x%x", file % 4096)) {
			if (bad++ < 5)
				print "# " $0
		} else if (!(file in seen)) {
			seen[file]
			n++
		}
	}
	END {
		print "# " n + 0 " of " files " files seen, " bad + 0 \
			" samples elsewhere in them"
		exit n != files || bad
	}' /tmp/samples
ok $? "each file was sampled where its code is"

n=$(($(cookies) - before_cookies))
[ $n -ge $files ]
ok $? "and each has a cookie"
bytes=$(((after - before) * 1024 / n))
diag "$n cookies, $((after - before)) KiB more in the kernel:" \
	"$bytes bytes each, $bytes_allowed allowed"
diag "MemAvailable: $before_available, then $after_available KiB"
[ $bytes -le $bytes_allowed ] && [ $((after - before)) -le 65536 ]
ok $? "they take little memory"

# The same files again take no more.
run many call /tmp/many $files
again=$(kernel_memory)
is "$(($(cookies) - before_cookies))" $n "the same files have the same cookies"
diag "$((again - after)) KiB more than after the first time"
[ $((again - after)) -le 2048 ]
ok $? "a second time takes no more memory"

run many run /tmp/many $programs
ok $? "$programs of them are executed"
law "$(count_samples </tmp/samples)" "with $programs programs"
n=$(awk -F '\t' '
	$5 == "u" && $6 ~ /^\/tmp\/many\/.*\.run$/ && $6 == $7 {
		file = substr($7, 11, length($7) - 14)
		if ($8 == sprintf("0x%x", 128 + file % 3072) && !seen[file]++)
			n++
	}
	END { print n + 0 }' /tmp/samples)
is "$n" $programs "each program was sampled at its first instruction, as its own app"

unload
ok $? "unloads"
left=$(kernel_memory)
diag "$((before - left)) KiB less than before, without the module"
[ $((left - before)) -le 1024 ]
ok $? "all of it is given back"
done_testing
