#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One medium after the other in the same place: the file systems agree in their
# UUID, and their files in number and generation, and the kernel puts the one
# where the other was. And a file that is written anew in its place. Samples say
# what ran.
# vm: kernels=6.12 all-kernels=x86-64 cpus=2 timeout=240 tools=readelf kmods=loop,crc32c_generic,ext4

. ./lib.sh

TURNS=20

# run NAME FILE: it runs for a moment; who it was is written down.
run()
{
	"$2" code >/dev/null &
	echo "$! $1" >>/tmp/ran
	sleep 0.15
	kill "$!"
	wait "$!" 2>/dev/null
}

# samples_of TRUTH: of the processes in that list, "RIGHT WRONG" samples of the
# program itself.
samples_of()
{
	awk -F '\t' '
		FNR == NR { split($0, f, " "); ran[f[1]] = f[2]; next }
		!($2 in ran) || $5 != "u" || $7 !~ "^/mnt/" { next }
		{ if ($6 == ran[$2] && $7 == ran[$2]) right++; else wrong++ }
		END { print right + 0, wrong + 0 }' "$1" /tmp/samples
}

# id_of FILE: the build-id of the last cookie with that path.
id_of()
{
	awk -v file="$1" '$6 == file { id = $5 } END { print id }' "$OP/dcookies"
}

readelf_id()
{
	readelf -n "$1" | awk '/Build ID:/ { print $3 }'
}

# insert IMAGE: it is mounted.
insert()
{
	losetup /dev/loop0 "$1" && mount -t ext2 /dev/loop0 /mnt
}

# shellcheck disable=SC2317 # wait_for calls it
eject()
{
	umount /mnt 2>/dev/null && losetup -d /dev/loop0
}

mkdir -p /mnt
dd if=/dev/zero of=/tmp/a.img bs=1M count=4 2>/dev/null
losetup /dev/loop0 /tmp/a.img && mke2fs /dev/loop0 >/dev/null &&
	mount -t ext2 /dev/loop0 /mnt && cp /bin/spin /mnt/a && eject &&
	cp /tmp/a.img /tmp/b.img && insert /tmp/b.img && mv /mnt/a /mnt/b && eject
ok $? "there are two images"

load event=cpu-clock count=1000000
ok $? "loads"
start
cat "$OP/samples" >/tmp/samples &
reader=$!
: >/tmp/ran
turn=0
while [ $turn -lt $TURNS ]; do
	for name in a b; do
		insert /tmp/$name.img && run /mnt/$name /mnt/$name
		wait_for 30 eject || break 2
		turn=$((turn + 1))
	done
done
is $turn $TURNS "mounted $TURNS times, by turns"
stop
wait $reader
# shellcheck disable=SC2046 # words
set -- $(samples_of /tmp/ran)
[ "$1" -ge $((TURNS * 20)) ]
ok $? "the programs have samples: $1"
is "$2" 0 "none of them says the other medium's file"

# The same name, inode and generation, other contents. The C library's is there
# for all of the run.
: >/tmp/ids
for program in spin burn spin burn; do
	cp /bin/$program /tmp/prog
	start
	cat "$OP/samples" >/dev/null &
	reader=$!
	case $program in
	spin)	/tmp/prog code >/dev/null & ;;
	*)	/tmp/prog >/dev/null & ;;
	esac
	sleep 0.3
	stop
	kill "$!" 2>/dev/null
	wait "$!" 2>/dev/null
	wait $reader
	[ "$(id_of /tmp/prog)" = "$(readelf_id /bin/$program)" ]
	ok $? "$program in its place: its build-id is $(id_of /tmp/prog)"
done
law "" "of the last run"
unload
ok $? "unloads"
done_testing
