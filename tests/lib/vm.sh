# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs QEMU. Software emulation, unless KVM has shown that it works here.

# vm_qemu ACCEL TIMEOUT ARG...
vm_qemu()
{
	local accel=$1 timeout=$2 cpu=max,la57=off

	shift 2
	[ "$accel" = tcg ] || cpu=host
	timeout --foreground --kill-after=5 "$timeout" \
		qemu-system-x86_64 -machine pc -accel "$accel" -cpu "$cpu" \
		-nodefaults -no-user-config -display none -no-reboot "$@"
}

vm_append()
{
	echo "console=ttyS0 loglevel=8 panic=-1 oops=panic mitigations=off" \
		"tsc=reliable 8250.nr_uarts=4 rdinit=/init $*"
}

# A /dev/kvm that opens can still hang a guest: one that ends is the proof.
kvm_works()
{
	local kernel=$1 log=$CACHE/guest/kvm.log

	[ -w /dev/kvm ] || return 1
	: >"$log"
	vm_qemu kvm 30 -m 256 -kernel "$kernel" -append "$(vm_append)" \
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
