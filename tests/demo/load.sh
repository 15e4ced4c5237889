#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# load.sh SECONDS TRUTH: the demo's workload. What it really did is in the file
# TRUTH afterwards (the format is in demo.h).

set -eu

dir=${0%/*}
crowd=
trap '[ -z "$crowd" ] || kill "$crowd"' EXIT
trap 'exit 1' INT TERM HUP

"$dir/crowd" >"$2.crowd" &
crowd=$!
"$dir/workload" "$1" >"$2"
kill "$crowd"
wait "$crowd"
crowd=
cat "$2.crowd" >>"$2"
