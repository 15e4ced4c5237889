#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The newest checkpatch of the kernels at hand, --strict, over all kernel code.
# host: kernels=debug-7.3

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

need_packages perl
checkpatch=$CACHE/kernels/debug-7.3/current/linux/scripts/checkpatch.pl
# It leaves a file where it runs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for file in $(cd "$ROOT" && find include src kunit tests/mod -name '*.[ch]' |
		LC_ALL=C sort); do
	# kmalloc_obj() is not there on the older kernels.
	ignore=ALLOC_WITH_SIZEOF
	# The one file that may ask for a version.
	[ "$file" != include/compat.h ] ||
		ignore+=,LINUX_VERSION_CODE,CONSTANT_COMPARISON
	# It stands in for unsafe_put_user(), which jumps to a label.
	[ "$file" != kunit/reader_test.c ] || ignore+=,MACRO_WITH_FLOW_CONTROL
	report=$(perl "$checkpatch" --strict --no-tree --no-summary --quiet \
		--show-types --ignore "$ignore" --file "$ROOT/$file" 2>&1) ||
		report+="(exit status $?)"
	is "$report" "" "checkpatch $file"
done
done_testing
