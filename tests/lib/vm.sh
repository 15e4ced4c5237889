# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs QEMU. Software emulation, unless KVM has shown that it works here.

# qemu_choose CPUS: sets QEMU and QEMU_TCG.
#
# Before 8.1, CPUs that run in threads of their own may keep running code that
# another CPU has patched meanwhile: an int3 of ftrace's that is long gone. So
# machines with several CPUs get trixie's QEMU, out of its chroot; without one,
# all their CPUs share a thread.
qemu_choose()
{
	local version root=$CACHE/chroots/trixie

	QEMU=(qemu-system-x86_64)
	QEMU_TCG=tcg
	[ "$1" != 1 ] || return 0
	version=$("${QEMU[@]}" --version |
		sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
	[ "$(printf '%s\n' "$version" 8.1 | sort -V | head -n 1)" != 8.1 ] ||
		return 0
	if [ "$(id -u)" = 0 ]; then
		locked chroot-trixie qemu_chroot
	elif [ ! -x "$root/usr/bin/qemu-system-x86_64" ]; then
		QEMU_TCG=tcg,thread=single
		return 0
	fi
	QEMU=("$root/lib64/ld-linux-x86-64.so.2" --library-path
		"$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu"
		"$root/usr/bin/qemu-system-x86_64"
		-L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
}

qemu_chroot()
{
	chroot_prepare trixie
	builder_packages trixie qemu-system-x86
}

# vm_qemu CPUS ACCEL TIMEOUT ARG...
vm_qemu()
{
	local cpus=$1 accel=$2 timeout=$3 cpu=max,la57=off

	shift 3
	if [ "$accel" = tcg ]; then
		qemu_choose "$cpus"
		accel=$QEMU_TCG
	else
		cpu=host
		QEMU=(qemu-system-x86_64)
	fi
	timeout --foreground --kill-after=5 "$timeout" \
		"${QEMU[@]}" -machine pc -accel "$accel" -cpu "$cpu" \
		-nodefaults -no-user-config -display none -no-reboot "$@"
}

# Without no_timer_check, old kernels panic where the timer of an emulated CPU that
# waits for a real one is late.
vm_append()
{
	echo "console=ttyS0 loglevel=8 panic=-1 oops=panic mitigations=off" \
		"tsc=reliable no_timer_check 8250.nr_uarts=4 rdinit=/init $*"
}

# A /dev/kvm that opens can still hang a guest: one that ends is the proof.
kvm_works()
{
	local kernel=$1 log=$CACHE/guest/kvm.log

	[ -w /dev/kvm ] || return 1
	: >"$log"
	vm_qemu 1 kvm 30 -m 256 -kernel "$kernel" -append "$(vm_append)" \
		-serial "file:$log" </dev/null >/dev/null 2>&1 || return 1
	# Without an initramfs the kernel gets as far as this.
	grep -q 'Unable to mount root' "$log"
}

# vm_accel BZIMAGE: prints kvm or tcg; asked once per boot of this machine.
vm_accel()
{
	local memo

	memo=$CACHE/guest/accel-$(</proc/sys/kernel/random/boot_id)
	if [ ! -f "$memo" ]; then
		rm -f "$CACHE"/guest/accel-*
		if kvm_works "$1"; then
			echo kvm >"$memo"
		else
			echo tcg >"$memo"
		fi
	fi
	cat "$memo"
}
