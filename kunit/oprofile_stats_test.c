// SPDX-License-Identifier: GPL-2.0
/*
 * oprofile_stats_test.c - each counter in the file of its name
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "common.h"

#include "../src/oprofile_stats.c"

/* What each word of struct op_stats is called, in order. */
static const char *const stats_files[] = {
	"sample_lost_no_mm", "sample_lost_no_mapping", "sample_lost_mmap_lock",
	"sample_lost_no_cookie", "event_lost_overflow", "bt_lost_no_mapping",
	"sample_delivered", "sync_runs",
};

static_assert(ARRAY_SIZE(stats_files) ==
	      sizeof(struct op_stats) / sizeof(unsigned long));

static const struct {
	const char *name;
	size_t offset;
} cpu_files[] = {
	{ "sample_received", offsetof(struct op_cpu, received) },
	{ "sample_lost_overflow", offsetof(struct op_cpu, lost_overflow) },
	{ "sample_invalid_eip", offsetof(struct op_cpu, invalid_eip) },
	{ "backtrace_aborted", offsetof(struct op_cpu, backtrace_aborted) },
	{ "throttled", offsetof(struct op_cpu, throttled) },
};

static unsigned long *stats_word(unsigned int i)
{
	return (unsigned long *)&op_stats + i;
}

static local_t *cpu_word(int cpu, unsigned int i)
{
	return (void *)&per_cpu(op_cpu, cpu) + cpu_files[i].offset;
}

static void expect_file(struct kunit *test, const char *name,
			unsigned long value)
{
	char path[64], text[32], want[32];

	snprintf(path, sizeof(path), "stats/%s", name);
	snprintf(want, sizeof(want), "%lu", value);
	KUNIT_EXPECT_GT_MSG(test, op_test_read(test, path, text, sizeof(text)),
			    0, "%s", name);
	KUNIT_EXPECT_STREQ_MSG(test, text, want, "%s", name);
}

static void expect_cpu_file(struct kunit *test, int cpu, unsigned int i,
			    unsigned long value)
{
	char name[48];

	snprintf(name, sizeof(name), "cpu%d/%s", cpu, cpu_files[i].name);
	expect_file(test, name, value);
}

/* Another number in each counter, all bits of some used. */
static void fill(void)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(stats_files); i++)
		*stats_word(i) = ULONG_MAX - i;
	for_each_possible_cpu(cpu) {
		for (i = 0; i < ARRAY_SIZE(cpu_files); i++)
			local_set(cpu_word(cpu, i), -1000L * (cpu + 1) - i);
	}
}

static void each_counter_has_its_file(struct kunit *test)
{
	unsigned int i;
	int cpu;

	fill();
	for (i = 0; i < ARRAY_SIZE(stats_files); i++)
		expect_file(test, stats_files[i], ULONG_MAX - i);
	for_each_possible_cpu(cpu) {
		for (i = 0; i < ARRAY_SIZE(cpu_files); i++)
			expect_cpu_file(test, cpu, i, -1000L * (cpu + 1) - i);
	}
	expect_file(test, "pictures_missed", op_pictures_missed());
}

static void a_start_begins_to_count_anew(struct kunit *test)
{
	unsigned int i;
	int cpu;

	fill();
	op_stats_reset();
	for (i = 0; i < ARRAY_SIZE(stats_files); i++) {
		if (stats_word(i) == &op_stats.delivered)
			expect_file(test, stats_files[i], ULONG_MAX - i);
		else
			expect_file(test, stats_files[i], 0);
	}
	for_each_possible_cpu(cpu) {
		for (i = 0; i < ARRAY_SIZE(cpu_files); i++)
			expect_cpu_file(test, cpu, i, 0);
	}
}

static void oprofile_stats_test_exit(struct kunit *test)
{
	op_stats_reset();
	op_stats.delivered = 0;
}

static struct kunit_case oprofile_stats_cases[] = {
	KUNIT_CASE(each_counter_has_its_file),
	KUNIT_CASE(a_start_begins_to_count_anew),
	{}
};

static struct kunit_suite oprofile_stats_suite = {
	.name = "oprofile_oprofile_stats",
	.exit = oprofile_stats_test_exit,
	.test_cases = oprofile_stats_cases,
};

kunit_test_suite(oprofile_stats_suite);
