# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What is inside a virtual machine: an initramfs of busybox, the test programs
# with the libraries they need, and per boot the module and the script. The
# kernel unpacks concatenated archives one after the other, so that the parts
# which seldom change are packed once.

# pack DIR: a cpio archive of it on stdout.
pack()
{
	(cd "$1" && find . -mindepth 1 -printf '%P\0' | LC_ALL=C sort -z |
		cpio --quiet --null -o -H newc -R 0:0)
}

guest_busybox_locked()
{
	local arch=$1 dir=$2 deb

	[ ! -d "$dir" ] || return 0
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	deb=$(chroot_deb "$CROSS_CHROOT" "$dir.new" \
		"busybox-static:$(debian_arch "$arch")")
	dpkg-deb -x "$deb" "$dir.new"
	[ -e "$dir.new/bin/busybox" ] || ln -s usr/bin "$dir.new/bin"
	mv "$dir.new" "$dir"
}

# guest_busybox ARCH: prints where a static one is.
guest_busybox()
{
	local dir=$CACHE/guest/busybox-$1

	if [ "$1" = x86_64 ]; then
		echo /bin/busybox
		return
	fi
	if [ ! -d "$dir" ]; then
		cross_prepare "$1" >&2
		locked "apt-$CROSS_CHROOT" guest_busybox_locked "$1" "$dir"
	fi
	echo "$dir/bin/busybox"
}

# guest_base_locked BUSYBOX ARCHIVE
guest_base_locked()
{
	local archive=$2 dir=$CACHE/guest/base applet

	[ ! -f "$archive" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"/{bin,dev,etc,lib/modules,out,proc,root,run,sys,tmp}
	ln -s bin "$dir/sbin"
	mkdir -p "$dir/usr"
	ln -s ../bin "$dir/usr/bin"
	ln -s ../bin "$dir/usr/sbin"
	cp "$1" "$dir/bin/"
	for applet in $(busybox --list); do
		[ "$applet" = busybox ] || ln -s busybox "$dir/bin/$applet"
	done
	echo 'root:x:0:0:root:/root:/bin/sh' >"$dir/etc/passwd"
	echo 'user:x:1000:1000:user:/tmp:/bin/sh' >>"$dir/etc/passwd"
	printf 'root:x:0:\nuser:x:1000:\n' >"$dir/etc/group"
	install -m 755 "$ROOT/tests/lib/init" "$dir/init"
	pack "$dir" >"$archive.new"
	mv "$archive.new" "$archive"
}

# guest_base ARCH: prints the archive with busybox and init.
guest_base()
{
	local busybox key

	mkdir -p "$CACHE/guest"
	busybox=$(guest_busybox "$1")
	key=$(cat "$busybox" "$ROOT/tests/lib/init" | sha256sum | cut -c 1-16)
	locked base guest_base_locked "$busybox" "$CACHE/guest/base-$key.cpio"
	echo "$CACHE/guest/base-$key.cpio"
}

# prog_flags FILE: its "// link: FLAGS" line.
prog_flags()
{
	sed -n 's,^// link: ,,p' "$1"
}

PROG_FLAGS=(-O1 -g -Wall -Wextra -Werror -D_FILE_OFFSET_BITS=64)

# prog_compile OUTPUT SOURCE FLAG...
prog_compile()
{
	local output=$1 source=$2

	shift 2
	# shellcheck disable=SC2046 # flags are words
	gcc "${PROG_FLAGS[@]}" -I"$ROOT/include" -L"$(dirname "$output")" \
		-o "$output" "$source" "$@" $(prog_flags "$source")
}

# prog_compile_cross OUTPUT SOURCE FLAG...: the same for another architecture, of
# a copy that the chroot sees, where $cross is that architecture.
prog_compile_cross()
{
	local output=$1 source=$2 copy

	shift 2
	copy=$(dirname "$output")/source
	[ -d "$copy" ] || {
		mkdir -p "$copy"
		cp -r "$ROOT/include" "$ROOT/tests/prog" "$copy/"
	}
	# shellcheck disable=SC2046 # flags are words
	in_builder "$CROSS_CHROOT" "$cross-linux-gnu-gcc" \
		"${PROG_FLAGS[@]}" \
		-I"$(builder_path "$CROSS_CHROOT" "$copy/include")" \
		-L"$(builder_path "$CROSS_CHROOT" "$(dirname "$output")")" \
		-o "$(builder_path "$CROSS_CHROOT" "$output")" \
		"$(builder_path "$CROSS_CHROOT" "$copy/prog/${source##*/}")" \
		"$@" $(prog_flags "$source")
}

# progs_build DIR [COMPILE]: compiles tests/prog, shared libraries first. One that
# doesn't compile is missing in the machine (and fails tests/host/programs.sh).
progs_build()
{
	local dir=$1 compile=${2:-prog_compile} source name

	for source in "$ROOT"/tests/prog/*.so.c "$ROOT"/tests/prog/*.c; do
		[ -e "$source" ] || continue
		name=$(basename "$source" .c)
		case $source in
		*.so.c)	name=lib${name%.so}.so
			set -- -shared -fPIC ;;
		*)	set -- ;;
		esac
		[ -e "$dir/$name" ] || $compile "$dir/$name" "$source" "$@" ||
			say "tests/prog: no $name"
	done
}

# add_libraries ROOTDIR FILE...: what ldd says they need, at the same paths.
add_libraries()
{
	local dir=$1 library

	shift
	for library in $(ldd "$@" 2>/dev/null |
			grep -oE '(=> )?/[^ ]+ \(0x' |
			sed -E 's/^=> //; s/ \(0x$//' | sort -u); do
		[ -e "$dir$library" ] || [ -e "$dir/lib/${library##*/}" ] ||
			install -D -m 755 "$library" "$dir$library"
	done
}

# add_libraries_cross ROOTDIR FILE...: what they name, of the compiler's own.
add_libraries_cross()
{
	local dir=$1 name

	shift
	for name in $(readelf -dl "$@" 2>/dev/null | sed -n \
			-e 's,.*\[.* interpreter: /lib/\(.*\)\],\1,p' \
			-e 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
		[ -e "$dir/lib/$name" ] || install -D -m 755 \
			"$CACHE/chroots/$CROSS_CHROOT/usr/$cross-linux-gnu/lib/$name" \
			"$dir/lib/$name"
	done
}

progs_key()
{
	{
		echo "$1"
		find "$ROOT/tests/prog" "$ROOT/include/uapi" -name '*.[ch]' \
			-type f -print0 2>/dev/null | LC_ALL=C sort -z |
			xargs -0 -r sha256sum
		gcc --version
		cat "$ROOT/tests/lib/guest.sh"
	} | sha256sum | cut -c 1-16
}

guest_progs_locked()
{
	local archive=$1 arch=$2 dir=$CACHE/guest/progs cross='' other=

	if [ -f "$archive" ]; then
		cat "$archive.log"
		return
	fi
	rm -rf "$dir"
	mkdir -p "$dir/bin" "$dir/root/bin" "$dir/root/lib"
	if [ "$arch" != x86_64 ]; then
		cross=$arch
		other=_cross
		cross_prepare "$arch"
	fi
	progs_build "$dir/bin" prog_compile$other >"$archive.log" 2>&1
	cat "$archive.log"
	rm -rf "$dir/bin/source"
	find "$dir/bin" -name 'lib*.so' -exec cp {} "$dir/root/lib/" \;
	find "$dir/bin" -type f ! -name 'lib*.so' -exec cp {} "$dir/root/bin/" \;
	if [ -n "$(ls "$dir/root/bin")" ]; then
		LD_LIBRARY_PATH=$dir/bin add_libraries$other "$dir/root" "$dir"/bin/*
	fi
	pack "$dir/root" >"$archive.new"
	mv "$archive.new" "$archive"
	# The sources have changed: the older archives are of no more use.
	find "$CACHE/guest" -name 'progs-*' -mmin +60 ! -path "$archive*" -delete
}

# guest_progs ARCH: prints the archive with the test programs.
guest_progs()
{
	local archive

	archive=$CACHE/guest/progs-$(progs_key "$1").cpio
	mkdir -p "$CACHE/guest"
	locked progs guest_progs_locked "$archive" "$1" >&2
	echo "$archive"
}

# guest_tools TOOL...: an archive, on stdout, of programs of this machine.
guest_tools()
{
	local dir tool path

	dir=$(mktemp -d)
	mkdir -p "$dir/tools"
	for tool; do
		path=$(command -v "$tool") || die "no $tool on this machine"
		install -D -m 755 "$path" "$dir/tools/${tool##*/}"
		add_libraries "$dir" "$path"
	done
	pack "$dir"
	rm -rf "$dir"
}
