# SPDX-License-Identifier: GPL-2.0
#
# What the measurements share. They are made in a machine in which a nanosecond
# is an instruction: rows of a table to /out/table, tabs between. They test
# nothing but that there are figures.

# shellcheck source=tests/guest/lib.sh
. ./lib.sh

table=/out/table

# time_of LOAD N: a run to warm up, then two, first and second.
time_of()
{
	bench "$1" $(($2 / 10 + 1)) >/dev/null
	# shellcheck disable=SC2034 # for those who source this
	first=$(bench "$1" "$2")
	# shellcheck disable=SC2034 # likewise
	second=$(bench "$1" "$2")
}

row()
{
	local IFS='	'

	echo "$*" >>$table
	diag "$*"
}

# per N TIME BASE: what one of N costs above the base.
per()
{
	awk -v n="$1" -v time="$2" -v base="$3" \
		'BEGIN { printf "%.1f\n", (time - base) / n }'
}

bare()
{
	insmod /lib/modules/opbare.ko "$@"
}

# ready PARAMETER...: the module, in a machine that has calmed down after its
# boot.
ready()
{
	sleep 5
	load "$@"
	ok $? "loads"
}

# finish: the end of a script.
finish()
{
	unload
	ok $? "unloads"
	[ -s $table ]
	ok $? "there are figures"
	done_testing
}
