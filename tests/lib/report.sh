# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Judges a machine by its kernel's log, in TAP.

# report_of LOG: what the kernel reported. Fails if there is something.
report_of()
{
	"$ROOT/tests/lib/kernel-log" "$1"
}

# judge_log LOG: there is no report.
judge_log()
{
	local report

	if report=$(report_of "$1"); then
		echo "ok - the kernel reported nothing"
	else
		echo "not ok - the kernel reported nothing"
		printf '%s\n' "$report" | sed 's/^/# /'
	fi
}

# judge_planted LOG: a script that plants bugs names each in the log before it
# happens, "planted NAME: FIRST LINE OF THE REPORT" (a regular expression). From
# there to the next such line is that one report, in which opbug_NAME is seen, and
# nothing is reported before the first. (A race is one report a pair of places.)
judge_planted()
{
	local dir name wanted report

	dir=$(mktemp -d)
	awk -v dir="$dir" '
		{ sub(/\r$/, "") }
		match($0, /(\] |^)planted [a-z]+: /) {
			n++
			sub(/.*planted /, "")
			print >(dir "/" n ".bug")
			printf "" >(dir "/" n)
			next
		}
		{ print >(dir "/" n + 0) }' "$1"
	[ ! -e "$dir/0" ] || judge_log "$dir/0"
	[ -e "$dir/1" ] || echo "not ok - a bug was planted"
	for ((n = 1; n <= $(find "$dir" -name '*.bug' | wc -l); n++)); do
		IFS= read -r wanted <"$dir/$n.bug"
		name=${wanted%%: *}
		report=$(report_of "$dir/$n") || true
		if head -n 1 <<<"$report" | grep -qE -- "${wanted#*: }" &&
			[ "$(grep -E '(BUG|WARNING): |new suspected memory leaks' \
				<<<"$report" | sed 1d |
				grep -vc "BUG: ${name^^}: data-race")" -eq 0 ] &&
			grep -qF "opbug_$name" <<<"$report"; then
			echo "ok - the kernel reported the planted bug, $name"
		else
			echo "not ok - the kernel reported the planted bug, $name"
			printf '%s\n' "wanted: ${wanted#*: }" "$report" |
				sed 's/^/# /'
		fi
	done
	rm -rf "$dir"
}

# judge_leaks LOG: where the kernel has kmemleak, init has asked it and got an
# answer.
judge_leaks()
{
	grep -q 'kmemleak: Kernel memory leak detector initialized' "$1" || return 0
	if grep -q 'kmemleak has been asked' "$1"; then
		echo "ok - kmemleak was asked"
	else
		echo "not ok - kmemleak was asked"
	fi
}
