# SPDX-License-Identifier: GPL-2.0
#
# stories.awk PROFILE PROFILE: do two profiles (lines of count, mode, image and
# offset) tell the same story? What has a share of 5 % in one has to be in the
# other as well, and at least four such places there are.

BEGIN	{ FS = "\t" }

FNR == 1 { file++ }

{
	key = $2 " " $3 " " $4
	n[file, key] += $1
	all[file] += $1
	keys[key]
}

END {
	for (key in keys)
		for (file = 1; file <= 2; file++) {
			if (n[file, key] < 0.05 * all[file])
				continue
			hot++
			if (n[3 - file, key] < 0.01 * all[3 - file]) {
				print "# only in " ARGV[file] ": " key
				bad++
			}
		}
	exit bad || hot < 8 || all[1] < 1000 || all[2] < 1000
}
