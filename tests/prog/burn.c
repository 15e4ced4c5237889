// SPDX-License-Identifier: GPL-2.0
/*
 * burn WHAT [AMOUNT [CPU]]: something to profile. The amount is seconds of CPU
 * time or a number; 0, or none, is for ever.
 *
 *	cpu SECONDS		in user space
 *	kernel SECONDS		in the kernel
 *	faults N		page faults
 *	switches N		context switches
 *	crowd N			processes that exec and exit
 *	mix SECONDS		some of each
 *	gentle SECONDS		likewise, but it sleeps most of the time
 */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "optool.h"

#define PAGES 64

__attribute__((noinline))
static void burn_user(unsigned int loops)
{
	while (loops--)
		__asm__ volatile("" : "+r"(loops));
}

__attribute__((noinline))
static void burn_kernel(void)
{
	static char bytes[65536];
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		die("/dev/zero: %s", strerror(errno));
}

/* PAGES faults. */
static void burn_faults(void)
{
	static volatile char *pages;
	size_t size = PAGES * sysconf(_SC_PAGESIZE), i;

	if (!pages) {
		pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			die("mmap: %s", strerror(errno));
		madvise((void *)pages, size, MADV_NOHUGEPAGE);
	}
	for (i = 0; i < size; i += size / PAGES)
		pages[i] = 1;
	madvise((void *)pages, size, MADV_DONTNEED);
}

static void burn_switch(void)
{
	struct timespec t = { 0, 1000 };

	nanosleep(&t, NULL);
}

static void burn_process(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/proc/self/exe", "burn", "nothing", NULL);
		_exit(127);
	}
	if (pid < 0)
		die("fork: %s", strerror(errno));
	waitpid(pid, NULL, 0);
}

static void burn_mix(void)
{
	unsigned int i;

	burn_user(100000);
	burn_faults();
	burn_kernel();
	for (i = 0; i < 8; i++)
		burn_switch();
	if (rand() % 16 == 0)
		burn_process();
}

static void burn_gently(void)
{
	burn_user(100000);
	burn_faults();
	burn_process();
	nap(10);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d: %s", cpu, strerror(errno));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double amount = argc > 2 ? strtod(argv[2], NULL) : 0, done = 0;

	if (argc > 3)
		pin(atoi(argv[3]));
	while (!amount || done < amount) {
		if (!strcmp(what, "cpu")) {
			burn_user(100000);
			done = cpu_time();
		} else if (!strcmp(what, "kernel")) {
			burn_kernel();
			done = cpu_time();
		} else if (!strcmp(what, "mix")) {
			burn_mix();
			done = cpu_time();
		} else if (!strcmp(what, "gentle")) {
			burn_gently();
			done = cpu_time();
		} else if (!strcmp(what, "faults")) {
			burn_faults();
			done += PAGES;
		} else if (!strcmp(what, "switches")) {
			burn_switch();
			done++;
		} else if (!strcmp(what, "crowd")) {
			burn_process();
			done++;
		} else {
			return strcmp(what, "nothing") ? 2 : 0;
		}
	}
	return 0;
}
