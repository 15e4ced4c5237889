# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Reads what tests say (TAP), and what they say about themselves.

# test_option SCRIPT KEY DEFAULT: from its "# vm:" or "# host:" line, where
# values with spaces stand in double quotes.
test_option()
{
	awk -v key="$2" -v value="$3" '
		/^# (vm|host): / {
			line = " " substr($0, index($0, ": ") + 2)
			at = index(line, " " key "=")
			if (at) {
				value = substr(line, at + length(key) + 2)
				if (value ~ /^"/)
					value = substr(value, 2, index(substr(value, 2), "\"") - 1)
				else
					sub(/ .*/, "", value)
			}
			exit
		}
		END { print value }' "$1"
}

# tap_check FILE: a "not ok" line for all that is wrong with the output as a
# whole: its last line has to be "# exit STATUS".
tap_check()
{
	awk '
		/^1\.\.[0-9]+/		{ plans++; plan = substr($1, 4) + 0 }
		/^(not )?ok( |$)/	{ seen++ }
		/^not ok( |$)/		{ failed++ }
		/^# exit [0-9]+$/	{ ended = 1; status = $3 }
		END {
			if (!ended)
				print "not ok - the script ran to its end"
			else if (status != 0 && !failed)
				print "not ok - the script ended with status 0, not " status
			if (plans != 1)
				print "not ok - one plan, not " plans + 0
			else if (plan != seen)
				print "not ok - " plan " tests planned, " seen + 0 " run"
			else if (!seen)
				print "not ok - at least one test"
		}' "$1"
}

# tap_count: from stdin, "PASSED FAILED SKIPPED".
tap_count()
{
	awk '
		/^ok( |$)/ && /# [Ss][Kk][Ii][Pp]/	{ skipped++; next }
		/^ok( |$)/				{ passed++ }
		/^not ok( |$)/				{ failed++ }
		END { print passed + 0, failed + 0, skipped + 0 }'
}
