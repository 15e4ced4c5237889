# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What every script on the host side shares: messages, the cache folder,
# packages, and what this machine's apt configuration says.

shopt -s inherit_errexit

# A make that calls these scripts must not hand its own options (-s, -j) and
# variables down to the builds in here.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# shellcheck disable=SC2034 # for those who source this
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${OPROFILE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/oprofile}
mkdir -p "$CACHE"

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "error: $*"
	exit 1
}

# retry COMMAND...: a mirror in mid-sync is whole again a little later.
retry()
{
	local pause

	for pause in 5 20 60; do
		"$@" && return 0
		say "retrying in $pause s: $*"
		sleep "$pause"
	done
	"$@"
}

# quietly LOG COMMAND...: its output only if it fails.
quietly()
{
	local log=$1

	shift
	"$@" >"$log" 2>&1 </dev/null && return 0
	cat "$log" >&2
	return 1
}

# locked NAME COMMAND...: one at a time on this cache. A failure ends the script
# (so never call it where errexit is off: in a condition, left of || or &&).
locked()
{
	local fd

	mkdir -p "$CACHE/lock"
	exec {fd}>"$CACHE/lock/$1"
	flock "$fd"
	shift
	"$@"
	exec {fd}>&-
}

package_installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install()
{
	DEBIAN_FRONTEND=noninteractive apt-get -y -q \
		--no-install-recommends install "$@"
}

apt_update_install()
{
	apt-get -q update && apt_install "$@"
}

# need_packages PACKAGE...: installs what is missing, or says its name.
need_packages()
{
	local package missing=()

	for package; do
		package_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] ||
		die "missing packages: ${missing[*]}"
	say "installing ${missing[*]}"
	quietly "$CACHE/apt.log" apt_install "${missing[@]}" 2>/dev/null ||
		retry quietly "$CACHE/apt.log" apt_update_install "${missing[@]}"
}

host_suite()
{
	local VERSION_CODENAME=

	# shellcheck source=/dev/null
	. /etc/os-release
	echo "$VERSION_CODENAME"
}

# apt_uri SUITE: where this machine gets that suite from, if it does.
apt_uri()
{
	local uri

	uri=$(apt-get indextargets \
			--format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
		awk -v suite="$1" '$2 == suite && $3 == "main" &&
			$4 == "Packages" && !/^cdrom:/ { print $1; exit }')
	case $uri in
	mirror+file:*)	awk '/^[^#]/ { print $1; exit }' "${uri#mirror+file:}" ;;
	*)		printf '%s\n' "$uri" ;;
	esac
}

# What a chroot's apt must know of this machine's: proxies, and whether old
# release files are good enough.
apt_options()
{
	apt-config dump |
		grep -E '^Acquire::((https?|ftp)::Proxy|Check-(Date|Valid-Until))' ||
		true
}
