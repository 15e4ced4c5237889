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

# builder_packages BUILDER PACKAGE...: installs what the builder lacks.
builder_packages()
{
	local builder=$1 missing=() package

	shift
	if [ "$builder" = host ]; then
		need_packages "$@"
		return
	fi
	for package; do
		[ -f "$CACHE/chroots/$builder/var/lib/dpkg/info/${package%%=*}.list" ] ||
		[ -f "$CACHE/chroots/$builder/var/lib/dpkg/info/${package%%=*}:$(dpkg --print-architecture).list" ] ||
			missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing in the $builder chroot: ${missing[*]}"
	retry quietly "$CACHE/apt-$builder.log" in_builder "$builder" sh -c \
		'apt-get -q update && apt-get -y -q --no-install-recommends install "$@"' \
		sh "${missing[@]}"
}
