#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh MODULE PROGRAMS OUT: profiles the workload in the folder PROGRAMS, the
# same way in the demo's machine and on the host. The period is near no multiple
# or fraction of the tick's.

exec "${0%/*}/profile.sh" -m "$1" -e cpu-clock -c 99989 -o "$3/samples" \
	"$2/load.sh" 3 "$3/truth"
