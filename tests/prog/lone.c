// SPDX-License-Identifier: GPL-2.0
/*
 * lone FILE N: calls a page of code of a file N times, each of which is a page
 * fault at its address, in memory below and above which other code was unmapped
 * before. There is but one task in this address space.
 */

#define _GNU_SOURCE
#include <sys/mman.h>

#include "optool.h"

#define PAGE	4096ul

#if defined(__x86_64__) || defined(__i386__)
static const unsigned char code[] = { 0xc3 };
#elif defined(__aarch64__)
static const unsigned char code[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#endif

int main(int argc, char **argv)
{
	char *at = (char *)0x30000000ul;
	unsigned long n;
	int fd;

	if (argc != 3)
		die("usage: lone FILE N");
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || ftruncate(fd, 3 * PAGE))
		die("%s: %s", argv[1], strerror(errno));
	for (n = 0; n < 3; n++) {
		if (pwrite(fd, code, sizeof(code), n * PAGE) != sizeof(code))
			die("%s: %s", argv[1], strerror(errno));
	}
	if (mmap(at, 3 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 fd, 0) != at)
		die("mmap: %s", strerror(errno));
	/* a sample of each, so that somebody looks when they go */
	for (n = 0; n < 3; n++)
		((void (*)(void))(at + n * PAGE))();
	if (munmap(at, PAGE) || munmap(at + 2 * PAGE, PAGE))
		die("munmap: %s", strerror(errno));
	for (n = strtoul(argv[2], NULL, 0); n > 0; n--) {
		if (madvise(at + PAGE, PAGE, MADV_DONTNEED))
			die("madvise: %s", strerror(errno));
		((void (*)(void))(at + PAGE))();
	}
	return 0;
}
