#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The law is exact: a module that loses one sample, once, without counting it is
# noticed, by the law as text and as a stream. In the next run it is not to blame.
# vm: kernels=6.1 cpus=1 make=OP_TEST_LOSES=y

. ./lib.sh

# full_run: more samples than the event buffer has room for.
full_run()
{
	start
	busy burn mix
	wait_for 60 overflown
	ok $? "the event buffer overflows"
	calm
	stop
}

# shellcheck disable=SC2317 # for wait_for
overflown()
{
	[ "$(cat "$OP/stats/event_lost_overflow")" -gt 10 ]
}

load event=cpu-clock count=1000000 buffer_size=1024 buffer_watershed=256
ok $? "loads"
full_run
decoded=$(opread -q)
if law_holds "$decoded"; then
	fail "a sample that the profiler loses is noticed: $law_text"
else
	pass "a sample that the profiler loses is noticed: $law_text"
fi
is $(($(received) - $(lost) - decoded)) 1 "it is one"
full_run
law "$(opread -q)" "another run of the same module"
unload
ok $? "unloads"
done_testing
