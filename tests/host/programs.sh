#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's programs compile without a warning.
# host: cpus=1

set -euo pipefail
# shellcheck source=tests/lib/common.sh
. "$(dirname "$0")/../lib/common.sh"
# shellcheck source=tests/lib/guest.sh
. "$ROOT/tests/lib/guest.sh"
# shellcheck source=tests/guest/lib.sh
. "$ROOT/tests/guest/lib.sh"

report=$(guest_progs x86_64 2>&1 >/dev/null) || report+="(exit status $?)"
is "$report" "" "tests/prog compiles"
done_testing
