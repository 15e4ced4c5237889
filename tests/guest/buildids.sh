#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The build-ids in dcookies are those that readelf prints, and "-" where a file
# has none, or is not the ELF file that it says it is.
# vm: kernels=6.12 all-kernels=x86-64 cpus=2 timeout=120 tools=readelf

. ./lib.sh

# readelf_ids FILE...: a line for each, with its build-id or "-".
readelf_ids()
{
	{
		printf 'File: %s\n' "$@"
		readelf -n "$@" 2>/dev/null
	} | awk '
		/^File: / { file = $2; if (!id[file]) id[file] = "-" }
		/Build ID: [0-9a-f]/ { id[file] = $3 }
		END {
			for (file in id)
				print file, id[file]
		}'
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

# All that was sampled and is still there, and all that was made.
awk 'FILENAME == "/tmp/kinds" { print "/tmp/elf/" $1; next } { print $6 }' \
	/tmp/kinds /tmp/dcookies | sort -u | while read -r path; do
	[ ! -f "$path" ] || echo "$path"
done >/tmp/files
# shellcheck disable=SC2046 # words
readelf_ids $(cat /tmp/files) >/tmp/readelf

# Lines of a path, what dcookies says, and what readelf; "?" is nothing at all.
awk '
	FILENAME == "/tmp/readelf" { readelf[$1] = $2; next }
	{ cookie[$6] = $5; readelf[$6] = readelf[$6] }
	END {
		for (path in readelf)
			print path, path in cookie ? cookie[path] : "?", \
				readelf[path] ? readelf[path] : "?"
	}' /tmp/readelf /tmp/dcookies >/tmp/ids

# says PATH: sets cookie and readelf
says()
{
	local path

	while read -r path cookie readelf; do
		[ "$path" != "$1" ] || return 0
	done </tmp/ids
	cookie='' readelf=''
}

says /bin/spin
program=$readelf
says "$libc"
[ "${#program}" -eq 40 ] && [ "${#readelf}" -eq 40 ]
ok $? "programs and libraries have build-ids"
id=$readelf
says "$library\\040(deleted)"
is "$cookie" "$id" "a library that was deleted"
says '/tmp/spin\040(deleted)'
is "$cookie" "$program" "a program that was deleted"

while read -r kind offset id; do
	says "/tmp/elf/$kind"
	is "$cookie" "$id" "$kind: $id"
	case $kind in
	# To readelf these are in order: an id of no use, a file of no use here.
	length_33|order_wrong)
		;;
	*)	is "$readelf" "$id" "$kind: readelf says so too" ;;
	esac
done </tmp/kinds

# Whatever else was sampled.
while read -r path cookie readelf; do
	case $path$readelf in
	/tmp/*|*'?') ;;
	*)	is "$cookie" "$readelf" "$path: $readelf" ;;
	esac
done </tmp/ids

unload
ok $? "unloads"
done_testing
