# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# A small chroot per Debian suite, for its compiler and kernel headers. Each
# command runs in a mount namespace of its own, so that nothing stays mounted.

# The builder that this machine is: no chroot needed for its own suite.
builder_of()
{
	if [ "$1" = "$(host_suite)" ]; then
		echo host
	else
		echo "$1"
	fi
}

chroot_sources()
{
	local suite=$1 host uri security

	host=$(host_suite)
	uri=$(apt_uri "$host")
	[ -n "$uri" ] || die "no Debian mirror in this machine's apt configuration"
	security=$(apt_uri "$host-security")
	echo "deb $uri $suite main"
	echo "deb $uri $suite-updates main"
	# Gone from the mirrors, as bullseye itself will be.
	[ "$suite" = bullseye ] || echo "deb $uri $suite-backports main"
	[ -z "$security" ] || echo "deb $security $suite-security main"
}

chroot_create()
{
	local suite=$1 dir=$CACHE/chroots/$1 options=() option

	while IFS= read -r option; do
		options+=("--aptopt=$option")
	done < <(apt_options)
	rm -rf "$dir.new"
	mkdir -p "$CACHE/chroots"
	chroot_sources "$suite" | mmdebstrap --quiet --mode=root --variant=apt \
		"${options[@]}" --skip=cleanup/apt/lists \
		--aptopt='Acquire::Languages "none"' \
		--dpkgopt='force-unsafe-io' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--include=gcc,libc6-dev,make,xz-utils "$suite" "$dir.new" - &&
		mkdir -p "$dir.new/cache" &&
		mv "$dir.new" "$dir"
}

# chroot_prepare SUITE: makes the chroot unless there is one.
chroot_prepare()
{
	[ ! -d "$CACHE/chroots/$1" ] || return 0
	[ "$(id -u)" = 0 ] || die "only root can make a chroot for $1"
	need_packages debian-archive-keyring mmdebstrap mount
	say "making a chroot for $1 (about a minute)"
	retry quietly "$CACHE/chroot-$1.log" chroot_create "$1"
}

# in_builder BUILDER COMMAND...: on the host, or in that suite's chroot with
# /proc mounted and the cache at /cache. stdin is closed in both.
in_builder()
{
	local builder=$1 dir=$CACHE/chroots/$1

	shift
	if [ "$builder" = host ]; then
		"$@" </dev/null
		return
	fi
	unshare --mount --propagation private bash -euc '
		dir=$1 cache=$2
		shift 2
		mount -t proc proc "$dir/proc"
		mount --bind "$cache" "$dir/cache"
		cp -L /etc/resolv.conf "$dir/etc/resolv.conf"
		exec chroot "$dir" env -i PATH="$PATH" HOME=/root LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive INITRD=No "$@"
		' bash "$dir" "$CACHE" "$@" </dev/null
}

# builder_path BUILDER PATH: where the builder sees a path of the cache.
builder_path()
{
	if [ "$1" = host ]; then
		echo "$2"
	else
		echo "/cache${2#"$CACHE"}"
	fi
}

chroot_install()
{
	local builder=$1 missing=() package

	shift
	for package; do
		[ -f "$CACHE/chroots/$builder/var/lib/dpkg/info/${package%%=*}.list" ] ||
		[ -f "$CACHE/chroots/$builder/var/lib/dpkg/info/${package%%=*}:$(dpkg --print-architecture).list" ] ||
			missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing in the $builder chroot: ${missing[*]}"
	retry quietly "$CACHE/apt-$builder.log" in_builder "$builder" sh -c \
		'apt-get -q update || echo "going on with the lists that there are"
		exec apt-get -y -q --no-install-recommends install "$@"' \
		sh "${missing[@]}"
}

# builder_packages BUILDER PACKAGE...: installs what the builder lacks.
builder_packages()
{
	if [ "$1" = host ]; then
		shift
		need_packages "$@"
	else
		locked "apt-$1" chroot_install "$@"
	fi
}

chroot_download()
{
	local builder=$1 dir=$2 package=$3

	# apt's unprivileged user can't write here, and need not.
	in_builder "$builder" sh -ec 'cd "$1"
		apt-get -q -o APT::Sandbox::User=root download "$2"' \
		sh "$(builder_path "$builder" "$dir")" "$package"
}

chroot_download_updated()
{
	in_builder "$1" apt-get -q update && chroot_download "$@"
}

# chroot_deb BUILDER DIR PACKAGE[=VERSION]: downloads it, prints where it is.
chroot_deb()
{
	local builder=$1 dir=$2 package=$3

	rm -f "$dir"/*.deb
	quietly "$CACHE/apt.log" chroot_download "$builder" "$dir" "$package" \
		2>/dev/null ||
		retry quietly "$CACHE/apt.log" \
			chroot_download_updated "$builder" "$dir" "$package"
	echo "$dir"/*.deb
}

# What is for other architectures is built in this chroot, whatever the host is.
CROSS_CHROOT=trixie

# debian_arch ARCH: Debian's name for what gcc calls that.
debian_arch()
{
	case $1 in
	aarch64) echo arm64 ;;
	i686)	echo i386 ;;
	*)	echo amd64 ;;
	esac
}

chroot_arch_locked()
{
	local arch

	arch=$(debian_arch "$2")
	! grep -qx "$arch" "$CACHE/chroots/$1/var/lib/dpkg/arch" 2>/dev/null ||
		return 0
	in_builder "$1" dpkg --add-architecture "$arch"
	# Where a mirror has half of the lists, those may do, until they are asked
	# for again.
	rm -f "$CACHE/chroots/$1.checked"
	quietly "$CACHE/apt-$1.log" in_builder "$1" apt-get -q update || true
}

# chroot_arch SUITE ARCH: its apt knows packages of that architecture too.
chroot_arch()
{
	locked "chroot-$1" chroot_prepare "$1"
	locked "apt-$1" chroot_arch_locked "$1" "$2"
}

# cross_prepare ARCH: a compiler for it, its C library, and QEMU.
cross_prepare()
{
	local arch

	arch=$(debian_arch "$1")
	chroot_arch "$CROSS_CHROOT" "$1"
	case $1 in
	aarch64) builder_packages "$CROSS_CHROOT" qemu-system-arm ;;
	*)	builder_packages "$CROSS_CHROOT" qemu-system-x86 ;;
	esac
	builder_packages "$CROSS_CHROOT" "gcc-$1-linux-gnu" "libc6-dev-$arch-cross"
}
