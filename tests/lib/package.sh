# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Packages in the chroot of a suite, for those tests that build and install them.
# They have chroots of their own: those that other tests build modules in get no
# package that changes what an installation of headers does.
#
# Who sources this sets suite, work (a folder of the cache), machine (the chroot
# where packages are installed, a copy) and inside (work as both of them see it)
# with package_suite.

# shellcheck disable=SC2034 # for those who source this
MAIN_CACHE=$CACHE
CACHE=$CACHE/package
mkdir -p "$CACHE"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$ROOT/dkms.conf")
# shellcheck disable=SC2034
deb=oprofile-dkms_${version}_all.deb

# package_suite SUITE NAME: the chroot, with what builds packages; an empty folder.
package_suite()
{
	local dkms=dh-dkms

	suite=$1
	machine=$CACHE/chroots/$suite-$2
	work=$CACHE/work-$suite-$2
	inside=$(builder_path "$suite" "$work")
	locked "chroot-$suite" chroot_prepare "$suite"
	# dkms brought the debhelper sequence itself.
	[ "$suite" != bullseye ] || dkms=dkms
	builder_packages "$suite" build-essential debhelper "$dkms" fakeroot \
		linux-headers-amd64
	rm -rf "$work" "$machine"
	mkdir -p "$work"
}

# machine_create: the copy, in which packages are installed with all their files.
machine_create()
{
	cp -a "$CACHE/chroots/$suite" "$machine"
	rm -f "$machine"/etc/dpkg/dpkg.cfg.d/*mmdebstrap
}

# quiet DESCRIPTION COMMAND...: a test that the command succeeds, with its output
# where it does not.
quiet()
{
	local name=$1 status=0

	shift
	quietly "$work/command.log" "$@" 2>"$work/error.log" || status=$?
	ok "$status" "$suite: $name"
	[ "$status" -eq 0 ] || sed 's/^/# /' "$work/error.log"
}

# in_suite SCRIPT ARG...: in the chroot where packages are built.
in_suite()
{
	in_builder "$suite" sh -euc "$1" sh "${@:2}"
}

# in_machine SCRIPT ARG...: in the copy where they are installed.
in_machine()
{
	in_builder "$(basename "$machine")" sh -euc "$1" sh "${@:2}"
}

# sources DIR [VERSION]: a copy of the tree, of that version.
sources()
{
	mkdir -p "$1"
	tar -C "$ROOT" --exclude-vcs --exclude='*.ko' --exclude='*.o' \
		--exclude='.*.cmd' -cf - . | tar -C "$1" --no-same-owner -xf -
	[ $# -lt 2 ] || sed -i "s/\b$version\b/$2/" "$1/dkms.conf" \
		"$1/debian/changelog" "$1/rpm/oprofile-dkms.spec"
}

# build_old: the package in an older version, old/oprofile-dkms_0.0.1_all.deb.
build_old()
{
	sources "$work/old/oprofile" 0.0.1
	quiet "an older package builds" in_suite 'cd "$1" &&
		dpkg-buildpackage -us -uc -b' "$inside/old/oprofile"
}

# status: what DKMS says, one kernel a line, as from 3.0 on.
status()
{
	in_machine 'dkms status oprofile 2>&1' |
		sed 's/, x86_64//; s,^oprofile\, ,oprofile/,' | LC_ALL=C sort
}

# installed VERSION: what it should say.
installed()
{
	local kernel

	for kernel in "$machine"/lib/modules/*-amd64; do
		echo "oprofile/$1, ${kernel##*/}: installed"
	done | LC_ALL=C sort
}
