#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Whatever takes code from a process raises the hits of the hook that should see
# it, on this kernel: where a kernel has moved one of those ways, this notices.
# vm: kernels=6.1,6.12 all-kernels=debian cpus=2

. ./lib.sh

N=300

# rise WHAT: doing it changes the lines of the file hooks by so much.
rise()
{
	cat "$OP/hooks" >/tmp/before
	hook "$1" $N || return 1
	cat "$OP/hooks" >/tmp/after
	awk '
		/^#/			{ next }
		FILENAME == ARGV[1]	{ hits[$1, $2] = $3; missed[$1, $2] = $4
					  ignored[$1, $2] = $5; next }
		{ print $1, $2, $3 - hits[$1, $2], $4 - missed[$1, $2],
			$5 - ignored[$1, $2] }' /tmp/before /tmp/after
}

# hits EVENT SYMBOL FILE [ignored]: of the hooks with such names, or how many of
# these were ignored. A process that has no sample yet is not looked at so
# closely: whether the few of a program's start are ignored is chance.
hits()
{
	awk -v event="$1" -v symbol="$2" -v field="${4:+5}" '
		$1 == event && $2 ~ symbol { n += $(field ? field : 3) }
		END { print n + 0 }' "$3"
}

# raises WHAT [TIMES EVENT SYMBOL]...: each one raises the hits of the hook so
# many times, beside those of a program that does nothing.
raises()
{
	local what=$1 more

	rise "$what" >/tmp/rise
	ok $? "$what $N times"
	shift
	while [ $# -gt 0 ]; do
		more=$(($(hits "$2" "$3" /tmp/rise) - \
			$(hits "$2" "$3" /tmp/nothing)))
		[ $more -ge $((N * $1)) ] &&
			[ $(($(hits "$2" "$3" /tmp/rise) - \
				$(hits "$2" "$3" /tmp/rise ignored))) -ge \
				$((N * $1)) ]
		ok $? "$what: $more hits more of $2 ($3)"
		shift 3
	done
	[ "$(awk '{ n += $4 } END { print n + 0 }' /tmp/rise)" -eq 0 ] ||
		diag "$what: missed: $(cat /tmp/rise)"
}

# opened PID FILE: the process has it open.
opened()
{
	local fd

	for fd in "/proc/$1/fd"/*; do
		[ "$(readlink "$fd")" = "$2" ] && return 0
	done
	return 1
}

load event=cpu-clock count=10000000
ok $? "loads"
is "$(awk '!/^#/ && ($2 != "none" || $3 || $4 || $5)' "$OP/hooks")" "" \
	"no hooks before the first start"
start
cat "$OP/buffer" >/dev/null &
reader=$!
# its own start must not count for the program's that does nothing
until opened $reader "$OP/buffer"; do
	sleep 0.1
done
# Others may do something meanwhile: the least of three counts.
for i in 1 2 3; do
	rise nothing >>/tmp/nothings
	ok $? "nothing, $i"
done
awk '
	{ hook = $1 " " $2 }
	!(hook in hits) || $3 < hits[hook] { hits[hook] = $3; line[hook] = $0 }
	END { for (hook in line) print line[hook] }' /tmp/nothings >/tmp/nothing
is "$(awk -v n=$N '$3 >= n' /tmp/nothing)" "" \
	"a program that does nothing raises none of them like that"

raises munmap 1 EXEC_UNMAP munmap
# what is mapped over is unmapped by itself, or with the rest
raises fixed 1 EXEC_UNMAP 'munmap|mmap_region' 1 EXEC_MAP perf_event_mmap
raises mremap-move 1 EXEC_UNMAP munmap 1 EXEC_MAP copy_vma
raises mremap-over 2 EXEC_UNMAP munmap 1 EXEC_MAP copy_vma
raises mremap-shrink 1 EXEC_UNMAP munmap
raises mremap-grow 1 EXEC_MAP 'vma_merge|vma_adjust'
raises brk 1 EXEC_UNMAP munmap
raises shmdt 1 EXEC_UNMAP munmap
raises mprotect 1 EXEC_UNMAP mprotect_fixup 1 EXEC_MAP perf_event_mmap
raises exec 1 EXIT_MMAP exit_mmap 1 EXEC_MAP perf_event_mmap
raises exit 1 EXIT_TASK do_exit 1 EXIT_MMAP exit_mmap
raises thread 1 EXIT_TASK do_exit

stop
wait $reader
cat "$OP/hooks" >/tmp/hooks
diag "$(cat /tmp/hooks)"
hook exit 10
hook munmap 10
cmp -s "$OP/hooks" /tmp/hooks
ok $? "nothing is counted after the end"
law "" "of all that"
start
stop
awk '!/^#/ && $3 > 100 { bad = 1 } END { exit bad }' "$OP/hooks"
ok $? "a start begins to count anew"
cat "$OP/buffer" >/dev/null
unload
ok $? "unloads"
done_testing
