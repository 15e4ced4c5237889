# SPDX-License-Identifier: GPL-2.0
#
# What the scripts here share, and what busybox has for tests/guest/lib.sh.

# shellcheck source=tests/guest/lib.sh
. ./lib.sh

# shellcheck disable=SC2034 # for those who source this
module=/sys/module/oprofile/parameters

usleep()
{
	sleep "0.$(printf %06d "$1")"
}

# installed: where modprobe finds the module, by its folder.
installed()
{
	modinfo -n oprofile 2>&1 | sed "s,^/lib/modules/$(uname -r)/,,; s,\.ko.*,.ko,"
}

# profile: for a while, of a running profile, to its end.
profile()
{
	cat "$OP/samples" >/tmp/samples &
	reader=$!
	busy gzip </dev/zero >/dev/null
	wait_for 120 received_more 500
	calm
}

end_profile()
{
	stop
	wait "$reader"
	law "$(count_samples </tmp/samples)" "$1"
}

# packages OPTION...: dpkg, with what it says where it fails.
packages()
{
	dpkg "$@" >/tmp/dpkg.log 2>&1 || {
		diag "$(cat /tmp/dpkg.log)"
		return 1
	}
}
