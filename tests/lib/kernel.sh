# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Kernels by name: Debian's own (5.10, 6.1, 6.12, 7.3: whatever its suite's
# newest is called; 6.12-rt, 7.3-rt, 6.1-686-pae, 6.12-arm64: those of other
# flavours) and debug ones built from the same suite's source
# (debug-6.12, debug-7.3; debug-7.3-kcsan, debug-7.3-rt, debug-6.12-arm64).
# A kernel is a folder in the cache, named after the package version:
#
#	bzImage		what boots, unless there is
#	vmlinux		the same unpacked, which saves a guest several seconds
#	release		its uname -r
#	builder		who builds modules for it: host, or a chroot
#	kdir		its build folder, as the builder sees it
#	kmods/		those of its own modules that a test has asked for

KERNEL_MAX_AGE=86400	# seconds until the mirror is asked for a newer one

# kernel_suite NAME: the Debian release and the suite of it.
kernel_suite()
{
	case $1 in
	5.10)	echo bullseye bullseye ;;
	6.1|6.1-686-pae)
		echo bookworm bookworm ;;
	6.12|6.12-rt|6.12-arm64|debug-6.12|debug-6.12-arm64)
		echo trixie trixie ;;
	7.3|7.3-rt|debug-7.3|debug-7.3-kcsan|debug-7.3-rt)
		echo trixie trixie-backports ;;
	*)	die "no such kernel: $1" ;;
	esac
}

# kernel_arch NAME: its architecture, by the name that gcc has for it.
kernel_arch()
{
	case $1 in
	*-arm64) echo aarch64 ;;
	*-686-pae) echo i686 ;;
	*)	echo x86_64 ;;
	esac
}

# kernel_flavour NAME: Debian's name for its configuration.
kernel_flavour()
{
	case $1 in
	debug-*) echo amd64 ;;
	*-rt)	echo rt-amd64 ;;
	*-686-pae) echo 686-pae ;;
	*-arm64) echo arm64 ;;
	*)	echo amd64 ;;
	esac
}

# kernel_builder NAME: who builds for it. The host does for the kernel that its own
# release is installed with.
kernel_builder()
{
	local release suite

	read -r release suite <<<"$(kernel_suite "$1")"
	if [ "$suite" = "$release" ] && [ "$(kernel_arch "$1")" = x86_64 ] &&
		[ "$(kernel_flavour "$1")" = amd64 ]; then
		builder_of "$release"
	else
		echo "$release"
	fi
}

# kernel_colon NAME: what follows the name of a package for it where the builder
# is of another architecture.
kernel_colon()
{
	local arch

	arch=$(kernel_arch "$1")
	[ "$arch" = x86_64 ] || [[ $1 == debug-* ]] || echo ":$(debian_arch "$arch")"
}

# kernel_name DIR: of the kernel whose folder that is.
kernel_name()
{
	basename "$(dirname "$1")"
}

# kernel_make_args NAME: what kbuild has to know to build for it on x86-64.
kernel_make_args()
{
	case $(kernel_arch "$1") in
	aarch64) echo ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- ;;
	i686)	echo ARCH=i386 ;;
	esac
}

# boot_packages NAME: what this machine needs to build for that kernel and boot it.
boot_packages()
{
	echo busybox-static cpio gcc libc6-dev make qemu-system-x86 xz-utils zstd
	case $(kernel_builder "$1")/$1 in
	host/debug-*)	;;
	host/*)		echo linux-headers-amd64 ;;
	*)		echo debian-archive-keyring mmdebstrap mount ;;
	esac
}

# kernel_candidate NAME: "version release" of its newest headers.
kernel_candidate()
{
	local builder release suite version package prefer=()

	builder=$(kernel_builder "$1")
	read -r release suite <<<"$(kernel_suite "$1")"
	package=linux-headers-$(kernel_flavour "$1")$(kernel_colon "$1")
	# A release itself must not be preferred to its security updates.
	case $suite in
	*-*)	prefer=(-o "APT::Default-Release=$suite") ;;
	esac
	version=$(in_builder "$builder" apt-cache "${prefer[@]}" \
			policy "$package" |
		awk '$1 == "Candidate:" { print $2 }')
	release=$(in_builder "$builder" apt-cache show "$package=$version" |
		sed -n 's/^Depends:.*linux-headers-\([0-9][^ ,]*\).*/\1/p')
	[ -n "$release" ] || return 1
	echo "$version $release"
}

# The host's installed headers will do: upgrading them is its owner's business.
kernel_installed()
{
	local release version

	release=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 |
		sed -n 's/.*linux-headers-\([0-9][^ ,]*\).*/\1/p')
	version=$(dpkg-query -W -f '${Version}' "linux-headers-$release")
	echo "$version $release"
}

# kernel_fetch BUILDER DIR PACKAGE=VERSION MEMBER FILE: one file of a package, by
# a pattern of its name there.
kernel_fetch()
{
	local builder=$1 dir=$2 package=$3 member=$4 file=$5 deb

	deb=$(chroot_deb "$builder" "$dir" "$package")
	dpkg-deb --fsys-tarfile "$deb" | tar -xO --wildcards "$member" >"$file"
	[ -s "$file" ] || die "nothing like $member in $package"
	rm -f "$deb"
}

# kernel_package NAME VERSION RELEASE PART: the package with that part of a
# kernel (binary, modules). Newer ones have one for each, apart from what
# installs them; in older ones all is in the image's.
kernel_package()
{
	local builder version=$2 release=$3 package

	builder=$(kernel_builder "$1")
	release+=$(kernel_colon "$1")
	package=linux-$4-$release=$version
	in_builder "$builder" apt-cache show "$package" >"$CACHE/apt.log" 2>&1 ||
		package=linux-image-$release=$version
	echo "$package"
}

# image_field FILE OFFSET SIZE: a number in the header of a bzImage.
image_field()
{
	od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# kernel_unpack DIR: the ELF image inside bzImage (Documentation/arch/x86/boot:
# setup_sects, payload_offset, payload_length), which QEMU starts through PVH.
kernel_unpack()
{
	local image=$1/bzImage skip length unpack

	skip=$((($(image_field "$image" $((0x1f1)) 1) + 1) * 512 +
		$(image_field "$image" $((0x248)) 4)))
	length=$(image_field "$image" $((0x24c)) 4)
	case $(od -An -t x1 -j "$skip" -N 4 "$image" | tr -d ' ') in
	fd377a58) unpack=xz ;;
	28b52ffd) unpack=zstd ;;
	1f8b*)	unpack=gzip ;;
	*)	return 0 ;;
	esac
	# Behind the data stands its length, which the tools complain about.
	tail -c +$((skip + 1)) "$image" | head -c "$length" |
		"$unpack" -dcq >"$1/vmlinux" 2>/dev/null || true
	[ "$(head -c 4 "$1/vmlinux")" = $'\177ELF' ] || rm -f "$1/vmlinux"
}

# kernel_foreign_headers NAME BUILDER VERSION RELEASE DIR: apt would install them
# with a compiler that doesn't run here. All but a configuration is the same for
# each architecture, or kbuild's programs of this one.
kernel_foreign_headers()
{
	local name=$1 builder=$2 version=$3 release=$4 dir=$5 deb kbuild

	deb=$(chroot_deb "$builder" "$dir" \
		"linux-headers-$release$(kernel_colon "$name")=$version")
	kbuild=$(dpkg-deb -f "$deb" Depends | grep -o 'linux-kbuild-[^ ,(]*')
	builder_packages "$builder" "$kbuild" \
		"linux-headers-${release%-"$(kernel_flavour "$name")"}-common=$version"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -C "$CACHE/chroots/$builder" -x --keep-directory-symlink
	rm -f "$deb"
}

# kernel_add_debian NAME BUILDER VERSION RELEASE DIR
kernel_add_debian()
{
	local name=$1 builder=$2 version=$3 release=$4 dir=$5 image

	say "getting kernel $release ($version)"
	if [ -n "$(kernel_colon "$name")" ]; then
		kernel_foreign_headers "$@"
	elif [ "$builder" != host ]; then
		builder_packages "$builder" "linux-headers-$release=$version"
	fi
	image=$(kernel_package "$name" "$version" "$release" binary)
	# Some headers bring it along.
	cp "$CACHE/chroots/$builder/boot/vmlinuz-$release" "$dir/bzImage" \
		2>/dev/null ||
		kernel_fetch "$builder" "$dir" "$image" '*/vmlinuz*' "$dir/bzImage"
	kernel_unpack "$dir"
	echo "/lib/modules/$release/build" >"$dir/kdir"
	echo "$release" >"$dir/release"
}

# debug_fragments NAME: its options, each as the last of its fragments has it.
debug_fragments()
{
	local dir=$ROOT/tests/kernel version=${1#debug-} files

	case $version in
	*-arm64) files=(debug-arm64 "debug-${version%-arm64}") ;;
	*-*)	files=(debug-x86_64 "debug-${version%-*}" "debug-${version##*-}") ;;
	*)	files=(debug-x86_64 "debug-$version") ;;
	esac
	files=("${files[@]/%/.config}")
	awk '
		/^CONFIG_/ { last[substr($0, 1, index($0, "=") - 1)] = $0 }
		/^# CONFIG_.* is not set$/ { last[$2] = $0 }
		END { for (option in last) print last[option] }
	' "$dir/debug.config" "${files[@]/#/$dir/}" | LC_ALL=C sort
}

# Every line of the fragments must still be true.
debug_config_lost()
{
	debug_fragments "$1" | awk '
		NR == FNR	{ have[$0] = 1; next }
		/^CONFIG_/	{ if (!have[$0]) print $0 }
		/^# CONFIG_.* is not set$/ {
			if (have[$2 "=y"] || have[$2 "=m"]) print $0
		}' "$2" -
}

# kernel_add_debug NAME BUILDER VERSION RELEASE DIR
kernel_add_debug()
{
	local name=$1 builder=$2 version=$3 release=$4 dir=$5 source lost inside
	local args image=arch/x86/boot/bzImage

	read -ra args <<<"$(kernel_make_args "$name")"
	[[ $name != *-arm64 ]] || image=arch/arm64/boot/Image
	source=linux-source-$(expr "$release" : '\([0-9]*\.[0-9]*\)')
	inside=$(builder_path "$builder" "$dir")
	builder_packages "$builder" bc bison flex gcc libc6-dev libelf-dev \
		libssl-dev make openssl xz-utils ${args:+gcc-aarch64-linux-gnu}
	say "getting $source ($version)"
	kernel_fetch "$builder" "$dir" "$source=$version" \
		'*/linux-source-*.tar.xz' "$dir/source.tar.xz"
	tar -C "$dir" -xf "$dir/source.tar.xz"
	rm "$dir/source.tar.xz"
	mv "$dir/$source" "$dir/linux"
	debug_fragments "$name" >"$dir/fragments"
	say "building kernel $name (some minutes)"
	quietly "$dir/build.log" in_builder "$builder" sh -ec '
		cd "$1/linux"
		shift
		make -s "$@" tinyconfig
		cat ../fragments >>.config
		make -s "$@" olddefconfig
		' sh "$inside" "${args[@]}"
	lost=$(debug_config_lost "$name" "$dir/linux/.config")
	[ -z "$lost" ] || die "$name: options lost in olddefconfig:
$lost"
	quietly "$dir/build.log" in_builder "$builder" sh -ec '
		cd "$1/linux"
		shift
		make -s -j"$(nproc)" "$@" "${0##*/}" modules
		make -s "$@" kernelrelease >../release
		' "$image" "$inside" "${args[@]}"
	cp "$dir/linux/$image" "$dir/bzImage"
	debug_trim "$dir/linux"
	echo "$inside/linux" >"$dir/kdir"
}

# Modules need what a package of headers has; nothing else stays.
debug_trim()
{
	(
		cd "$1" || exit
		find . -mindepth 1 -maxdepth 1 ! -name .config ! -name Kbuild \
			! -name Makefile ! -name Module.symvers ! -name System.map ! -name certs \
			! -name arch ! -name include ! -name scripts ! -name tools \
			-exec rm -rf {} +
		find arch -mindepth 1 -maxdepth 1 ! -name x86 ! -name arm64 \
			-exec rm -rf {} +
		find arch include -type f \( -name '*.[oa]' -o -name 'vmlinux*' \) \
			-delete
	)
}

kernel_add()
{
	local name=$1 builder=$2 version=$3 release=$4 dir=$5

	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	echo "$builder" >"$dir.new/builder"
	case $name in
	debug-*) # built in place: its tools remember no path, make's do
		kernel_add_debug "$name" "$builder" "$version" "$release" "$dir.new"
		sed -i 's,\.new/linux$,/linux,' "$dir.new/kdir" ;;
	*)	kernel_add_debian "$name" "$builder" "$version" "$release" "$dir.new" ;;
	esac
	mv "$dir.new" "$dir"
}

# Old versions are of no use once a newer one works.
kernel_set_current()
{
	local dir=$1 name=$2 other

	ln -sfn "$(basename "$dir")" "$CACHE/kernels/$name/current"
	touch "$CACHE/kernels/$name/checked"
	for other in "$CACHE/kernels/$name"/*/; do
		other=${other%/}
		[ "$other" = "$CACHE/kernels/$name/current" ] ||
		[ "$other" = "$dir" ] ||
			rm -rf "$other"
	done
}

# Asks the mirror, adds what is new. Without a network, what is there will do.
kernel_refresh()
{
	local name=$1 builder found dir key

	builder=$(kernel_builder "$name")
	if [ "$builder" = host ]; then
		case $name in
		debug-*)	found=$(kernel_candidate "$name") ||
				retry quietly "$CACHE/apt.log" apt-get -q update
				found=$(kernel_candidate "$name") ;;
		*)	found=$(kernel_installed) ;;
		esac
	else
		locked "chroot-$builder" chroot_prepare "$builder"
		[ "$(kernel_arch "$name")" = x86_64 ] ||
			chroot_arch "$builder" "$(kernel_arch "$name")"
		chroot_refresh "$builder" || [ ! -e "$CACHE/kernels/$name/current" ] ||
			say "no mirror: kernel $name stays as it is"
		found=$(kernel_candidate "$name")
	fi
	[ -n "$found" ] || die "$name: no candidate version"
	# shellcheck disable=SC2086 # two words
	set -- $found
	key=$1
	case $name in
	debug-*) key+=-$(debug_fragments "$name" | sha256sum | cut -c 1-8) ;;
	esac
	dir=$CACHE/kernels/$name/$key
	[ -d "$dir" ] || locked "builder-$builder" \
		kernel_add "$name" "$builder" "$1" "$2" "$dir"
	kernel_set_current "$dir" "$name"
}

chroot_refresh()
{
	local stamp=$CACHE/chroots/$1.checked

	! fresh "$stamp" || return 0
	quietly "$CACHE/apt-$1.log" in_builder "$1" apt-get -q update 2>/dev/null ||
		return 1
	touch "$stamp"
}

fresh()
{
	[ -e "$1" ] && [ $(($(date +%s) - $(stat -c %Y "$1"))) -lt $KERNEL_MAX_AGE ]
}

debug_stale()
{
	case $1 in
	debug-*) ! debug_fragments "$1" |
			cmp -s - "$CACHE/kernels/$1/current/fragments" ;;
	*)	return 1 ;;
	esac
}

kernel_prepare_locked()
{
	mkdir -p "$CACHE/kernels/$1"
	if ! [ -e "$CACHE/kernels/$1/current/bzImage" ] ||
	   ! fresh "$CACHE/kernels/$1/checked" || debug_stale "$1"; then
		kernel_refresh "$1"
	fi
}

# kernel_prepare NAME: prints the kernel's folder once it is there.
kernel_prepare()
{
	kernel_suite "$1" >/dev/null
	locked "kernel-$1" kernel_prepare_locked "$1" >&2
	readlink -f "$CACHE/kernels/$1/current"
}

# kernel_modules_tree DIR: sets KERNEL_TREE to where all modules of a Debian
# kernel are: where its package is installed, or else unpacked for now.
kernel_modules_tree()
{
	local dir=$1 builder version release installed deb

	builder=$(<"$dir/builder")
	release=$(<"$dir/release")
	version=$(basename "$dir")
	installed=/lib/modules/$release
	[ "$builder" = host ] || installed=$CACHE/chroots/$builder$installed
	if [ -d "$installed/kernel" ]; then
		KERNEL_TREE=$installed
		return
	fi
	say "getting the modules of kernel $release ($version)"
	deb=$(chroot_deb "$builder" "$dir/kmods" \
		"$(kernel_package "$(kernel_name "$dir")" "$version" \
			"$release" modules)")
	KERNEL_TREE=$dir/kmods/tree
	mkdir -p "$KERNEL_TREE"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -C "$KERNEL_TREE" -x --wildcards '*.ko*'
	rm -f "$deb"
}

# kernel_module_get DIR NAME: DIR/kmods/NAME.ko, which is empty where the kernel
# has no such module: because it is built in, or not at all.
kernel_module_get()
{
	local file=$1/kmods/$2.ko found=

	case $1 in
	*/debug-*/*) ;;
	*)	[ -n "$KERNEL_TREE" ] || kernel_modules_tree "$1"
		# The kernel takes - and _ in a module's name for the same.
		found=$(find "$KERNEL_TREE/" -name "${2//[-_]/[-_]}.ko*" -print -quit) ;;
	esac
	case $found in
	*.xz)	xz -dc "$found" ;;
	*.zst)	zstd -dcq "$found" ;;
	*.gz)	gzip -dc "$found" ;;
	*.ko)	cat "$found" ;;
	esac >"$file.new"
	mv "$file.new" "$file"
}

# kernel_module_add DIR NAME LIST: the module to a list, after those that it
# depends on.
kernel_module_add()
{
	local file=$1/kmods/$2.ko depend

	[ -e "$file" ] || kernel_module_get "$1" "$2"
	[ -s "$file" ] || return 0
	for depend in $(tr '\0' '\n' <"$file" | LC_ALL=C sed -n 's/^depends=//p' |
			tr , ' '); do
		kernel_module_add "$1" "$depend" "$3"
	done
	grep -qxF "$file" "$3" || echo "$file" >>"$3"
}

kernel_modules_locked()
{
	local dir=$1 list=$2 name
	KERNEL_TREE=

	shift 2
	mkdir -p "$dir/kmods"
	for name; do
		kernel_module_add "$dir" "$name" "$list"
	done
	rm -rf "$dir/kmods/tree"
}

# kernel_modules NAME DIR LIST MODULE...: writes to a list the files of those of
# the kernel's own modules that it has, and of what they depend on, in the order
# in which they can be loaded.
kernel_modules()
{
	local kernel=$1

	shift
	: >"$2"
	locked "kernel-$kernel" kernel_modules_locked "$@"
}
