#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The tools that the debug kernels look with really look: each finds a bug of its
# kind. tests/boot judges that, with what judges every other test's log.
# vm: kernels=debug-7.3 all-kernels=debug cpus=2 mods=opbug planted=yes append=kasan_multi_shot timeout=600

. ./lib.sh

# has OPTION: the kernel was built with it.
has()
{
	zcat /proc/config.gz | grep -qx "CONFIG_$1=y"
}

# plant BUG REPORT: the report's first line is like that.
plant()
{
	echo "planted $1: ^$2" >/dev/kmsg
	insmod /lib/modules/opbug.ko bug="$1"
	ok $? "a bug was planted: $1"
	rmmod opbug
}

plant sleep "BUG: sleeping function called from invalid context"
plant rcu "WARNING: suspicious RCU usage"
# It comes with a cost of its own: where it is, KASAN can't be.
! has KCSAN || plant kcsan "BUG: KCSAN: data-race in .*opbug_kcsan"
plant lockdep "WARNING: possible circular locking dependency detected"
# After a report of KASAN's there are none of lockdep.
if has KASAN; then
	plant kasan "BUG: KASAN: (slab-)?use-after-free in opbug_kasan"
	plant vmalloc "BUG: KASAN: vmalloc-out-of-bounds in opbug_vmalloc"
fi
has KASAN || has KCSAN
ok $? "one of the two looks at memory"
# This one is found when the script has ended, as with every test.
plant leak "kmemleak: [0-9]+ new suspected memory leaks"
done_testing
