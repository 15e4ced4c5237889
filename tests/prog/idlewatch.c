// SPDX-License-Identifier: GPL-2.0
/*
 * idlewatch [SECONDS]: does the module's worker run while no sample arrives?
 * Waits for a stretch of that time (5 s) without a sample, before which the
 * worker had time to finish what had come earlier. Prints how often the worker
 * ran in it; exit status 2 if there was no such stretch.
 *
 * It has all its memory and stays away from the disk, so that a stretch
 * without samples can be had with a page-faults profile at least.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <sys/mman.h>

#include "optool.h"

#define SETTLE_MS	3000
#define ATTEMPTS	40

static char received_paths[1024][64];
static unsigned int n_received;

static void find_cpus(void)
{
	DIR *dir = opendir(op_path("stats"));
	struct dirent *entry;

	if (!dir)
		die("stats: %s", strerror(errno));
	while ((entry = readdir(dir)) && n_received < 1024) {
		if (!strncmp(entry->d_name, "cpu", 3))
			snprintf(received_paths[n_received++],
				 sizeof(received_paths[0]),
				 "stats/%.40s/sample_received", entry->d_name);
	}
	closedir(dir);
}

static unsigned long received(void)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < n_received; i++)
		sum += read_number(op_path("%s", received_paths[i]));
	return sum;
}

static unsigned long sync_runs(void)
{
	return read_number(op_path("stats/sync_runs"));
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 5, attempt;
	unsigned long samples, runs;

	find_cpus();
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall: %s", strerror(errno));
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		samples = received();
		nap(SETTLE_MS);
		runs = sync_runs();
		nap(seconds * 1000);
		runs = sync_runs() - runs;
		if (received() == samples) {
			printf("%lu\n", runs);
			return 0;
		}
	}
	return 2;
}
