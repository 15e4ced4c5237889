#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# With modules-load.conf and modprobe.conf: a profile runs from the boot on. Then
# the module as a user has it, an upgrade of its package while it is loaded, and
# the service, which is there when the system ends.

. ./common.sh

# The other module that kernels up to 5.11 have.
other=$(find "/lib/modules/$(uname -r)/kernel" -name 'oprofile.ko*')

is "$(systemctl is-active systemd-modules-load)" active "modules are loaded"
is "$(installed)" updates/dkms/oprofile.ko "ours is the module"
is "$(cat $module/buffer_size)" 262144 "it has the parameters of modprobe.d"
is "$(cat $module/enable)" 1 "and profiles since the boot"
profile
end_profile "a profile that began with the boot"
[ "$(awk '$2 == 1' /tmp/samples | wc -l)" -gt 0 ]
ok $? "it has samples of systemd, which was busy then"
modprobe -r oprofile
ok $? "unloads"

modprobe oprofile buffer_size=524288 enable=0
ok $? "loads with a parameter"
is "$(cat $module/buffer_size)" 524288 "which it has"
is "$(cat $module/enable)" 0 "and no profile"
start
profile
end_profile "a profile"
modprobe -r oprofile
ok $? "unloads"

case $(uname -r) in
5.10.*)
	[ -n "$other" ]
	ok $? "this kernel has a module of this name"
	insmod "$other"
	ok $? "which loads"
	modprobe oprofile
	ok $? "modprobe reports success"
	[ ! -d $module ] || [ ! -e $module/buffer_size ]
	ok $? "but ours is not loaded"
	sh ./other-module
	ok $? "what README says to do"
	[ -e $module/buffer_size ]
	ok $? "ours is loaded"
	modprobe -r oprofile ;;
*)
	is "$other" "" "this kernel has no other module of this name" ;;
esac

modprobe oprofile
profile
is "$(cat $module/enable)" 1 "a profile runs"
packages -i ./oprofile-dkms_*_all.deb
ok $? "the package is upgraded"
is "$(dkms status oprofile 2>&1 | sed 's/^oprofile[/, ]*//; s/, .*: / /')" \
	"$(basename oprofile-dkms_*_all.deb _all.deb | cut -d _ -f 2) installed" \
	"the new one alone is there"
is "$(installed)" updates/dkms/oprofile.ko "modprobe will take that"
is "$(cat $module/enable)" 1 "the profile goes on"
end_profile "a profile during the upgrade"
modprobe -r oprofile
ok $? "unloads"
modprobe oprofile
ok $? "the new one loads"
stop

is "$(systemd-analyze verify oprofile-save.service 2>&1 | grep oprofile)" "" \
	"systemd finds nothing wrong with the unit"
mkdir -p /etc/systemd/system/oprofile-save.service.d
printf '[Service]\nEnvironment=SIZE=16K KEEP=3\n' \
	>/etc/systemd/system/oprofile-save.service.d/size.conf
systemctl daemon-reload
systemctl enable --now oprofile-save 2>/dev/null
ok $? "the service starts"
wait_for 60 received_more 100
ok $? "and profiles"
done_testing
