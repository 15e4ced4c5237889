# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs QEMU. Software emulation, unless KVM has shown that it works here.

# qemu_choose ARCH CPUS: sets QEMU and QEMU_TCG.
#
# Before 8.1, CPUs that run in threads of their own may keep running code that
# another CPU has patched meanwhile: an int3 of ftrace's that is long gone. So
# machines with several CPUs get trixie's QEMU, out of its chroot; without one,
# all their CPUs share a thread.
qemu_choose()
{
	local arch=$1 version root=$CACHE/chroots/trixie

	# which runs 32-bit kernels too
	[ "$arch" != i686 ] || arch=x86_64
	QEMU=("qemu-system-$arch")
	QEMU_TCG=tcg
	if [ "$arch" = x86_64 ]; then
		[ "$2" != 1 ] || return 0
		version=$("${QEMU[@]}" --version |
			sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
		[ "$(printf '%s\n' "$version" 8.1 | sort -V | head -n 1)" != 8.1 ] ||
			return 0
	fi
	if [ "$(id -u)" = 0 ]; then
		qemu_chroot "$arch"
	elif [ ! -x "$root/usr/bin/qemu-system-$arch" ]; then
		QEMU_TCG=tcg,thread=single
		return 0
	fi
	QEMU=("$root/lib64/ld-linux-x86-64.so.2" --library-path
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu"
		"$root/usr/bin/qemu-system-$arch"
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
}

qemu_chroot()
{
	locked chroot-trixie chroot_prepare trixie
	if [ "$1" = x86_64 ]; then
		builder_packages trixie qemu-system-x86
	else
		cross_prepare "$1"
	fi
}

# vm_qemu ARCH CPUS ACCEL TIMEOUT ARG...
vm_qemu()
{
	local arch=$1 cpus=$2 accel=$3 timeout=$4 machine=pc cpu=max,la57=off

	shift 4
	case $arch in
	aarch64)
		machine=virt,gic-version=3
		cpu=cortex-a76 ;;
	i686)	# Linux takes what max is for 32-bit kernels for an AMD K7
		cpu=Westmere ;;
	esac
	if [ "$accel" = tcg ]; then
		qemu_choose "$arch" "$cpus"
		accel=$QEMU_TCG
	else
		cpu=host
		QEMU=("qemu-system-$(uname -m)")
	fi
	timeout --foreground --kill-after=5 "$timeout" \
		"${QEMU[@]}" -machine "$machine" -accel "$accel" -cpu "$cpu" \
		-nodefaults -no-user-config -display none -no-reboot "$@"
}

# vm_serials ARCH FILE...: sets VM_SERIALS to the arguments for the ports that
# tests/lib/init knows as the console, ttyS1 and ttyS2.
vm_serials()
{
	local arch=$1 n=0 file

	VM_SERIALS=(-serial "file:$2")
	shift 2
	# The console of others is none of them: one stands in its place.
	[ "$arch" != aarch64 ] ||
		VM_SERIALS+=(-chardev "null,id=port0" -device "pci-serial,chardev=port0")
	for file; do
		n=$((n + 1))
		if [ "$arch" = aarch64 ]; then
			VM_SERIALS+=(-chardev "file,id=port$n,path=$file"
				-device "pci-serial,chardev=port$n")
		else
			VM_SERIALS+=(-serial "file:$file")
		fi
	done
}

# Without no_timer_check, old kernels panic where the timer of an emulated CPU that
# waits for a real one is late.
vm_append()
{
	local arch=$1 own

	shift
	own="console=ttyS0 tsc=reliable no_timer_check"
	[ "$arch" != aarch64 ] || own="console=ttyAMA0 irqchip.gicv3_pseudo_nmi=1"
	echo "$own loglevel=8 panic=-1 oops=panic mitigations=off" \
		"8250.nr_uarts=4 rdinit=/init $*"
}

# A /dev/kvm that opens can still hang a guest: one that ends is the proof.
kvm_works()
{
	local kernel=$1 log=$CACHE/guest/kvm.log

	[ -w /dev/kvm ] || return 1
	: >"$log"
	vm_qemu x86_64 1 kvm 30 -m 256 -kernel "$kernel" \
		-append "$(vm_append x86_64)" \
		-serial "file:$log" </dev/null >/dev/null 2>&1 || return 1
	# Without an initramfs the kernel gets as far as this.
	grep -q 'Unable to mount root' "$log"
}

# vm_accel ARCH BZIMAGE: prints kvm or tcg; asked once per boot of this machine.
vm_accel()
{
	local memo

	if [ "$1" != "$(uname -m)" ]; then
		echo tcg
		return
	fi
	memo=$CACHE/guest/accel-$(</proc/sys/kernel/random/boot_id)
	if [ ! -f "$memo" ]; then
		rm -f "$CACHE"/guest/accel-*
		if kvm_works "$2"; then
			echo kvm >"$memo"
		else
			echo tcg >"$memo"
		fi
	fi
	cat "$memo"
}
