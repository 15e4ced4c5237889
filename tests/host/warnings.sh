#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make W=1 C=2" from clean sources: no warning, gcc's or sparse's, in our files.
# (The kernel's own headers have some.) The unit tests' module, for which few
# kernels have what it needs, is built for the debug kernel, without sparse: what
# includes a source file has seen it twice.
# host: kernels=6.1,6.12,debug-7.3

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
for part in chroot kernel module tap; do
	# shellcheck source=/dev/null
	. "$ROOT/tests/lib/$part.sh"
done
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

# warnings KERNEL: prints what gcc, sparse, objtool and modpost say about ours.
warnings()
{
	local kernel=$1 dir=$CACHE/kernels/$1/current builder tree inside

	builder=$(<"$dir/builder")
	tree=$CACHE/build/warnings-$kernel
	inside=$(builder_path "$builder" "$tree")
	builder_packages "$builder" sparse >&2
	rm -rf "$tree"
	module_sync "$ROOT" "$tree"
	in_builder "$builder" make -j2 -C "$inside" KDIR="$(<"$dir/kdir")" \
		OP_TEST_NMI=y W=1 C=2 \
		>"$tree/.log" 2>&1 || { cat "$tree/.log"; return; }
	grep -E "^($inside/)?(src|include|kunit)/.*: |^(WARNING|ERROR): modpost" \
		"$tree/.log" || true
	[ "$(grep -c '^ *CHECK ' "$tree/.log")" -ge \
		"$(grep -c '^src/.*\.c$' "$tree/.sources")" ] ||
		echo "sparse has not seen every file"
}

# kunit_warnings KERNEL: what gcc, objtool and modpost say of the unit tests.
kunit_warnings()
{
	local kernel=$1 dir=$CACHE/kernels/$1/current tree=$CACHE/build/warnings-kunit

	rm -rf "$tree"
	module_sync "$ROOT" "$tree"
	module_make "$dir" "$tree" W=1 KUNIT=1 >"$tree/.log" 2>&1 ||
		{ cat "$tree/.log"; return; }
	grep -E "/?(src|include|kunit)/[a-z_]*\.[ch]:.*(warning|error):|^(WARNING|ERROR): modpost" \
		"$tree/.log" || true
}

kernels=6.1,6.12
[ -z "${OPROFILE_LONG:-}" ] || kernels+=,7.3
for kernel in ${kernels//,/ }; do
	report=$(warnings "$kernel")
	is "$report" "" "no warning with W=1 C=2 on $kernel"
done
report=$(kunit_warnings debug-7.3)
is "$report" "" "no warning with W=1 in the unit tests"
done_testing
