# SPDX-License-Identifier: GPL-2.0
#
# truth.awk [-v swap=A,B] [-v fine=1] TRUTH COUNTS: do the samples of the
# programs fall where truth.c says that their time went? By function, by file and
# by program each share has to be within five standard deviations of the binomial
# plus half a point; with fine also each program's part, plus a tenth of a point,
# since those shares are small. Nearly all user samples have to be in the
# functions, and 20,000 at least.
#
# A line of COUNTS: how many samples, CPU, mode, app, image, and of user samples
# the offset, tabs between.
#
# swap exchanges the times of two parts, or of two programs: then the truth is
# wrong, and this has to notice.

function hex(text,	i, n)
{
	for (i = 3; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

function complain(text)
{
	print "# " text
	bad++
}

# Where the file has no such function: "".
function find_part(app, image, offset,	at, i)
{
	at = hex(offset)
	for (i = first[app]; i && t_app[i] == app; i++)
		if (t_image[i] == image && at >= t_start[i] && at < t_end[i])
			return t_part[i]
	return ""
}

function agrees(what, count, ns, slack,	p, off)
{
	p = ns / all_ns
	off = count / all - p
	off = (off < 0 ? -off : off) - slack
	if (off > 0 && off * off > 25 * p * (1 - p) / all)
		complain(sprintf("%s: %.2f %% of the samples, %.2f %% of the time", \
			what, 100 * count / all, 100 * p))
}

function swapped(name)
{
	return name == wrong[1] ? wrong[2] : name == wrong[2] ? wrong[1] : name
}

BEGIN {
	FS = "\t"
	split(swap, wrong, ",")
}

FILENAME == ARGV[1] {
	lines++
	if (!first[$1])
		first[$1] = lines
	t_app[lines] = $1
	t_part[lines] = $2
	t_image[lines] = $5
	t_start[lines] = $6
	t_end[lines] = $7
	apps[$1]
	parts[$2]
	files[$1, $2] = $5 == $1 ? "itself" : $5
	images[files[$1, $2]]
	truth[swapped($1), swapped($2)] = $3
	all_ns += $3
	next
}

!($4 in apps)	{ next }

$3 == "k" {
	part = "system"
}

$3 == "u" {
	user += $1
	part = find_part($4, $5, $6)
	if (part == "") {
		elsewhere += $1
		next
	}
}

{
	n[$4, part] += $1
	seen_on[$2] += $1
	all += $1
}

END {
	if (all < 20000) {
		complain(all + 0 " samples are too few")
		exit 1
	}
	for (app in apps)
		for (part in parts) {
			by_app[app] += n[app, part]
			by_part[part] += n[app, part]
			by_image[files[app, part]] += n[app, part]
			app_ns[app] += truth[app, part]
			part_ns[part] += truth[app, part]
			image_ns[files[app, part]] += truth[app, part]
			if (fine)
				agrees(app ", " part, n[app, part], \
					truth[app, part], 0.001)
		}
	for (app in apps) {
		programs++
		agrees(app, by_app[app], app_ns[app], 0.005)
	}
	for (image in images)
		agrees(image, by_image[image], image_ns[image], 0.005)
	for (part in parts) {
		agrees(part, by_part[part], part_ns[part], 0.005)
		printf "#   %-8s %6d samples %6.2f %% %6.2f %% of the time\n", \
			part, by_part[part], 100 * by_part[part] / all, \
			100 * part_ns[part] / all_ns
	}
	if (elsewhere > 0.01 * user)
		complain(elsewhere " of " user " user samples are elsewhere")
	for (cpu in seen_on) {
		cpus++
		if (seen_on[cpu] < 0.05 * all)
			complain("few samples on CPU " cpu)
	}
	printf "#   %d samples of %d programs on %d CPUs, %.2f s, %d elsewhere\n", \
		all, programs, cpus, all_ns / 1e9, elsewhere
	exit bad > 0
}
