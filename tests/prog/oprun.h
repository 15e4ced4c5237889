/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs whose samples a test program makes itself: event 0 is page-faults with a
 * period of 1, and the program has all its memory, so that samples come when
 * make_samples() makes some. And the law, for any run.
 *
 * Link with -lopdecode.
 */
#ifndef OPRUN_H
#define OPRUN_H

#include <dirent.h>
#include <sys/mman.h>

#include "opdecode.h"
#include "optool.h"
#include "tap.h"

#define FAULT_PAGES	64

static volatile char *fault_pages;
static size_t page_size;

OPTOOL void set(const char *file, const char *value)
{
	int error = write_text(op_path("%s", file), value);

	if (error)
		die("'%s' > %s: %s", value, file, error_name(error));
}

OPTOOL void *map_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return memory;
}

/* Once, after all memory that the program needs was mapped. */
OPTOOL void prepare_samples(void)
{
	size_t size;

	page_size = sysconf(_SC_PAGESIZE);
	size = FAULT_PAGES * page_size;
	fault_pages = map_memory(size);
	madvise((void *)fault_pages, size, MADV_NOHUGEPAGE);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall: %s", strerror(errno));
	munlock((void *)fault_pages, size);
	madvise((void *)fault_pages, size, MADV_DONTNEED);
}

OPTOOL void make_samples(unsigned int n)
{
	unsigned int i;

	while (n) {
		for (i = 0; i < FAULT_PAGES && n; i++, n--)
			fault_pages[i * page_size] = 1;
		madvise((void *)fault_pages, FAULT_PAGES * page_size,
			MADV_DONTNEED);
	}
}

/* The samples in bytes of "buffer"; -1 and a word if they are wrong. */
OPTOOL long count_words(const char *bytes, size_t len)
{
	struct op_decoder d;

	op_decoder_init(&d);
	if (op_decoder_feed(&d, bytes, len) || op_decoder_end(&d)) {
		diag("%s", d.error);
		return -1;
	}
	return d.samples;
}

OPTOOL unsigned long sum_of_cpus(const char *name)
{
	DIR *dir = opendir(op_path("stats"));
	struct dirent *entry;
	unsigned long sum = 0;

	if (!dir)
		die("stats: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (!strncmp(entry->d_name, "cpu", 3))
			sum += read_number(op_path("stats/%s/%s",
						   entry->d_name, name));
	}
	closedir(dir);
	return sum;
}

OPTOOL bool is_loss(const char *name)
{
	return !strncmp(name, "sample_lost_", 12) ||
	       !strcmp(name, "event_lost_overflow");
}

OPTOOL unsigned long lost(void)
{
	unsigned long sum = sum_of_cpus("sample_lost_overflow") +
			    sum_of_cpus("sample_invalid_eip");
	DIR *dir = opendir(op_path("stats"));
	struct dirent *entry;

	if (!dir)
		die("stats: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (is_loss(entry->d_name))
			sum += read_number(op_path("stats/%s", entry->d_name));
	}
	closedir(dir);
	return sum;
}

/* The accounting law of a run that was read to its end; else says what is off. */
OPTOOL bool law_holds(unsigned long decoded)
{
	unsigned long received = sum_of_cpus("sample_received");
	unsigned long delivered = read_number(op_path("stats/sample_delivered"));

	if (received && received == delivered + lost() && decoded == delivered)
		return true;
	diag("%lu received, %lu delivered, %lu lost, %lu decoded", received,
	     delivered, lost(), decoded);
	return false;
}

OPTOOL void law(unsigned long decoded, const char *what)
{
	ok(law_holds(decoded), "the law: %s", what);
}

#endif /* OPRUN_H */
