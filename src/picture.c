// SPDX-License-Identifier: GPL-2.0
/*
 * picture.c - what the hooks saw of mappings that were about to go
 *
 * A hook copies a mapping (range, place in the file, a counted reference to
 * the file) into a picture; the sync core develops it later, when it comes to
 * the samples that were taken there.
 *
 * Which picture answers is settled by epochs. op_epoch grows each time a new
 * mapping takes the place of a pictured one, while the mmap lock is still held
 * for writing: the old pages and TLB entries are gone by then, and the new
 * mapping can't run yet. The picture is stamped with the new epoch (closed);
 * handlers note the epoch they see. So a sample belongs to the picture with
 * the lowest closing epoch above its own, and to the live mapping where there
 * is none.
 *
 * Kinds of pictures:
 *
 *   RANGE	an executable VMA, or a part of one. Open from the hook before
 *		the unmap until something else is mapped there, or until the
 *		worker has seen the mmap lock free: then the unmap is over.
 *		Or a snapshot, closed from birth: where the sync core can't get
 *		the mmap lock because threads map and unmap all the time, it
 *		asks the next hook, which has the lock, for pictures of all.
 *   EXIT	an executable VMA of an address space without users. It never
 *		closes, as nothing can be mapped there any more.
 *   EXE	the executable of such an address space; also the sign that its
 *		EXIT pictures are complete.
 *   TASK	the executable of a task in do_exit(), for the kernel samples it
 *		still takes after it has let go of its address space.
 *
 * Who writes what: hooks (process context, preemption off) add pictures, close
 * them and count; the worker (one at a time, under op_sync_mutex) closes,
 * collects and frees them. Both under the raw lock of the slot that the key
 * (mm, or when a task began) hashes to. Pictures come from per-CPU pools that
 * only hooks on that CPU take from, with preemption off, and that a work item
 * fills.
 *
 * A picture that no new sample can need (done) waits on a list until a grace
 * period has passed, so that no handler is left that began before it was done,
 * and until every ring has been drained to where it stood then.
 */
#include <linux/bitmap.h>
#include <linux/file.h>
#include <linux/interval_tree_generic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "oprofile.h"

enum picture_kind { RANGE, EXIT, EXE, TASK };

/**
 * struct picture - see above
 * @rb: in the slot's open_ranges (RANGE until closed) or ranges (RANGE, EXIT)
 * @keyed: in the slot's keyed (EXE, TASK)
 * @start: first address
 * @last: last address
 * @subtree_last: the interval tree's own
 * @open: in the slot's open list until done (RANGE, TASK)
 * @list: in a pool, or in done_list, by turns
 * @mm: held by mmgrab()
 * @began: when the task began, which tells it from others of that number; it is
 *	not held, as a task_struct that is not used again at once costs the
 *	next fork() a new page (TASK)
 * @tid: its thread id (TASK)
 * @file: held by get_file(); NULL: none
 * @opener: the task that took it; only compared
 * @delta: file offset of an address, less the address; 0 where no file is
 * @close: the epoch it was closed with
 * @kind: what it shows
 * @closed: @close counts
 * @vdso: no file, but [vdso]
 * @kept: when it was first kept for a sample that was set aside; 0: never
 * @lone: its mapping went in a syscall of the only task there was in its
 *	address space
 * @disputed: something else came there while it was open, nobody knows when:
 *	it can't be told what it answers for. Of an EXE picture: not all EXIT
 *	pictures could be taken, so only closed ones count
 */
struct picture {
	union {
		struct rb_node rb;
		struct hlist_node keyed;
	};
	unsigned long start;
	unsigned long last;
	unsigned long subtree_last;
	struct list_head open;
	struct llist_node list;
	struct mm_struct *mm;
	unsigned long began;
	pid_t tid;
	struct file *file;
	const struct task_struct *opener;
	unsigned long delta;
	unsigned long close;
	enum picture_kind kind;
	unsigned long kept;
	bool closed;
	bool vdso;
	bool lone;
	bool disputed;
};

#define PICTURE_START(p)	((p)->start)
#define PICTURE_LAST(p)		((p)->last)

INTERVAL_TREE_DEFINE(struct picture, rb, unsigned long, subtree_last,
		     PICTURE_START, PICTURE_LAST, static __maybe_unused,
		     ranges)

/* Pictures ready for the hooks of each CPU, and taken at one time (25 MB). */
#ifndef POOL_PER_CPU
#define POOL_PER_CPU		1024
#endif
#define USED_MAX		131072
/* What a snapshot looks at. */
#define SNAPSHOT_VMAS		1024

struct pool {
	struct llist_head free;
	atomic_t count;
};

struct op_slot op_slots[1 << OP_SLOT_BITS];
atomic_long_t op_epoch;

static DEFINE_PER_CPU(struct pool, pools);
static atomic_t nr_pictures;	/* allocated, pools included */
static atomic_t nr_used;	/* out of the pools */
static atomic_t nr_unfinished;	/* in the slots' open lists, and blind slots */
static DECLARE_BITMAP(unfinished, 1 << OP_SLOT_BITS); /* slots with such */
static atomic_long_t nr_missed;	/* could not be taken */
static LLIST_HEAD(done_list);
static struct llist_node *waiting;	/* collected (worker) */
static bool filling;

static void fill_pools(struct work_struct *work);
static DECLARE_WORK(fill_work, fill_pools);

static void fill_irq(struct irq_work *work)
{
	queue_work(system_highpri_wq, &fill_work);
}

static DEFINE_IRQ_WORK(fill_irq_work, fill_irq);

/* ---- pools ------------------------------------------------------------ */

static void fill_pools(struct work_struct *work)
{
	int cpu;

	for_each_present_cpu(cpu) {
		struct pool *pool = per_cpu_ptr(&pools, cpu);

		while (READ_ONCE(filling) &&
		       atomic_read(&pool->count) < POOL_PER_CPU &&
		       atomic_read(&nr_used) < USED_MAX) {
			struct picture *p = kmalloc(sizeof(*p), GFP_KERNEL |
						    __GFP_NOWARN);

			if (!p)
				return;
			atomic_inc(&nr_pictures);
			atomic_inc(&pool->count);
			llist_add(&p->list, &pool->free);
			cond_resched();
		}
	}
}

/* Hooks only: preemption is off, so nobody else takes from this pool. */
static struct picture *pool_take(void)
{
	struct pool *pool = this_cpu_ptr(&pools);
	struct llist_node *node = llist_del_first(&pool->free);
	struct picture *p;

	if (!node) {
		irq_work_queue(&fill_irq_work);
		return NULL;
	}
	if (atomic_dec_return(&pool->count) < POOL_PER_CPU / 2)
		irq_work_queue(&fill_irq_work);
	atomic_inc(&nr_used);
	p = llist_entry(node, struct picture, list);
	memset(p, 0, sizeof(*p));
	INIT_LIST_HEAD(&p->open);
	return p;
}

static void picture_free(struct picture *p)
{
	if (p->file)
		fput(p->file);
	if (p->mm)
		mmdrop(p->mm);
	kfree(p);
	atomic_dec(&nr_pictures);
	atomic_dec(&nr_used);
}

/* ---- under the slot's lock -------------------------------------------- */

/*
 * A kprobe that came by int3 counts as an NMI, in which a debug kernel allows
 * trylocks only. Waiting is safe there too: nothing that holds this lock can
 * be interrupted by a probed function.
 */
static void slot_lock(struct op_slot *slot)
	__acquires(&slot->lock)
{
	if (likely(!in_nmi())) {
		raw_spin_lock(&slot->lock);
		return;
	}
	while (!raw_spin_trylock(&slot->lock))
		cpu_relax();
}

static void slot_unlock(struct op_slot *slot)
	__releases(&slot->lock)
{
	raw_spin_unlock(&slot->lock);
}

static bool same_file(const struct file *a, const struct file *b)
{
	return a == b || (a && b && file_inode(a) == file_inode(b));
}

static unsigned long vma_delta(const struct vm_area_struct *vma)
{
	if (!vma->vm_file)
		return 0;
	return (vma->vm_pgoff << PAGE_SHIFT) - vma->vm_start;
}

/* Does the VMA show the same file at the same place as the picture? */
static bool agrees(const struct picture *p, const struct vm_area_struct *vma)
{
	return same_file(p->file, vma->vm_file) && p->delta == vma_delta(vma) &&
	       p->vdso == op_vma_is_vdso(vma);
}

static bool same_place(const struct picture *a, const struct picture *b)
{
	return same_file(a->file, b->file) && a->delta == b->delta &&
	       a->vdso == b->vdso;
}

static void picture_done(struct op_slot *slot, struct picture *p)
{
	if (!list_empty(&p->open)) {
		list_del_init(&p->open);
		atomic_dec(&slot->nr_open);
		atomic_dec(&nr_unfinished);
	}
	llist_add(&p->list, &done_list);
}

/*
 * A soft sample's epoch is read an unknown time after its address, so here it
 * can't be told in this run what such a sample is of.
 */
static void widen_soft(struct op_slot *slot, const struct mm_struct *mm,
		       unsigned long start, unsigned long last)
{
	if (slot->soft_start > slot->soft_last)
		slot->soft_mm = mm;
	else if (slot->soft_mm != mm)
		slot->soft_mm = NULL;
	slot->soft_start = min(slot->soft_start, start);
	slot->soft_last = max(slot->soft_last, last);
}

/*
 * Is current the only task in this address space? Then none is between the
 * address and the epoch of a soft sample.
 */
static bool is_lone(const struct mm_struct *mm)
{
	return mm == current->mm && atomic_read(&mm->mm_users) == 1;
}

static void picture_close(struct op_slot *slot, struct picture *p)
{
	/* Full barrier: who sees the new mapping's pages sees the epoch too. */
	p->close = atomic_long_inc_return(&op_epoch);
	p->closed = true;
	ranges_remove(p, &slot->open_ranges);
	ranges_insert(p, &slot->ranges);
	atomic_inc(&slot->seq);
	if (!p->lone || p->disputed)
		widen_soft(slot, p->mm, p->start, p->last);
	picture_done(slot, p);
}

/* Something in this slot is to be looked at by op_pictures_retire(). */
static void add_unfinished(struct op_slot *slot)
{
	atomic_inc(&nr_unfinished);
	/* after what is counted; pairs with test_and_clear_bit() there */
	smp_mb__before_atomic();
	set_bit(slot - op_slots, unfinished);
}

static void picture_open(struct op_slot *slot, struct picture *p)
{
	list_add_tail(&p->open, &slot->open);
	atomic_inc(&slot->nr_open);
	add_unfinished(slot);
}

static void raise_blind_epoch(struct op_slot *slot)
{
	slot->blind_epoch = atomic_long_inc_return(&op_epoch);
	atomic_inc(&slot->seq);
}

static bool mm_is_blind(const struct op_slot *slot, const struct mm_struct *mm)
{
	unsigned int i;

	for (i = 0; i < slot->nr_blind; i++) {
		if (slot->blind_mm[i] == mm)
			return true;
	}
	return slot->blind_all;
}

/*
 * An unmap that could not be pictured begins now, and may last: until the
 * worker has seen that it is over, nothing of its address space can be told.
 */
static void slot_blind(struct op_slot *slot, struct mm_struct *mm)
{
	raise_blind_epoch(slot);
	if (mm_is_blind(slot, mm))
		return;
	if (slot->nr_blind == OP_SLOT_BLIND) {
		slot->blind_all = true;
		return;
	}
	mmgrab(mm);
	slot->blind_mm[slot->nr_blind] = mm;
	WRITE_ONCE(slot->nr_blind, slot->nr_blind + 1);
	add_unfinished(slot);
}

/* The @i'th blind unmap is over. The caller drops the mm. */
static void slot_unblind(struct op_slot *slot, unsigned int i)
{
	raise_blind_epoch(slot);
	slot->blind_mm[i] = slot->blind_mm[slot->nr_blind - 1];
	WRITE_ONCE(slot->nr_blind, slot->nr_blind - 1);
	atomic_dec(&nr_unfinished);
}

/* ---- hooks ------------------------------------------------------------ */

/* See to it that the worker comes by and lets go of what was taken. */
static void wake_worker(void)
{
	op_sync_arm(this_cpu_ptr(&op_cpu));
}

static void picture_fill(struct picture *p, const struct vm_area_struct *vma,
			 unsigned long start, unsigned long end)
{
	p->start = start;
	p->last = end - 1;
	p->mm = vma->vm_mm;
	mmgrab(p->mm);
	p->delta = vma_delta(vma);
	p->vdso = op_vma_is_vdso(vma);
	p->opener = current;
	p->lone = is_lone(p->mm);
	p->file = vma->vm_file;
	if (p->file)
		get_file(p->file);
}

/*
 * Compare a VMA, whose lock is held for writing, with the open pictures of its
 * range. One that shows something else is of a mapping that went some time ago;
 * the VMA came there unseen: when, nobody can tell (disputed), but it was there
 * by now. Returns true where one shows just that VMA.
 */
static bool compare_open(struct op_slot *slot, const struct vm_area_struct *vma,
			 unsigned long start, unsigned long last)
{
	struct picture *p, *next;
	bool known = false;

	for (p = ranges_iter_first(&slot->open_ranges, start, last); p;
	     p = next) {
		next = ranges_iter_next(p, start, last);
		if (p->mm != vma->vm_mm)
			continue;
		if (!agrees(p, vma)) {
			p->disputed = true;
			/* not what is done already, with its mm dead */
			if (!list_empty(&p->open))
				picture_close(slot, p);
		} else if (p->start <= start && p->last >= last) {
			known = true;
			p->lone &= is_lone(p->mm);
		}
	}
	return known;
}

/* What lies in an open picture's range that it does not show? */
static void dispute(struct picture *p)
{
	struct vm_area_struct *vma;

	for (vma = find_vma(p->mm, p->start); vma && vma->vm_start <= p->last;
	     vma = find_vma(p->mm, vma->vm_end)) {
		if ((vma->vm_flags & VM_EXEC) && !agrees(p, vma))
			p->disputed = true;
	}
}

/*
 * current holds the lock of @mm for writing, so what others have begun to
 * unmap is unmapped.
 */
static void close_others(struct op_slot *slot, struct mm_struct *mm)
{
	struct picture *p, *next;

	if (!atomic_read(&slot->nr_open))
		return;
	slot_lock(slot);
	list_for_each_entry_safe(p, next, &slot->open, open) {
		if (p->kind == RANGE && p->mm == mm && p->opener != current) {
			dispute(p);
			picture_close(slot, p);
		}
	}
	slot_unlock(slot);
}

/* The next executable VMA from @addr on; counts down @n for each VMA it sees. */
static struct vm_area_struct *next_exec(struct mm_struct *mm,
					unsigned long addr, unsigned int *n)
{
	struct vm_area_struct *vma;

	while (*n > 0) {
		(*n)--;
		vma = find_vma(mm, addr);
		if (!vma || (vma->vm_flags & VM_EXEC))
			return vma;
		addr = vma->vm_end;
	}
	return NULL;
}

/*
 * The sync core can't get the lock of @mm, which is held here. What is mapped
 * now answers for the samples up to now, where no closed picture does. That is
 * a favour: it takes no picture that an unmap may need, and sees no more VMAs
 * than can be looked at with preemption off.
 */
static void take_snapshot(struct op_slot *slot, struct mm_struct *mm)
{
	struct vm_area_struct *vma;
	unsigned long addr, epoch;
	struct picture *p;
	unsigned int n;

	WRITE_ONCE(slot->wanted, NULL);
	/* Before the epoch: what is closed here answers before the snapshot. */
	n = SNAPSHOT_VMAS;
	for (addr = 0; (vma = next_exec(mm, addr, &n)); addr = vma->vm_end) {
		slot_lock(slot);
		compare_open(slot, vma, vma->vm_start, vma->vm_end - 1);
		slot_unlock(slot);
	}
	epoch = atomic_long_inc_return(&op_epoch);
	n = SNAPSHOT_VMAS;
	for (addr = 0; (vma = next_exec(mm, addr, &n)); addr = vma->vm_end) {
		if (atomic_read(&this_cpu_ptr(&pools)->count) <
		    POOL_PER_CPU / 4)
			break;
		p = pool_take();
		if (!p)
			break;
		p->kind = RANGE;
		picture_fill(p, vma, vma->vm_start, vma->vm_end);
		p->close = epoch;
		p->closed = true;
		slot_lock(slot);
		ranges_insert(p, &slot->ranges);
		picture_done(slot, p);
		slot_unlock(slot);
	}
	atomic_inc(&slot->seq);
	wake_worker();
}

/*
 * Picture a VMA, or what [start, end) covers of it; EXIT pictures are done
 * from birth. Returns false where that could not be done.
 */
static bool picture_take(struct op_slot *slot, enum picture_kind kind,
			 const struct vm_area_struct *vma,
			 unsigned long start, unsigned long end)
{
	bool known, taken = true;
	struct picture *p;

	slot_lock(slot);
	known = compare_open(slot, vma, start, end - 1);
	if (!known || kind == EXIT) {
		p = pool_take();
		if (p) {
			p->kind = kind;
			picture_fill(p, vma, start, end);
			if (kind == EXIT) {
				ranges_insert(p, &slot->ranges);
				picture_done(slot, p);
			} else {
				ranges_insert(p, &slot->open_ranges);
				picture_open(slot, p);
			}
		} else {
			taken = false;
		}
	}
	atomic_inc(&slot->seq);
	slot_unlock(slot);
	wake_worker();
	return taken;
}

static int unmap_notify(struct notifier_block *nb, unsigned long type,
			void *data)
{
	const struct op_profile_event *event = data;
	struct mm_struct *mm = event->mm;
	struct op_slot *slot = op_slot_of(mm);
	struct vm_area_struct *vma;
	bool missed = false;

	close_others(slot, mm);
	if (unlikely(READ_ONCE(slot->wanted) == mm))
		take_snapshot(slot, mm);

	for (vma = find_vma(mm, event->start);
	     vma && vma->vm_start < event->end && !missed;
	     vma = find_vma(mm, vma->vm_end)) {
		if (vma->vm_flags & VM_EXEC)
			missed = !picture_take(slot, RANGE, vma,
					       max(vma->vm_start, event->start),
					       min(vma->vm_end, event->end));
	}
	if (unlikely(missed)) {
		atomic_long_inc(&nr_missed);
		slot_lock(slot);
		slot_blind(slot, mm);
		if (!is_lone(mm))
			widen_soft(slot, mm, 0, ULONG_MAX);
		slot_unlock(slot);
		wake_worker();
	}
	return NOTIFY_DONE;
}

/* Something was mapped: what is pictured there, and is not that, is gone. */
static void close_replaced(struct op_slot *slot,
			   const struct op_profile_event *event)
{
	struct picture *p, *next;

	if (!atomic_read(&slot->nr_open))
		return;
	slot_lock(slot);
	list_for_each_entry_safe(p, next, &slot->open, open) {
		if (p->kind != RANGE || p->mm != event->mm ||
		    p->last < event->start || p->start >= event->end)
			continue;
		if (!event->vma || !agrees(p, event->vma))
			picture_close(slot, p);
	}
	slot_unlock(slot);
}

static int map_notify(struct notifier_block *nb, unsigned long type, void *data)
{
	const struct op_profile_event *event = data;
	struct op_slot *slot = op_slot_of(event->mm);

	close_replaced(slot, event);
	/* Only now: what was closed has the lower epoch. */
	if (unlikely(READ_ONCE(slot->wanted) == event->mm) &&
	    rwsem_is_locked(&event->mm->mmap_lock))
		take_snapshot(slot, event->mm);
	return NOTIFY_DONE;
}

/* @missed: not all EXIT pictures of it could be taken. */
static void picture_exe(struct op_slot *slot, struct mm_struct *mm, bool missed)
{
	struct picture *p;

	slot_lock(slot);
	p = pool_take();
	if (p) {
		p->kind = EXE;
		p->disputed = missed;
		p->mm = mm;
		mmgrab(mm);
		p->file = op_get_mm_exe_file(mm);
		hlist_add_head(&p->keyed, &slot->keyed);
		picture_done(slot, p);
	} else {
		atomic_long_inc(&nr_missed);
	}
	slot_unlock(slot);
}

static int exit_mmap_notify(struct notifier_block *nb, unsigned long type,
			    void *data)
{
	const struct op_profile_event *event = data;
	struct mm_struct *mm = event->mm;
	struct op_slot *slot = op_slot_of(mm);
	struct vm_area_struct *vma;
	bool missed = false;
	int n;

	/*
	 * Somebody may wait for the lock (khugepaged), so letting go of it may
	 * have to wake him. On PREEMPT_RT that would switch interrupts on where
	 * a kprobe has them off (arm64).
	 */
	if (!(IS_ENABLED(CONFIG_PREEMPT_RT) && irqs_disabled()) &&
	    mmap_read_trylock(mm)) {
		/*
		 * After a failed fork the tree of 6.12 holds VMAs of the
		 * parent behind the copied ones; map_count counts the latter.
		 */
		n = mm->map_count;
		for (vma = find_vma(mm, 0); vma && n-- > 0 && !missed;
		     vma = find_vma(mm, vma->vm_end)) {
			if (vma->vm_flags & VM_EXEC)
				missed = !picture_take(slot, EXIT, vma,
						       vma->vm_start,
						       vma->vm_end);
		}
		mmap_read_unlock(mm);
	} else {
		missed = true;
	}
	if (unlikely(missed))
		atomic_long_inc(&nr_missed);
	/* Last: who finds it finds the others. */
	picture_exe(slot, mm, missed);
	wake_worker();
	return NOTIFY_DONE;
}

static int exit_task_notify(struct notifier_block *nb, unsigned long type,
			    void *data)
{
	struct op_slot *slot = op_slot_of((void *)op_task_began(current));
	struct picture *p;

	if (current->flags & PF_KTHREAD)
		return NOTIFY_DONE;
	slot_lock(slot);
	p = pool_take();
	if (p) {
		p->kind = TASK;
		p->began = op_task_began(current);
		p->tid = current->pid;
		p->file = op_get_mm_exe_file(current->mm);
		/* newest first */
		hlist_add_head(&p->keyed, &slot->keyed);
		picture_open(slot, p);
	} else {
		atomic_long_inc(&nr_missed);
	}
	slot_unlock(slot);
	wake_worker();
	return NOTIFY_DONE;
}

static struct notifier_block listeners[OP_PROFILE_EVENTS] = {
	[OP_EXIT_TASK] = { .notifier_call = exit_task_notify },
	[OP_EXIT_MMAP] = { .notifier_call = exit_mmap_notify },
	[OP_EXEC_UNMAP] = { .notifier_call = unmap_notify },
	[OP_EXEC_MAP] = { .notifier_call = map_notify },
};

/* ---- the sync core asks ----------------------------------------------- */

static struct picture *find_exe(struct op_slot *slot,
				const struct mm_struct *mm)
{
	struct picture *p;

	hlist_for_each_entry(p, &slot->keyed, keyed) {
		if (p->kind == EXE && p->mm == mm)
			return p;
	}
	return NULL;
}

static struct picture *find_task(struct op_slot *slot, unsigned long began,
				 pid_t tid)
{
	struct picture *p;

	hlist_for_each_entry(p, &slot->keyed, keyed) {
		if (p->kind == TASK && p->began == began && p->tid == tid)
			return p;
	}
	return NULL;
}

static struct file *counted(struct file *file)
{
	return file ? get_file(file) : NULL;
}

/**
 * op_picture_want() - ask the next hook in an address space for a snapshot
 * @mm: its lock can't be had
 *
 * Context: op_sync_mutex held.
 */
void op_picture_want(struct mm_struct *mm)
{
	WRITE_ONCE(op_slot_of(mm)->wanted, mm);
}

/**
 * op_picture_exe() - the executable of an address space without users
 * @mm: pinned
 *
 * Context: op_sync_mutex held.
 * Return: a counted file, or NULL.
 */
struct file *op_picture_exe(struct mm_struct *mm)
{
	struct op_slot *slot = op_slot_of(mm);
	struct file *file = NULL;
	struct picture *p;

	slot_lock(slot);
	p = find_exe(slot, mm);
	if (p)
		file = counted(p->file);
	slot_unlock(slot);
	return file;
}

/**
 * op_picture_task_exe() - the executable of a task that is exiting, or dead
 * @began: op_task_began() of it, as a context note tells
 * @tid: its thread id
 *
 * Context: op_sync_mutex held.
 * Return: a counted file, or NULL.
 */
struct file *op_picture_task_exe(unsigned long began, pid_t tid)
{
	struct op_slot *slot = op_slot_of((void *)began);
	struct file *file = NULL;
	struct picture *p;

	slot_lock(slot);
	p = find_task(slot, began, tid);
	if (p)
		file = counted(p->file);
	slot_unlock(slot);
	return file;
}

/* What the pictures say of an address. */
struct verdict {
	const struct picture *best;	/* NULL: nothing */
	bool unsure;			/* they contradict one another */
};

/* Closed ones first: an open one answers where none of them does. */
static struct verdict judge(struct op_slot *slot, struct mm_struct *mm,
			    unsigned long addr, unsigned long epoch)
{
	struct picture *p, *closed = NULL, *open = NULL;
	struct verdict v = {};

	for (p = ranges_iter_first(&slot->ranges, addr, addr); p;
	     p = ranges_iter_next(p, addr, addr)) {
		if (p->mm != mm)
			continue;
		if (p->closed) {
			if (op_epoch_before(epoch, p->close) &&
			    (!closed || op_epoch_before(p->close, closed->close)))
				closed = p;
		} else if (!open) {
			open = p;
		}
	}
	if (closed) {
		v.best = closed;
		v.unsure = closed->disputed;
		return v;
	}
	for (p = ranges_iter_first(&slot->open_ranges, addr, addr); p;
	     p = ranges_iter_next(p, addr, addr)) {
		if (p->mm != mm)
			continue;
		if (!open)
			open = p;
		if (p->disputed || !same_place(p, open))
			v.unsure = true;
	}
	v.best = open;
	return v;
}

static unsigned int count_in(struct rb_root_cached *root,
			     const struct mm_struct *mm,
			     unsigned long start, unsigned long last)
{
	struct picture *p;
	unsigned int n = 0;

	for (p = ranges_iter_first(root, start, last); p && n < 2;
	     p = ranges_iter_next(p, start, last))
		n += p->mm == mm;
	return n;
}

/* How many pictures there are in a range; two may stand for more. */
static unsigned int count_pictures(struct op_slot *slot,
				   const struct mm_struct *mm,
				   unsigned long start, unsigned long last)
{
	return count_in(&slot->ranges, mm, start, last) +
	       count_in(&slot->open_ranges, mm, start, last);
}

/*
 * Nothing can be told of samples that are older than the last time the slot
 * was blind, or while it is; nor of a soft sample where another task has changed
 * mappings in this run: see widen_soft().
 */
static bool untellable(const struct op_slot *slot, const struct mm_struct *mm,
		       unsigned long addr, unsigned long epoch, bool soft)
{
	if (unlikely(slot->blind_epoch &&
		     op_epoch_before(epoch, slot->blind_epoch)))
		return true;
	if (unlikely(mm_is_blind(slot, mm)))
		return true;
	return soft && addr >= slot->soft_start && addr <= slot->soft_last &&
	       (!slot->soft_mm || slot->soft_mm == mm);
}

/* A raw answer: what is to be turned into a cookie once no lock is held. */
struct answer {
	struct file *file;	/* counted */
	unsigned long delta;
	bool vdso;
};

static enum op_found picture_answer(const struct picture *p,
				    struct answer *answer)
{
	answer->file = counted(p->file);
	answer->delta = p->delta;
	answer->vdso = p->vdso;
	return OP_FOUND;
}

/* The users of @mm are gone: only pictures can tell. */
static enum op_found find_dead(struct op_slot *slot, struct mm_struct *mm,
			       unsigned long addr, unsigned long epoch,
			       bool soft, struct answer *answer,
			       struct op_place *place)
{
	enum op_found found = OP_NO_MAPPING;
	const struct picture *exe;
	struct verdict v;

	slot_lock(slot);
	exe = find_exe(slot, mm);
	if (!exe) {
		found = OP_NO_MM;
	} else if (!untellable(slot, mm, addr, epoch, soft)) {
		v = judge(slot, mm, addr, epoch);
		if (v.best && !v.unsure && (v.best->closed || !exe->disputed))
			found = picture_answer(v.best, answer);
		/* Nothing is mapped there any more, whatever the epoch. */
		if (found == OP_FOUND && v.best->kind == EXIT &&
		    count_pictures(slot, mm, v.best->start,
				   v.best->last) == 1) {
			place->live = true;
			place->start = v.best->start;
			place->end = v.best->last + 1;
			place->seq = atomic_read(&slot->seq);
		}
	}
	slot_unlock(slot);
	return found;
}

/*
 * What a closed picture says holds whatever is mapped now: what is closed later
 * has a higher epoch. So this needs no lock of @mm. Returns OP_BUSY where no
 * such picture answers.
 */
static enum op_found find_closed(struct op_slot *slot, struct mm_struct *mm,
				 unsigned long addr, unsigned long epoch,
				 bool soft, struct answer *answer)
{
	enum op_found found = OP_BUSY;
	struct verdict v;

	slot_lock(slot);
	if (!untellable(slot, mm, addr, epoch, soft)) {
		v = judge(slot, mm, addr, epoch);
		if (v.best && v.best->closed)
			found = v.unsure ? OP_NO_MAPPING :
					   picture_answer(v.best, answer);
	}
	slot_unlock(slot);
	return found;
}

/* Under the mmap lock of @mm, so nothing changes between the looks. */
static enum op_found find_live(struct op_slot *slot, struct mm_struct *mm,
			       unsigned long addr, unsigned long epoch,
			       bool soft, struct answer *answer,
			       struct op_place *place)
{
	enum op_found found = OP_NO_MAPPING;
	struct vm_area_struct *vma;
	struct verdict v;

	vma = find_vma(mm, addr);
	if (vma && vma->vm_start > addr)
		vma = NULL;

	slot_lock(slot);
	if (untellable(slot, mm, addr, epoch, soft))
		goto unlock;
	v = judge(slot, mm, addr, epoch);
	if (v.best) {
		if (!v.unsure &&
		    (v.best->closed || !vma || !(vma->vm_flags & VM_EXEC) ||
		     agrees(v.best, vma)))
			found = picture_answer(v.best, answer);
	} else if (vma && (vma->vm_flags & VM_EXEC)) {
		answer->file = counted(vma->vm_file);
		answer->delta = vma_delta(vma);
		answer->vdso = op_vma_is_vdso(vma);
		place->live = !count_pictures(slot, mm, vma->vm_start,
					      vma->vm_end - 1);
		place->start = vma->vm_start;
		place->end = vma->vm_end;
		place->seq = atomic_read(&slot->seq);
		found = OP_FOUND;
	}
unlock:
	slot_unlock(slot);
	return found;
}

/**
 * op_picture_find() - find what was mapped where a sample was taken
 * @mm: its address space; pinned, and noted (op_mm_note())
 * @addr: its address
 * @epoch: the epoch it was taken in
 * @soft: it was taken with interrupts on, so its epoch may be too new
 * @place: takes the answer
 *
 * Context: op_sync_mutex held; may sleep, but doesn't wait for @mm's lock.
 * Return: OP_FOUND (@place->cookie is 0 also where no cookie could be had for
 *	a file: then @place->offset is OP_ESCAPE_CODE), or why not.
 */
enum op_found op_picture_find(struct mm_struct *mm, unsigned long addr,
			      unsigned long epoch, bool soft,
			      struct op_place *place)
{
	struct op_slot *slot = op_slot_of(mm);
	struct answer answer = {};
	enum op_found found;

	place->live = false;
	if (mmget_not_zero(mm)) {
		found = OP_BUSY;
		if (mmap_read_trylock(mm)) {
			found = find_live(slot, mm, addr, epoch, soft, &answer,
					  place);
			mmap_read_unlock(mm);
		}
		mmput_async(mm);
	} else {
		found = find_dead(slot, mm, addr, epoch, soft, &answer, place);
	}
	if (found == OP_BUSY || found == OP_NO_MM) {
		enum op_found closed = find_closed(slot, mm, addr, epoch, soft,
						   &answer);

		if (closed != OP_BUSY)
			found = closed;
	}
	if (found != OP_FOUND)
		return found;

	place->delta = answer.delta;
	place->offset = addr + answer.delta;
	if (answer.file) {
		place->cookie = op_cookie(answer.file);
		fput(answer.file);
		if (!place->cookie)
			place->offset = OP_ESCAPE_CODE;
	} else {
		place->cookie = answer.vdso ? OP_COOKIE_VDSO : OP_NO_COOKIE;
	}
	return OP_FOUND;
}

/* ---- the sync core lets go -------------------------------------------- */

/*
 * No mapping operation is under way in @mm, as we hold its lock for writing:
 * whatever was pictured is gone, or has stayed.
 */
static void close_all(struct op_slot *slot, struct mm_struct *mm)
{
	struct picture *p, *next;
	unsigned int i;

	slot_lock(slot);
	list_for_each_entry_safe(p, next, &slot->open, open) {
		if (p->kind != RANGE || p->mm != mm)
			continue;
		dispute(p);
		picture_close(slot, p);
	}
	for (i = 0; i < slot->nr_blind; i++) {
		if (slot->blind_mm[i] == mm) {
			slot_unblind(slot, i);
			/* the caller holds another reference */
			mmdrop(mm);
			break;
		}
	}
	slot_unlock(slot);
}

/* Address spaces to be locked, each held by mmgrab(). */
struct mm_batch {
	struct mm_struct *mm[8];
	unsigned int n;
};

static void batch_add(struct mm_batch *batch, struct mm_struct *mm)
{
	unsigned int i;

	for (i = 0; i < batch->n; i++) {
		if (batch->mm[i] == mm)
			return;
	}
	if (batch->n == ARRAY_SIZE(batch->mm))
		return;
	mmgrab(mm);
	batch->mm[batch->n++] = mm;
}

/*
 * Or as good as: one that nobody waits for is forgotten a moment before its last
 * instruction. The drains that must come before its picture goes take longer.
 */
static bool task_is_dead(const struct picture *p)
{
	struct task_struct *task;
	bool dead;

	rcu_read_lock();
	task = pid_task(find_pid_ns(p->tid, &init_pid_ns), PIDTYPE_PID);
	dead = !task || op_task_began(task) != p->began ||
	       op_task_is_dead(task);
	rcu_read_unlock();
	return dead;
}

static void retire_slot(struct op_slot *slot)
{
	struct mm_struct *dead[OP_SLOT_BLIND];
	unsigned int i, nr_dead = 0;
	struct mm_batch batch = {};
	struct picture *p, *next;

	slot_lock(slot);
	list_for_each_entry_safe(p, next, &slot->open, open) {
		if (p->kind == TASK) {
			if (task_is_dead(p))
				picture_done(slot, p);
			continue;
		}
		if (!atomic_read(&p->mm->mm_users)) {
			/* exit_mmap's pictures come behind it, or have come */
			picture_done(slot, p);
			continue;
		}
		batch_add(&batch, p->mm);
	}
	for (i = slot->nr_blind; i-- > 0; ) {
		struct mm_struct *mm = slot->blind_mm[i];

		if (atomic_read(&mm->mm_users)) {
			batch_add(&batch, mm);
		} else {
			slot_unblind(slot, i);
			dead[nr_dead++] = mm;
		}
	}
	slot_unlock(slot);

	while (nr_dead > 0)
		mmdrop(dead[--nr_dead]);
	for (i = 0; i < batch.n; i++) {
		struct mm_struct *mm = batch.mm[i];

		if (mmget_not_zero(mm)) {
			if (op_mmap_write_trylock(mm)) {
				close_all(slot, mm);
				op_mmap_write_unlock(mm);
			}
			mmput_async(mm);
		}
		mmdrop(mm);
	}
}

static bool slot_is_unfinished(const struct op_slot *slot)
{
	return atomic_read(&slot->nr_open) || READ_ONCE(slot->nr_blind);
}

static void retire_unfinished(unsigned int i)
{
	struct op_slot *slot = &op_slots[i];

	/* a full barrier: see add_unfinished() */
	if (!test_and_clear_bit(i, unfinished) || !slot_is_unfinished(slot))
		return;
	retire_slot(slot);
	if (slot_is_unfinished(slot))
		set_bit(i, unfinished);
	cond_resched();
}

/**
 * op_pictures_retire() - find the pictures that no new sample will need
 *
 * Context: op_sync_mutex held, may sleep.
 */
void op_pictures_retire(void)
{
	unsigned long bits;
	unsigned int i, bit;

	if (!atomic_read(&nr_unfinished))
		return;
	for (i = 0; i < ARRAY_SIZE(unfinished); i++) {
		bits = READ_ONCE(unfinished[i]);
		for_each_set_bit(bit, &bits, BITS_PER_LONG)
			retire_unfinished(i * BITS_PER_LONG + bit);
	}
}

/**
 * op_pictures_unfinished() - may an unmap be under way that was seen, or not?
 */
bool op_pictures_unfinished(void)
{
	return atomic_read(&nr_unfinished);
}

static void prepend_waiting(struct llist_node *list)
{
	struct llist_node *last = list;

	if (!list)
		return;
	while (last->next)
		last = last->next;
	last->next = waiting;
	waiting = list;
}

/**
 * op_pictures_collect() - put the pictures that are done on the waiting list
 *
 * They go with the op_pictures_release() that follows a grace period that
 * began after this call, and a drain that began after that.
 *
 * Context: op_sync_mutex held.
 * Return: true where any are waiting.
 */
bool op_pictures_collect(void)
{
	prepend_waiting(llist_del_all(&done_list));
	return waiting;
}

static struct op_slot *picture_slot(const struct picture *p)
{
	return op_slot_of(p->kind == TASK ? (void *)p->began : (void *)p->mm);
}

static void picture_unlink(struct op_slot *slot, struct picture *p)
{
	slot_lock(slot);
	if (p->kind == RANGE && !p->closed)
		ranges_remove(p, &slot->open_ranges);
	else if (p->kind == RANGE || p->kind == EXIT)
		ranges_remove(p, &slot->ranges);
	else
		hlist_del(&p->keyed);
	slot_unlock(slot);
}

/*
 * A sample that was set aside may still need it; but not one that was set
 * aside after this picture could first have gone.
 */
static bool must_keep(const struct op_slot *slot, struct picture *p)
{
	if (!slot->aside)
		return false;
	if (!p->kept)
		/* 0 is never */
		p->kept = jiffies | 1;
	return time_before(jiffies, p->kept + OP_ASIDE_TIME + HZ);
}

/**
 * op_pictures_release() - free what op_pictures_collect() has put to wait
 *
 * What a sample that was set aside may need waits for another round.
 *
 * Context: op_sync_mutex held, may sleep.
 */
void op_pictures_release(void)
{
	struct llist_node *list = waiting;
	struct picture *p, *next;

	waiting = NULL;
	llist_for_each_entry_safe(p, next, list, list) {
		struct op_slot *slot = picture_slot(p);

		if (must_keep(slot, p)) {
			p->list.next = waiting;
			waiting = &p->list;
			continue;
		}
		picture_unlink(slot, p);
		picture_free(p);
		cond_resched();
	}
}

/**
 * op_pictures_left() - are there pictures that the worker must come back for?
 */
bool op_pictures_left(void)
{
	return atomic_read(&nr_used) || atomic_read(&nr_unfinished);
}

/**
 * op_pictures_missed() - how many pictures could not be taken
 */
unsigned long op_pictures_missed(void)
{
	return atomic_long_read(&nr_missed);
}

/* ---- setup ------------------------------------------------------------ */

/**
 * op_pictures_init() - set up, once
 *
 * Return: 0, or a negative errno.
 */
int op_pictures_init(void)
{
	enum op_profile_event_type type;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(op_slots); i++) {
		raw_spin_lock_init(&op_slots[i].lock);
		op_slots[i].ranges = RB_ROOT_CACHED;
		op_slots[i].open_ranges = RB_ROOT_CACHED;
		INIT_LIST_HEAD(&op_slots[i].open);
	}
	for (type = 0; type < OP_PROFILE_EVENTS; type++) {
		err = op_profile_event_register(type, &listeners[type]);
		if (err)
			goto unregister;
	}
	return 0;

unregister:
	while (type-- > 0)
		op_profile_event_unregister(type, &listeners[type]);
	return err;
}

/**
 * op_pictures_exit() - undo op_pictures_init()
 */
void op_pictures_exit(void)
{
	enum op_profile_event_type type;

	for (type = 0; type < OP_PROFILE_EVENTS; type++)
		op_profile_event_unregister(type, &listeners[type]);
}

static void slot_reset(struct op_slot *slot)
{
	slot->blind_epoch = 0;
	slot->blind_all = false;
	slot->wanted = NULL;
	slot->soft_start = ULONG_MAX;
	slot->soft_last = 0;
	slot->soft_mm = NULL;
}

/**
 * op_pictures_start() - fill the pools, for a new run
 *
 * Context: no hook and no counter is active; may sleep.
 * Return: 0, or -ENOMEM.
 */
int op_pictures_start(void)
{
	unsigned int i;

	/* 0 means "never blind", and that is what a slot begins with. */
	atomic_long_set(&op_epoch, 1);
	for (i = 0; i < ARRAY_SIZE(op_slots); i++)
		slot_reset(&op_slots[i]);
	atomic_long_set(&nr_missed, 0);
	WRITE_ONCE(filling, true);
	fill_pools(NULL);
	if (!atomic_read(&nr_pictures)) {
		WRITE_ONCE(filling, false);
		return -ENOMEM;
	}
	return 0;
}

/* Under RCU. The leader of a process may have gone before its threads. */
static struct mm_struct *process_mm(struct task_struct *leader)
{
	struct task_struct *thread;
	struct mm_struct *mm;

	for_each_thread(leader, thread) {
		mm = get_task_mm(thread);
		if (mm)
			return mm;
	}
	return NULL;
}

/**
 * op_pictures_blind_busy() - find the unmaps that began before the hooks
 *
 * Their address spaces are locked for writing. Nothing can be told of them
 * until the worker has seen the lock free.
 *
 * Context: hooks are active, no counter is; process context.
 */
void op_pictures_blind_busy(void)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task) {
		struct mm_struct *mm = process_mm(task);
		struct op_slot *slot;

		if (!mm)
			continue;
		/* munmap() zaps under the lock for reading */
		if (op_mmap_write_trylock(mm)) {
			op_mmap_write_unlock(mm);
		} else {
			slot = op_slot_of(mm);
			slot_lock(slot);
			slot_blind(slot, mm);
			slot_unlock(slot);
		}
		mmput_async(mm);
	}
	rcu_read_unlock();
}

static void slot_empty(struct op_slot *slot)
{
	struct picture *p, *next;

	list_for_each_entry_safe(p, next, &slot->open, open)
		picture_done(slot, p);
	while (slot->nr_blind > 0) {
		struct mm_struct *mm = slot->blind_mm[0];

		slot_unblind(slot, 0);
		mmdrop(mm);
	}
	WARN_ON_ONCE(atomic_read(&slot->pending));
	WARN_ON_ONCE(slot->aside);
}

/**
 * op_pictures_stop() - drop all pictures and empty the pools
 *
 * Context: no hook and no counter is active, all rings have been drained,
 *	nobody else runs the sync core; may sleep.
 */
void op_pictures_stop(void)
{
	struct picture *p, *next;
	unsigned int i;
	int cpu;

	WRITE_ONCE(filling, false);
	irq_work_sync(&fill_irq_work);
	cancel_work_sync(&fill_work);
	for (i = 0; i < ARRAY_SIZE(op_slots); i++)
		slot_empty(&op_slots[i]);
	WARN_ON_ONCE(atomic_read(&nr_unfinished));
	bitmap_zero(unfinished, ARRAY_SIZE(op_slots));
	op_pictures_collect();
	op_pictures_release();
	for_each_possible_cpu(cpu) {
		struct pool *pool = per_cpu_ptr(&pools, cpu);

		llist_for_each_entry_safe(p, next, llist_del_all(&pool->free),
					  list) {
			kfree(p);
			atomic_dec(&nr_pictures);
		}
		atomic_set(&pool->count, 0);
	}
	WARN_ON_ONCE(atomic_read(&nr_pictures));
}
