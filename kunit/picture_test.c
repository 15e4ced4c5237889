// SPDX-License-Identifier: GPL-2.0
/*
 * picture_test.c - whose an address was: every rule of the pictures
 *
 * The cases play the kernel: they map and unmap in an address space of their
 * own, and call the hooks where the kernel would hit them. Then they ask as the
 * sync core does. An answer is one number: a cookie and an offset, or why there
 * is none.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/interval_tree_generic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "common.h"

#undef current
#define current op_test_task()
#include "../src/picture.c"

#define BASE		0x10000000UL
#define PAGES		4
#define IN_PAGE		0x10UL

#define LOST		(ULONG_MAX - OP_NO_MAPPING)
#define BUSY		(ULONG_MAX - OP_BUSY)
#define GONE		(ULONG_MAX - OP_NO_MM)

/* Where the pools' pictures are while the pools are empty. */
static DEFINE_PER_CPU(struct pool, put_away);

struct world {
	struct kunit *test;
	struct mm_struct *mm;
	struct op_slot *slot;
	struct file *a;
	struct file *b;
	struct file *c;
};

static unsigned long at(unsigned long page)
{
	return BASE + page * PAGE_SIZE;
}

static unsigned long now(void)
{
	return atomic_long_read(&op_epoch);
}

/* The answer that is right for a page of a file. */
static unsigned long in(struct file *file, unsigned long page)
{
	return op_cookie(file) << 32 | (page * PAGE_SIZE + IN_PAGE);
}

/* Of a page of memory without a file. */
static unsigned long no_file(unsigned long page, unsigned long cookie)
{
	return cookie << 32 | (at(page) + IN_PAGE);
}

static unsigned long ask_place(struct world *w, unsigned long page,
			       unsigned long epoch, bool soft,
			       struct op_place *place)
{
	enum op_found found;

	found = op_picture_find(w->mm, at(page) + IN_PAGE, epoch, soft, place);
	if (found != OP_FOUND)
		return ULONG_MAX - found;
	return place->cookie << 32 | place->offset;
}

static unsigned long ask(struct world *w, unsigned long page,
			 unsigned long epoch)
{
	struct op_place place;

	return ask_place(w, page, epoch, false, &place);
}

static unsigned long ask_soft(struct world *w, unsigned long page,
			      unsigned long epoch)
{
	struct op_place place;

	return ask_place(w, page, epoch, true, &place);
}

/* ---- what the kernel does --------------------------------------------- */

static void map_as(struct world *w, unsigned long page, unsigned long pages,
		   struct file *file, unsigned long file_page,
		   unsigned long prot)
{
	KUNIT_EXPECT_EQ(w->test, at(page),
			vm_mmap(file, at(page), pages * PAGE_SIZE, prot,
				MAP_PRIVATE | MAP_FIXED |
				(file ? 0 : MAP_ANONYMOUS),
				file_page * PAGE_SIZE));
}

static void map(struct world *w, unsigned long page, unsigned long pages,
		struct file *file, unsigned long file_page)
{
	map_as(w, page, pages, file, file_page, PROT_READ | PROT_EXEC);
}

static void unmap(struct world *w, unsigned long page, unsigned long pages)
{
	KUNIT_EXPECT_EQ(w->test, 0, vm_munmap(at(page), pages * PAGE_SIZE));
}

static void hit(enum op_profile_event_type type, struct op_profile_event *event)
{
	preempt_disable();
	listeners[type].notifier_call(&listeners[type], type, event);
	preempt_enable();
}

/* The kernel is about to unmap; its lock is held. */
static void hook_unmap_locked(struct world *w, unsigned long page,
			      unsigned long pages)
{
	struct op_profile_event event = {
		.mm = w->mm,
		.start = at(page),
		.end = at(page + pages),
	};

	hit(OP_EXEC_UNMAP, &event);
}

static void hook_unmap(struct world *w, unsigned long page, unsigned long pages)
{
	mmap_write_lock(w->mm);
	hook_unmap_locked(w, page, pages);
	mmap_write_unlock(w->mm);
}

/* The kernel has mapped what is at @page. */
static void hook_map(struct world *w, unsigned long page)
{
	struct op_profile_event event = { .mm = w->mm };

	mmap_write_lock(w->mm);
	event.vma = find_vma(w->mm, at(page));
	KUNIT_EXPECT_NOT_NULL(w->test, event.vma);
	if (event.vma) {
		event.start = event.vma->vm_start;
		event.end = event.vma->vm_end;
		hit(OP_EXEC_MAP, &event);
	}
	mmap_write_unlock(w->mm);
}

/* Something will be mapped there, and nothing else is known. */
static void hook_map_range(struct world *w, unsigned long page,
			   unsigned long pages)
{
	struct op_profile_event event = {
		.mm = w->mm,
		.start = at(page),
		.end = at(page + pages),
	};

	mmap_write_lock(w->mm);
	hit(OP_EXEC_MAP, &event);
	mmap_write_unlock(w->mm);
}

/* munmap() and mmap() as the hooks see them. */
static void seen_unmap(struct world *w, unsigned long page, unsigned long pages)
{
	hook_unmap(w, page, pages);
	unmap(w, page, pages);
}

static void seen_map(struct world *w, unsigned long page, unsigned long pages,
		     struct file *file, unsigned long file_page)
{
	hook_unmap(w, page, pages);
	map(w, page, pages, file, file_page);
	hook_map(w, page);
}

/* The last user goes, and comes back when the case is over. */
static void die(struct world *w)
{
	struct op_profile_event event = { .mm = w->mm };

	atomic_dec(&w->mm->mm_users);
	hit(OP_EXIT_MMAP, &event);
}

static void die_unseen(struct world *w)
{
	atomic_dec(&w->mm->mm_users);
}

static void revive(struct world *w)
{
	atomic_inc(&w->mm->mm_users);
}

/* A drain that finds nothing, and a grace period before it. */
static void collect_and_release(void)
{
	op_pictures_retire();
	op_pictures_collect();
	op_pictures_release();
}

/* No hook on any CPU will find a picture. */
static void empty_pools(void)
{
	int cpu;

	WRITE_ONCE(filling, false);
	irq_work_sync(&fill_irq_work);
	cancel_work_sync(&fill_work);
	for_each_possible_cpu(cpu) {
		struct pool *pool = per_cpu_ptr(&pools, cpu);
		struct pool *away = per_cpu_ptr(&put_away, cpu);

		away->free.first = llist_del_all(&pool->free);
		away->count = pool->count;
		atomic_set(&pool->count, 0);
	}
}

static void refill_pools(void)
{
	struct llist_node *node, *next;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pool *pool = per_cpu_ptr(&pools, cpu);
		struct pool *away = per_cpu_ptr(&put_away, cpu);

		llist_for_each_safe(node, next, llist_del_all(&away->free))
			llist_add(node, &pool->free);
		atomic_add(atomic_read(&away->count), &pool->count);
		atomic_set(&away->count, 0);
	}
	WRITE_ONCE(filling, true);
}

/* Another address space of the slot, which has users or none. */
static struct mm_struct *fellow(struct world *w, int users)
{
	size_t room = 1 << 19, i;
	struct mm_struct *mm;
	char *memory;

	memory = kunit_kzalloc(w->test, room + sizeof(*mm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(w->test, memory);
	for (i = 0; i < room; i += 64) {
		mm = (struct mm_struct *)(memory + i);
		if (op_slot_of(mm) == w->slot)
			break;
	}
	KUNIT_ASSERT_LT(w->test, i, room);
	/* never dropped to nothing */
	atomic_set(&mm->mm_count, 1000);
	atomic_set(&mm->mm_users, users);
	return mm;
}

/* ---- which file (rule 1) ---------------------------------------------- */

static void live_mapping_answers(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 2, w->a, 3);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 3));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->a, 4));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), LOST);
}

static void nothing_mapped_is_lost(struct kunit *test)
{
	struct world *w = test->priv;

	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	/* a hole below a mapping is not the mapping */
	map(w, 2, 1, w->a, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), LOST);
}

static void data_is_no_code(struct kunit *test)
{
	struct world *w = test->priv;

	map_as(w, 0, 1, w->a, 0, PROT_READ);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
}

static void open_picture_answers_where_nothing_is(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long epoch = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, epoch), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
}

static void hook_before_the_unmap(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	hook_unmap(w, 0, 1);
	/* still mapped: another thread may run there */
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
}

static void new_mapping_by_epoch(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	map(w, 0, 1, w->b, 7);
	hook_map(w, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 7));
}

static void lowest_closing_epoch_answers(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long e[4];

	map(w, 0, 1, w->a, 0);
	e[0] = now();
	seen_map(w, 0, 1, w->b, 1);
	e[1] = now();
	seen_map(w, 0, 1, w->c, 2);
	e[2] = now();
	seen_map(w, 0, 1, w->a, 3);
	e[3] = now();
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[0]), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[1]), in(w->b, 1));
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[2]), in(w->c, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[3]), in(w->a, 3));
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[0]), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[2]), in(w->c, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 0, e[3]), in(w->a, 3));
}

static void closed_answers_before_open(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long first = now(), second;

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	second = now();
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, first), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, second), in(w->b, 0));
}

static void open_picture_against_live_is_lost(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	/* the hook has missed this one */
	map(w, 0, 1, w->b, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
}

static void open_picture_of_the_live_mapping(struct kunit *test)
{
	struct world *w = test->priv;

	/* mprotect() pictures what stays as it is */
	map(w, 0, 2, w->a, 0);
	hook_unmap(w, 0, 2);
	hook_map(w, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->a, 1));
}

static void open_picture_where_execute_was_taken_off(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	hook_unmap(w, 0, 1);
	map_as(w, 0, 1, w->a, 0, PROT_READ);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
}

static void same_file_at_another_place(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	map(w, 0, 1, w->a, 5);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	hook_map(w, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 5));
}

static void two_open_pictures_that_disagree(struct kunit *test)
{
	struct world *w = test->priv;
	struct picture *p;

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	preempt_disable();
	slot_lock(w->slot);
	p = pool_take();
	p->kind = RANGE;
	p->mm = w->mm;
	mmgrab(p->mm);
	p->file = get_file(w->b);
	p->start = at(0);
	p->last = at(1) - 1;
	p->delta = -at(0);
	ranges_insert(p, &w->slot->open_ranges);
	picture_open(w->slot, p);
	slot_unlock(w->slot);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
}

static void pictures_of_a_fellow_do_not_answer(struct kunit *test)
{
	struct world *w = test->priv, other = *w;
	unsigned long before = now();
	struct picture *p;

	other.mm = fellow(w, 0);
	preempt_disable();
	slot_lock(w->slot);
	p = pool_take();
	p->kind = RANGE;
	p->mm = other.mm;
	mmgrab(p->mm);
	p->file = get_file(w->b);
	p->start = at(0);
	p->last = at(1) - 1;
	ranges_insert(p, &w->slot->open_ranges);
	picture_open(w->slot, p);
	slot_unlock(w->slot);
	preempt_enable();

	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	map(w, 0, 1, w->a, 0);
	/* nor are they closed, or disputed */
	hook_map(w, 0);
	KUNIT_EXPECT_FALSE(test, p->closed);
	hook_unmap(w, 0, 1);
	KUNIT_EXPECT_FALSE(test, p->closed);
	KUNIT_EXPECT_FALSE(test, p->disputed);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
}

/* ---- epochs (rule 2) -------------------------------------------------- */

static void closing_raises_the_epoch(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	hook_unmap(w, 0, 1);
	unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, now(), before);
	map(w, 0, 1, w->b, 0);
	hook_map(w, 0);
	KUNIT_EXPECT_EQ(test, now(), before + 1);
	/* the epoch of the closing is the new mapping's */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before + 1), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
}

static void a_stale_epoch_favours_the_old(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long stale = now();

	map(w, 2, 1, w->c, 0);
	seen_map(w, 2, 1, w->b, 0);
	/* the epoch has moved on before this one comes and goes */
	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, stale), in(w->a, 0));
}

static void epochs_wrap(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before, after;

	atomic_long_set(&op_epoch, -2);
	before = now();
	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	seen_map(w, 0, 1, w->c, 0);
	seen_map(w, 0, 1, w->a, 1);
	after = now();
	KUNIT_EXPECT_LT(test, after, before);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, before + 1), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, before + 2), in(w->c, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, after), in(w->a, 1));
	KUNIT_EXPECT_TRUE(test, op_epoch_before(before, after));
	KUNIT_EXPECT_FALSE(test, op_epoch_before(after, before));
	KUNIT_EXPECT_FALSE(test, op_epoch_before(after, after));
}

static void soft_samples_where_mappings_changed(struct kunit *test)
{
	struct world *w = test->priv;

	/* another task may be between its address and its epoch */
	atomic_inc(&w->mm->mm_users);
	map(w, 0, 3, w->a, 0);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), in(w->a, 1));
	seen_map(w, 1, 1, w->b, 0);
	atomic_dec(&w->mm->mm_users);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), LOST);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), in(w->a, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->b, 0));
	/* for the whole run, but not for the next one */
	collect_and_release();
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), LOST);
	slot_reset(w->slot);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), in(w->b, 0));
}

/* The only task changes them: none is between its address and its epoch. */
static void soft_samples_of_a_lone_task(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before;

	KUNIT_ASSERT_TRUE(test, is_lone(w->mm));
	map(w, 0, 3, w->a, 0);
	before = now();
	seen_map(w, 1, 1, w->b, 0);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, before), in(w->a, 1));
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), in(w->b, 0));
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), in(w->a, 2));
	/* from here on there is another one */
	atomic_inc(&w->mm->mm_users);
	seen_map(w, 2, 1, w->c, 0);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), LOST);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 1, now()), in(w->b, 0));
	/* in no other address space */
	w->slot->soft_mm = (void *)test;
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), in(w->c, 0));
	slot_lock(w->slot);
	widen_soft(w->slot, w->mm, at(2), at(3) - 1);
	slot_unlock(w->slot);
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), LOST);
	atomic_dec(&w->mm->mm_users);
}

/* ---- every executable VMA (rule 3) ------------------------------------ */

static void jit_code_is_pictured(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, NULL, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), no_file(0, OP_NO_COOKIE));
	seen_map(w, 0, 1, w->a, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), no_file(0, OP_NO_COOKIE));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
}

static void vdso_is_told_from_jit_code(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();
	void *vdso = (void __force *)w->mm->context.vdso;

	map(w, 0, 1, NULL, 0);
	w->mm->context.vdso = (void __user *)at(0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), no_file(0, OP_COOKIE_VDSO));
	hook_unmap(w, 0, 1);
	unmap(w, 0, 1);
	w->mm->context.vdso = vdso;
	map(w, 0, 1, NULL, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	hook_map(w, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), no_file(0, OP_COOKIE_VDSO));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), no_file(0, OP_NO_COOKIE));
}

static void data_is_not_pictured(struct kunit *test)
{
	struct world *w = test->priv;

	map_as(w, 0, 1, NULL, 0, PROT_READ | PROT_WRITE);
	hook_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
}

static void pictures_are_clipped(struct kunit *test)
{
	struct world *w = test->priv;
	struct picture *p;

	map(w, 0, 4, w->a, 0);
	hook_unmap(w, 1, 2);
	p = ranges_iter_first(&w->slot->open_ranges, 0, ULONG_MAX);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_EQ(test, p->start, at(1));
	KUNIT_EXPECT_EQ(test, p->last, at(3) - 1);
	unmap(w, 1, 2);
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->a, 1));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), in(w->a, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 3, now()), in(w->a, 3));
}

static void all_of_a_range_is_pictured(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	map_as(w, 1, 1, w->b, 0, PROT_READ);
	map(w, 2, 1, w->c, 0);
	map(w, 3, 1, NULL, 0);
	seen_unmap(w, 0, 4);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), in(w->c, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 3, now()), no_file(3, OP_NO_COOKIE));
}

/* ---- is there anything to picture (rule 4) ---------------------------- */

static void hooks_ask_first(struct kunit *test)
{
	struct world *w = test->priv;
	struct mm_struct *mm = w->mm;

	KUNIT_ASSERT_EQ(test, atomic_read(&mm->mm_users), 1);
	KUNIT_EXPECT_FALSE(test, op_unmap_matters(mm));
	KUNIT_EXPECT_FALSE(test, op_exit_matters(mm));
	op_mm_note(mm);
	KUNIT_EXPECT_TRUE(test, op_unmap_matters(mm));
	KUNIT_EXPECT_TRUE(test, op_exit_matters(mm));
	op_mm_unnote(mm);
	KUNIT_EXPECT_FALSE(test, op_unmap_matters(mm));
	/* somebody else may be taking the first sample */
	mmget(mm);
	KUNIT_EXPECT_TRUE(test, op_unmap_matters(mm));
	mmput(mm);
	KUNIT_EXPECT_FALSE(test, op_unmap_matters(mm));
}

static void map_hook_asks_first(struct kunit *test)
{
	struct world *w = test->priv;

	KUNIT_EXPECT_FALSE(test, op_map_matters(w->mm));
	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_TRUE(test, op_map_matters(w->mm));
	map(w, 0, 1, w->b, 0);
	hook_map(w, 0);
	KUNIT_EXPECT_FALSE(test, op_map_matters(w->mm));
	op_picture_want(w->mm);
	KUNIT_EXPECT_TRUE(test, op_map_matters(w->mm));
	WRITE_ONCE(w->slot->wanted, NULL);
}

/* ---- no room, no lie (rule 5) ----------------------------------------- */

static void a_missed_unmap_is_blind(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	map(w, 2, 1, w->c, 0);
	empty_pools();
	/* another task may be between its address and its epoch */
	atomic_inc(&w->mm->mm_users);
	hook_unmap(w, 0, 1);
	atomic_dec(&w->mm->mm_users);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 1UL);
	KUNIT_EXPECT_TRUE(test, op_pictures_unfinished());
	unmap(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	hook_map(w, 0);
	/* never looked up live */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	/* not while the unmap may last, anywhere */
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), LOST);
	/* the worker sees the lock free */
	op_pictures_retire();
	KUNIT_EXPECT_FALSE(test, op_pictures_unfinished());
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now() - 1), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), in(w->c, 0));
	/* a soft sample's epoch may be too new */
	KUNIT_EXPECT_EQ(test, ask_soft(w, 2, now()), LOST);
	refill_pools();
}

static void blind_as_long_as_the_lock_is_held(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	empty_pools();
	mmap_write_lock(w->mm);
	hook_unmap_locked(w, 0, 1);
	op_pictures_retire();
	KUNIT_EXPECT_TRUE(test, op_pictures_unfinished());
	mmap_write_unlock(w->mm);
	op_pictures_retire();
	KUNIT_EXPECT_FALSE(test, op_pictures_unfinished());
	refill_pools();
}

static void blind_once_for_many_misses(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 2, w->a, 0);
	empty_pools();
	hook_unmap(w, 0, 1);
	hook_unmap(w, 1, 1);
	KUNIT_EXPECT_EQ(test, w->slot->nr_blind, 1U);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 2UL);
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, w->slot->nr_blind, 0U);
	refill_pools();
}

static void a_fellow_is_blind_for_itself(struct kunit *test)
{
	struct world *w = test->priv;
	struct mm_struct *other = fellow(w, 0);
	unsigned long before;

	map(w, 0, 1, w->a, 0);
	before = now();
	slot_lock(w->slot);
	slot_blind(w->slot, other);
	slot_unlock(w->slot);
	/* the epoch is the slot's, the rest the fellow's */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	/* it has no users, so its unmap is over */
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, w->slot->nr_blind, 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->mm_count), 1000);
}

static void too_many_blind_ones(struct kunit *test)
{
	struct world *w = test->priv;
	struct mm_struct *other[OP_SLOT_BLIND + 1];
	unsigned int i;

	map(w, 0, 1, w->a, 0);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = fellow(w, 0);
		slot_lock(w->slot);
		slot_blind(w->slot, other[i]);
		slot_unlock(w->slot);
		KUNIT_EXPECT_EQ(test, ask(w, 0, now()),
				i < OP_SLOT_BLIND ? in(w->a, 0) : LOST);
	}
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, w->slot->nr_blind, 0U);
	/* until the end of the run */
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	slot_reset(w->slot);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	for (i = 0; i < ARRAY_SIZE(other); i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&other[i]->mm_count), 1000);
}

static void a_missed_exit_is_no_mm(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	empty_pools();
	die(w);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), GONE);
	KUNIT_EXPECT_NULL(test, op_picture_exe(w->mm));
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 2UL);
	revive(w);
	refill_pools();
}

/* ---- references (rule 6) ---------------------------------------------- */

static void pictures_hold_and_let_go(struct kunit *test)
{
	struct world *w = test->priv;
	long files = file_count(w->a);
	struct picture *p;

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	KUNIT_EXPECT_GT(test, file_count(w->a), files);
	p = ranges_iter_first(&w->slot->open_ranges, at(0), at(0));
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_PTR_EQ(test, p->mm, w->mm);
	KUNIT_EXPECT_PTR_EQ(test, p->file, w->a);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 1);
	collect_and_release();
	KUNIT_EXPECT_EQ(test, file_count(w->a), files);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
	KUNIT_EXPECT_FALSE(test, op_pictures_left());
}

static void an_answer_is_counted(struct kunit *test)
{
	struct world *w = test->priv;
	struct file *file;
	long files;

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	ask(w, 0, now());
	files = file_count(w->a);
	ask(w, 0, now());
	KUNIT_EXPECT_EQ(test, file_count(w->a), files);
	KUNIT_EXPECT_NULL(test, w->mm->exe_file);
	rcu_assign_pointer(w->mm->exe_file, w->b);
	die(w);
	files = file_count(w->b);
	file = op_picture_exe(w->mm);
	KUNIT_EXPECT_PTR_EQ(test, file, w->b);
	KUNIT_EXPECT_EQ(test, file_count(w->b), files + 1);
	if (file)
		fput(file);
	RCU_INIT_POINTER(w->mm->exe_file, NULL);
	revive(w);
}

/* ---- letting go (rule 7) ---------------------------------------------- */

static void an_open_picture_stays(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	mmap_write_lock(w->mm);
	hook_unmap_locked(w, 0, 1);
	collect_and_release();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	mmap_write_unlock(w->mm);
	KUNIT_EXPECT_TRUE(test, op_pictures_left());
	collect_and_release();
	KUNIT_EXPECT_FALSE(test, op_pictures_left());
}

static void retiring_closes(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, now(), before + 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	/* so a mapping that no hook has seen is told from it */
	map(w, 0, 1, w->b, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
}

static void retiring_disputes_what_was_unseen(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
}

static void retiring_a_mapping_that_stayed(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	/* munmap() was refused after the hook */
	map(w, 0, 1, w->a, 0);
	hook_unmap(w, 0, 1);
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
}

static void retiring_the_dead_does_not_close(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 2, w->a, 0);
	seen_unmap(w, 0, 1);
	die(w);
	op_pictures_retire();
	KUNIT_EXPECT_EQ(test, now(), before);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, before), in(w->a, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 0);
	revive(w);
}

static void collected_pictures_answer_until_released(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	KUNIT_EXPECT_TRUE(test, op_pictures_collect());
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	op_pictures_release();
	KUNIT_EXPECT_FALSE(test, op_pictures_collect());
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
}

static void only_what_was_collected_is_released(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now(), second;

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	second = now();
	op_pictures_collect();
	seen_map(w, 0, 1, w->c, 0);
	op_pictures_release();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, second), in(w->b, 0));
	/* a sample that old is not in any ring any more */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->b, 0));
}

static void pictures_are_kept_for_samples_aside(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();
	struct picture *p;

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	p = ranges_iter_first(&w->slot->ranges, at(0), at(0));
	KUNIT_ASSERT_NOT_NULL(test, p);
	w->slot->aside = 1;
	collect_and_release();
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_NE(test, p->kept, 0UL);
	/* longer than a sample may be aside, but not for ever */
	p->kept -= OP_ASIDE_TIME;
	KUNIT_EXPECT_TRUE(test, must_keep(w->slot, p));
	p->kept -= 2 * HZ;
	KUNIT_EXPECT_FALSE(test, must_keep(w->slot, p));
	collect_and_release();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
	w->slot->aside = 0;
}

static void pictures_go_where_nothing_is_aside(struct kunit *test)
{
	struct world *w = test->priv;
	struct picture *p;

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	p = ranges_iter_first(&w->slot->ranges, at(0), at(0));
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_FALSE(test, must_keep(w->slot, p));
	w->slot->aside = 1;
	KUNIT_EXPECT_TRUE(test, must_keep(w->slot, p));
	w->slot->aside = 0;
	KUNIT_EXPECT_FALSE(test, must_keep(w->slot, p));
}

/* ---- exits (rule 8) --------------------------------------------------- */

static void exit_pictures_answer(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long epoch = now();

	map(w, 0, 1, w->a, 0);
	map(w, 2, 1, NULL, 0);
	map_as(w, 3, 1, w->b, 0, PROT_READ);
	die(w);
	/* exit pictures never close */
	KUNIT_EXPECT_EQ(test, now(), epoch);
	KUNIT_EXPECT_EQ(test, ask(w, 0, epoch), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, epoch + 100), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, epoch), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 2, epoch), no_file(2, OP_NO_COOKIE));
	KUNIT_EXPECT_EQ(test, ask(w, 3, epoch), LOST);
	revive(w);
}

static void exit_that_no_hook_saw(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	die_unseen(w);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), GONE);
	/* what is closed answers all the same */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	revive(w);
}

static void closed_answers_before_exit(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	die(w);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
	revive(w);
}

static void open_against_exit_is_lost(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	/* unseen, and then the exit shows it */
	map(w, 0, 1, w->b, 0);
	die(w);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
	revive(w);
}

static void exit_visits_map_count_vmas(struct kunit *test)
{
	struct world *w = test->priv;
	int count;

	map(w, 0, 1, w->a, 0);
	map(w, 2, 1, w->b, 0);
	count = w->mm->map_count;
	KUNIT_EXPECT_EQ(test, count, 2);
	/* as after a failed fork, when the tree holds the parent's, too */
	w->mm->map_count = 1;
	die(w);
	w->mm->map_count = count;
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), LOST);
	revive(w);
}

static void exit_with_its_lock_taken(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();
	struct picture *p;

	map(w, 0, 1, w->a, 0);
	seen_map(w, 0, 1, w->b, 0);
	map(w, 2, 1, w->c, 0);
	seen_unmap(w, 2, 1);
	mmap_write_lock(w->mm);
	die(w);
	mmap_write_unlock(w->mm);
	slot_lock(w->slot);
	p = find_exe(w->slot, w->mm);
	KUNIT_EXPECT_TRUE(test, p && p->disputed);
	slot_unlock(w->slot);
	/* only what is closed can be told */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), LOST);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 1UL);
	revive(w);
}

static void a_real_exit(struct kunit *test)
{
	struct world *w = test->priv;
	struct mm_struct *mm = w->mm;
	unsigned long epoch;

	map(w, 0, 1, w->a, 2);
	map(w, 1, 1, NULL, 0);
	seen_map(w, 3, 1, w->b, 0);
	epoch = now();
	op_mm_note(mm);
	op_profile_events_start();
	kthread_unuse_mm(mm);
	mmput(mm);
	op_profile_events_stop();
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->mm_users), 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, epoch), in(w->a, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 1, epoch), no_file(1, OP_NO_COOKIE));
	KUNIT_EXPECT_EQ(test, ask(w, 3, epoch), in(w->b, 0));
	collect_and_release();
	KUNIT_EXPECT_FALSE(test, op_pictures_left());
	KUNIT_EXPECT_EQ(test, ask(w, 0, epoch), GONE);
	op_mm_unnote(mm);
}

static void real_unmaps_and_maps(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long e[4];

	op_mm_note(w->mm);
	op_profile_events_start();
	map(w, 0, 3, w->a, 0);
	e[0] = now();
	map(w, 1, 1, w->b, 0);
	e[1] = now();
	unmap(w, 0, 3);
	e[2] = now();
	map(w, 0, 3, w->c, 0);
	e[3] = now();
	op_profile_events_stop();
	KUNIT_EXPECT_EQ(test, ask(w, 1, e[0]), in(w->a, 1));
	KUNIT_EXPECT_EQ(test, ask(w, 1, e[1]), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, e[2]), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, e[3]), in(w->c, 1));
	KUNIT_EXPECT_EQ(test, ask(w, 2, e[1]), in(w->a, 2));
	KUNIT_EXPECT_EQ(test, ask(w, 2, e[3]), in(w->c, 2));
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 0UL);
	op_mm_unnote(w->mm);
}

/* ---- the app of a teardown (rule 9) ----------------------------------- */

static void exit_task(struct task_struct *task)
{
	struct op_profile_event event = { .mm = task->mm };

	op_test_current = task;
	hit(OP_EXIT_TASK, &event);
	op_test_current = NULL;
}

static void expect_app(struct kunit *test, struct task_struct *task, pid_t tid,
		       struct file *app)
{
	struct file *file = op_picture_task_exe(op_task_began(task), tid);

	KUNIT_EXPECT_PTR_EQ(test, file, app);
	if (file)
		fput(file);
}

/* As exiting as a task can be that runs these tests. */
static struct task_struct *new_exiting(struct kunit *test, struct world *w)
{
	struct task_struct *real = get_current();
	struct task_struct *task = op_test_new_task(test, real->pid, w->mm);

	task->start_boottime = real->start_boottime;
	return task;
}

static void an_exiting_task_keeps_its_app(struct kunit *test)
{
	struct world *w = test->priv;
	struct task_struct *task = new_exiting(test, w);
	pid_t tid = task->pid;

	expect_app(test, task, tid, NULL);
	rcu_assign_pointer(w->mm->exe_file, w->a);
	exit_task(task);
	RCU_INIT_POINTER(w->mm->exe_file, NULL);
	expect_app(test, task, tid, w->a);
	/* never another's */
	expect_app(test, task, tid + 1, NULL);
	task->start_boottime++;
	expect_app(test, task, tid, NULL);
	task->start_boottime--;
	/* it stays as long as the task */
	collect_and_release();
	collect_and_release();
	expect_app(test, task, tid, w->a);
}

static void an_app_goes_with_its_task(struct kunit *test)
{
	struct world *w = test->priv;
	struct task_struct *task = new_exiting(test, w);

	/* that number has another task by now */
	task->start_boottime--;
	rcu_assign_pointer(w->mm->exe_file, w->a);
	exit_task(task);
	expect_app(test, task, task->pid, w->a);
	/* and this one nobody */
	task->pid = PID_MAX_LIMIT;
	rcu_assign_pointer(w->mm->exe_file, w->b);
	exit_task(task);
	RCU_INIT_POINTER(w->mm->exe_file, NULL);
	expect_app(test, task, PID_MAX_LIMIT, w->b);
	expect_app(test, task, get_current()->pid, w->a);
	collect_and_release();
	expect_app(test, task, PID_MAX_LIMIT, NULL);
	expect_app(test, task, get_current()->pid, NULL);
	KUNIT_EXPECT_FALSE(test, op_pictures_left());
}

static void kernel_threads_have_no_app(struct kunit *test)
{
	struct world *w = test->priv;
	struct task_struct *task = op_test_new_task(test, 77, w->mm);

	task->flags = PF_KTHREAD;
	exit_task(task);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
}

static void no_room_for_an_app(struct kunit *test)
{
	struct world *w = test->priv;
	struct task_struct *task = op_test_new_task(test, 77, w->mm);

	empty_pools();
	exit_task(task);
	expect_app(test, task, 77, NULL);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 1UL);
	refill_pools();
}

/* ---- hooks ------------------------------------------------------------ */

static void a_known_mapping_is_not_pictured_again(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 2, w->a, 0);
	hook_unmap(w, 0, 1);
	hook_unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 1);
	/* half of this is known */
	hook_unmap(w, 0, 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 2);
	hook_unmap(w, 1, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 2);
	unmap(w, 0, 2);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->a, 1));
}

static void an_unmap_finds_an_unseen_mapping(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now(), between;

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	between = now();
	seen_unmap(w, 0, 1);
	/* when it came, nobody knows, but it was there by now */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, between), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
}

static void an_unmap_closes_those_of_others(struct kunit *test)
{
	struct world *w = test->priv;
	struct task_struct *other = op_test_new_task(test, 77, w->mm);
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	map(w, 2, 2, w->b, 0);
	op_test_current = other;
	hook_unmap(w, 0, 1);
	op_test_current = NULL;
	unmap(w, 0, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	/* who has the lock knows that the other one is done */
	hook_unmap(w, 2, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), LOST);
	/* its own are not */
	hook_unmap(w, 3, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 2);
}

static void a_map_closes_what_it_overlaps(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned int i;

	map(w, 0, 4, w->a, 0);
	for (i = 0; i < 4; i++)
		hook_unmap(w, i, 1);
	unmap(w, 0, 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 4);
	/* pages 1 and 2, and not their neighbours */
	map(w, 1, 2, w->b, 0);
	hook_map(w, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 2);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), in(w->b, 1));
	KUNIT_EXPECT_EQ(test, ask(w, 3, now()), in(w->a, 3));
}

static void a_move_closes_what_is_in_its_way(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	/* mremap(): only the range is known, and nothing is there yet */
	map(w, 0, 2, w->a, 0);
	hook_unmap(w, 0, 1);
	hook_unmap(w, 1, 1);
	unmap(w, 0, 2);
	hook_map_range(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, now()), in(w->a, 1));
}

/* ---- an address space that is never free ------------------------------ */

static void a_locked_mm_is_busy(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	map(w, 2, 1, w->c, 0);
	seen_map(w, 0, 1, w->b, 0);
	seen_unmap(w, 2, 1);
	mmap_write_lock(w->mm);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), BUSY);
	/* an open picture may not be alone */
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), BUSY);
	/* what is closed holds whatever is mapped */
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	mmap_write_unlock(w->mm);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 2, now()), in(w->c, 0));
}

static void snapshot(struct kunit *test, bool by_map)
{
	struct world *w = test->priv;
	unsigned long before, after;

	map(w, 0, 1, w->a, 0);
	map(w, 1, 1, NULL, 0);
	before = now();
	mmap_write_lock(w->mm);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), BUSY);
	op_picture_want(w->mm);
	mmap_write_unlock(w->mm);
	map(w, 3, 1, w->b, 0);
	if (by_map)
		hook_map(w, 3);
	else
		hook_unmap(w, 3, 1);
	after = now();
	KUNIT_EXPECT_EQ(test, after, before + 1);
	KUNIT_EXPECT_NULL(test, w->slot->wanted);
	mmap_write_lock(w->mm);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 1, before), no_file(1, OP_NO_COOKIE));
	KUNIT_EXPECT_EQ(test, ask(w, 3, before), in(w->b, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, after), BUSY);
	mmap_write_unlock(w->mm);
	seen_map(w, 0, 1, w->c, 0);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, after), in(w->a, 0));
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->c, 0));
}

static void an_unmap_takes_the_snapshot(struct kunit *test)
{
	snapshot(test, false);
}

static void a_map_takes_the_snapshot(struct kunit *test)
{
	snapshot(test, true);
}

static void a_snapshot_finds_an_unseen_mapping(struct kunit *test)
{
	struct world *w = test->priv;
	unsigned long before = now();

	map(w, 0, 1, w->a, 0);
	seen_unmap(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	map(w, 2, 1, w->c, 0);
	op_picture_want(w->mm);
	hook_unmap(w, 2, 1);
	KUNIT_EXPECT_EQ(test, ask(w, 0, before), LOST);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->b, 0));
}

static void a_snapshot_takes_no_last_pictures(struct kunit *test)
{
	struct world *w = test->priv;
	int cpu;

	empty_pools();
	map(w, 0, 1, w->a, 0);
	map(w, 2, 1, w->b, 0);
	/* some are left, for those who need one */
	for_each_possible_cpu(cpu) {
		struct picture *p = kmalloc(sizeof(*p), GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, p);
		atomic_inc(&nr_pictures);
		atomic_inc(&per_cpu_ptr(&pools, cpu)->count);
		llist_add(&p->list, &per_cpu_ptr(&pools, cpu)->free);
	}
	op_picture_want(w->mm);
	hook_unmap(w, 2, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 1);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&w->slot->nr_open), 1);
	refill_pools();
}

/* ---- what may be remembered of an answer ------------------------------ */

static void a_live_answer_holds_for_its_mapping(struct kunit *test)
{
	struct world *w = test->priv;
	struct op_place place;

	map(w, 1, 2, w->a, 0);
	ask_place(w, 1, now(), false, &place);
	KUNIT_EXPECT_TRUE(test, place.live);
	KUNIT_EXPECT_EQ(test, place.start, at(1));
	KUNIT_EXPECT_EQ(test, place.end, at(3));
	KUNIT_EXPECT_EQ(test, at(1) + place.delta, 0UL);
	KUNIT_EXPECT_EQ(test, place.seq, atomic_read(&w->slot->seq));
}

static void every_change_ends_an_answer(struct kunit *test)
{
	struct world *w = test->priv;
	int seq;

	map(w, 0, 1, w->a, 0);
	seq = atomic_read(&w->slot->seq);
	hook_unmap(w, 0, 1);
	KUNIT_EXPECT_NE(test, seq, atomic_read(&w->slot->seq));
	unmap(w, 0, 1);
	map(w, 0, 1, w->b, 0);
	seq = atomic_read(&w->slot->seq);
	hook_map(w, 0);
	KUNIT_EXPECT_NE(test, seq, atomic_read(&w->slot->seq));
	seq = atomic_read(&w->slot->seq);
	op_picture_want(w->mm);
	hook_map(w, 0);
	KUNIT_EXPECT_NE(test, seq, atomic_read(&w->slot->seq));
	empty_pools();
	seq = atomic_read(&w->slot->seq);
	hook_unmap(w, 0, 1);
	KUNIT_EXPECT_NE(test, seq, atomic_read(&w->slot->seq));
	refill_pools();
	seq = atomic_read(&w->slot->seq);
	op_pictures_retire();
	KUNIT_EXPECT_NE(test, seq, atomic_read(&w->slot->seq));
}

static void no_answer_is_remembered_beside_pictures(struct kunit *test)
{
	struct world *w = test->priv;
	struct op_place place;

	map(w, 0, 2, w->a, 0);
	seen_map(w, 1, 1, w->b, 0);
	map(w, 0, 3, w->c, 0);
	hook_map(w, 0);
	ask_place(w, 2, now(), false, &place);
	KUNIT_EXPECT_FALSE(test, place.live);
	collect_and_release();
	ask_place(w, 2, now(), false, &place);
	KUNIT_EXPECT_TRUE(test, place.live);
	die(w);
	ask_place(w, 0, now(), false, &place);
	KUNIT_EXPECT_TRUE(test, place.live);
	KUNIT_EXPECT_EQ(test, place.start, at(0));
	KUNIT_EXPECT_EQ(test, place.end, at(3));
	revive(w);
}

static void a_run_begins_without_a_past(struct kunit *test)
{
	struct world *w = test->priv;

	map(w, 0, 1, w->a, 0);
	empty_pools();
	hook_unmap(w, 0, 1);
	op_picture_want(w->mm);
	refill_pools();
	op_pictures_stop();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_pictures), 0);
	KUNIT_EXPECT_EQ(test, op_pictures_start(), 0);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 0UL);
	KUNIT_EXPECT_EQ(test, ask(w, 0, now()), in(w->a, 0));
	KUNIT_EXPECT_NULL(test, w->slot->wanted);
}

/* ---- every order ------------------------------------------------------ */

/* What is mapped at a page, and the samples that were taken. */
struct truth {
	struct file *file;
	unsigned long file_page;
	bool mapped;
};

struct sampled {
	unsigned long page;
	unsigned long epoch;
	unsigned long truth;
	bool settled;
};

struct play {
	struct world *w;
	struct truth page[PAGES];
	struct sampled sample[64];
	unsigned int nr_samples;
	bool locked;
	bool dead;
	unsigned int wrong;
	unsigned int lost;
	unsigned int right;
	unsigned int waiting;
};

static void play_sample(struct play *s, unsigned int page)
{
	struct truth *t = &s->page[page];
	struct sampled *sample = &s->sample[s->nr_samples];

	if (!t->mapped || s->dead || s->nr_samples == ARRAY_SIZE(s->sample))
		return;
	s->nr_samples++;
	sample->settled = false;
	sample->page = page;
	sample->epoch = now();
	sample->truth = t->file ? in(t->file, t->file_page) :
				  no_file(page, OP_NO_COOKIE);
}

static void play_ask(struct play *s, bool give_up)
{
	unsigned int i, waiting = 0;

	for (i = 0; i < s->nr_samples; i++) {
		struct sampled *sample = &s->sample[i];
		unsigned long answer;

		if (sample->settled)
			continue;
		answer = ask(s->w, sample->page, sample->epoch);
		if ((answer == BUSY || answer == GONE) && !give_up) {
			waiting++;
			continue;
		}
		sample->settled = true;
		if (answer == sample->truth)
			s->right++;
		else if (answer == LOST || answer == BUSY || answer == GONE)
			s->lost++;
		else
			s->wrong++;
	}
	if (!waiting)
		s->nr_samples = 0;
	s->w->slot->aside = waiting;
	if (waiting && s->locked)
		op_picture_want(s->w->mm);
}

/* A grace period passes between collecting and draining. */
static void play_drain(struct play *s)
{
	op_pictures_retire();
	op_pictures_collect();
	play_ask(s, false);
	op_pictures_release();
}

static void play_unlock(struct play *s)
{
	if (s->locked)
		mmap_write_unlock(s->w->mm);
	s->locked = false;
}

/* munmap() begins; the samples up to its end still hit. */
static void play_unmap_begins(struct play *s, unsigned int page,
			      unsigned int pages)
{
	if (s->dead)
		return;
	if (!s->locked)
		mmap_write_lock(s->w->mm);
	s->locked = true;
	hook_unmap_locked(s->w, page, pages);
}

static void play_unmap(struct play *s, unsigned int page, unsigned int pages)
{
	unsigned int i;

	if (s->dead)
		return;
	play_unmap_begins(s, page, pages);
	play_unlock(s);
	unmap(s->w, page, pages);
	for (i = page; i < page + pages; i++)
		s->page[i].mapped = false;
}

static void play_map(struct play *s, unsigned int page, unsigned int pages,
		     struct file *file, unsigned int file_page)
{
	unsigned int i;

	if (s->dead)
		return;
	play_unmap_begins(s, page, pages);
	play_unlock(s);
	map(s->w, page, pages, file, file_page);
	hook_map(s->w, page);
	for (i = page; i < page + pages; i++) {
		s->page[i].mapped = true;
		s->page[i].file = file;
		s->page[i].file_page = file_page + i - page;
	}
}

static void play_begin(struct play *s, struct world *w)
{
	memset(s, 0, sizeof(*s));
	s->w = w;
	map(w, 0, 1, w->a, 0);
	s->page[0].mapped = true;
	s->page[0].file = w->a;
}

static void play_end(struct play *s)
{
	play_unlock(s);
	play_drain(s);
	play_drain(s);
	play_ask(s, true);
	if (s->dead)
		revive(s->w);
	unmap(s->w, 0, PAGES);
	s->w->slot->aside = 0;
	collect_and_release();
	slot_reset(s->w->slot);
}

static const char steps[] = "SUuMED";

static void play_step(struct play *s, char step)
{
	struct op_profile_event event = { .mm = s->w->mm };

	switch (step) {
	case 'S':
		play_sample(s, 0);
		break;
	case 'U':
		play_unmap_begins(s, 0, 1);
		break;
	case 'u':
		play_unmap(s, 0, 1);
		break;
	case 'M':
		play_map(s, 0, 1, s->page[0].file == s->w->b ? s->w->c :
			 s->w->b, 3);
		break;
	case 'E':
		if (s->dead)
			break;
		play_unlock(s);
		s->dead = true;
		atomic_dec(&s->w->mm->mm_users);
		hit(OP_EXIT_MMAP, &event);
		break;
	case 'D':
		play_drain(s);
		break;
	}
}

/* All orders of so many steps, with a sample before and after each. */
static void every_order(struct kunit *test)
{
	const unsigned int n = sizeof(steps) - 1, len = 3;
	struct world *w = test->priv;
	unsigned int i, j, code, orders = 1, samples = 0;
	struct play *s;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	for (i = 0; i < len; i++)
		orders *= n;
	for (i = 0; i < orders; i++) {
		char order[8] = "";

		play_begin(s, w);
		for (j = 0, code = i; j < len; j++, code /= n) {
			order[j] = steps[code % n];
			play_step(s, 'S');
			play_step(s, order[j]);
		}
		play_step(s, 'S');
		play_end(s);
		samples += s->right;
		if (s->wrong || s->lost)
			KUNIT_FAIL(test, "order %s: %u wrong, %u lost", order,
				   s->wrong, s->lost);
		cond_resched();
	}
	KUNIT_EXPECT_GT(test, samples, orders);
	KUNIT_EXPECT_EQ(test, op_pictures_missed(), 0UL);
}

static void random_plays(struct kunit *test, bool short_of_room)
{
	struct world *w = test->priv;
	unsigned int i, j, right = 0, lost = 0;
	struct rnd_state rnd;
	struct play *s;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	for (i = 0; i < 30; i++) {
		prandom_seed_state(&rnd, 1000 + i);
		play_begin(s, w);
		for (j = 0; j < 40; j++) {
			unsigned int page = op_test_random(&rnd, PAGES);
			unsigned int pages = 1 + op_test_random(&rnd,
								PAGES - page);
			struct file *files[] = { w->a, w->b, w->c, NULL };

			if (short_of_room && !op_test_random(&rnd, 8)) {
				if (READ_ONCE(filling))
					empty_pools();
				else
					refill_pools();
			}
			switch (op_test_random(&rnd, 12)) {
			case 0:
				play_unmap_begins(s, page, pages);
				break;
			case 1:
				play_unmap(s, page, pages);
				break;
			case 2:
			case 3:
				play_map(s, page, pages,
					 files[op_test_random(&rnd, 4)],
					 op_test_random(&rnd, 3));
				break;
			case 4:
				play_drain(s);
				break;
			case 5:
				if (j > 34)
					play_step(s, 'E');
				break;
			default:
				play_sample(s, page);
				break;
			}
		}
		play_end(s);
		if (!READ_ONCE(filling))
			refill_pools();
		right += s->right;
		lost += s->lost;
		KUNIT_EXPECT_EQ_MSG(test, s->wrong, 0U, "seed %u", 1000 + i);
		if (!short_of_room)
			KUNIT_EXPECT_EQ_MSG(test, s->lost, 0U, "seed %u",
					    1000 + i);
		cond_resched();
	}
	kunit_info(test, "%u right, %u lost\n", right, lost);
	KUNIT_EXPECT_GT(test, right, 50U);
	if (short_of_room)
		KUNIT_EXPECT_GT(test, lost, 10U);
}

static void random_orders_lose_nothing(struct kunit *test)
{
	random_plays(test, false);
}

static void random_orders_short_of_room_are_never_wrong(struct kunit *test)
{
	random_plays(test, true);
}

static int picture_test_init(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->test = test;
	w->mm = op_test_mm(test);
	w->slot = op_slot_of(w->mm);
	w->a = op_test_file(test, "a", NULL, 0);
	w->b = op_test_file(test, "b", NULL, 0);
	w->c = op_test_file(test, "c", NULL, 0);
	test->priv = w;
	atomic_long_set(&op_epoch, 1);
	atomic_long_set(&nr_missed, 0);
	slot_reset(w->slot);
	return 0;
}

/* Nothing is left of any case. */
static void picture_test_exit(struct kunit *test)
{
	unsigned int i;

	op_test_current = NULL;
	/* khugepaged may have the lock just now. */
	for (i = 0; i < 100 && (!i || op_pictures_left()); i++) {
		if (i)
			msleep(20);
		collect_and_release();
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_used), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_unfinished), 0);
}

static int picture_suite_init(struct kunit_suite *suite)
{
	/* Nobody is called: no run goes on. */
	WRITE_ONCE(op_sync_armed, 1);
	return op_pictures_start();
}

/* Warns where anything is left. */
static void picture_suite_exit(struct kunit_suite *suite)
{
	op_pictures_stop();
	WRITE_ONCE(op_sync_armed, 0);
}

static struct kunit_case picture_cases[] = {
	KUNIT_CASE(live_mapping_answers),
	KUNIT_CASE(nothing_mapped_is_lost),
	KUNIT_CASE(data_is_no_code),
	KUNIT_CASE(open_picture_answers_where_nothing_is),
	KUNIT_CASE(hook_before_the_unmap),
	KUNIT_CASE(new_mapping_by_epoch),
	KUNIT_CASE(lowest_closing_epoch_answers),
	KUNIT_CASE(closed_answers_before_open),
	KUNIT_CASE(open_picture_against_live_is_lost),
	KUNIT_CASE(open_picture_of_the_live_mapping),
	KUNIT_CASE(open_picture_where_execute_was_taken_off),
	KUNIT_CASE(same_file_at_another_place),
	KUNIT_CASE(two_open_pictures_that_disagree),
	KUNIT_CASE(pictures_of_a_fellow_do_not_answer),
	KUNIT_CASE(closing_raises_the_epoch),
	KUNIT_CASE(a_stale_epoch_favours_the_old),
	KUNIT_CASE(epochs_wrap),
	KUNIT_CASE(soft_samples_where_mappings_changed),
	KUNIT_CASE(soft_samples_of_a_lone_task),
	KUNIT_CASE(jit_code_is_pictured),
	KUNIT_CASE(vdso_is_told_from_jit_code),
	KUNIT_CASE(data_is_not_pictured),
	KUNIT_CASE(pictures_are_clipped),
	KUNIT_CASE(all_of_a_range_is_pictured),
	KUNIT_CASE(hooks_ask_first),
	KUNIT_CASE(map_hook_asks_first),
	KUNIT_CASE(a_missed_unmap_is_blind),
	KUNIT_CASE(blind_as_long_as_the_lock_is_held),
	KUNIT_CASE(blind_once_for_many_misses),
	KUNIT_CASE(a_fellow_is_blind_for_itself),
	KUNIT_CASE(too_many_blind_ones),
	KUNIT_CASE(a_missed_exit_is_no_mm),
	KUNIT_CASE(pictures_hold_and_let_go),
	KUNIT_CASE(an_answer_is_counted),
	KUNIT_CASE(an_open_picture_stays),
	KUNIT_CASE(retiring_closes),
	KUNIT_CASE(retiring_disputes_what_was_unseen),
	KUNIT_CASE(retiring_a_mapping_that_stayed),
	KUNIT_CASE(retiring_the_dead_does_not_close),
	KUNIT_CASE(collected_pictures_answer_until_released),
	KUNIT_CASE(only_what_was_collected_is_released),
	KUNIT_CASE(pictures_are_kept_for_samples_aside),
	KUNIT_CASE(pictures_go_where_nothing_is_aside),
	KUNIT_CASE(exit_pictures_answer),
	KUNIT_CASE(exit_that_no_hook_saw),
	KUNIT_CASE(closed_answers_before_exit),
	KUNIT_CASE(open_against_exit_is_lost),
	KUNIT_CASE(exit_visits_map_count_vmas),
	KUNIT_CASE(exit_with_its_lock_taken),
	KUNIT_CASE(a_real_exit),
	KUNIT_CASE(real_unmaps_and_maps),
	KUNIT_CASE(an_exiting_task_keeps_its_app),
	KUNIT_CASE(an_app_goes_with_its_task),
	KUNIT_CASE(kernel_threads_have_no_app),
	KUNIT_CASE(no_room_for_an_app),
	KUNIT_CASE(a_known_mapping_is_not_pictured_again),
	KUNIT_CASE(an_unmap_finds_an_unseen_mapping),
	KUNIT_CASE(an_unmap_closes_those_of_others),
	KUNIT_CASE(a_map_closes_what_it_overlaps),
	KUNIT_CASE(a_move_closes_what_is_in_its_way),
	KUNIT_CASE(a_locked_mm_is_busy),
	KUNIT_CASE(an_unmap_takes_the_snapshot),
	KUNIT_CASE(a_map_takes_the_snapshot),
	KUNIT_CASE(a_snapshot_finds_an_unseen_mapping),
	KUNIT_CASE(a_snapshot_takes_no_last_pictures),
	KUNIT_CASE(a_live_answer_holds_for_its_mapping),
	KUNIT_CASE(every_change_ends_an_answer),
	KUNIT_CASE(no_answer_is_remembered_beside_pictures),
	KUNIT_CASE(a_run_begins_without_a_past),
	KUNIT_CASE_SLOW(every_order),
	KUNIT_CASE_SLOW(random_orders_lose_nothing),
	KUNIT_CASE_SLOW(random_orders_short_of_room_are_never_wrong),
	{}
};

static struct kunit_suite picture_suite = {
	.name = "oprofile_picture",
	.suite_init = picture_suite_init,
	.suite_exit = picture_suite_exit,
	.init = picture_test_init,
	.exit = picture_test_exit,
	.test_cases = picture_cases,
};

kunit_test_suite(picture_suite);
