/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the demo's programs share: the clock that tells the truth, random
 * numbers, and the truth's lines.
 *
 * A line of truth, tabs between: part, nanoseconds of CPU time, processes, and
 * then what its samples look like: mode, app, image, a regular expression for
 * the symbol. Paths are escaped as in the module's samples.
 */
#ifndef DEMO_H
#define DEMO_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* The CPU time of this thread, to the nanosecond. */
static inline uint64_t cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		die("clock_gettime");
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static inline uint64_t random_between(uint64_t low, uint64_t high)
{
	static uint64_t state;

	if (!state) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		state = now.tv_sec * 1000000000ull + now.tv_nsec + getpid();
	}
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return low + state % (high - low + 1);
}

static inline void own_path(char path[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (len < 0)
		die("/proc/self/exe");
	path[len] = '\0';
}

static inline void put_path(const char *path)
{
	for (; *path; path++) {
		if (strchr("\t\n \\", *path))
			printf("\\%03o", (unsigned char)*path);
		else
			putchar(*path);
	}
}

static inline void put_truth(const char *part, uint64_t ns,
			     unsigned long processes, char mode,
			     const char *app, const char *image,
			     const char *symbol)
{
	printf("%s\t%llu\t%lu\t%c\t", part, (unsigned long long)ns, processes,
	       mode);
	put_path(app);
	putchar('\t');
	put_path(image);
	printf("\t%s\n", symbol);
}

#endif /* DEMO_H */
