#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo's shares agree with the truth, and its check fails on a wrong one.
# The README shows the script that does it.
# host: kernels=6.1,6.12

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

demo=$ROOT/tests/demo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check TRUTH COUNTS
check()
{
	"$demo/check.awk" "$1" "$2" >"$work/table"
}

# rejects KERNEL WHAT: check has to fail on work/truth and work/counts.
rejects()
{
	local status=0

	check "$work/truth" "$work/counts" || status=$?
	is "$status" 1 "$1: the check fails $2"
	[ "$status" = 1 ] || diag "$(<"$work/table")"
}

# change FILE AWK: into work/FILE, with the awk program's changes.
change()
{
	awk -F '\t' -v OFS='\t' "$2" "$out/$1" >"$work/$1"
}

wrong_truths()
{
	local kernel=$1 part

	cp "$out/counts" "$work/counts"
	change truth '
		NR == FNR { ns[$1] = $2; next }
		$1 == "seventy" { $2 = ns["thirty"] }
		$1 == "thirty" { $2 = ns["seventy"] }
		{ print }' "$out/truth"
	rejects "$kernel" "when 70 : 30 is taken for 30 : 70"
	while read -r part; do
		change truth '
			NR == FNR { all += $2; next }
			$1 == "'"$part"'" { $2 += all / 10 }
			{ print }' "$out/truth"
		rejects "$kernel" "when $part had a tenth more of the time"
	done < <(cut -f 1 "$out/truth")
	change truth '$1 == "children" { $3 = int($3 * 1.25) } { print }'
	rejects "$kernel" "when one process in five is missing"

	cp "$out/truth" "$work/truth"
	change counts '{ $1 = int($1 / 4) } { print }'
	rejects "$kernel" "with too few samples"
	change counts '{ sub(/blink$/, "crowd", $4); print }'
	rejects "$kernel" "when the children's samples are their parent's"
	change counts '$6 == "thirty" { $5 = "/lib/other.so" } { print }'
	rejects "$kernel" "when samples are in the wrong file"
	change counts '$3 == "k" { $6 = "other" } { print }'
	rejects "$kernel" "when the kernel's symbols are wrong"
}

# Attribution loses next to nothing: at most one sample in a thousand.
lost()
{
	awk '/samples taken:/ { print ($6 * 1000 > $1) ? $0 : "few" }' \
		"$out/profile"
}

is "$(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$ROOT/README.md")" \
	"$(<"$demo/profile.sh")" "README.md shows profile.sh as it is"
for kernel in 6.1 6.12; do
	out=$work/$kernel
	status=0
	"$demo/run" --kernel "$kernel" --out "$out" >"$work/log" 2>&1 || status=$?
	ok "$status" "$kernel: the shares agree with the truth"
	diag "$(<"$work/log")"
	if [ "$status" = 0 ]; then
		is "$(lost)" few "$kernel: hardly a sample is lost"
		wrong_truths "$kernel"
	fi
done
done_testing
