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

/* As if the cookie table were full. */
static bool table_full;
/* How often an address was asked for. */
static unsigned int nr_asked;

static enum op_found test_find(struct mm_struct *mm, unsigned long addr,
			       unsigned long epoch, bool soft,
			       struct op_place *place)
{
	enum op_found found = op_picture_find(mm, addr, epoch, soft, place);

	nr_asked++;
	if (table_full && found == OP_FOUND) {
		place->cookie = OP_NO_COOKIE;
		place->offset = OP_ESCAPE_CODE;
	}
	return found;
}

#define op_picture_find(mm, addr, epoch, soft, place) \
	test_find(mm, addr, epoch, soft, place)

/* There are no probes here; the tests call the hooks. */
#define op_profile_event_told(type)	true

#include "../src/buffer_sync.c"

#define BASE		0x10000000UL
#define FAR_OFF		(3600 * HZ)

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

/* A sample with its callers, written behind the last one's context. */
static void chain(struct bench *b, unsigned long header,
		  const unsigned long *addr, unsigned int frames)
{
	struct op_ring *ring = &b->cpu->ring;
	unsigned long pos = local_read(&ring->head);
	unsigned int i;

	header |= (unsigned long)frames << OP_REC_FRAMES_SHIFT;
	ring->words[pos++ & (ring->size - 1)] = header;
	for (i = 0; i <= frames; i++)
		ring->words[pos++ & (ring->size - 1)] = addr[i];
	local_set(&ring->head, pos);
	ring->pub = pos;
	local_inc(&b->cpu->received);
}

static void drain_to(struct bench *b, bool give_up,
		     void (*to)(struct decoder *d, const struct decoded *sample))
{
	unsigned long word;

	mutex_lock(&op_sync_mutex);
	sync_pass(give_up);
	mutex_unlock(&op_sync_mutex);
	b->d.sample = to;
	while (op_eb.tail != op_eb.head) {
		word = op_eb_word(op_eb.tail++);
		decode(&b->d, &word, 1);
	}
	KUNIT_EXPECT_TRUE(b->test, decode_ends(&b->d));
}

static void drain(struct bench *b, bool give_up)
{
	drain_to(b, give_up, keep_last);
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
	/* the CPU's last context, and what is known of the mm */
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 2);
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

/*
 * Looks like an address space that only kernel samples come from; what is known
 * of it has a place of its own.
 */
static struct mm_struct *another_mm(struct bench *b)
{
	struct mm_struct *mm;

	do {
		mm = kunit_kzalloc(b->test, sizeof(*mm), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(b->test, mm);
	} while (space_at(mm) == space_at(b->mm));
	/* more than there will be notes: it is not the kernel's to free */
	atomic_set(&mm->mm_count, 1000);
	atomic_set(&mm->mm_users, 1);
	return mm;
}

/* Two address spaces that a CPU goes to and fro between. */
static void what_is_known_is_not_asked_again(struct kunit *test)
{
	struct bench *b = test->priv;
	struct mm_struct *mm[] = { b->mm, another_mm(b) };
	unsigned int i;

	map(b);
	nr_asked = 0;
	for (i = 0; i < 10; i++) {
		b->task->mm = mm[i % 2];
		b->task->pid = 1000 + i;
		sample(b, i % 2 ? TASK_SIZE_MAX + i : BASE + i, !(i % 2));
	}
	b->task->mm = b->mm;
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.samples, 10UL);
	KUNIT_EXPECT_EQ(test, nr_asked, 1U);
	KUNIT_EXPECT_PTR_EQ(test, space_at(mm[0])->mm, mm[0]);
	KUNIT_EXPECT_PTR_EQ(test, space_at(mm[1])->mm, mm[1]);
	/* something is unmapped, or a hook thinks so */
	atomic_inc(&op_slot_of(b->mm)->seq);
	sample(b, BASE + 1, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_asked, 2U);
	/* an older sample that comes from another CPU's ring */
	space_at(b->mm)->place_epoch++;
	sample(b, BASE + 2, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_asked, 3U);
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 2);
	law(b, 12);
	forget_spaces(true);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(mm[1])->pending), 0);
}

static void one_space_may_push_another_out(struct kunit *test)
{
	struct bench *b = test->priv;
	struct mm_struct *mm = another_mm(b);

	map(b);
	sample(b, BASE + 1, true);
	drain(b, false);
	/* as if it were hashed there */
	space_begin(space_at(b->mm), mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(mm)->pending), 1);
	nr_asked = 0;
	/* in the context that the ring has already */
	sample(b, BASE + 2, true);
	sample(b, BASE + 3, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_asked, 1U);
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(mm)->pending), 0);
	law(b, 3);
}

static void what_is_known_is_forgotten_in_time(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	drain(b, false);
	forget_spaces(false);
	KUNIT_ASSERT_PTR_EQ(test, space_at(b->mm)->mm, b->mm);
	space_at(b->mm)->until = jiffies;
	forget_spaces(false);
	KUNIT_EXPECT_NULL(test, space_at(b->mm)->mm);
	nr_asked = 0;
	sample(b, BASE + 2, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_asked, 1U);
	/* the dead at once */
	atomic_dec(&b->mm->mm_users);
	forget_spaces(false);
	KUNIT_EXPECT_NULL(test, space_at(b->mm)->mm);
	atomic_inc(&b->mm->mm_users);
	law(b, 2);
}

static void a_full_event_buffer_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	map(b);
	for (i = 0; i < 400; i++)
		sample(b, BASE + i, true);
	drain(b, false);
	KUNIT_EXPECT_GT(test, op_stats.lost_event_overflow, 50UL);
	KUNIT_EXPECT_GT(test, b->d.samples, 50UL);
	law(b, 400);
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

static void the_app_is_the_executable(struct kunit *test)
{
	struct bench *b = test->priv;
	struct file *exe = op_test_file(test, "exe", NULL, 0);

	sample(b, TASK_SIZE_MAX + 1, false);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.app, OP_NO_COOKIE);
	rcu_assign_pointer(b->mm->exe_file, exe);
	/* it is looked up for a new context only */
	sample(b, TASK_SIZE_MAX + 1, false);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.app, OP_NO_COOKIE);
	b->task->pid++;
	sample(b, TASK_SIZE_MAX + 1, false);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.app, op_cookie(exe));
	KUNIT_EXPECT_EQ(test, b->last.tid, 1001UL);
	KUNIT_EXPECT_EQ(test, b->last.tgid, 1000UL);
	/* another one is seen, though the address space is known */
	rcu_assign_pointer(b->mm->exe_file, b->file);
	b->task->pid++;
	sample(b, TASK_SIZE_MAX + 1, false);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.app, op_cookie(b->file));
	rcu_assign_pointer(b->mm->exe_file, NULL);
	law(b, 4);
}

static void an_exiting_task_that_no_hook_saw(struct kunit *test)
{
	struct bench *b = test->priv;

	b->task->mm = NULL;
	sample(b, TASK_SIZE_MAX + 1, false);
	/* it has nothing mapped any more */
	sample(b, BASE, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.samples, 1UL);
	KUNIT_EXPECT_EQ(test, b->last.app, OP_NO_COOKIE);
	KUNIT_EXPECT_EQ(test, op_stats.lost_no_mm, 1UL);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	law(b, 2);
}

static void a_full_cookie_table_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	table_full = true;
	sample(b, BASE + 1, true);
	drain(b, false);
	table_full = false;
	KUNIT_EXPECT_EQ(test, op_stats.lost_no_cookie, 1UL);
	/* and not remembered */
	sample(b, BASE + 2, true);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.cookie, op_cookie(b->file));
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 2);
	law(b, 2);
}

static void chains_are_told_frame_by_frame(struct kunit *test)
{
	const unsigned long addr[] = {
		BASE + 1, BASE + 2, BASE + 4 * PAGE_SIZE, BASE + 3,
		TASK_SIZE_MAX + 5
	};
	const unsigned long lost[] = { BASE + 4 * PAGE_SIZE, BASE + 1 };
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE, true);
	chain(b, 1, addr, 4);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.samples, 2UL);
	KUNIT_EXPECT_EQ(test, b->d.callers, 3UL);
	KUNIT_EXPECT_EQ(test, op_stats.bt_lost_no_mapping, 1UL);
	KUNIT_EXPECT_TRUE(test, b->last.kernel && b->last.caller);
	KUNIT_EXPECT_EQ(test, b->last.offset, TASK_SIZE_MAX + 5);
	/* without its leaf it is no sample */
	chain(b, 1, lost, 1);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->d.callers, 3UL);
	KUNIT_EXPECT_EQ(test, op_stats.lost_no_mapping, 1UL);
	law(b, 3);
}

static void chains_of_all_lengths(struct kunit *test)
{
	static const unsigned int frames[] = {
		1, 2, FRAMES_MAX - 1, FRAMES_MAX, FRAMES_MAX + 1, 200
	};
	struct bench *b = test->priv;
	unsigned long addr[201], callers = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(addr); i++)
		addr[i] = TASK_SIZE_MAX + i;
	addr[0] = BASE;
	map(b);
	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		sample(b, BASE + 1, true);
		chain(b, 1, addr, frames[i]);
		drain(b, false);
		callers += min_t(unsigned int, frames[i], FRAMES_MAX);
		KUNIT_EXPECT_EQ(test, b->d.callers, callers);
		/* one that has to wait keeps its callers */
		mmap_write_lock(b->mm);
		sample(b, BASE + PAGE_SIZE - 1, true);
		chain(b, 1 | OP_REC_SOFT, addr, frames[i]);
		drain(b, false);
		mmap_write_unlock(b->mm);
		KUNIT_EXPECT_GT(test, nr_aside, 0U);
		drain(b, false);
		callers += min_t(unsigned int, frames[i], FRAMES_MAX);
		KUNIT_EXPECT_EQ(test, b->d.callers, callers);
	}
	law(b, 4 * ARRAY_SIZE(frames));
}

static void only_so_many_are_set_aside(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	mmap_write_lock(b->mm);
	nr_aside += ASIDE_MAX;
	drain(b, false);
	nr_aside -= ASIDE_MAX;
	mmap_write_unlock(b->mm);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	KUNIT_EXPECT_EQ(test, op_stats.lost_mmap_lock, 1UL);
	law(b, 1);
}

static void what_waits_too_long_is_counted(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	sample(b, BASE + 2, true);
	mmap_write_lock(b->mm);
	drain(b, false);
	KUNIT_ASSERT_EQ(test, nr_aside, 2U);
	list_first_entry(&aside_list, struct aside, list)->deadline =
		jiffies - 1;
	list_last_entry(&aside_list, struct aside, list)->deadline =
		jiffies + FAR_OFF;
	drain(b, false);
	KUNIT_EXPECT_EQ(test, nr_aside, 1U);
	KUNIT_EXPECT_EQ(test, op_stats.lost_mmap_lock, 1UL);
	mmap_write_unlock(b->mm);
	drain(b, false);
	KUNIT_EXPECT_EQ(test, b->last.offset, PAGE_SIZE + 2);
	law(b, 2);
}

static void a_stop_gives_up_what_waits(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	mmap_write_lock(b->mm);
	op_sync_stop();
	mmap_write_unlock(b->mm);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	KUNIT_EXPECT_EQ(test, op_stats.lost_mmap_lock, 1UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 0);
	law(b, 1);
}

/* Any mix of samples, any state of the process: the law holds after each. */
/* A sample and what it is expected to become; in @list, which has room. */
static void expect(struct bench *b, struct decoded *list, unsigned int kind,
		   unsigned long offset, unsigned long cookie)
{
	const unsigned long base[] = {
		BASE, BASE + 2 * PAGE_SIZE, TASK_SIZE_MAX
	};
	struct decoded *e = &list[b->d.nr_expect++];

	sample(b, base[kind] + offset, kind < 2);
	e->tid = b->task->pid;
	e->tgid = b->task->tgid;
	e->app = OP_NO_COOKIE;
	e->cpu = raw_smp_processor_id();
	e->kernel = kind == 2;
	e->cookie = cookie;
	e->offset = kind < 2 ? PAGE_SIZE + offset : TASK_SIZE_MAX + offset;
	e->event = 1;
}

static void expect_next(struct decoder *d, const struct decoded *sample)
{
	if (d->at < d->nr_expect && !decoded_is(sample, &d->expect[d->at]))
		d->error = "another sample";
	d->at++;
}

/* What goes the short way: runs of all lengths, from and to every place. */
static void runs_are_told_sample_by_sample(struct kunit *test)
{
	struct bench *b = test->priv;
	struct file *other = op_test_file(test, "other", NULL, 0);
	unsigned long cookie[3] = {};
	struct decoded *list;
	struct rnd_state rnd;
	unsigned int i, n, kind;

	list = kunit_kcalloc(test, 256, sizeof(*list), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, list);
	prandom_seed_state(&rnd, 5);
	map(b);
	KUNIT_ASSERT_EQ(test, BASE + 2 * PAGE_SIZE,
			vm_mmap(other, BASE + 2 * PAGE_SIZE, PAGE_SIZE,
				PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
				PAGE_SIZE));
	cookie[0] = op_cookie(b->file);
	cookie[1] = op_cookie(other);
	b->d.expect = list;
	for (i = 0; i < 300; i++) {
		b->d.at = 0;
		b->d.nr_expect = 0;
		while (b->d.nr_expect < 60) {
			n = 1 + op_test_random(&rnd, op_test_random(&rnd, 4) ?
					       4 : 130);
			kind = op_test_random(&rnd, 3);
			if (!op_test_random(&rnd, 8))
				b->task->pid = 1000 + op_test_random(&rnd, 3);
			if (!op_test_random(&rnd, 8))
				atomic_long_inc(&op_epoch);
			while (n--)
				expect(b, list, kind,
				       op_test_random(&rnd, PAGE_SIZE),
				       cookie[kind]);
		}
		drain_to(b, false, expect_next);
		KUNIT_EXPECT_EQ(test, b->d.at, b->d.nr_expect);
		KUNIT_EXPECT_STREQ(test, b->d.error ?: "", "");
		if (b->d.error)
			return;
	}
	law(b, b->d.samples);
}

static void random_mixes_keep_the_law(struct kunit *test)
{
	struct bench *b = test->priv;
	struct rnd_state rnd;
	unsigned long n = 0;
	unsigned int i, j;
	bool locked;

	prandom_seed_state(&rnd, 4);
	map(b);
	for (i = 0; i < 30; i++) {
		for (j = op_test_random(&rnd, 700); j-- > 0; n++) {
			if (!op_test_random(&rnd, 20))
				b->task->pid = 1000 + op_test_random(&rnd, 3);
			if (!op_test_random(&rnd, 20))
				atomic_long_inc(&op_epoch);
			if (op_test_random(&rnd, 2))
				sample(b, BASE + op_test_random(&rnd, 6000),
				       true);
			else
				sample(b, op_test_random(&rnd, 10) ?
				       TASK_SIZE_MAX + j : 0, false);
		}
		locked = !op_test_random(&rnd, 3);
		if (locked)
			mmap_write_lock(b->mm);
		table_full = !op_test_random(&rnd, 8);
		/* what is known needs no table */
		if (table_full)
			forget_spaces(true);
		drain(b, !op_test_random(&rnd, 5));
		table_full = false;
		if (locked)
			mmap_write_unlock(b->mm);
	}
	drain(b, true);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	law(b, n);
	/* of every kind there were some */
	KUNIT_EXPECT_GT(test, b->d.samples, 100UL);
	KUNIT_EXPECT_GT(test, op_stats.lost_no_mapping, 0UL);
	KUNIT_EXPECT_GT(test, op_stats.lost_mmap_lock, 0UL);
	KUNIT_EXPECT_GT(test, op_stats.lost_no_cookie, 0UL);
	KUNIT_EXPECT_GT(test, op_stats.lost_event_overflow, 0UL);
	KUNIT_EXPECT_GT(test, local_read(&b->cpu->lost_overflow), 0L);
	KUNIT_EXPECT_GT(test, local_read(&b->cpu->invalid_eip), 0L);
}

/* ---- the worker ------------------------------------------------------- */

/* Until no picture and no grace period is waited for. */
static void settle_down(struct bench *b)
{
	do {
		wait_for_grace();
		drain(b, false);
	} while (op_pictures_left() || READ_ONCE(grace) != GRACE_NONE);
}

/* Does it come again? */
static bool worker_comes_again(void)
{
	running = true;
	sync_worker(NULL);
	running = false;
	return cancel_delayed_work_sync(&sync_work);
}

static void the_worker_stays_away_in_the_end(struct kunit *test)
{
	struct bench *b = test->priv;

	map(b);
	sample(b, BASE + 1, true);
	mmap_write_lock(b->mm);
	KUNIT_EXPECT_TRUE(test, worker_comes_again());
	KUNIT_ASSERT_EQ(test, nr_aside, 1U);
	list_first_entry(&aside_list, struct aside, list)->deadline =
		jiffies + FAR_OFF;
	/* nothing is left to do, but for the sample that waits */
	settle_down(b);
	KUNIT_EXPECT_TRUE(test, worker_comes_again());
	KUNIT_EXPECT_EQ(test, READ_ONCE(op_sync_armed), 1);
	mmap_write_unlock(b->mm);
	settle_down(b);
	KUNIT_EXPECT_EQ(test, nr_aside, 0U);
	KUNIT_EXPECT_FALSE(test, worker_comes_again());
	/* only the CPU's last context holds it now */
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(op_sync_armed), 0);
	/* but what that holds must not stay when it is dead */
	atomic_dec(&b->mm->mm_users);
	KUNIT_EXPECT_TRUE(test, worker_comes_again());
	settle_down(b);
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 0);
	KUNIT_EXPECT_FALSE(test, worker_comes_again());
	atomic_inc(&b->mm->mm_users);
	/* the next sample calls it */
	running = false;
	sample(b, BASE + 2, true);
	KUNIT_EXPECT_EQ(test, READ_ONCE(op_sync_armed), 1);
	irq_work_sync(&b->cpu->work);
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&sync_work));
	drain(b, false);
	law(b, 2);
}

static void no_worker_after_the_run(struct kunit *test)
{
	struct bench *b = test->priv;

	sample(b, TASK_SIZE_MAX + 1, false);
	sync_worker(NULL);
	KUNIT_EXPECT_FALSE(test, cancel_delayed_work_sync(&sync_work));
	KUNIT_EXPECT_FALSE(test, rings_empty());
	drain(b, false);
	law(b, 1);
}

static void note_call(void *data)
{
	++*(unsigned int *)data;
}

static void what_is_done_once_all_is_drained(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int calls = 0;

	sample(b, TASK_SIZE_MAX + 1, false);
	/* not in a run: what there is stays */
	op_sync_drained(note_call, &calls);
	KUNIT_EXPECT_EQ(test, calls, 1U);
	KUNIT_EXPECT_FALSE(test, rings_empty());
	running = true;
	op_sync_drained(note_call, &calls);
	op_sync_drained(NULL, NULL);
	running = false;
	KUNIT_EXPECT_EQ(test, calls, 2U);
	KUNIT_EXPECT_TRUE(test, rings_empty());
	cancel_delayed_work_sync(&sync_work);
	drain(b, false);
	law(b, 1);
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
	KUNIT_ASSERT_EQ(test, op_sync_start(512, 64), 0);
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
	KUNIT_CASE(what_is_known_is_not_asked_again),
	KUNIT_CASE(one_space_may_push_another_out),
	KUNIT_CASE(what_is_known_is_forgotten_in_time),
	KUNIT_CASE(a_full_event_buffer_is_counted),
	KUNIT_CASE(a_full_ring_is_counted),
	KUNIT_CASE(the_app_is_the_executable),
	KUNIT_CASE(an_exiting_task_that_no_hook_saw),
	KUNIT_CASE(a_full_cookie_table_is_counted),
	KUNIT_CASE(chains_are_told_frame_by_frame),
	KUNIT_CASE(chains_of_all_lengths),
	KUNIT_CASE(only_so_many_are_set_aside),
	KUNIT_CASE(what_waits_too_long_is_counted),
	KUNIT_CASE(a_stop_gives_up_what_waits),
	KUNIT_CASE(runs_are_told_sample_by_sample),
	KUNIT_CASE(random_mixes_keep_the_law),
	KUNIT_CASE(the_worker_stays_away_in_the_end),
	KUNIT_CASE(no_worker_after_the_run),
	KUNIT_CASE(what_is_done_once_all_is_drained),
	{}
};

static struct kunit_suite buffer_sync_suite = {
	.name = "oprofile_buffer_sync",
	.init = buffer_sync_test_init,
	.exit = buffer_sync_test_exit,
	.test_cases = buffer_sync_cases,
};

kunit_test_suite(buffer_sync_suite);
