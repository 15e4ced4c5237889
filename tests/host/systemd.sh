#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The package and its examples in a whole system of each suite, with systemd: the
# package installed there, DKMS has built the module for its kernel, which boots
# twice and runs a script of tests/host/systemd each time.
# host: set=all

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
for part in chroot vm report tap; do
	# shellcheck source=/dev/null
	. "$ROOT/tests/lib/$part.sh"
done
# shellcheck source=tests/lib/package.sh
. "$ROOT/tests/lib/package.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

SUITES=${OPROFILE_SUITES:-bullseye bookworm trixie}
TIMEOUT=1800

# What README.md's tables and text have a user do.
# shellcheck disable=SC2317 # quiet calls it
install_examples()
{
	in_machine '
		cd /usr/share/doc/oprofile-dkms/examples
		cp modules-load.conf /etc/modules-load.d/oprofile.conf
		cp modprobe.conf /etc/modprobe.d/oprofile.conf
		cp oprofile-save /usr/local/sbin/oprofile-save
		cp oprofile-save.service /etc/systemd/system/'
}

# make_system: the copy of the chroot becomes a system that boots.
make_system()
{
	quiet "systemd, a kernel and an older package install" in_machine '
		apt-get -y -q --no-install-recommends install dbus kmod linux-image-amd64 \
			systemd-sysv udev "$1"' "$inside/old/oprofile-dkms_0.0.1_all.deb"
	is "$(status)" "$(installed 0.0.1)" "$suite: DKMS has built the module"
	quiet "the examples install" install_examples

	release=$(basename "$machine"/lib/modules/*-amd64)
	quiet "an initrd" in_machine 'systemd-machine-id-setup
		update-initramfs -c -k "$1"' "$release"
	mkdir -p "$machine/test" "$machine/var/log/journal"
	cp "$ROOT"/tests/host/systemd/*.sh "$ROOT/tests/guest/lib.sh" \
		"$work/new/$deb" "$machine/test/"
	# The lines with which README.md has a user get ours for a kernel's own.
	awk '/^## /	{ wanted = /own oprofile.ko$/ }
		wanted && /^    / { print substr($0, 5) }' "$ROOT/README.md" \
		>"$machine/test/other-module"
	cat >"$machine/etc/systemd/system/test.service" <<-end
	[Unit]
	After=oprofile-save.service
	[Service]
	ExecStart=/bin/sh /test/run.sh
	[Install]
	WantedBy=multi-user.target
	end
	in_machine 'systemctl -q enable test.service'
	truncate -s 6G "$work/root.img"
	mke2fs -q -t ext4 -d "$machine" "$work/root.img"
}

# boot SCRIPT: the tests of that script in the system.
boot()
{
	local status=0 out=$work/$1

	echo "$1" >"$work/script"
	mkdir -p "$out"
	printf '%s\n' 'rm /test/script' "write $work/script /test/script" |
		debugfs -w -f - "$work/root.img" >"$out/debugfs.log" 2>&1
	vm_serials x86_64 "$out/kernel.log" "$out/tap"
	CACHE=$MAIN_CACHE vm_qemu x86_64 2 tcg "$TIMEOUT" -smp 2 -m 1024 \
		-kernel "$machine/boot/vmlinuz-$release" \
		-initrd "$machine/boot/initrd.img-$release" \
		-append "$(vm_append x86_64 root=/dev/vda rw fsck.mode=skip)" \
		-drive "file=$work/root.img,format=raw,if=virtio" \
		"${VM_SERIALS[@]}" </dev/null >"$out/qemu.log" 2>&1 || status=$?
	ok "$status" "$suite, $1: the machine boots and ends"
	# Its tests become tests of this script.
	while IFS= read -r line; do
		case $line in
		'ok '*)		pass "$suite, $1: ${line#ok * - }" ;;
		'not ok '*)	fail "$suite, $1: ${line#not ok * - }" ;;
		1..*)		;;
		*)		echo "$line" ;;
		esac
	done <"$out/tap"
	is "$(tap_check "$out/tap")" "" "$suite, $1: the script ran to its end"
	is "$(report_of "$out/kernel.log")" "" "$suite, $1: the kernel reported nothing"
}

test_suite()
{
	package_suite "$1" system
	sources "$work/new/oprofile"
	quiet "the package builds" in_suite 'cd "$1" &&
		dpkg-buildpackage -us -uc -b' "$inside/new/oprofile"
	build_old
	machine_create
	make_system
	boot first
	boot second
	rm -rf "$work" "$machine"
}

[ "$(id -u)" = 0 ] || die "only root can make chroots"
need_packages e2fsprogs qemu-system-x86
for suite in $SUITES; do
	test_suite "$suite"
done
done_testing
