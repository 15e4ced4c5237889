#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs the script whose name is in the file "script", as a service. What it says
# goes to the second serial port.

cd /test || exit 1
stty -F /dev/ttyS1 raw -echo
exec >/dev/ttyS1 2>&1 </dev/null
sh "./$(cat script).sh"
echo "# exit $?"
# systemd kills what is left of this service.
systemctl --no-block poweroff
