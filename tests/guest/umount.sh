#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A file system can be unmounted while a profile runs, soon after its last
# process has ended. How long that takes is printed.
# vm: kernels=6.12 all-kernels=debian cpus=2 timeout=120 kmods=loop,crc32c_generic,ext4

. ./lib.sh

# at FILE: samples of it so far, as a program or as a file with code.
at()
{
	awk -F '\t' -v file="$1" '
		$6 == file || $7 == file { n++ }
		END { print n + 0 }' /tmp/samples
}

# shellcheck disable=SC2317 # wait_for calls it
# more_at FILE THAN
more_at()
{
	[ "$(at "$1")" -gt "$2" ]
}

# hundredths of a second
clock()
{
	awk '{ printf "%d\n", $1 * 100 }' /proc/uptime
}

# let_go DESCRIPTION: until /mnt can be unmounted.
let_go()
{
	local begin end status=0

	begin=$(clock)
	wait_for 30 umount /mnt 2>/tmp/umount || status=1
	end=$(clock)
	ok "$status" "$1: unmounted"
	[ "$status" -eq 0 ] || diag "$(sort -u /tmp/umount)"
	diag "after $(((end - begin) * 10)) ms"
}

# dies DESCRIPTION FILE COMMAND...: it runs until there are samples in the file,
# dies, and the file system goes.
dies()
{
	local n what=$1 file=$2

	shift 2
	n=$(at "$file")
	"$@" >/tmp/address &
	wait_for 30 more_at "$file" $((n + 40))
	ok $? "$what: samples"
	kill "$!"
	wait "$!" 2>/dev/null
	let_go "$what"
}

# cookies FILE: how many cookies have that path.
cookies()
{
	awk -v path="$1" '$6 == path { n++ } END { print n + 0 }' "$OP/dcookies"
}

on_tmpfs()
{
	mount -t tmpfs tmpfs /mnt
	cp /bin/burn /mnt/
	spin make /mnt/code 2
}

mkdir /mnt
truncate -s 16M /tmp/ext.img
losetup /dev/loop0 /tmp/ext.img && mke2fs /dev/loop0 >/dev/null &&
	mount -t ext2 /dev/loop0 /mnt
ok $? "ext2 is there"
cp /bin/burn /mnt/
load event=cpu-clock count=4000000 buffer_size=1048576 buffer_watershed=524288
ok $? "loads"
start
cat "$OP/samples" >/tmp/samples &
text=$!

# While there is much to do.
busy burn mix
renice -n 10 -p "$!"
busy burn crowd
renice -n 10 -p "$!"
dies "ext2, a program" /mnt/burn /mnt/burn cpu
on_tmpfs
dies "tmpfs, a program" /mnt/burn /mnt/burn cpu
on_tmpfs
dies "tmpfs, a mapped file" /mnt/code spin file /mnt/code 0x1000
on_tmpfs
n=$(at /mnt/burn)
/mnt/burn crowd 100
let_go "tmpfs, a hundred processes"
wait_for 30 more_at /mnt/burn $((n + 20))
ok $? "tmpfs, a hundred processes: samples"
calm

# While there is nothing to do: the CPU that the program had sees nobody else.
on_tmpfs
taskset -p 1 $$ >/dev/null
dies "tmpfs, a program on an idle CPU" /mnt/burn taskset 2 /mnt/burn cpu
is "$(cookies /mnt/burn)" 4 "each file system's program has a cookie of its own"

stop
wait "$text"
law "$(count_samples </tmp/samples)" "of the text"
unload
ok $? "unloads"
done_testing
