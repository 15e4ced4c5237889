// SPDX-License-Identifier: GPL-2.0
/*
 * cpu_buffer_test.c - the per-CPU ring: every record, whole and in context
 *
 * The writer's accesses to memory are steps here, at each of which another
 * handler may come: another sample is written, as an NMI would. A reader of our
 * own takes the ring apart and checks each record.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "common.h"

/* Only where a test wants it. */
static __always_inline void test_step(void)
{
	typeof(op_test_step) step = READ_ONCE(op_test_step);

	if (unlikely(step))
		step();
}

static __always_inline unsigned long step_acquire(unsigned long *from)
{
	unsigned long value;

	test_step();
	/* pairs with what the source says */
	value = smp_load_acquire(from);
	test_step();
	return value;
}

static __always_inline void step_release(unsigned long *to, unsigned long value)
{
	test_step();
	/* pairs with what the source says */
	smp_store_release(to, value);
	test_step();
}

static __always_inline long step_read(local_t *l)
{
	long value;

	test_step();
	value = local_read(l);
	test_step();
	return value;
}

static __always_inline long step_cmpxchg(local_t *l, long old, long new)
{
	test_step();
	old = local_cmpxchg(l, old, new);
	test_step();
	return old;
}

static __always_inline void step_barrier(void)
{
	test_step();
	barrier();
	test_step();
}

#undef current
#undef smp_load_acquire
#undef smp_store_release
#undef local_read
#undef local_cmpxchg
#undef barrier
#undef in_hardirq
#define current			op_test_task()
/* the same barriers, as steps */
#define smp_load_acquire(p)	step_acquire(p)
/* likewise */
#define smp_store_release(p, v)	step_release(p, v)
#define local_read(l)		step_read(l)
#define local_cmpxchg(l, o, n)	step_cmpxchg(l, o, n)
#define barrier()		step_barrier()
#define in_hardirq()		(op_test_hardirq || hardirq_count())

#include "../src/cpu_buffer.c"

/* What a record says, with all that it takes over from the ones before. */
struct seen {
	unsigned long addr;
	unsigned long event;
	bool kernel;
	bool soft;
	unsigned long epoch;
	unsigned long key;
	unsigned long flags;
	unsigned long tid;
	unsigned long tgid;
	unsigned int frames;
	unsigned long words;
};

/* As the sync core reads it. */
struct reading {
	struct kunit *test;
	struct op_ring *ring;
	struct seen now;
	bool context_known;
	bool epoch_known;
	struct mm_struct *held;
};

struct bench {
	struct kunit *test;
	struct op_cpu *cpu;
	struct op_ring *ring;
	struct op_ring saved;
	struct task_struct *task;
	struct mm_struct *mm;
	struct reading reading;
};

/* The next record, or false. Lets go of notes as the drain does. */
static bool take(struct reading *r, struct seen *seen)
{
	struct op_ring *ring = r->ring;
	unsigned long pos = ring->tail, header;
	unsigned int i;

	if (pos == ring->pub)
		return false;
	header = op_ring_word(ring, pos++);
	if (header & OP_REC_EPOCH) {
		r->now.epoch = op_ring_word(ring, pos++);
		r->epoch_known = true;
	}
	if (header & OP_REC_CONTEXT) {
		if (r->held)
			op_mm_unnote(r->held);
		r->now.key = op_ring_word(ring, pos++);
		r->now.tid = op_ring_word(ring, pos++);
		r->now.tgid = op_ring_word(ring, pos++);
		r->now.flags = header & (OP_REC_KTHREAD | OP_REC_EXITING);
		r->held = r->now.flags ? NULL : (void *)r->now.key;
		r->context_known = true;
	}
	KUNIT_EXPECT_TRUE(r->test, r->context_known);
	KUNIT_EXPECT_TRUE(r->test, r->epoch_known);
	r->now.event = header & OP_REC_EVENT_MASK;
	r->now.kernel = header & OP_REC_KERNEL;
	r->now.soft = header & OP_REC_SOFT;
	r->now.frames = header >> OP_REC_FRAMES_SHIFT;
	r->now.addr = op_ring_word(ring, pos++);
	for (i = 0; i < r->now.frames; i++)
		KUNIT_EXPECT_EQ(r->test, op_ring_word(ring, pos++),
				r->now.addr + 1 + i);
	r->now.words = pos - ring->tail;
	/* no record is torn */
	KUNIT_EXPECT_LE(r->test, pos - ring->tail, ring->pub - ring->tail);
	ring->tail = pos;
	*seen = r->now;
	return true;
}

static void let_go(struct reading *r)
{
	if (r->held)
		op_mm_unnote(r->held);
	r->held = NULL;
	r->context_known = false;
}

static void write_sample(unsigned long addr, unsigned int event, bool user)
{
	struct pt_regs regs = {};

	instruction_pointer_set(&regs, addr);
	preempt_disable();
	op_add_sample(&regs, event, user);
	preempt_enable();
}

static unsigned long lost(const struct bench *b)
{
	return b->cpu->lost_overflow.a.counter;
}

static void expect_none(struct bench *b)
{
	struct seen seen;

	KUNIT_EXPECT_FALSE(b->test, take(&b->reading, &seen));
}

static struct seen expect_one(struct bench *b, unsigned long addr)
{
	struct seen seen = {};

	KUNIT_EXPECT_TRUE(b->test, take(&b->reading, &seen));
	KUNIT_EXPECT_EQ(b->test, seen.addr, addr);
	KUNIT_EXPECT_EQ(b->test, seen.tid, (unsigned long)b->task->pid);
	KUNIT_EXPECT_EQ(b->test, seen.tgid, (unsigned long)b->task->tgid);
	return seen;
}

/* A ring of so many words for this CPU, on which we stay. */
static void new_ring(struct bench *b, unsigned long size, unsigned long start)
{
	struct op_ring *ring = b->ring;

	let_go(&b->reading);
	memset(ring, 0, sizeof(*ring));
	ring->words = kunit_kcalloc(b->test, size, sizeof(long), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(b->test, ring->words);
	ring->size = size;
	atomic_long_set(&ring->restate, 1);
	/* nobody is called */
	ring->kicked = 1;
	local_set(&ring->head, start);
	ring->pub = start;
	ring->tail = start;
	local_set(&b->cpu->received, 0);
	local_set(&b->cpu->lost_overflow, 0);
	local_set(&b->cpu->invalid_eip, 0);
	b->reading.epoch_known = false;
}

/* ---- one writer ------------------------------------------------------- */

static void first_record_states_everything(struct kunit *test)
{
	struct bench *b = test->priv;
	struct seen seen;

	atomic_long_set(&op_epoch, 9);
	write_sample(0x1000, 3, true);
	seen = expect_one(b, 0x1000);
	KUNIT_EXPECT_EQ(test, seen.words, (unsigned long)OP_REC_MAX_WORDS);
	KUNIT_EXPECT_EQ(test, seen.event, 3UL);
	KUNIT_EXPECT_EQ(test, seen.epoch, 9UL);
	KUNIT_EXPECT_EQ(test, seen.key, (unsigned long)b->mm);
	KUNIT_EXPECT_EQ(test, seen.flags, 0UL);
	KUNIT_EXPECT_FALSE(test, seen.kernel);
	KUNIT_EXPECT_FALSE(test, seen.soft);
	expect_none(b);
}

static void usual_record_is_two_words(struct kunit *test)
{
	struct bench *b = test->priv;

	write_sample(0x1000, 0, true);
	expect_one(b, 0x1000);
	write_sample(0x2000, 1, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x2000).words, 2UL);
	write_sample(TASK_SIZE_MAX + 5, 1, false);
	KUNIT_EXPECT_TRUE(test, expect_one(b, TASK_SIZE_MAX + 5).kernel);
	KUNIT_EXPECT_EQ(test, b->reading.now.words, 2UL);
}

static void what_changes_is_stated(struct kunit *test)
{
	struct bench *b = test->priv;

	write_sample(0x1000, 0, true);
	expect_one(b, 0x1000);
	atomic_long_inc(&op_epoch);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 3UL);
	KUNIT_EXPECT_EQ(test, b->reading.now.epoch,
			(unsigned long)atomic_long_read(&op_epoch));
	b->task->pid++;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 5UL);
	b->task->pid++;
	atomic_long_inc(&op_epoch);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 6UL);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 2UL);
	atomic_long_inc(&b->ring->restate);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 6UL);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).words, 2UL);
}

static void kernel_threads_and_exiting_tasks(struct kunit *test)
{
	struct bench *b = test->priv;
	struct seen seen;

	b->task->flags = PF_KTHREAD;
	write_sample(TASK_SIZE_MAX + 1, 0, false);
	seen = expect_one(b, TASK_SIZE_MAX + 1);
	KUNIT_EXPECT_EQ(test, seen.flags, OP_REC_KTHREAD);
	KUNIT_EXPECT_EQ(test, seen.key, 0UL);
	b->task->flags = 0;
	b->task->pid++;
	b->task->start_boottime = 4711;
	b->task->mm = NULL;
	write_sample(TASK_SIZE_MAX + 1, 0, false);
	seen = expect_one(b, TASK_SIZE_MAX + 1);
	KUNIT_EXPECT_EQ(test, seen.flags, OP_REC_EXITING);
	KUNIT_EXPECT_EQ(test, seen.key, 4711UL);
	write_sample(TASK_SIZE_MAX + 2, 0, false);
	seen = expect_one(b, TASK_SIZE_MAX + 2);
	KUNIT_EXPECT_EQ(test, seen.words, 2UL);
	KUNIT_EXPECT_EQ(test, seen.flags, OP_REC_EXITING);
	b->task->mm = b->mm;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x1000).flags, 0UL);
}

static void notes_are_counted(struct kunit *test)
{
	struct bench *b = test->priv;
	struct op_slot *slot = op_slot_of(b->mm);
	int i;

	for (i = 0; i < 5; i++)
		write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&slot->pending), 1);
	b->task->pid++;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&slot->pending), 2);
	b->task->pid--;
	for (i = 0; i < 5; i++)
		expect_one(b, 0x1000);
	b->task->pid++;
	expect_one(b, 0x1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&slot->pending), 1);
	let_go(&b->reading);
	KUNIT_EXPECT_EQ(test, atomic_read(&slot->pending), 0);
}

static void soft_is_neither_hardirq_nor_nmi(struct kunit *test)
{
	struct bench *b = test->priv;

	op_test_hardirq = false;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_TRUE(test, expect_one(b, 0x1000).soft);
	/* a kernel address needs no epoch */
	write_sample(TASK_SIZE_MAX + 1, 0, false);
	KUNIT_EXPECT_FALSE(test, expect_one(b, TASK_SIZE_MAX + 1).soft);
	op_test_hardirq = true;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_FALSE(test, expect_one(b, 0x1000).soft);
}

static void addresses_that_no_code_has(struct kunit *test)
{
	struct bench *b = test->priv;

	write_sample(TASK_SIZE_MAX, 0, true);
	write_sample(0xffffffffff600000UL, 0, true);
	write_sample(OP_ESCAPE_CODE, 0, true);
	write_sample(0, 0, false);
	write_sample(OP_ESCAPE_CODE, 0, false);
	KUNIT_EXPECT_EQ(test, b->cpu->invalid_eip.a.counter, 5L);
	KUNIT_EXPECT_EQ(test, b->cpu->received.a.counter, 5L);
	expect_none(b);
	write_sample(TASK_SIZE_MAX - 1, 0, true);
	write_sample(0, 0, true);
	expect_one(b, TASK_SIZE_MAX - 1);
	expect_one(b, 0);
}

static void without_a_ring_nothing_is_received(struct kunit *test)
{
	struct bench *b = test->priv;

	b->ring->size = 0;
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, b->cpu->received.a.counter, 0L);
}

static void records_with_frames(struct kunit *test)
{
	unsigned long frames[32], header;
	struct bench *b = test->priv;
	unsigned int n, i;

	new_ring(b, 64, 0);
	for (n = 0; n < 58; n++) {
		unsigned long addr = 0x1000 + n;
		unsigned int k = n % ARRAY_SIZE(frames);

		for (i = 0; i < k; i++)
			frames[i] = addr + 1 + i;
		header = n % 8 | (unsigned long)k << OP_REC_FRAMES_SHIFT;
		ring_write(b->cpu, header, addr, frames);
		KUNIT_EXPECT_EQ(test, expect_one(b, addr).frames, k);
		KUNIT_EXPECT_EQ(test, b->reading.now.event, n % 8UL);
		expect_none(b);
	}
	KUNIT_EXPECT_EQ(test, lost(b), 0UL);
}

/* ---- wrap and full ---------------------------------------------------- */

static void positions_wrap(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned long addr = 0x1000, start;
	unsigned int i;

	/* records at every place of the ring, and of the counters */
	for (start = -40UL; start != -20UL; start++) {
		new_ring(b, 16, start);
		for (i = 0; i < 40; i++) {
			b->task->pid += i % 3 == 0;
			write_sample(++addr, i % 8, true);
			KUNIT_EXPECT_EQ(test, expect_one(b, addr).event, i % 8UL);
			expect_none(b);
		}
		KUNIT_EXPECT_EQ(test, lost(b), 0UL);
	}
}

static void fills_to_the_last_word(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned long addr, start;

	for (start = 0; start < 16; start++) {
		new_ring(b, 16, start);
		/* 6 + 5 * 2 */
		for (addr = 1; addr <= 6; addr++)
			write_sample(addr, 0, true);
		KUNIT_EXPECT_EQ(test, lost(b), 0UL);
		KUNIT_EXPECT_EQ(test, b->ring->pub - b->ring->tail, 16UL);
		write_sample(7, 0, true);
		write_sample(8, 0, true);
		KUNIT_EXPECT_EQ(test, lost(b), 2UL);
		KUNIT_EXPECT_EQ(test, b->ring->pub - b->ring->tail, 16UL);
		for (addr = 1; addr <= 6; addr++)
			expect_one(b, addr);
		expect_none(b);
	}
}

static void every_fill_level(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int fill, n;
	unsigned long frames[16];
	unsigned int i;

	for (fill = 0; fill <= 32; fill++) {
		for (n = 0; n < 16; n++) {
			unsigned long addr = 0x1000;
			bool fits = fill + 6 + n <= 32;
			int pending;

			new_ring(b, 32, 5);
			/* somebody else's words, never read */
			local_set(&b->ring->head, 5 + fill);
			b->ring->pub = 5 + fill;
			pending = atomic_read(&op_slot_of(b->mm)->pending);
			for (i = 0; i < n; i++)
				frames[i] = addr + 1 + i;
			ring_write(b->cpu,
				   (unsigned long)n << OP_REC_FRAMES_SHIFT,
				   addr, frames);
			KUNIT_EXPECT_EQ(test, lost(b), fits ? 0UL : 1UL);
			/* what is left out takes no reference */
			KUNIT_EXPECT_EQ(test,
					atomic_read(&op_slot_of(b->mm)->pending),
					pending + fits);
			b->ring->tail = 5 + fill;
			if (fits)
				expect_one(b, addr);
			expect_none(b);
		}
	}
}

static void restates_after_a_loss(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	new_ring(b, 16, 0);
	for (i = 0; i < 6; i++)
		write_sample(0x1000, 0, true);
	/* lost, and with it what it would have stated */
	b->task->pid++;
	write_sample(0x2000, 0, true);
	KUNIT_EXPECT_EQ(test, lost(b), 1UL);
	b->task->pid--;
	for (i = 0; i < 6; i++)
		expect_one(b, 0x1000);
	write_sample(0x3000, 0, true);
	KUNIT_EXPECT_EQ(test, expect_one(b, 0x3000).words, 6UL);
}

static void calls_the_worker(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	new_ring(b, 32, 0);
	b->ring->kicked = 0;
	/* 6 + 5 * 2 */
	for (i = 0; i < 6; i++)
		write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, READ_ONCE(b->ring->kicked), 0);
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, READ_ONCE(b->ring->kicked), 1);
	/* as the worker does before it stays away */
	WRITE_ONCE(op_sync_armed, 0);
	op_rings_restate();
	write_sample(0x1000, 0, true);
	KUNIT_EXPECT_EQ(test, READ_ONCE(op_sync_armed), 1);
	irq_work_sync(&b->cpu->work);
	for (i = 0; i < 8; i++)
		expect_one(b, 0x1000);
}

/*
 * However the drains come along, each with some samples written meanwhile: half
 * a ring is never there unannounced.
 */
static void half_a_ring_is_announced(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i, period, meanwhile;
	unsigned long end;
	struct seen seen;

	for (period = 1; period < 26; period++) {
		for (meanwhile = 0; meanwhile <= (26 - period) / 2; meanwhile++) {
			new_ring(b, 64, period);
			end = b->ring->pub;
			for (i = 1; i < 300; i++) {
				write_sample(0x1000 + i, 0, true);
				if (!((i + meanwhile) % (period + meanwhile))) {
					b->ring->kicked = 0;
					end = b->ring->pub;
				}
				if (i % (period + meanwhile))
					continue;
				while (b->ring->tail != end &&
				       take(&b->reading, &seen))
					;
				if (b->ring->pub - b->ring->tail > 32)
					KUNIT_EXPECT_EQ(test,
							b->ring->kicked, 1);
			}
			KUNIT_EXPECT_EQ(test, lost(b), 0UL);
			while (take(&b->reading, &seen))
				;
		}
	}
	irq_work_sync(&b->cpu->work);
}

/* ---- a writer that is interrupted ------------------------------------- */

/* At these steps, counted by all handlers, another handler comes. */
static struct {
	unsigned int step;
	unsigned int at[2];
	unsigned int depth;
	unsigned long addr;
	unsigned int written;
	unsigned int epochs;	/* raised by what interrupts */
} interrupts;

static void interrupt(void)
{
	unsigned int i;

	interrupts.step++;
	for (i = 0; i < ARRAY_SIZE(interrupts.at); i++) {
		if (interrupts.step != interrupts.at[i] ||
		    interrupts.depth > 2)
			continue;
		interrupts.depth++;
		if (interrupts.epochs)
			atomic_long_inc(&op_epoch);
		interrupts.written++;
		write_sample(interrupts.addr + interrupts.written, 1, true);
		interrupts.depth--;
		return;
	}
}

/*
 * One write, interrupted at the given steps; all that was written is in the
 * ring, each once. Returns how many steps there were.
 */
static unsigned int interrupted_write(struct bench *b, unsigned int first,
				      unsigned int second, unsigned int epochs,
				      unsigned int room)
{
	unsigned long base = 0x1000 * (1 + first), before = lost(b), found = 0;
	unsigned long seen_mask = 0;
	struct seen seen;

	memset(&interrupts, 0, sizeof(interrupts));
	interrupts.at[0] = first;
	interrupts.at[1] = second;
	interrupts.addr = base;
	interrupts.epochs = epochs;
	WRITE_ONCE(op_test_step, interrupt);
	write_sample(base, 1, true);
	WRITE_ONCE(op_test_step, NULL);

	KUNIT_EXPECT_EQ(b->test, b->ring->nest, 0);
	KUNIT_EXPECT_EQ(b->test, (unsigned long)local_read(&b->ring->head),
			b->ring->pub);
	while (take(&b->reading, &seen)) {
		found++;
		KUNIT_EXPECT_LE(b->test, seen.addr - base,
				(unsigned long)interrupts.written);
		KUNIT_EXPECT_FALSE(b->test, seen_mask & BIT(seen.addr & 15));
		seen_mask |= BIT(seen.addr & 15);
		KUNIT_EXPECT_EQ(b->test, seen.tid, (unsigned long)b->task->pid);
		KUNIT_EXPECT_EQ(b->test, seen.key, (unsigned long)b->mm);
		KUNIT_EXPECT_LE(b->test, seen.epoch,
				(unsigned long)atomic_long_read(&op_epoch));
		KUNIT_EXPECT_EQ(b->test, seen.event, 1UL);
	}
	KUNIT_EXPECT_EQ(b->test, found + lost(b) - before,
			1UL + interrupts.written);
	if (room >= 32)
		KUNIT_EXPECT_EQ(b->test, lost(b), before);
	return interrupts.step;
}

/* What comes after it says all that has changed. */
static void expect_sane(struct bench *b)
{
	struct seen seen = {};

	atomic_long_inc(&op_epoch);
	b->task->pid++;
	write_sample(0x4000, 2, true);
	KUNIT_EXPECT_TRUE(b->test, take(&b->reading, &seen));
	KUNIT_EXPECT_EQ(b->test, seen.tid, (unsigned long)b->task->pid);
	KUNIT_EXPECT_EQ(b->test, seen.epoch,
			(unsigned long)atomic_long_read(&op_epoch));
	write_sample(0x4001, 2, true);
	KUNIT_EXPECT_TRUE(b->test, take(&b->reading, &seen));
	KUNIT_EXPECT_EQ(b->test, seen.words, 2UL);
}

static void interrupted(struct kunit *test, unsigned int usual, bool twice,
			unsigned int epochs, unsigned int room)
{
	struct bench *b = test->priv;
	unsigned int first, second, steps = 1000, most = 0, writes = 0;

	for (first = 1; first <= steps; first++) {
		second = twice ? first + 1 : 0;
		do {
			new_ring(b, room, first);
			if (usual) {
				write_sample(0x100, 1, true);
				expect_one(b, 0x100);
			}
			steps = interrupted_write(b, first, second, epochs,
						  room);
			most = max(most, steps);
			writes++;
			if (room >= 32)
				expect_sane(b);
		} while (twice && ++second <= steps);
		if (READ_ONCE(test->status) == KUNIT_FAILURE)
			break;
	}
	kunit_info(test, "%u writes of at most %u steps\n", writes, most);
	KUNIT_EXPECT_GT(test, writes, 10U);
}

static void interrupted_at_every_step(struct kunit *test)
{
	interrupted(test, 0, false, 0, 64);
}

static void usual_interrupted_at_every_step(struct kunit *test)
{
	interrupted(test, 1, false, 0, 64);
}

static void interrupted_with_a_new_epoch(struct kunit *test)
{
	interrupted(test, 0, false, 1, 64);
	interrupted(test, 1, false, 1, 64);
}

static void interrupted_where_there_is_no_room(struct kunit *test)
{
	interrupted(test, 0, false, 0, 8);
	interrupted(test, 1, false, 0, 8);
}

static void interrupted_twice(struct kunit *test)
{
	interrupted(test, 1, true, 1, 64);
}

/* ---- allocation ------------------------------------------------------- */

static void a_ring_holds_what_was_asked_for(struct kunit *test)
{
	unsigned long samples;

	for (samples = 1; samples < 100; samples++) {
		unsigned long words = ring_words(samples);

		KUNIT_EXPECT_GE(test, words, samples * OP_REC_MAX_WORDS);
		KUNIT_EXPECT_TRUE(test, is_power_of_2(words));
		KUNIT_EXPECT_LT(test, words, 2 * samples * OP_REC_MAX_WORDS);
	}
	KUNIT_EXPECT_EQ(test, ring_words(ULONG_MAX), 0UL);
	KUNIT_EXPECT_EQ(test, ring_words(ULONG_MAX / OP_REC_MAX_WORDS), 0UL);
	KUNIT_EXPECT_EQ(test, op_rings_try(ULONG_MAX), -ENOMEM);
	KUNIT_EXPECT_EQ(test, op_rings_try(ULONG_MAX / 1024), -ENOMEM);
	KUNIT_EXPECT_EQ(test, op_rings_try(100), 0);
}

static int cpu_buffer_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	test->priv = b;
	b->test = test;
	b->mm = op_test_mm(test);
	b->task = op_test_new_task(test, 1000, b->mm);
	/* here we stay */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	b->cpu = raw_cpu_ptr(&op_cpu);
	b->ring = &b->cpu->ring;
	b->saved = *b->ring;
	b->reading.test = test;
	b->reading.ring = b->ring;
	new_ring(b, 64, 0);
	op_test_current = b->task;
	op_test_hardirq = true;
	WRITE_ONCE(op_sync_armed, 1);
	atomic_long_set(&op_epoch, 1);
	return 0;
}

static void cpu_buffer_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	op_test_step = NULL;
	op_test_current = NULL;
	op_test_hardirq = false;
	WRITE_ONCE(op_sync_armed, 0);
	if (!b)
		return;
	let_go(&b->reading);
	*b->ring = b->saved;
	KUNIT_EXPECT_EQ(test, atomic_read(&op_slot_of(b->mm)->pending), 0);
}

static struct kunit_case cpu_buffer_cases[] = {
	KUNIT_CASE(first_record_states_everything),
	KUNIT_CASE(usual_record_is_two_words),
	KUNIT_CASE(what_changes_is_stated),
	KUNIT_CASE(kernel_threads_and_exiting_tasks),
	KUNIT_CASE(notes_are_counted),
	KUNIT_CASE(soft_is_neither_hardirq_nor_nmi),
	KUNIT_CASE(addresses_that_no_code_has),
	KUNIT_CASE(without_a_ring_nothing_is_received),
	KUNIT_CASE(records_with_frames),
	KUNIT_CASE(positions_wrap),
	KUNIT_CASE(fills_to_the_last_word),
	KUNIT_CASE(every_fill_level),
	KUNIT_CASE(restates_after_a_loss),
	KUNIT_CASE(calls_the_worker),
	KUNIT_CASE(half_a_ring_is_announced),
	KUNIT_CASE(interrupted_at_every_step),
	KUNIT_CASE(usual_interrupted_at_every_step),
	KUNIT_CASE(interrupted_with_a_new_epoch),
	KUNIT_CASE(interrupted_where_there_is_no_room),
	KUNIT_CASE(interrupted_twice),
	KUNIT_CASE(a_ring_holds_what_was_asked_for),
	{}
};

static struct kunit_suite cpu_buffer_suite = {
	.name = "oprofile_cpu_buffer",
	.init = cpu_buffer_test_init,
	.exit = cpu_buffer_test_exit,
	.test_cases = cpu_buffer_cases,
};

kunit_test_suite(cpu_buffer_suite);
