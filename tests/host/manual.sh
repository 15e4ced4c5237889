#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The man page names what README.md names, its numbers are the same, and all
# packages have the same version.
# host: cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

# tables: the rows of README.md's tables of parameters, files and counters.
tables()
{
	awk '
		/^## /	{ wanted = /^## (Parameters|Files|When samples are lost)$/ }
		wanted && /^\| / && !/^\| (---|parameter|file|counter) / &&
			!/^\| (file|counter)/' README.md
}

readme_names()
{
	tables | awk -F ' *[|] *' '{ gsub(/`/, "", $2); gsub(/, /, "\n", $2); print $2 }' |
		grep . | LC_ALL=C sort -u
}

manual_names()
{
	awk '
		tag	{ sub(/^\.BR? /, ""); gsub(/\\f[IPRB]/, ""); gsub(/"/, "")
			  gsub(/  +/, " "); gsub(/ , /, "\n"); print }
			{ tag = $0 == ".TP" }' man/oprofile.4 | LC_ALL=C sort -u
}

numbers_missing()
{
	local number

	for number in $(tables | grep -oE '\b[0-9]{2,}\b' | sort -u); do
		grep -q "\b$number\b" man/oprofile.4 || echo "$number"
	done
}

cd "$ROOT"
is "$(manual_names)" "$(readme_names)" "the man page names what README names"
is "$(numbers_missing)" "" "the man page has the numbers of README's tables"

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
is "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" "$version" \
	"debian/changelog has the version of dkms.conf"
is "$(sed -n 's/^Version:[[:space:]]*//p' rpm/oprofile-dkms.spec)" "$version" \
	"the spec has the version of dkms.conf"
done_testing
