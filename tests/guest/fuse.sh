#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A file on a FUSE mount whose server hangs holds up nobody: its own samples and
# those of others go on, and so do stop and unload.
# vm: kernels=6.12 all-kernels=debian cpus=2 timeout=120 kmods=fuse

. ./lib.sh

# at FILE: user samples there, so far.
at()
{
	awk -F '\t' -v image="$1" '
		$5 == "u" && $7 == image { n++ }
		END { print n + 0 }' /tmp/samples
}

# shellcheck disable=SC2317 # wait_for calls it
# more_at FILE THAN
more_at()
{
	[ "$(at "$1")" -gt "$2" ]
}

# shellcheck disable=SC2317 # wait_for calls it
# waiting_is NUMBER: of requests that the server has not answered
waiting_is()
{
	[ "$(cat /sys/fs/fuse/connections/*/waiting)" = "$1" ]
}

# shellcheck disable=SC2317 # wait_for calls it
# is_gone PID
is_gone()
{
	! kill -0 "$1" 2>/dev/null
}

mkdir -p /tmp/fuse
cp /bin/spin /tmp/prog
spin make /tmp/code 64
mount -t fusectl fusectl /sys/fs/fuse/connections
fuseserve /tmp/fuse /tmp/prog /tmp/code >/tmp/server &
server=$!
wait_for 30 test -e /tmp/fuse/code
ok $? "the mount is there"

# A program, and a page of a file whose header the kernel never saw.
/tmp/fuse/prog code >/tmp/address-prog &
prog=$!
spin file /tmp/fuse/code 0x20000 >/tmp/address-code &
code=$!
wait_for 30 test -s /tmp/address-prog && wait_for 30 test -s /tmp/address-code
ok $? "programs run from it"
wait_for 30 waiting_is 0
wait_for 30 waiting_is 0
kill -USR1 "$server"
wait_for 30 grep -q hung /tmp/server
ok $? "the server hangs"

# Others that want something of it: a fault, and a read.
spin file /tmp/fuse/code 0x30000 >/tmp/address-fault &
fault=$!
cat /tmp/fuse/code >/tmp/read 2>/dev/null &
reader=$!
wait_for 30 waiting_is 2
ok $? "two programs wait for it"

load event=cpu-clock count=1000000 buffer_size=1048576 buffer_watershed=524288
ok $? "loads"
start
cat "$OP/samples" >/tmp/samples &
text=$!
busy burn cpu
for image in /tmp/fuse/prog /tmp/fuse/code /bin/burn; do
	wait_for 30 more_at "$image" 200
	ok $? "samples in $image"
done
cat "$OP/dcookies" >/tmp/dcookies
is "$(awk '$6 == "/tmp/fuse/code" { print $5 }' /tmp/dcookies)" - \
	"the file's header was not asked for"

# When they end, the module may be the last that holds these files.
kill -9 "$prog" "$code"
wait "$prog" "$code" 2>/dev/null
n=$(at /bin/burn)
wait_for 30 more_at /bin/burn $((n + 1000))
ok $? "a thousand more samples elsewhere after they were killed"
stop &
stop=$!
wait_for 30 is_gone "$stop"
ok $? "it stops"
wait "$text"
calm
law "$(count_samples </tmp/samples)" "of the text"
diag "$(at /tmp/fuse/prog) samples in the program, $(at /tmp/fuse/code) in the file"
unload
ok $? "unloads"
kill -0 "$fault" && kill -0 "$reader" && [ ! -s /tmp/read ]
ok $? "all the while the two have waited, and got nothing"

kill -9 "$server" "$fault" "$reader"
wait "$server" "$fault" "$reader" 2>/dev/null
wait_for 30 umount /tmp/fuse
ok $? "the mount goes"
done_testing
