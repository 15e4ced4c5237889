// SPDX-License-Identifier: GPL-2.0
/*
 * try: makes one system call and prints OK, or the name of its error.
 *
 *	try open PATH		for reading, without waiting
 *	try write PATH TEXT	open and write; \n and the like are the shell's
 *	try insmod FILE [PARAMETERS]
 *	try rmmod NAME		without waiting
 *	try perf EVENT		a system-wide counter of it on CPU 0
 */

#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "optool.h"

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static int try_open(const char *path)
{
	return error_of(open(path, O_RDONLY | O_NONBLOCK));
}

static int try_insmod(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return error_of(syscall(SYS_finit_module, fd, parameters, 0));
}

static int try_rmmod(const char *name)
{
	return error_of(syscall(SYS_delete_module, name, O_NONBLOCK));
}

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
};

static int try_perf(const char *name)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_period = 1000000,
		.pinned = 1,
	};
	size_t i;

	if (name[0] == 'r') {
		attr.type = PERF_TYPE_RAW;
		attr.config = strtoul(name + 1, NULL, 16);
		return error_of(syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
	}
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(name, events[i].name))
			continue;
		attr.type = events[i].type;
		attr.config = events[i].config;
		return error_of(syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
	}
	die("no such event: %s", name);
}

int main(int argc, char **argv)
{
	int error;

	if (argc == 3 && !strcmp(argv[1], "open"))
		error = try_open(argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "write"))
		error = write_text(argv[2], argv[3]);
	else if ((argc == 3 || argc == 4) && !strcmp(argv[1], "insmod"))
		error = try_insmod(argv[2], argc == 4 ? argv[3] : "");
	else if (argc == 3 && !strcmp(argv[1], "rmmod"))
		error = try_rmmod(argv[2]);
	else if (argc == 3 && !strcmp(argv[1], "perf"))
		error = try_perf(argv[2]);
	else
		return 2;
	puts(error_name(error));
	return 0;
}
