#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# symbols.sh SAMPLES [ROOT]: counts the samples of each function, looked up with
# binutils in the files below ROOT, which is where the profiled machine's / is
# (default: here). Prints a line each, tabs between:
#
#	samples processes mode app image symbol
#
# A sample's offset is one into the file. The program headers say at which
# address the file's pieces are linked, nm what is at that address: that serves
# executables at a fixed address, position-independent ones and libraries alike.

set -euo pipefail
export LC_ALL=C

samples=$1 root=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# functions FILE: lines of the first offset, the one after the last, the name.
functions()
{
	local table

	table=$(nm -n -S --defined-only "$1" 2>/dev/null)
	[ -n "$table" ] || table=$(nm -D -n -S --defined-only "$1" 2>/dev/null)
	{
		readelf -lW "$1" 2>/dev/null
		printf '%s\n' "$table"
	} | awk '
		function hex(digits,	value, i) {
			digits = tolower(digits)
			sub(/^0x/, "", digits)
			for (i = 1; i <= length(digits); i++)
				value = value * 16 + \
					index("0123456789abcdef", substr(digits, i, 1)) - 1
			return value
		}
		function emit(start, end, name,		i) {
			for (i = 0; i < pieces; i++)
				if (start >= address[i] && start < address[i] + length_[i])
					printf "%.0f\t%.0f\t%s\n", start - address[i] + offset[i], \
						end - address[i] + offset[i], name
		}
		# LOAD Offset VirtAddr PhysAddr FileSiz MemSiz Flg Align
		$1 == "LOAD" {
			offset[pieces] = hex($2)
			address[pieces] = hex($3)
			length_[pieces++] = hex($5)
			next
		}
		$1 !~ /^[0-9a-f]+$/	{ next }
		NF == 4 && $3 ~ /^[tTwWi]$/ { start = hex($1); size = hex($2); name = $4 }
		NF == 3 && $2 ~ /^[tTwWi]$/ { start = hex($1); size = 0; name = $3 }
		# One without a size reaches to the next.
		NF == 3 || NF == 4 {
			if (open != "" && start > open_start) {
				emit(open_start, start, open)
				open = ""
			}
			if (name == "")
				next
			sub(/@.*/, "", name)
			if (size)
				emit(start, start + size, name)
			else if (open == "") {
				open = name
				open_start = start
			}
			name = ""
		}' | sort -n -s -k 1,1
}

# Every file that has user samples: its functions, after its name.
awk -F '\t' '!/^#/ && $5 == "u" && $7 ~ /^\// && !seen[$7]++ { print $7 }' \
	"$samples" >"$work/images"
while IFS= read -r image; do
	# The octal escapes are printf's own.
	file=$root$(printf '%b.' "$image")
	file=${file%.}
	[ -f "$file" ] || continue
	functions "$file" | awk -v "image=${image//\\/\\\\}" '{ print image "\t" $0 }'
done <"$work/images" >"$work/functions"

awk -F '\t' '
	function hex(digits,	value, i) {
		sub(/^0x/, "", digits)
		for (i = 1; i <= length(digits); i++)
			value = value * 16 + \
				index("0123456789abcdef", substr(digits, i, 1)) - 1
		return value
	}
	# The last function of the image that starts at or before the offset.
	function lookup(image, at,	low, high, middle) {
		low = 0
		high = functions[image] + 1
		while (high - low > 1) {
			middle = int((low + high) / 2)
			if (start[image, middle] <= at)
				low = middle
			else
				high = middle
		}
		return low && at < end[image, low] ? name[image, low] : "-"
	}
	function symbol(mode, image, offset) {
		if (mode == "k") {
			sub(/\+0x[0-9a-f]+$/, "", offset)
			return offset
		}
		if (!((image, offset) in cache))
			cache[image, offset] = lookup(image, hex(offset))
		return cache[image, offset]
	}
	FILENAME != ARGV[2] {
		start[$1, ++functions[$1]] = $2
		end[$1, functions[$1]] = $3
		name[$1, functions[$1]] = $4
		next
	}
	/^#/ { next }
	{
		row = $5 "\t" $6 "\t" $7 "\t" symbol($5, $7, $8)
		count[row]++
		if (!((row, $2) in seen)) {
			seen[row, $2]
			processes[row]++
		}
	}
	END {
		for (row in count)
			print count[row] "\t" processes[row] "\t" row
	}' "$work/functions" "$samples" | sort -n -r
