#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The unit tests (kunit/): a test here for each case. The kernel shows each
# suite's KTAP in debugfs.
# vm: kernels=debug-7.3 all-kernels=debug make=KUNIT=1 timeout=300

. ./lib.sh

results=/sys/kernel/debug/kunit

# khugepaged would hold the locks of address spaces that the tests are about.
echo never >/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || true
insmod /lib/modules/oprofile_kunit.ko
ok $? "the module of the unit tests can be loaded"
suites=0
for suite in "$results"/oprofile_*; do
	name=${suite##*/oprofile_}
	[ -e "$suite/results" ] || continue
	suites=$((suites + 1))
	sed 's/^/# /' "$suite/results"
	while IFS= read -r line; do
		case $line in
		'ok '*)		pass "$name: ${line#ok }" ;;
		*)		fail "$name: ${line#not ok }" ;;
		esac
	done <<-end
	$(sed -n 's/^ *\(not ok\|ok\) [0-9]* \(oprofile_\)*/\1 /p' "$suite/results")
	end
done
is $suites 14 "every suite of kunit/ has run"
rmmod oprofile_kunit
ok $? "and unloaded"
done_testing
