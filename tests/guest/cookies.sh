#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A cookie is an inode as /proc/PID/maps shows it, whatever has been done to the
# file, and its path is the first one seen.
# vm: kernels=6.12 all-kernels=x86-64 cpus=2 timeout=120 tools=readelf kmods=overlay,loop,crc32c_generic,ext4

. ./lib.sh

# A case is a folder with what was true of it when its process was started.
cases=/tmp/cases
running=
mkdir "$cases"

# escape PATH: as the module's files show it.
escape()
{
	printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g; s/\t/\\011/g'
}

# pid_of CASE
pid_of()
{
	cat "$cases/$1/pid"
}

# run CASE COMMAND...: until it is in its place. It stays there, but stopped,
# and takes no more than its turn while all are sampled.
run()
{
	local name=$1

	shift
	mkdir "$cases/$name"
	"$@" >"$cases/$name/address" &
	echo "$!" >"$cases/$name/pid"
	renice -n 19 -p "$!"
	wait_for 30 test -s "$cases/$name/address" || diag "$name doesn't start"
	kill -STOP "$!"
	running="$running $name"
}

# end_case CASE
end_case()
{
	local pid name=$1 left=''

	pid=$(pid_of "$name")
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	for name in $running; do
		[ "$name" = "$1" ] || left="$left $name"
	done
	running=$left
}

# truth CASE KIND [PATH]: what its maps say of the place it runs in. KIND is exe
# (in the program itself), own (likewise, but the app may be another cookie with
# that path), map (in another file), anon or vdso. PATH is the first one of that
# file, if it isn't the one of now.
truth()
{
	local name=$1 kind=$2 lo='' hi='' offset='' dev='' ino='' path=''
	local size image app inode

	awk -v at="$(cat "$cases/$name/address")" '
		{
			split($1, range, "-")
			for (i in range) {
				range[i] = sprintf("%16s", range[i])
				gsub(/ /, "0", range[i])
			}
			if (range[1] "" <= at "" && at "" < range[2] "") {
				path = $0
				sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ */, "", path)
				print range[1], range[2], $3, $4, $5
				print path
			}
		}' "/proc/$(pid_of "$name")/maps" >"$cases/$name/maps"
	{
		IFS=' ' read -r lo hi offset dev ino
		IFS= read -r path
	} <"$cases/$name/maps"
	size=$((0x$hi - 0x$lo))
	case $kind in
	anon|vdso)
		image="[$kind]" ;;
	*)
		lo=$(printf %016x "$((0x$offset))")
		hi=$(printf %016x "$((0x$offset + size))")
		image=$(escape "${3:-$path}") ;;
	esac
	case $kind in
	exe|own) app=$image ;;
	*)	app=/bin/spin ;;
	esac
	inode="$((0x${dev%:*})):$((0x${dev#*:})) $ino"
	printf '%s\n' "$kind" "$lo" "$hi" "$inode" "$app" "$image" \
		>"$cases/$name/truth"
}

# shellcheck disable=SC2317 # wait_for calls these two
# all_seen FILE PID_COLUMN MODE_COLUMN: are there enough samples of every case?
all_seen()
{
	local name

	for name in $running; do
		pid_of "$name"
	done | awk -F '\t' -v pid="$2" -v mode="$3" '
		NR == FNR { want[$1] = 1; next }
		$mode == "u" && $pid in want { n[$pid] += mode == 5 ? 1 : $1 }
		END {
			for (one in want) {
				if (n[one] < 20)
					exit 1
			}
		}' - "$1"
}

# shellcheck disable=SC2317
# The stream, as far as it is there: opread's table, piece by piece.
read_more()
{
	op dump 1
	opread -N -c >>/tmp/counts || : >/tmp/broken
	all_seen /tmp/counts 3 6
}

# to_all SIGNAL
to_all()
{
	local name

	for name in $running; do
		kill "$1" "$(pid_of "$name")"
	done
}

# sample_all: the text and then the stream of everything that runs now.
sample_all()
{
	to_all -CONT
	start
	cat "$OP/samples" >/tmp/samples &
	wait_for 60 all_seen /tmp/samples 2 5
	ok $? "all are in the text"
	stop
	wait $!
	law "$(count_samples </tmp/samples)" "of the text"

	: >/tmp/counts
	start
	wait_for 60 read_more
	ok $? "all are in the stream"
	to_all -STOP
	stop
	opread -N -c >>/tmp/counts
	[ ! -e /tmp/broken ]
	ok $? "it is well formed"
	law "$(sum </tmp/counts)" "of the stream"
	cat "$OP/dcookies" >/tmp/dcookies
	judge_all
}

# judge_all: for each case a file with what the text, the stream and dcookies
# say of it.
judge_all()
{
	local name pid kind lo hi inode app image

	for name in $running; do
		read -r pid <"$cases/$name/pid"
		{
			IFS= read -r kind
			IFS= read -r lo
			IFS= read -r hi
			IFS= read -r inode
			IFS= read -r app
			IFS= read -r image
		} <"$cases/$name/truth"
		printf '%s\t' "$pid" "$name" "$kind" "$lo" "$hi" "$app"
		printf '%s\n' "$image"
	done >/tmp/table
	awk -F '\t' '
		function inside(pid, address)
		{
			address = sprintf("%16s", substr(address, 3))
			gsub(/ /, "0", address)
			return address >= lo[pid] "" && address < hi[pid] ""
		}
		# A call into [vdso] comes from somewhere.
		function caller(pid, where)
		{
			return kind[pid] == "vdso" && where ~ /^(\/|[1-9])/
		}
		FILENAME == "/tmp/table" {
			name[$1] = $2; kind[$1] = $3; lo[$1] = $4; hi[$1] = $5
			app[$1] = $6; image[$1] = $7
			next
		}
		FILENAME == "/tmp/dcookies" {
			split($0, part, " ")
			line[part[1]] = $0
			path[part[1]] = part[6]
			next
		}
		FILENAME == "/tmp/samples" {
			if (!($2 in name))
				next
			if ($6 != app[$2])
				bad[$2] = $0
			if ($5 != "u" || caller($2, $7))
				next
			if ($7 == image[$2] && inside($2, $8))
				n[$2]++
			else
				bad[$2] = $0
			next
		}
		$3 in name {
			if (!(($3, $7) in app_seen))
				apps[$3] = apps[$3] " " $7
			app_seen[$3, $7] = 1
			if ($6 != "u" || caller($3, $8))
				next
			if (!inside($3, $9))
				bad[$3] = $0
			if (!(($3, $8) in seen))
				images[$3] = images[$3] " " $8
			seen[$3, $8] = 1
		}
		END {
			for (pid in name) {
				file = "/tmp/cases/" name[pid] "/verdict"
				one = substr(images[pid], 2)
				print n[pid] + 0 >file
				print bad[pid] >file
				print one >file
				print substr(apps[pid], 2) >file
				print line[one] >file
				print path[substr(apps[pid], 2)] >file
				close(file)
			}
		}' /tmp/table /tmp/dcookies /tmp/samples /tmp/counts
}

# check CASE TEXT [GENERATION [BUILD_ID]]: the text, the stream and dcookies
# agree with the maps. Sets cookie.
check()
{
	local name=$1 what=$2 generation=${3:-} build_id=${4:-}
	local kind lo hi inode app image n bad='' app_cookie='' line='' app_path=''
	local number dev ino gen id path

	{
		read -r kind
		read -r lo
		read -r hi
		read -r inode
		read -r app
		read -r image
	} <"$cases/$name/truth"
	{
		read -r n
		read -r bad
		read -r cookie
		read -r app_cookie
		read -r line
		read -r app_path
	} <"$cases/$name/verdict"
	[ -z "$bad" ] && [ "$n" -ge 10 ]
	ok $? "$what: $n samples in the right place"
	[ -z "$bad" ] || diag "$bad"
	case $kind in
	anon|vdso)
		is "$cookie" 0 "$what: no cookie" ;;
	*)
		read -r number dev ino gen id path <<-end
			$line
		end
		is "$number $dev $ino $path" "$cookie $inode $image" "$what: its cookie"
		[ -z "$generation" ] || is "$gen" "$generation" "$what: its generation"
		[ -z "$build_id" ] || is "$id" "$build_id" "$what: its build-id"
		echo "# $line" ;;
	esac
	if [ "$kind" = exe ]; then
		is "$app_cookie" "$cookie" "$what: app and image are the same cookie"
	else
		is "$app_path" "$app" "$what: the app"
	fi
}

# stat_agrees CASE FILE: the maps have the inode that stat has.
stat_agrees()
{
	is "$(sed -n '4s/.* //p' "$cases/$1/truth")" "$(stat -c %i "$2")" \
		"$1: the inode is the one of stat"
}

# path_is CASE PATH
path_is()
{
	is "$(sed -n 6p "$cases/$1/truth")" "$2" "$1: its path"
}

build_id=$(readelf -n /bin/spin | awk '/Build ID:/ { print $3 }')
[ -n "$build_id" ]
ok $? "the program has a build-id: $build_id"

# Places.
mkdir /tmp/orig /tmp/bound /ext /lower /upper /ovl /ns
truncate -s 16M /tmp/ext.img
losetup /dev/loop0 /tmp/ext.img && mke2fs -i 262144 /dev/loop0 >/dev/null &&
	mount -t ext2 /dev/loop0 /ext
ok $? "ext2 is there"
mount -t tmpfs tmpfs /lower && mount -t tmpfs tmpfs /upper &&
	mkdir /upper/up /upper/work
for dir in /tmp /tmp/orig /ext /lower /upper/up; do
	cp /bin/spin "$dir/prog"
	spin make "$dir/code" 2
done
mv /upper/up/prog /upper/up/above
rm /upper/up/code
cp /bin/spin /lower/copied
cp /bin/spin /lower/fresh
mount -t overlay -o lowerdir=/lower,upperdir=/upper/up,workdir=/upper/work \
	overlay /ovl
ok $? "overlayfs is there"
mount --bind /tmp/orig /tmp/bound
odd=$(printf '/tmp/a b\\c\td')
for file in /tmp/renamed /tmp/gone /tmp/link-a /tmp/again "$odd" /ext/again; do
	cp /bin/spin "$file"
done
ln /tmp/link-a /tmp/link-b
generation_tmp=$(spin generation /tmp/prog)
generation_ext=$(spin generation /ext/again)

load event=cpu-clock count=1000000 buffer_size=1048576 buffer_watershed=524288
ok $? "loads"

run root /bin/spin code
run plain /tmp/prog code
run map spin file /tmp/code 0x1000
run ext /ext/prog code
run ext-map spin file /ext/code 0x1000
run renamed /tmp/renamed code
run gone /tmp/gone code
run link-a /tmp/link-a code
run odd "$odd" code
run again /tmp/again code
run ext-again /ext/again code
run lower /ovl/prog code
run upper /ovl/above code
run overlay-map spin file /ovl/code 0x1000
run copied /ovl/copied code
run bound /tmp/bound/prog code
run ns spin ns sh -c 'mount -t tmpfs tmpfs /ns && cp /bin/spin /ns/prog &&
	exec /ns/prog code'
run memfd spin memfd
run anon spin anon
run vdso spin vdso
mv /tmp/renamed /tmp/renamed-since
rm /tmp/gone
for name in root plain ext renamed gone link-a odd again ext-again lower upper \
	copied bound ns; do
	truth "$name" exe
done
for name in map ext-map overlay-map memfd; do
	truth "$name" map
done
truth anon anon
truth vdso vdso

sample_all
check root "a program in the initramfs" "" "$build_id"
stat_agrees root /bin/spin
check plain "a program on tmpfs" "$generation_tmp" "$build_id"
stat_agrees plain /tmp/prog
plain=$cookie
check map "a mapped file on tmpfs" "$(spin generation /tmp/code)" -
check ext "a program on ext2" "$(spin generation /ext/prog)" "$build_id"
stat_agrees ext /ext/prog
check ext-map "a mapped file on ext2" "$(spin generation /ext/code)" -
check renamed "renamed before it was seen" "" "$build_id"
path_is renamed /tmp/renamed-since
check gone "deleted before it was seen" "" "$build_id"
path_is gone '/tmp/gone\040(deleted)'
check link-a "the first of two links" "" "$build_id"
link=$cookie
check odd "an odd name" "" "$build_id"
check again "a file to be replaced on tmpfs" "" "$build_id"
again=$cookie
check ext-again "a file to be replaced on ext2" "$generation_ext" "$build_id"
ext_again=$cookie
check lower "overlayfs, a program below" "" "$build_id"
lower=$cookie
check upper "overlayfs, a program above" "" "$build_id"
check overlay-map "overlayfs, a mapped file" "" -
check copied "overlayfs, a program to be copied up" "" "$build_id"
check bound "a bind mount" "" "$build_id"
bound=$cookie
check ns "another mount namespace" "" "$build_id"
[ ! -e /ns/prog ]
ok $? "another mount namespace: its file is not to be seen here"
check memfd "a memfd" "" -
check anon "memory without a file"
check vdso "[vdso]"

# What happens to files that have been seen. The new files come while those that
# they replace still run, but on ext2: there the new one gets the old inode, as
# there is no other.
for name in root map ext ext-map renamed gone odd lower upper overlay-map ns memfd \
	anon vdso bound link-a ext-again; do
	end_case "$name"
done
rm -rf "$cases/ext-again"
mv /tmp/prog /tmp/prog-since
cp /bin/spin /tmp/new
mv /tmp/new /tmp/again
inode=$(stat -c %i /ext/again)
n=0
while true >"/ext/$n"; do
	n=$((n + 1))
done 2>/dev/null
rm /ext/again
cp /bin/spin /ext/again
chmod 700 /ovl/copied

run moved /tmp/prog-since code
run link-b /tmp/link-b code
run replaced /tmp/again code
run ext-again /ext/again code
run lower-2 /ovl/prog code
run fresh /ovl/copied code
run orig /tmp/orig/prog code
truth moved exe /tmp/prog
truth link-b exe /tmp/link-a
truth replaced exe
truth ext-again exe
truth lower-2 exe
truth fresh exe
truth orig exe /tmp/bound/prog
# What the kernel says of the executable is the copy, while the code isn't.
truth copied own

sample_all
check moved "run under a new name" "$generation_tmp" "$build_id"
is "$cookie" "$plain" "run under a new name: the same cookie"
check plain "running on under its old name"
is "$cookie" "$plain" "running on under its old name: the same cookie"
check link-b "the second of two links" "" "$build_id"
is "$cookie" "$link" "the second of two links: the same cookie"
check replaced "the new file" "" "$build_id"
[ "$cookie" != "$again" ]
ok $? "the new file: another cookie, $cookie"
check again "the file that it replaced"
is "$cookie" "$again" "the file that it replaced: the old cookie"
is "$(stat -c %i /ext/again)" "$inode" "ext2: the new file got the old inode"
check ext-again "ext2: the new file" "$(spin generation /ext/again)" "$build_id"
[ "$cookie" != "$ext_again" ]
ok $? "ext2: the new file: another cookie, $cookie"
check lower-2 "overlayfs, a program below, again" "" "$build_id"
is "$cookie" "$lower" "overlayfs, a program below, again: the same cookie"
check copied "overlayfs, copied up while it runs"
check fresh "overlayfs, run after it was copied up" "" "$build_id"
check orig "what was bound elsewhere" "" "$build_id"
is "$cookie" "$bound" "what was bound elsewhere: the same cookie"

for name in $running; do
	end_case "$name"
done
unload
ok $? "unloads"
done_testing
