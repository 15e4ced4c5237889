#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# "samples" and "buffer" tell the same story of the same workload, and it is the
# true one.
# vm: kernels=6.1 cpus=1 mem=768 timeout=300 icount=yes

. ./lib.sh
# profile COLUMN: of the program story, count, mode, image and offset. The text
# has the mode in column 5, what opread -t prints one later. A count comes first
# there. The stream doesn't tell [vdso] from other memory without a file.
profile()
{
	awk -F '\t' -v mode="$1" '
		$(mode + 1) ~ /\/story$/ {
			image = $(mode + 2) == "[vdso]" ? "[anon]" : $(mode + 2)
			n[$mode "\t" image "\t" $(mode + 3)] += mode == 5 ? 1 : $1
		}
		END { for (key in n) print n[key] "\t" key }'
}

load event=cpu-clock count=100000 buffer_size=1048576 buffer_watershed=524288
ok $? "loads"

start
story 4 >/tmp/truth
stop
cat "$OP/samples" >/tmp/samples
n=$(count_samples </tmp/samples)
law "$n" "of the text"
profile 5 </tmp/samples >/tmp/text

start
story 4 >/dev/null
stop
opread -t -o /tmp/stream >/tmp/counts
ok $? "the stream is well formed, and each of its cookies is listed"
law "$(opread -q -f /tmp/stream)" "of the stream"
profile 6 </tmp/counts >/tmp/words

awk -f stories.awk /tmp/text /tmp/words
ok $? "both show the same files, and the same places in them"
diag "$(sort -rn /tmp/text | head -8)"
diag "--"
diag "$(sort -rn /tmp/words | head -8)"

# share CHAPTER MODE IMAGE OFFSET: the samples in such a place have the share of
# the CPU time that the program says.
share()
{
	local count total truth

	count=$(awk -F '\t' -v mode="$2" -v image="$3" -v at="$4" '
		$2 == mode && $3 ~ image && $4 ~ at { n += $1 }
		END { print n + 0 }' /tmp/text)
	total=$(sum </tmp/text)
	truth=$(awk -v chapter="$1" '
		$1 == chapter { part = $2 }
		{ all += $2 }
		END { printf "%.4f\n", part / all }' /tmp/truth)
	share_agrees "$count" "$total" "$truth"
	ok $? "$1 has its share: $count of $total samples, $truth of the time"
}
share hot u '/story$' '^0x'
share libc u '/libc[.-]' '^0x'
share anon u '^.anon.$' '^0x100000'
share kernel k '^.kernel.$' '[+]0x'
[ "$(cut -f 6 /tmp/samples | grep -c '/story$')" -gt $((n * 8 / 10)) ]
ok $? "most of all samples are the program's"
done_testing
