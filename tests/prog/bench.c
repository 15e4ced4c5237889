// SPDX-License-Identifier: GPL-2.0
// link: -static
/*
 * bench LOAD N: does something fixed N times and prints how many nanoseconds it
 * took, which is what the benchmark (tests/bench) compares.
 *
 *	user	a loop in this program, a million instructions
 *	kernel	reads of zeroes, of some million instructions together
 *	exec	fork, exec of this program, exit
 *	mmap	mmap of a page of this program's code, a look at it, munmap
 *	dump	has the module convert what was sampled
 *	read	reads "buffer" to its end
 */

#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "optool.h"

static int self;

__attribute__((noinline))
static void load_user(void)
{
	unsigned int n;

	for (n = 0; n < 333333; n++)
		__asm__ volatile("nop");
}

static void load_kernel(void)
{
	static char buffer[65536];
	static int zero = -1;
	unsigned int i;

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 64; i++) {
		if (read(zero, buffer, sizeof(buffer)) != sizeof(buffer))
			die("/dev/zero: %s", strerror(errno));
	}
}

static void load_exec(void)
{
	char *args[] = { "/proc/self/exe", NULL };
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		execv(args[0], args);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("bench: the child failed");
}

static void load_mmap(void)
{
	volatile char *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 4096);
	if (page == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	(void)*page;
	if (munmap((void *)page, 4096))
		die("munmap: %s", strerror(errno));
}

static void load_dump(void)
{
	int error = write_text(op_path("dump"), "1");

	if (error)
		die("dump: %s", strerror(error));
}

static void load_read(void)
{
	static char buffer[65536];
	int fd = open(op_path("buffer"), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		die("buffer: %s", strerror(errno));
	do {
		n = read(fd, buffer, sizeof(buffer));
	} while (n > 0);
	if (n < 0)
		die("buffer: %s", strerror(errno));
	close(fd);
}

static const struct {
	const char *name;
	void (*load)(void);
} loads[] = {
	{ "user", load_user },
	{ "kernel", load_kernel },
	{ "exec", load_exec },
	{ "mmap", load_mmap },
	{ "dump", load_dump },
	{ "read", load_read },
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long i, n;
	uint64_t begin;
	unsigned int l;

	/* what "exec" executes */
	if (argc < 3)
		return 0;
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (self < 0)
		die("/proc/self/exe: %s", strerror(errno));
	n = strtoul(argv[2], NULL, 10);
	for (l = 0; l < sizeof(loads) / sizeof(loads[0]); l++) {
		if (strcmp(loads[l].name, argv[1]))
			continue;
		/* what is only done once */
		if (n > 1)
			loads[l].load();
		begin = clock_ns();
		for (i = 0; i < n; i++)
			loads[l].load();
		printf("%llu\n", (unsigned long long)(clock_ns() - begin));
		return 0;
	}
	die("bench: no such load: %s", argv[1]);
}
