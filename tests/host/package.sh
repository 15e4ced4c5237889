#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The packages, in the chroot of each suite: they build, are clean, and the same
# each time; installed in a copy of that chroot, DKMS builds the module, for a
# second kernel too, leaves out those that can't have it, and takes everything
# away again. So does make without a package.
# host: set=all cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/lib/chroot.sh
. "$ROOT/tests/lib/chroot.sh"
# shellcheck source=tests/lib/package.sh
. "$ROOT/tests/lib/package.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

SUITES=${OPROFILE_SUITES:-bullseye bookworm trixie}

# Two folders, two umasks, one package.
build_deb()
{
	sources "$work/first/oprofile"
	(umask 077 && sources "$work/second folder/other")
	quiet "the package builds" in_suite 'cd "$1" && umask 022 &&
		dpkg-buildpackage -us -uc' "$inside/first/oprofile"
	quiet "and in another folder" in_suite 'cd "$1" && umask 002 &&
		dpkg-buildpackage -us -uc -b' "$inside/second folder/other"
	status=0
	cmp "$work/first/$deb" "$work/second folder/$deb" || status=$?
	ok "$status" "$suite: both are the same to the byte"
	# An older suite's can't know the newer one's policy.
	quiet "lintian has neither errors nor warnings" in_suite '
		cd "$1" && lintian --allow-root --fail-on error,warning \
			--suppress-tags newer-standards-version ./*.changes' "$inside/first"
}

# contents: mode, owner and name of what is in the package, but for the sources.
contents()
{
	dpkg-deb -c "$work/first/$deb" | awk '{ print $1, $2, $6 }' |
		grep -v '/$' | sed 's, \./, /,' | grep -vE ' /usr/src/.*\.[ch]$'
}

wanted_contents()
{
	local doc=/usr/share/doc/oprofile-dkms name

	for name in README.md.gz changelog.gz copyright examples/modprobe.conf \
			examples/modules-load.conf; do
		echo "-rw-r--r-- root/root $doc/$name"
	done
	echo "-rwxr-xr-x root/root $doc/examples/oprofile-save"
	echo "-rw-r--r-- root/root $doc/examples/oprofile-save.service"
	echo "-rw-r--r-- root/root /usr/share/man/man4/oprofile.4.gz"
	echo "-rw-r--r-- root/root /usr/src/oprofile-$version/Kbuild"
	echo "-rw-r--r-- root/root /usr/src/oprofile-$version/dkms.conf"
}

# vermagic: of every module of ours, the release, if it is in the right folder.
vermagic()
{
	in_machine 'for dir in /lib/modules/*-amd64; do
		file=$(echo "$dir"/updates/dkms/oprofile.ko*)
		[ ! -e "$file" ] || [ "$(modinfo -F vermagic "$file" | cut -d " " -f 1)" = \
			"${dir##*/}" ] && [ "$(modinfo -F name "$file")" = oprofile ] ||
			echo "$dir"
	done'
}

# remains: all that is left of us.
remains()
{
	in_machine 'find /etc /lib/modules /usr /var/lib/dkms -name "*oprofile*" \
		! -path "/usr/src/linux-*" ! -path "/usr/include/*"; dkms status' |
		grep -v '/perf' || true
}

# fake_kernel RELEASE SED: headers like the installed ones, but for their options.
fake_kernel()
{
	in_machine '
		headers=$(readlink -f /lib/modules/*[0-9]-amd64/build)
		mkdir -p "/lib/modules/$1"
		cp -a "$headers" "/usr/src/fake-$1"
		ln -s "/usr/src/fake-$1" "/lib/modules/$1/build"
		sed -i "$2" "/usr/src/fake-$1/.config" \
			"/usr/src/fake-$1/include/config/auto.conf"' "$@"
}

# left_out RELEASE: the hook of DKMS that runs after an installation of headers.
left_out()
{
	quiet "the installation of headers of $1 goes on" in_machine \
		'/etc/kernel/header_postinst.d/dkms "$1" 2>&1' "$1"
	status=0
	grep -q "not for this kernel" "$work/command.log" || status=$?
	ok "$status" "$suite: and says why there is no module"
	is "$(find "$machine/lib/modules/$1" -name 'oprofile*')" "" \
		"$suite: none for $1"
	rm -r "$machine/lib/modules/$1" "$machine/usr/src/fake-$1"
}

install_deb()
{
	local kernel

	quiet "an older package installs" in_machine '
		apt-get -y -q --no-install-recommends install kmod "$1"' \
		"$inside/old/oprofile-dkms_0.0.1_all.deb"
	is "$(status)" "$(installed 0.0.1)" "$suite: DKMS has built that"
	quiet "and is upgraded" in_machine 'apt-get -y -q install "$1"' \
		"$inside/first/$deb"
	is "$(grep -iE 'warning|deprecat|error' "$work/command.log")" "" \
		"$suite: without a warning"
	is "$(status)" "$(installed "$version")" "$suite: DKMS has built the new one"
	kernel=$(basename "$machine"/lib/modules/*[0-9]-amd64 -amd64)
	quiet "headers of a second kernel install" in_machine '
		apt-get -y -q --no-install-recommends install "$1"' \
		"linux-headers-$kernel-cloud-amd64"
	is "$(status | wc -l)" 2 "$suite: there are two kernels"
	is "$(status)" "$(installed "$version")" "$suite: DKMS has built for both"
	is "$(vermagic)" "" "$suite: and each is for its kernel"
	is "$(in_machine 'dkms status 2>&1 >/dev/null')" "" "$suite: DKMS warns of nothing"

	fake_kernel 6.1.0-0-plain '/^CONFIG_DEBUG_FS=/d'
	left_out 6.1.0-0-plain
	fake_kernel 5.9.0-1-amd64 ''
	left_out 5.9.0-1-amd64

	quiet "the package is removed" in_machine 'apt-get -y -q remove oprofile-dkms'
	quiet "and purged" in_machine 'dpkg --purge oprofile-dkms'
	is "$(remains)" "" "$suite: nothing is left"
}

rpm_contents()
{
	in_suite 'rpm -qp --qf \
		"[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES}\n]" "$1"' \
		"$inside/rpm/$rpm" | grep -vE '^d|/usr/src/.*\.[ch]$' |
		sed "s,/oprofile-dkms-$version/,/oprofile-dkms/,; s/\.gz$//"
}

wanted_rpm_contents()
{
	wanted_contents | grep -vE 'changelog|copyright' | sed 's/\.gz$//'
	echo "-rw-r--r-- root/root /usr/share/licenses/oprofile-dkms/LICENSE"
}

build_rpm()
{
	sources "$work/rpm/oprofile-$version"
	quiet "the spec builds" in_suite '
		cd "$1" && rpmbuild -bb --build-in-place --nodeps \
			--define "_topdir $1/topdir" rpm/oprofile-dkms.spec' \
		"$inside/rpm/oprofile-$version"
	mv "$work/rpm/oprofile-$version/topdir/RPMS/noarch/$rpm" "$work/rpm/" ||
		return 0
	is "$(rpm_contents | LC_ALL=C sort -k 3)" \
		"$(wanted_rpm_contents | LC_ALL=C sort -k 3)" \
		"$suite: the rpm's files and modes"
	# A plugin wants to be where / is a mount.
	quiet "the rpm installs" in_machine 'rpm -i --nodeps --noplugins "$1"' \
		"$inside/rpm/$rpm"
	is "$(status)" "$(installed "$version")" "$suite: DKMS has built it"
	quiet "the same again, as an upgrade" in_machine \
		'rpm -U --force --nodeps --noplugins "$1"' "$inside/rpm/$rpm"
	is "$(status)" "$(installed "$version")" "$suite: DKMS has built that"
	quiet "the rpm is removed" in_machine \
		'rpm -e --noplugins oprofile-dkms'
	is "$(remains)" "" "$suite: nothing is left"
}

# What make does without a package.
by_hand()
{
	local kernel tree=$inside/hand/oprofile

	kernel=$(basename "$machine"/lib/modules/*[0-9]-amd64)
	sources "$work/hand/oprofile"
	chown -R 1000:1000 "$work/hand"
	quiet "make, as a user" in_machine '
		cd "$1" && setpriv --reuid=1000 --regid=1000 --clear-groups \
			make KERNELRELEASE="$2"' "$tree" "$kernel"
	quiet "a second make" in_machine '
		cd "$1" && cp oprofile.ko once && setpriv --reuid=1000 --regid=1000 \
			--clear-groups make KDIR="/lib/modules/$2/build" &&
		cmp once oprofile.ko' "$tree" "$kernel"
	quiet "make install DESTDIR" in_machine '
		cd "$1" && setpriv --reuid=1000 --regid=1000 --clear-groups make install \
			KDIR="/lib/modules/$2/build" DESTDIR="$1/to" &&
		[ "$(cd to && find . -type f | sed s/.ko.*/.ko/)" = \
			"./lib/modules/$2/updates/oprofile.ko" ]' "$tree" "$kernel"
	quiet "make uninstall DESTDIR" in_machine '
		cd "$1" && make uninstall KDIR="/lib/modules/$2/build" DESTDIR="$1/to" &&
		[ -z "$(find to -type f)" ]' "$tree" "$kernel"
	quiet "make install" in_machine '
		cd "$1" && make install KERNELRELEASE="$2" &&
		grep -q ^updates/oprofile.ko "/lib/modules/$2/modules.dep" &&
		modinfo -k "$2" oprofile' "$tree" "$kernel"
	quiet "make uninstall" in_machine '
		cd "$1" && make uninstall KERNELRELEASE="$2" &&
		! grep oprofile "/lib/modules/$2/modules.dep"' "$tree" "$kernel"
	quiet "make dkms-install" in_machine '
		cd "$1" && make dkms-install KERNELRELEASE="$2" &&
		modinfo -k "$2" oprofile' "$tree" "$kernel"
	sources "$work/with space/oprofile"
	quiet "again, from a folder with a space" in_machine '
		cd "$1" && make dkms-install KERNELRELEASE="$2" &&
		modinfo -k "$2" oprofile' "$inside/with space/oprofile" "$kernel"
	quiet "where kbuild itself refuses" in_machine '
		cd "$1" && ! make KERNELRELEASE="$2" &&
		! find . -name "*.o" | grep .' "$inside/with space/oprofile" "$kernel"
	quiet "make dkms-remove" in_machine 'cd "$1" && make dkms-remove' "$tree"
	is "$(remains)" "" "$suite: nothing is left"
}

test_suite()
{
	package_suite "$1" packages
	builder_packages "$suite" lintian man-db rpm
	build_deb
	is "$(contents | LC_ALL=C sort -k 3)" \
		"$(wanted_contents | LC_ALL=C sort -k 3)" \
		"$suite: the package's files and modes"
	build_old
	machine_create
	install_deb
	build_rpm
	by_hand
	rm -rf "$work" "$machine"
}

[ "$(id -u)" = 0 ] || die "only root can make chroots"
rpm=oprofile-dkms-$version-1.noarch.rpm
for suite in $SUITES; do
	test_suite "$suite"
done
done_testing
