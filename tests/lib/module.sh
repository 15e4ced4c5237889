# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds modules for a kernel of the cache, in a copy of the sources that stays
# there, so that only what changed is compiled again.
# OPROFILE_SRC names another tree than this one to build oprofile.ko from.

# module_sources DIR: what a build of the modules in DIR may read.
module_sources()
{
	(
		cd "$1" || exit
		find . -type f \( -path './include/*.h' -o -path './src/*.[ch]' \
			-o -path './kunit/*' -o -path ./Kbuild -o -path ./Makefile \
			-o -path './[a-z0-9_-]*.c' ! -path './*/*' ! -name '*.mod.c' \) \
			-printf '%P\n' | LC_ALL=C sort
	)
}

# module_sync DIR TREE: TREE gets DIR's sources, unchanged ones untouched.
module_sync()
{
	local from=$1 tree=$2 file

	mkdir -p "$tree"
	module_sources "$from" >"$tree/.sources"
	while IFS= read -r file; do
		cmp -s "$from/$file" "$tree/$file" && continue
		mkdir -p "$tree/$(dirname "$file")"
		cp "$from/$file" "$tree/$file"
	done <"$tree/.sources"
	module_sources "$tree" | LC_ALL=C comm -23 - "$tree/.sources" |
		while IFS= read -r file; do
			rm -f "$tree/$file"
		done
}

# module_make DIR TREE ARG...: make in TREE as the builder of kernel DIR sees it.
module_make()
{
	local dir=$1 tree=$2 builder args

	shift 2
	builder=$(<"$dir/builder")
	tree=$(builder_path "$builder" "$tree")
	read -ra args <<<"$(kernel_make_args "$(kernel_name "$dir")")"
	in_builder "$builder" make -j2 -C "$(<"$dir/kdir")" M="$tree" \
		"${args[@]}" "$@" modules
}

module_build_locked()
{
	local from=$1 dir=$2 tree=$3 keep=$4 key

	shift 4
	module_sync "$from" "$tree"
	key=$(cd "$tree" && tr '\n' '\0' <.sources |
		{ xargs -0 sha256sum; echo "$dir $*"; } | sha256sum | cut -c 1-16)
	MODULES=$keep/$key
	if [ ! -d "$MODULES" ]; then
		if [ "$(cat "$tree/.kernel" 2>/dev/null)" != "$dir $*" ]; then
			find "$tree" \( -name '*.o' -o -name '.*.cmd' \
				-o -name '*.gcno' \) -delete
			echo "$dir $*" >"$tree/.kernel"
		fi
		find "$tree" -name '*.ko' -delete
		module_make "$dir" "$tree" -s "$@" >"$tree/.log" 2>&1 ||
			{ cat "$tree/.log" >&2; die "no modules of $from"; }
		! grep -q 'warning:' "$tree/.log" || cat "$tree/.log" >&2
		rm -rf "$MODULES.new"
		mkdir -p "$MODULES.new"
		find "$tree" \( -name '*.ko' -o -name '*.gcno' \) \
			-exec cp {} "$MODULES.new/" \;
		mv "$MODULES.new" "$MODULES"
		find "$keep" -mindepth 1 -maxdepth 1 -mmin +600 -exec rm -rf {} +
	fi
	touch "$MODULES"
}

# module_build KERNEL DIR [MAKEARG...]: sets MODULES to a folder with oprofile.ko
# for the kernel of that name, which is in DIR; with KUNIT=1 oprofile_kunit.ko;
# with OP_TEST_COVERAGE=y also gcov's notes on the sources.
module_build()
{
	local dir=$2 tree=$1

	shift 2
	[[ " $* " != *" KUNIT="* ]] || tree+=-kunit
	locked "module-$tree" module_build_locked "${OPROFILE_SRC:-$ROOT}" \
		"$dir" "$CACHE/build/$tree" "$CACHE/modules/$tree" "$@"
}

# module_build_tests KERNEL DIR: the same for the modules of tests/mod.
module_build_tests()
{
	locked "module-$1" module_build_locked "$ROOT/tests/mod" "$2" \
		"$CACHE/build/$1-tests" "$CACHE/modules/$1-tests"
}

# module_sign DIR FILE: signs a module with the key that the build of the debug
# kernel in DIR has made for itself, and trusts.
module_sign()
{
	local dir=$1 file=$2 builder copy

	builder=$(<"$dir/builder")
	copy=$(mktemp -d "$CACHE/guest/sign.XXXXXX")
	cp "$file" "$copy/signed.ko"
	in_builder "$builder" sh -ec '
		"$1/scripts/sign-file" sha256 "$1/certs/signing_key.pem" \
			"$1/certs/signing_key.x509" "$2"
		' sh "$(<"$dir/kdir")" "$(builder_path "$builder" "$copy/signed.ko")"
	mv "$copy/signed.ko" "$file"
	rmdir "$copy"
}
