#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# With the service, which starts at boot and has been there when the system went
# down: it saves, rotates and stops cleanly. In the end the package is removed
# while the module is loaded.

. ./common.sh

logs=/var/log/oprofile

# all: files of the service.
all()
{
	find "$logs" -name 'samples-*' | LC_ALL=C sort
}

# torn: lines that are not whole, of all files.
torn()
{
	find "$logs" -name 'samples-*' -exec cat {} + | awk -F '\t' 'NF != 8' | wc -l
}

# shellcheck disable=SC2317 # wait_for calls it
rotated()
{
	! all | grep -qxFf /tmp/before
}

# shellcheck disable=SC2317 # wait_for calls it
files()
{
	[ "$(all | wc -l)" -eq "$1" ]
}

# property NAME: of the service.
property()
{
	systemctl show -P "$1" oprofile-save 2>/dev/null ||
		systemctl show -p "$1" --value oprofile-save
}

# log BOOT [OPTION...]: what systemd says about the service.
log()
{
	boot=$1
	shift
	journalctl -q -b "$boot" -u oprofile-save "$@"
}

is "$(systemctl is-active oprofile-save)" active "the service has started at boot"
[ "$(log -1 | grep -c Stopped)" -gt 0 ]
ok $? "it was stopped when the system went down"
is "$(log -1 -p warning)" "" "without a complaint"
is "$(cat $module/enable)" 1 "and profiles again"

all >/tmp/before
[ -s /tmp/before ]
ok $? "there are files of the last time"
busy gzip </dev/zero >/dev/null
wait_for 300 rotated
ok $? "new ones take their place"
calm
systemctl stop oprofile-save
ok $? "it stops"
is "$(property Result)" success "cleanly"
is "$(property ExecMainStatus)" 0 "with status 0"
is "$(cat $module/enable)" 0 "and the profile with it"
law "" "all is read"
is "$(all | wc -l)" 3 "three files are kept"
is "$(find "$logs" -size +16k)" "" "of the size asked for"
is "$(torn)" 0 "of whole lines"
is "$(find "$logs" -maxdepth 1 -perm /077)" "" "for root only"
diag "$(ls -l "$logs")"

rm "$logs"/* /etc/systemd/system/oprofile-save.service.d/size.conf
systemctl daemon-reload
systemctl start oprofile-save
wait_for 60 files 1
systemctl restart oprofile-save
wait_for 60 files 2
ok $? "it restarts, with a file for each time"
systemctl stop oprofile-save
is "$(property Result)" success "and stops"
law "$(all | tail -n 1 | xargs cat | count_samples)" "all samples are in the last"
is "$(log 0 -p warning)" "" "systemd complains of nothing"

systemctl -q disable oprofile-save
start
profile
packages --purge oprofile-dkms
ok $? "the package is purged"
is "$(dkms status 2>&1)" "" "DKMS has nothing"
is "$(find /usr/src /usr/share /var/lib /lib/modules -name '*oprofile*' \
	! -path '/usr/src/linux-*' ! -path '/lib/modules/*/kernel/*')" "" \
	"nothing is left"
is "$(cat $module/enable)" 1 "the profile goes on"
end_profile "a profile during that"
rmmod oprofile
ok $? "unloads"
case $(uname -r) in
5.10.*)
	is "$(installed | sed 's,/.*/,/,')" kernel/oprofile.ko \
		"the kernel's own is there again" ;;
*)
	! modprobe -n oprofile 2>/dev/null
	ok $? "modprobe knows it no longer" ;;
esac
done_testing
