// SPDX-License-Identifier: GPL-2.0
/*
 * hog SECONDS MIB: takes memory until no more than that is free, and sees to it
 * for so long, taking more and giving back as others come and go. Nobody is to be
 * killed for want of memory; if it comes to that, this one is.
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "optool.h"

#define MIB	(1ul << 20)

static unsigned long free_mib(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		die("sysinfo: %s", strerror(errno));
	return info.freeram * info.mem_unit / MIB;
}

int main(int argc, char **argv)
{
	unsigned long wanted, have, taken = 0, most;
	double end;
	char *memory;
	int error;

	if (argc != 3)
		die("hog SECONDS MIB");
	end = now() + strtod(argv[1], NULL);
	wanted = strtoul(argv[2], NULL, 10);
	error = write_bytes("/proc/self/oom_score_adj", "1000", 4);
	if (error)
		die("oom_score_adj: %s", strerror(error));
	/* It must be quicker than those who make room necessary. */
	if (setpriority(PRIO_PROCESS, 0, -10))
		die("setpriority: %s", strerror(errno));
	most = free_mib();
	memory = mmap(NULL, most * MIB, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	/* Or one touch could take more than that. */
	madvise(memory, most * MIB, MADV_NOHUGEPAGE);
	while (now() < end) {
		have = free_mib();
		if (have > wanted && taken < most)
			memset(memory + taken++ * MIB, 1, MIB);
		else if (have < wanted && taken)
			madvise(memory + --taken * MIB, MIB, MADV_DONTNEED);
		else
			usleep(20000);
	}
	printf("%lu\n", taken);
	return 0;
}
