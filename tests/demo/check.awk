#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0
#
# check.awk [-v rows=N] TRUTH COUNTS: prints the table of COUNTS (symbols.sh's)
# and beside each part of the workload what TRUTH says (demo.h has its format).
# Ends with 1 unless all of this holds:
#
# - the parts have 20,000 samples or more;
# - each part's share of them is within five standard deviations of the binomial
#   plus half a point of its share of the CPU time;
# - the program's user samples lie in its parts, but for three in a hundred (a read's
#   way back);
# - a kernel part's samples (all of the program's in the kernel, interrupts
#   included) are for three quarters in the functions that the truth names;
# - of a part's processes nine in ten were seen (one that lives for a millisecond
#   has some samples, unless the machine itself was stopped meanwhile).

function abs(x)
{
	return x < 0 ? -x : x
}

function complain(text)
{
	complaints[++bad] = text
}

BEGIN {
	FS = "\t"
	if (!rows)
		rows = 16
}

FILENAME == ARGV[1] {
	part = $1
	ns[part] = $2
	run[part] = $3
	mode[part] = $4
	app[part] = $5
	image[part] = $6
	symbol[part] = "^(" $7 ")$"
	if (run[part] == 1)
		program[$5]
	order[++parts] = part
	all_ns += $2
	next
}

{
	all += $1
	of = ""
	for (i = 1; i <= parts; i++) {
		part = order[i]
		if ($3 == mode[part] && $4 == app[part] &&
		    ($3 == "k" || ($5 == image[part] && $6 ~ symbol[part])))
			of = part
	}
	if ($3 == "u" && $4 in program) {
		user += $1
		if (of == "")
			elsewhere += $1
	}
	if (of == "") {
		key = $5 "\t" $6
		if (!(key in line))
			line[key] = ++lines
		size[key] += $1
		row[line[key]] = size[key] "\t" key
		next
	}
	samples += $1
	if (!of_part[of]) {	# its first row is the largest
		at[++lines] = of
		shown_image[of] = $5
		shown_symbol[of] = $6
	} else
		more[of]++
	of_part[of] += $1
	if ($6 ~ symbol[of])
		named[of] += $1
	if ($2 > seen[of])
		seen[of] = $2
}

END {
	if (!parts || !all) {
		print "no samples, or no truth"
		exit 1
	}
	# The rows come in the order of their own size, the parts' sums are larger.
	for (i = 1; i <= lines; i++)
		if (i in at)
			row[i] = of_part[at[i]] "\t" shown_image[at[i]] "\t" \
				shown_symbol[at[i]] \
				(more[at[i]] ? " and " more[at[i]] " more" : "")

	printf "%7s %8s  %-28s %-34s %9s %7s\n", \
		"share", "samples", "image", "symbol", "of parts", "truth"
	for (shown = 0; shown < lines; shown++) {
		most = 0
		for (i = 1; i <= lines; i++) {
			split(row[i], column, "\t")
			if (!done[i] && column[1] + 0 > most) {
				most = column[1] + 0
				best = i
			}
		}
		done[best] = 1
		split(row[best], column, "\t")
		if (shown >= rows && !(best in at))
			continue
		printf "%5.1f %% %8d  %-28s %-34s", 100 * most / all, most, column[2], column[3]
		if (best in at) {
			part = at[best]
			p = ns[part] / all_ns
			share = most / samples
			allowed = 5 * sqrt(p * (1 - p) / samples) + 0.005
			agrees = abs(share - p) <= allowed
			printf " %7.2f %% %5.2f %%  %s (%.2f allowed)", 100 * share, \
				100 * p, agrees ? "agrees" : "DIFFERS", 100 * allowed
			if (!agrees)
				complain(sprintf("%s: %.2f %% of the samples, %.2f %% of the time", \
					part, 100 * share, 100 * p))
		}
		print ""
	}

	for (i = 1; i <= parts; i++) {
		part = order[i]
		if (!of_part[part])
			complain(part ": no samples")
		else if (named[part] < 0.75 * of_part[part])
			complain(sprintf("%s: %d of %d samples are where they should be", \
				part, named[part], of_part[part]))
		if (seen[part] < 0.9 * run[part])
			complain(sprintf("%s: %d of %d processes seen", part, seen[part], run[part]))
	}
	if (samples < 20000)
		complain(sprintf("%d samples in the parts are too few", samples))
	if (elsewhere > 0.03 * user)
		complain(sprintf("%d of %d user samples lie outside the parts", elsewhere, user))

	printf "\n%d samples in the parts, by the CPU clock %.1f s\n", samples, all_ns / 1e9
	for (i = 1; i <= bad; i++)
		print complaints[i]
	exit (bad > 0)
}
