#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The build-ids in dcookies are those that readelf prints, and "-" where a file
# has none, or is not the ELF file that it says it is.
# vm: kernels=6.12 all-kernels=6.1,6.12,7.3 cpus=2 timeout=120 tools=readelf

. ./lib.sh

# readelf_id FILE
readelf_id()
{
	readelf -n "$1" 2>/dev/null |
		awk '/Build ID:/ { id = $3 } END { print id ? id : "-" }'
}

# cookie_id PATH: the build-id of the cookie with that path.
cookie_id()
{
	COOKIE_PATH=$1 awk '$6 == ENVIRON["COOKIE_PATH"] { print $5 }' /tmp/dcookies
}

# spin_in IMAGE COMMAND...: in the background until calm; IMAGE is what its
# samples should show, in the form that the module gives paths.
images=0
spin_in()
{
	images=$((images + 1))
	echo "$1" >>/tmp/images
	shift
	busy "$@" >>/tmp/started
	renice -n 19 -p "$!"
}

# shellcheck disable=SC2317 # wait_for calls it
all_started()
{
	[ "$(wc -l </tmp/started)" -eq "$images" ]
}

# shellcheck disable=SC2317 # wait_for calls it
# all_sampled: each image by three user samples at least.
all_sampled()
{
	awk -F '\t' '
		NR == FNR { want[$1] = 1; next }
		$5 == "u" { n[$7]++ }
		END {
			for (one in want) {
				if (n[one] < 3)
					exit 1
			}
		}' /tmp/images /tmp/samples
}

mkdir /tmp/elf /tmp/lib
elfmake /tmp/elf >/tmp/kinds
ok $? "there are $(wc -l </tmp/kinds) kinds of ELF files"

load event=cpu-clock count=1000000 buffer_size=1048576 buffer_watershed=524288
ok $? "loads"

# Programs and libraries, and the same deleted.
spin libc >/tmp/address &
pid=$!
wait_for 30 test -s /tmp/address
libc=$(awk '$6 ~ /\/libc[.-]/ { print $6; exit }' "/proc/$pid/maps")
kill "$pid"
cp "$libc" /tmp/lib/
cp /bin/spin /tmp/spin
library=/tmp/lib/${libc##*/}
spin_in /bin/spin spin code
spin_in "$libc" spin libc
spin_in '/tmp/spin\040(deleted)' /tmp/spin code
spin_in "$library\\040(deleted)" env LD_LIBRARY_PATH=/tmp/lib spin libc
while read -r kind offset id; do
	spin_in "/tmp/elf/$kind" spin file "/tmp/elf/$kind" "$offset"
done </tmp/kinds
wait_for 60 all_started
ok $? "$images programs run"
rm "$library" /tmp/spin

start
cat "$OP/samples" >/tmp/samples &
readelf -a "$libc" >/dev/null
wait_for 60 all_sampled
ok $? "there are samples in each of the files"
stop
wait $!
law "$(count_samples </tmp/samples)" "of the text"
cat "$OP/dcookies" >/tmp/dcookies
calm

id=$(readelf_id /bin/spin)
[ "$id" != - ]
ok $? "the programs have build-ids: $id"
is "$(cookie_id '/tmp/spin\040(deleted)')" "$id" "a program that was deleted"
id=$(readelf_id "$libc")
[ "$id" != - ]
ok $? "and so has $libc: $id"
is "$(cookie_id "$library\\040(deleted)")" "$id" "a library that was deleted"

while read -r kind offset id; do
	is "$(cookie_id "/tmp/elf/$kind")" "$id" "$kind: $id"
	case $kind in
	# To readelf these are in order: an id of no use, a file of no use here.
	length_33|order_wrong)
		continue ;;
	esac
	is "$(readelf_id "/tmp/elf/$kind")" "$id" "$kind: readelf says so too"
done </tmp/kinds

# Whatever else has been sampled.
while read -r _ _ _ _ id path; do
	[ -f "$path" ] || continue
	case $path in
	/tmp/elf/*) continue ;;
	esac
	is "$id" "$(readelf_id "$path")" "$path: $id"
done </tmp/dcookies

unload
ok $? "unloads"
done_testing
