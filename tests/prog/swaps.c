// SPDX-License-Identifier: GPL-2.0
// link: -static
/*
 * swaps A B TIMES SECONDS: makes the files A and B, with the same code, maps them
 * by turns at the same address, TIMES times, and lets SECONDS of CPU time go by
 * there each time. So long after one swap and before the next that whatever is
 * remembered of the address will be believed.
 *
 * x86-64 code.
 */

#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "optool.h"

#define ADDRESS	((void *)0x10000000)
#define PAGE	4096ul
#define LOOPS	20000000ul

/* dec %rdi; jnz; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };

static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || pwrite(fd, code, sizeof(code), 0) != sizeof(code) ||
	    ftruncate(fd, PAGE))
		die("%s: %s", path, strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long i, times;
	double seconds, end;
	int fd[2];

	if (argc != 5)
		die("usage: swaps A B TIMES SECONDS");
	fd[0] = make(argv[1]);
	fd[1] = make(argv[2]);
	times = strtoul(argv[3], NULL, 10);
	seconds = strtod(argv[4], NULL);
	for (i = 0; i < times; i++) {
		if (mmap(ADDRESS, PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd[i % 2], 0) != ADDRESS)
			die("code: %s", strerror(errno));
		end = cpu_time() + seconds;
		while (cpu_time() < end)
			((void (*)(unsigned long))ADDRESS)(LOOPS);
	}
	return 0;
}
