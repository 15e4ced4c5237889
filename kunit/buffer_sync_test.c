// SPDX-License-Identifier: GPL-2.0
/*
 * buffer_sync_test.c - from a ring to the stream, against a real address space
 *
 * Samples are written as a handler would, and drained by hand; then all of them
 * must be in the event buffer or in a counter: the law.
 */
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "common.h"
#include "decode.h"

#include "../src/buffer_sync.c"

#define BASE		0x10000000UL

struct bench {
	struct kunit *test;
	struct mm_struct *mm;
	struct task_struct *task;
	struct file *file;
	struct op_cpu *cpu;
	struct decoder d;
	struct decoded last;
};

static void keep_last(struct decoder *d, const struct decoded *sample)
{
	struct bench *b = container_of(d, struct bench, d);

	b->last = *sample;
}

static void sample(struct bench *b, unsigned long addr, bool user)
{
	struct pt_regs regs = {};

	instruction_pointer_set(&regs, addr);
	preempt_disable();
	op_test_current = b->task;
	op_test_hardirq = true;
	op_add_sample(&regs, 1, user);
	op_test_hardirq = false;
	op_test_current = NULL;
	preempt_enable();
}

static void drain(struct bench *b, bool give_up)
{
	unsigned long word;

	mutex_lock(&op_sync_mutex);
	sync_pass(give_up);
	mutex_unlock(&op_sync_mutex);
	b->d.sample = keep_last;
	while (op_eb.tail != op_eb.head) {
		word = op_eb_word(op_eb.tail++);
		decode(&b->d, &word, 1);
	}
	KUNIT_EXPECT_TRUE(b->test, decode_ends(&b->d));
}

static void wait_for_grace(void)
{
	synchronize_rcu();
	rcu_barrier();
}

/* The law, of so many samples. */
static void law(struct bench *b, unsigned long n)
{
	KUNIT_EXPECT_EQ(b->test, (unsigned long)local_read(&b->cpu->received),
			n);
	KUNIT_EXPECT_EQ(b->test, n, b->d.samples + op_stats.lost_no_mm +
			op_stats.lost_no_mapping + op_stats.lost_mmap_lock +
			op_stats.lost_no_cookie + op_stats.lost_event_overflow +
			(unsigned long)local_read(&b->cpu->lost_overflow) +
			(unsigned long)local_read(&b->cpu->invalid_eip));
}

static void map(struct bench *b)
{
	KUNIT_ASSERT_EQ(b->test, BASE,
			vm_mmap(b->file, BASE, PAGE_SIZE, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_FIXED, PAGE_SIZE));
}

static void a_user_sample_becomes_file_and_offset(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	map(b);
	for (i = 0; i < 3; i++)
		sample(b, BASE + 0x10 + i, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.samples, 3UL);
	KUNIT_EXPECT_EQ(test, b->last.cookie, op_cookie(b->file));
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 0x12);
	KUNIT_EXPECT_EQ(test, b->last.tid, 1000UL);
	KUNIT_EXPECT_FALSE(test, b->last.kernel);
	KUNIT_EXPECT_EQ(test, b->last.event, 1UL);
	law(b, 3);
}

static void a_kernel_sample_keeps_its_address(struct kunit *test)
{
	struct bench *b = test->priv;

	sample(b, TASK_SIZE_MAX + 0x123, false);
	b->task->flags = PF_KTHREAD;
	b->task->pid++;
	sample(b, TASK_SIZE_MAX + 0x124, false);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.samples, 2UL);
	KUNIT_EXPECT_TRUE(test, b->last.kernel);
	KUNIT_EXPECT_EQ(test, b->last.offset, TASK_SIZE_MAX + 0x124);
	KUNIT_EXPECT_EQ(test, b->last.app, OP_COOKIE_KTHREAD);
	law(b, 2);
}

static void what_cannot_be_told_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;

	sample(b, BASE, true);
	sample(b, TASK_SIZE_MAX, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, op_stats.lost_no_mapping, 1UL);
	law(b, 2);
}

static void a_locked_mm_is_set_aside(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	sample(b, BASE + 2, true);
	mmap_write_lock(b->mm);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_aside, 2U);
	KUNIT_EXPECT_EQ(test, op_slot_of(b->mm)->aside, 2U);
	KUNIT_EXPECT_PTR_EQ(test, op_slot_of(b->mm)->wanted, b->mm);
	mmap_write_unlock(b->mm);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	KUNIT_EXPECT_EQ(test, b->d.samples, 2UL);
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 2);
	law(b, 2);
}

static void what_stays_locked_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	mmap_write_lock(b->mm);
	drain(b, false);
	drain(b, true);
	mmap_write_unlock(b->mm);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	KUNIT_EXPECT_EQ(test, op_stats.lost_mmap_lock, 1UL);
	law(b, 1);
}

static void a_dead_mm_is_let_go(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	map(b);
	sample(b, BASE + 1, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 1);
	/* it goes, and no hook has seen it */
	atomic_dec(&b->mm->mm_users);
	sample(b, BASE + 2, true);
	drain(b, false);
	drain(b, true);
	KUNIT_EXPECT_EQ(test, op_stats.lost_no_mm + op_stats.lost_no_mapping +
			b->d.samples, 2UL);
	for (i = 0; i < 3; i++) {
		wait_for_grace();
		drain(b, false);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 0);
	atomic_inc(&b->mm->mm_users);
	law(b, 2);
}

static void a_full_event_buffer_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	map(b);
	for (i = 0; i < 200; i++)
		sample(b, BASE + i, true);
	drain(b, false);
	KUNIT_EXPECT_GT(test, op_stats.lost_event_overflow, 50UL);
	KUNIT_EXPECT_GT(test, b->d.samples, 50UL);
	law(b, 200);
}

static void a_full_ring_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	map(b);
	for (i = 0; i < 1200; i++) {
		sample(b, BASE + i % PAGE_SIZE, true);
		if (i % 300 == 299)
			b->task->pid++;
	}
	drain(b, false);
	KUNIT_EXPECT_GT(test, local_read(&b->cpu->lost_overflow), 50L);
	law(b, 1200);
}

static int buffer_sync_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	test->priv = b;
	b->test = test;
	b->mm = op_test_mm(test);
	b->file = op_test_file(test, "code", NULL, 0);
	b->task = op_test_new_task(test, 1000, b->mm);
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	b->cpu = raw_cpu_ptr(&op_cpu);
	KUNIT_ASSERT_EQ(test, op_rings_alloc(100), 0);
	KUNIT_ASSERT_EQ(test, op_sync_start(256, 64), 0);
	/* We drain, nobody else. */
	running = false;
	WRITE_ONCE(op_sync_armed, 1);
	return 0;
}

static void buffer_sync_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	op_sync_stop();
	op_sync_quiesce();
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 0);
	KUNIT_EXPECT_EQ(test, op_slot_of(b->mm)->aside, 0U);
	WRITE_ONCE(op_slot_of(b->mm)->wanted, NULL);
	WRITE_ONCE(op_sync_armed, 0);
	op_rings_free();
	op_eb_exit();
}

static struct kunit_case buffer_sync_cases[] = {
	KUNIT_CASE(a_user_sample_becomes_file_and_offset),
	KUNIT_CASE(a_kernel_sample_keeps_its_address),
	KUNIT_CASE(what_cannot_be_told_is_counted),
	KUNIT_CASE(a_locked_mm_is_set_aside),
	KUNIT_CASE(what_stays_locked_is_counted),
	KUNIT_CASE(a_dead_mm_is_let_go),
	KUNIT_CASE(a_full_event_buffer_is_counted),
	KUNIT_CASE(a_full_ring_is_counted),
	{}
};

static struct kunit_suite buffer_sync_suite = {
	.name = "oprofile_buffer_sync",
	.init = buffer_sync_test_init,
	.exit = buffer_sync_test_exit,
	.test_cases = buffer_sync_cases,
};

kunit_test_suite(buffer_sync_suite);
