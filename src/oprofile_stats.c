// SPDX-License-Identifier: GPL-2.0
/*
 * oprofile_stats.c - what became of every sample
 *
 * The law: after stop and a read to the end, the samples received are those
 * delivered and those lost, exactly. A CPU's own counters are written by its
 * handlers, NMIs included, as local_t; the others by the sync core under
 * op_sync_mutex, and what the reader was given under op_eb.mutex.
 */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "oprofile.h"

struct op_stats op_stats;

/**
 * op_stats_reset() - begin to count anew
 *
 * What was delivered is reset with the event buffer.
 *
 * Context: op_sync_mutex held, no counter runs.
 */
void op_stats_reset(void)
{
	int cpu;

	WRITE_ONCE(op_stats.lost_no_mm, 0);
	WRITE_ONCE(op_stats.lost_no_mapping, 0);
	WRITE_ONCE(op_stats.lost_mmap_lock, 0);
	WRITE_ONCE(op_stats.lost_no_cookie, 0);
	WRITE_ONCE(op_stats.lost_event_overflow, 0);
	WRITE_ONCE(op_stats.bt_lost_no_mapping, 0);
	WRITE_ONCE(op_stats.sync_runs, 0);
	for_each_possible_cpu(cpu) {
		struct op_cpu *c = &per_cpu(op_cpu, cpu);

		local_set(&c->received, 0);
		local_set(&c->lost_overflow, 0);
		local_set(&c->invalid_eip, 0);
		local_set(&c->backtrace_aborted, 0);
		local_set(&c->throttled, 0);
	}
}

static void create_cpu_files(struct dentry *dir, int cpu)
{
	struct op_cpu *c = &per_cpu(op_cpu, cpu);
	char name[16];

	snprintf(name, sizeof(name), "cpu%d", cpu);
	dir = op_create_dir(name, dir);
	op_create_local(dir, "sample_received", &c->received);
	op_create_local(dir, "sample_lost_overflow", &c->lost_overflow);
	op_create_local(dir, "sample_invalid_eip", &c->invalid_eip);
	op_create_local(dir, "backtrace_aborted", &c->backtrace_aborted);
	op_create_local(dir, "throttled", &c->throttled);
}

static int get_pictures_missed(void *data, char *text, size_t size)
{
	snprintf(text, size, "%lu", op_pictures_missed());
	return 0;
}

static const struct op_control pictures_missed = {
	.get = get_pictures_missed,
};

/**
 * op_stats_create_files() - make stats/
 * @root: where
 */
void op_stats_create_files(struct dentry *root)
{
	struct dentry *dir = op_create_dir("stats", root);
	int cpu;

	op_create_counter(dir, "sample_lost_no_mm", &op_stats.lost_no_mm);
	op_create_counter(dir, "sample_lost_no_mapping",
			  &op_stats.lost_no_mapping);
	op_create_counter(dir, "sample_lost_mmap_lock",
			  &op_stats.lost_mmap_lock);
	op_create_counter(dir, "sample_lost_no_cookie",
			  &op_stats.lost_no_cookie);
	op_create_counter(dir, "event_lost_overflow",
			  &op_stats.lost_event_overflow);
	op_create_counter(dir, "bt_lost_no_mapping",
			  &op_stats.bt_lost_no_mapping);
	op_create_counter(dir, "sample_delivered", &op_stats.delivered);
	op_create_counter(dir, "sync_runs", &op_stats.sync_runs);
	op_create_control(dir, "pictures_missed", &pictures_missed);
	for_each_possible_cpu(cpu)
		create_cpu_files(dir, cpu);
}
