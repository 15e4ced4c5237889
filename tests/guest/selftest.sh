#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The checkers are right, and each is seen to fail: the decoder, the law, the
# shares, the form of "samples", the comparison of two profiles.
# vm: kernels=6.1 cpus=1

. ./lib.sh

# fails COMMAND... -- DESCRIPTION
fails()
{
	local command=

	while [ "$1" != -- ]; do
		command="$command '$1'"
		shift
	done
	shift
	if eval "$command"; then
		fail "$* is noticed"
	else
		pass "$* is noticed"
	fi
}

tap_run decode-test

# The law, on files of our own.
OP=/tmp/law
mkdir -p $OP/stats/cpu0 $OP/stats/cpu1
set_stat()
{
	echo "$2" >"$OP/stats/$1"
}
set_stat cpu0/sample_received 100
set_stat cpu1/sample_received 23
set_stat cpu0/sample_lost_overflow 1
set_stat cpu1/sample_lost_overflow 2
set_stat cpu1/sample_invalid_eip 3
set_stat cpu0/throttled 50
set_stat cpu0/backtrace_aborted 51
set_stat bt_lost_no_mapping 52
set_stat sample_lost_no_mm 4
set_stat sample_lost_of_a_new_kind 5
set_stat event_lost_overflow 6
set_stat sample_delivered 102
law_holds
ok $? "the law holds: $law_text"
law_holds 102
ok $? "and of what was decoded: $law_text"
fails law_holds 101 -- "a sample that the decoder has not seen"
fails law_holds 103 -- "a sample too many"
fails law_holds 0 -- "an empty stream"
set_stat sample_lost_of_a_new_kind 4
fails law_holds -- "a loss that nobody counted"
set_stat sample_lost_of_a_new_kind 5
set_stat cpu1/sample_received 24
fails law_holds -- "a sample received and never seen again"
rm -r $OP/stats
mkdir -p $OP/stats/cpu0
set_stat cpu0/sample_received 0
set_stat sample_delivered 0
fails law_holds 0 -- "a run without samples"

# Shares.
share_agrees 14000 20000 0.7
ok $? "the true share agrees"
share_agrees 14200 20000 0.7
ok $? "so does one within its error"
fails share_agrees 14430 20000 0.7 -- "a share that is off upwards"
fails share_agrees 13570 20000 0.7 -- "a share that is off downwards"
fails share_agrees 14000 20000 0.75 -- "a wrong truth"
fails share_agrees 13999 19999 0.7 -- "too small a number of samples"
fails share_agrees 0 0 0.7 -- "no sample at all"

# The form of the text.
# lines [LINE]: three good ones, and that.
lines()
{
	printf '# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset\n'
	printf '0\t12\t13\tcpu-clock\tu\t/bin/a\t/lib/b.so\t0x12\n'
	printf '0\t12\t13\tcpu-clock\tu\t/bin/a\t[anon]\t0x12\n'
	printf '1\t2\t2\tpage-faults\tk\t[kthread]\t[kernel]\tkthread+0x7c\n'
	[ $# -eq 0 ] || printf '%b' "$1"
}
is "$(lines | count_samples)" 3 "lines are counted"
is "$(: | count_samples)" 0 "no line is no sample"
is "$(lines '0\t12\t13\tcpu-clock\tu\t/bin/a\t/lib/b.so\n' | count_samples)" \
	-1 "a line without an offset is noticed"
is "$(lines '0\t12\t13\tcpu-clock\tk\t/bin/a\t/lib/b.so\tf+0x1\n' | count_samples)" \
	-1 "a kernel sample in a file is noticed"
is "$(lines | sed 1d | count_samples)" -1 \
	"a missing header is noticed"

# Two profiles.
profile()
{
	printf '%s\tu\t/bin/story\t0x1100\n' "$1"
	printf '%s\tu\t/lib/libc.so\t0x2200\n' "$2"
	printf '%s\tu\t[anon]\t0x10000000\n' "$3"
	printf '%s\tk\t[kernel]\tclear_user+0x3\n' "$4"
}
profile 1000 1000 1000 1000 >/tmp/a
profile 1200 900 950 1100 >/tmp/b
awk -f stories.awk /tmp/a /tmp/b
ok $? "two profiles of the same agree"
profile 2000 0 1000 1000 >/tmp/b
fails awk -f stories.awk /tmp/a /tmp/b -- "a file that one profile lacks"
fails awk -f stories.awk /tmp/b /tmp/a -- "a file that the other lacks"
profile 1000 1000 1000 1000 | sed s/0x2200/0x2204/ >/tmp/b
fails awk -f stories.awk /tmp/a /tmp/b -- "another offset"
profile 1000 1000 1000 1000 | sed s/clear/copy/ >/tmp/b
fails awk -f stories.awk /tmp/a /tmp/b -- "another symbol"
: >/tmp/b
fails awk -f stories.awk /tmp/b /tmp/b -- "an empty profile"
done_testing
