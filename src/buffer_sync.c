// SPDX-License-Identifier: GPL-2.0
/*
 * buffer_sync.c - the sync core: from the rings to the event buffer
 *
 * Runs in workers only, one drain at a time (op_sync_mutex): in its own time,
 * for `dump`, when a kernel module comes or goes, and at stop. It turns
 * each sample's address into a cookie and an offset, with the pictures' help,
 * and never waits for one process: a sample whose address space can't be asked
 * now is set aside and tried again.
 *
 * What belongs to op_sync_mutex: the drains (what each CPU's ring said last),
 * the spaces (what was found out), the set-aside samples, and the state of the
 * grace period that pictures and stale contexts wait for.
 *
 * The worker comes every second while there is something to do. Before it
 * stays away it clears op_sync_armed, has each CPU's next handler look at it
 * (op_rings_restate()), and waits for a grace period: a handler that had not
 * seen that is over by then and its sample is found in the ring, and a later
 * one sees it and calls the worker.
 */
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "event_buffer.h"
#include "oprofile.h"
#include "test_nmi.h"

/* More frames than this are not written to a ring. */
#define FRAMES_MAX		127

#define PERIOD			HZ		/* while samples come */
#define PERIOD_RETRY		max(HZ / 50, 1)	/* while samples are aside */
#define PERIOD_GRACE		max(HZ / 4, 1)	/* while pictures wait */
#define ASIDE_MAX		8192
#define BURST			128		/* usual records at once */
#define COST			16		/* of another one, in such */
#define STOP_GRACE		(HZ / 2)
#define SPACE_TIME		(5 * HZ)	/* until it is found out again */

/**
 * struct subject - whose a sample is
 * @context: what the stream says of it
 * @mm: its address space, noted (op_mm_note()); NULL: none
 * @epoch: when it was taken
 */
struct subject {
	struct op_context context;
	struct mm_struct *mm;
	unsigned long epoch;
};

/**
 * struct space - what has been found out of an address space
 * @list: in spaces_known
 * @mm: it; noted, so that the hooks see to it that @place is right; NULL:
 *	nothing
 * @exe: its executable when @app was found; only compared
 * @app: cookie of that, or OP_NO_COOKIE
 * @place: the last answer for a live mapping; see op_picture_find()
 * @place_epoch: epoch of the sample that got it
 * @until: when to forget it: nobody tells when a file has been written to
 */
struct space {
	struct list_head list;
	struct mm_struct *mm;
	const struct file *exe;
	unsigned long app;
	struct op_place place;
	unsigned long place_epoch;
	unsigned long until;
};

/**
 * struct drain - what one CPU's ring has said so far
 * @subject: owns the note of the last context record
 * @note: counts context records
 * @busy: number of the pass in which the mm could not be asked
 * @why: why not
 * @stale: the value of @note at which the writer was asked to restate
 * @stale_known: @stale counts
 */
struct drain {
	struct subject subject;
	unsigned long note;
	unsigned long busy;
	enum op_found why;
	unsigned long stale;
	bool stale_known;
};

/* A sample that was set aside, with its own note of the mm. */
struct aside {
	struct list_head list;
	struct subject subject;
	unsigned long deadline;
	unsigned long header;
	unsigned long addr[];
};

int op_sync_armed;

static DEFINE_MUTEX(op_sync_mutex);
static DEFINE_PER_CPU(struct drain, drains);
static struct space spaces[1 << OP_SLOT_BITS];
static LIST_HEAD(spaces_known);
static LIST_HEAD(aside_list);
static unsigned int nr_aside;
static unsigned long pass;
static bool running;

static struct workqueue_struct *sync_wq;
static void sync_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(sync_work, sync_worker);

/* Of the grace period that op_pictures_collect() and stale contexts wait for. */
enum { GRACE_NONE, GRACE_WAITING, GRACE_OVER };
static int grace;
static struct rcu_head grace_rcu;

static void grace_over(struct rcu_head *head)
{
	/* pairs with the acquire in sync_pass() */
	smp_store_release(&grace, GRACE_OVER);
}

/* ---- address spaces --------------------------------------------------- */

static void space_forget(struct space *sp)
{
	list_del(&sp->list);
	op_mm_unnote(sp->mm);
	sp->mm = NULL;
	sp->place.live = false;
}

/* Where what is known of an address space is, or would be. */
static struct space *space_at(const struct mm_struct *mm)
{
	return &spaces[hash_ptr(mm, OP_SLOT_BITS)];
}

static noinline void space_begin(struct space *sp, struct mm_struct *mm)
{
	if (sp->mm)
		space_forget(sp);
	op_mm_note(mm);
	sp->mm = mm;
	sp->app = OP_NO_COOKIE;
	sp->until = jiffies + SPACE_TIME;
	list_add(&sp->list, &spaces_known);
}

/* What is known of an address space, which the caller has noted. */
static struct space *space_of(struct mm_struct *mm)
{
	struct space *sp = space_at(mm);

	if (unlikely(sp->mm != mm))
		space_begin(sp, mm);
	return sp;
}

/* Those of the dead, and what may have changed since; or @all. */
static void forget_spaces(bool all)
{
	struct space *sp, *next;

	list_for_each_entry_safe(sp, next, &spaces_known, list) {
		if (all || !atomic_read(&sp->mm->mm_users) ||
		    time_after_eq(jiffies, sp->until))
			space_forget(sp);
		cond_resched();
	}
}

/* ---- one sample ------------------------------------------------------- */

static unsigned int record_frames(unsigned long header)
{
	return header >> OP_REC_FRAMES_SHIFT;
}

/* Those that there is room for. */
static unsigned int known_frames(unsigned long header)
{
	return min_t(unsigned int, record_frames(header), FRAMES_MAX);
}

static void count_lost(enum op_found why)
{
	switch (why) {
	case OP_BUSY:
		op_count(&op_stats.lost_mmap_lock, 1);
		break;
	case OP_NO_MM:
		op_count(&op_stats.lost_no_mm, 1);
		break;
	default:
		op_count(&op_stats.lost_no_mapping, 1);
		break;
	}
}

static bool is_kernel_address(unsigned long addr)
{
	return addr >= TASK_SIZE_MAX;
}

/* Does the last answer still hold, at its addresses? See struct op_place. */
static bool place_holds(const struct subject *s, const struct space *sp)
{
	const struct op_place *p = &sp->place;

	return sp->mm == s->mm && p->live &&
	       !op_epoch_before(s->epoch, sp->place_epoch) &&
	       p->seq == atomic_read(&op_slot_of(s->mm)->seq);
}

/* Ask, and keep the answer. */
static noinline enum op_found ask_place(const struct subject *s,
					unsigned long addr, bool soft,
					struct op_entry *entry)
{
	struct op_place place;
	enum op_found found;
	struct space *sp;

	found = op_picture_find(s->mm, addr, s->epoch, soft, &place);
	if (found != OP_FOUND)
		return found;
	entry->cookie = place.cookie;
	entry->offset = place.offset;
	if (place.live && place.offset != OP_ESCAPE_CODE &&
	    op_profile_event_told(OP_EXEC_UNMAP)) {
		sp = space_of(s->mm);
		sp->place = place;
		sp->place_epoch = s->epoch;
	}
	return OP_FOUND;
}

/*
 * Find where a user address lies. A full cookie table answers with an offset
 * that no file has.
 */
static __always_inline enum op_found locate(const struct subject *s,
					    unsigned long addr, bool soft,
					    struct op_entry *entry)
{
	const struct space *sp = space_at(s->mm);
	const struct op_place *p = &sp->place;

	if (unlikely(!s->mm))
		return OP_NO_MM;
	if (unlikely(soft || addr - p->start >= p->end - p->start ||
		     !place_holds(s, sp)))
		return ask_place(s, addr, soft, entry);
	entry->cookie = p->cookie;
	entry->offset = addr + p->delta;
	return OP_FOUND;
}

/*
 * Turn a record into entries, which there is room for at @entry, and deliver
 * them. Returns OP_FOUND when it is settled one way or the other, or why it must
 * be tried again.
 */
static __always_inline enum op_found settle_at(struct op_entry *entry,
					       const struct subject *s,
					       unsigned long header,
					       const unsigned long *addr,
					       unsigned int frames)
{
	unsigned int i, n = 1;
	enum op_found found;

	entry[0].kernel = header & OP_REC_KERNEL;
	entry[0].offset = addr[0];
	if (!entry[0].kernel) {
		found = locate(s, addr[0], header & OP_REC_SOFT, &entry[0]);
		if (found == OP_BUSY || found == OP_NO_MM)
			return found;
		if (found != OP_FOUND) {
			count_lost(found);
			return OP_FOUND;
		}
		if (unlikely(entry[0].offset == OP_ESCAPE_CODE)) {
			op_count(&op_stats.lost_no_cookie, 1);
			return OP_FOUND;
		}
	}
	for (i = 1; i <= frames; i++) {
		entry[n].kernel = is_kernel_address(addr[i]);
		entry[n].offset = addr[i];
		if (!entry[n].kernel &&
		    (locate(s, addr[i], header & OP_REC_SOFT,
			    &entry[n]) != OP_FOUND ||
		     entry[n].offset == OP_ESCAPE_CODE)) {
			op_count(&op_stats.bt_lost_no_mapping, 1);
			continue;
		}
		n++;
	}
	n--;
	if (n || !op_eb_put(&s->context, header & OP_REC_EVENT_MASK, entry))
		op_eb_sample(&s->context, header & OP_REC_EVENT_MASK, entry, n);
	return OP_FOUND;
}

static noinline enum op_found settle(const struct subject *s,
				     unsigned long header,
				     const unsigned long *addr)
{
	/* too many for a stack */
	static struct op_entry entries[1 + FRAMES_MAX];

	return settle_at(entries, s, header, addr, known_frames(header));
}

/* One without frames, as most are. */
static enum op_found settle_one(const struct subject *s, unsigned long header,
				unsigned long addr)
{
	static struct op_entry entry;

	return settle_at(&entry, s, header, &addr, 0);
}

/* ---- samples that wait ------------------------------------------------ */

static void set_aside(const struct subject *s, unsigned long header,
		      const unsigned long *addr, enum op_found why)
{
	unsigned int n = 1 + known_frames(header);
	struct aside *a = NULL;

	if (s->mm && nr_aside < ASIDE_MAX)
		a = kmalloc(struct_size(a, addr, n), GFP_KERNEL | __GFP_NOWARN);
	if (!a) {
		count_lost(why);
		return;
	}
	a->subject = *s;
	a->header = header;
	a->deadline = jiffies + OP_ASIDE_TIME;
	memcpy(a->addr, addr, n * sizeof(*addr));
	op_mm_note(s->mm);
	op_slot_of(s->mm)->aside++;
	if (why == OP_BUSY)
		op_picture_want(s->mm);
	list_add_tail(&a->list, &aside_list);
	nr_aside++;
}

static void aside_free(struct aside *a)
{
	list_del(&a->list);
	nr_aside--;
	op_slot_of(a->subject.mm)->aside--;
	op_mm_unnote(a->subject.mm);
	kfree(a);
}

/* Try them again; with @give_up those that must still wait are lost. */
static void retry_aside(bool give_up)
{
	enum op_found found, why = OP_BUSY;
	struct mm_struct *busy = NULL;
	struct aside *a, *next;

	if (list_empty(&aside_list))
		return;
	op_eb_begin();
	list_for_each_entry_safe(a, next, &aside_list, list) {
		/*
		 * An mm that is busy now is busy for its other samples too. But
		 * before one is lost, ask: a picture may have the answer.
		 */
		if (a->subject.mm == busy && !give_up &&
		    time_before(jiffies, a->deadline))
			found = why;
		else
			found = settle(&a->subject, a->header, a->addr);
		if (found != OP_FOUND) {
			busy = a->subject.mm;
			why = found;
			if (!give_up && time_before(jiffies, a->deadline))
				continue;
			count_lost(found);
		}
		aside_free(a);
		cond_resched();
	}
	op_eb_publish();
}

/* ---- one ring --------------------------------------------------------- */

static unsigned long cookie_put(struct file *file)
{
	unsigned long cookie;

	if (!file)
		return OP_NO_COOKIE;
	cookie = op_cookie(file);
	fput(file);
	return cookie;
}

/* The program of a context without an address space. */
static unsigned long find_app(unsigned long header, unsigned long key,
			      unsigned long tid)
{
	if (header & OP_REC_KTHREAD)
		return OP_COOKIE_KTHREAD;
	return cookie_put(op_picture_task_exe(key, tid));
}

/*
 * The program of one that has an address space. When that gets another
 * executable, or ends, its pointer changes.
 */
static unsigned long find_user_app(struct mm_struct *mm)
{
	struct space *sp = space_of(mm);
	const struct file *exe = rcu_access_pointer(mm->exe_file);
	struct file *file;

	if (unlikely(sp->exe != exe || sp->app == OP_NO_COOKIE)) {
		/* In this order: exit_mmap() comes before the file goes. */
		file = op_get_mm_exe_file(mm);
		if (!file)
			file = op_picture_exe(mm);
		sp->app = cookie_put(file);
		sp->exe = exe;
	}
	return sp->app;
}

static void end_context(struct drain *d)
{
	if (d->subject.mm)
		op_mm_unnote(d->subject.mm);
	d->subject.mm = NULL;
	d->stale_known = false;
}

/* A context record: it brings a note, and ends the last one's. */
static void take_context(struct drain *d, unsigned long header,
			 unsigned long key, unsigned long tid,
			 unsigned long tgid)
{
	struct subject *s = &d->subject;
	struct mm_struct *old = s->mm;

	s->context.tid = tid;
	s->context.tgid = tgid;
	if (unlikely(header & (OP_REC_KTHREAD | OP_REC_EXITING))) {
		s->mm = NULL;
		s->context.app = find_app(header, key, tid);
	} else {
		s->mm = (struct mm_struct *)key;
		s->context.app = find_user_app(s->mm);
	}
	if (s->mm != old)
		d->busy = 0;
	if (old)
		op_mm_unnote(old);
	d->note++;
}

static bool is_usual(unsigned long header)
{
	return !(header & ~(OP_REC_EVENT_MASK | OP_REC_KERNEL));
}

/*
 * Usual records that follow one another, from @pos on: they say nothing but
 * their addresses, in a context that the stream has, and all lie in the kernel,
 * or where the last answer holds. That it holds still is asked once: a picture
 * that is taken after the ring was looked at is of no concern to what was there
 * by then. No end of a ring lies between them. Returns how many were settled.
 */
static unsigned int settle_usual(const struct drain *d,
				 const struct op_ring *ring, unsigned long pos,
				 unsigned long end)
{
	unsigned long at = pos & (ring->size - 1);
	const unsigned long *in = ring->words + at;
	unsigned long start = 0, size = ULONG_MAX, delta = 0;
	unsigned long mode = OP_REC_KERNEL, addr, room;
	const struct op_place *p;
	const struct space *sp;
	unsigned int i, n;
	unsigned long *out;

	if (!op_writer.said.kernel) {
		sp = space_at(d->subject.mm);
		p = &sp->place;
		if (!place_holds(&d->subject, sp) ||
		    !op_eb_said_place(false, p->cookie))
			return 0;
		mode = 0;
		start = p->start;
		size = p->end - p->start;
		delta = p->delta;
	}
	out = op_eb_room(&room);
	n = min_t(unsigned long, min3(end - pos, ring->size - at, room) / 2,
		  BURST);
	for (i = 0; i < n; i++, in += 2, out += 2) {
		addr = in[1];
		if ((in[0] & ~OP_REC_EVENT_MASK) != mode || addr - start >= size)
			break;
		out[0] = addr + delta;
		out[1] = in[0] & OP_REC_EVENT_MASK;
	}
	op_eb_add(2 * i);
	return i;
}

/* Any record, of a ring with these words. Returns where the next one begins. */
static __always_inline unsigned long drain_record(struct drain *d,
						  const unsigned long *words,
						  unsigned long mask,
						  unsigned long pos)
{
	static unsigned long addr[1 + FRAMES_MAX];
	unsigned long header = words[pos++ & mask];
	unsigned int i, frames = record_frames(header);
	enum op_found found;

	if (header & OP_REC_EPOCH)
		d->subject.epoch = words[pos++ & mask];
	if (header & OP_REC_CONTEXT) {
		take_context(d, header, words[pos & mask],
			     words[(pos + 1) & mask], words[(pos + 2) & mask]);
		pos += 3;
	}
	addr[0] = words[pos++ & mask];
	for (i = 1; unlikely(i <= frames); i++, pos++) {
		if (i <= FRAMES_MAX)
			addr[i] = words[pos & mask];
	}
	if (!(header & OP_REC_KERNEL) && d->busy == pass && nr_aside < ASIDE_MAX)
		found = d->why;
	else if (likely(!frames))
		found = settle_one(&d->subject, header, addr[0]);
	else
		found = settle(&d->subject, header, addr);
	if (unlikely(found != OP_FOUND)) {
		d->busy = pass;
		d->why = found;
		set_aside(&d->subject, header, addr, found);
	}
	return pos;
}

/*
 * Records up to the next usual one, or to @end. Adds to @cost, and stops where
 * that has reached BURST. Returns where the next one begins.
 */
static noinline unsigned long drain_records(struct drain *d,
					    const struct op_ring *ring,
					    unsigned long pos,
					    unsigned long end,
					    unsigned int *cost)
{
	const unsigned long *words = ring->words;
	unsigned long mask = ring->size - 1;
	unsigned int n = *cost;

	do {
		pos = drain_record(d, words, mask, pos);
		n += COST;
	} while (pos != end && n < BURST && !is_usual(words[pos & mask]));
	*cost = n;
	return pos;
}

/* Drain a ring to where it stands. Returns true where there was anything. */
static bool drain_ring(int cpu)
{
	struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;
	struct drain *d = &per_cpu(drains, cpu);
	unsigned long pos = ring->tail, end;
	unsigned int n, usual;

	if (!ring->size)
		return false;
	WRITE_ONCE(ring->kicked, 0);
	end = op_ring_published(ring);
	if (pos == end)
		return false;

	d->subject.context.cpu = cpu;
	op_eb_begin();
	while (pos != end) {
		n = 0;
		do {
			usual = 0;
			if (is_usual(op_ring_word(ring, pos)) &&
			    op_eb_said(&d->subject.context))
				usual = settle_usual(d, ring, pos, end);
			pos += 2 * usual;
			n += usual;
			if (usual < BURST && pos != end)
				pos = drain_records(d, ring, pos, end, &n);
		} while (pos != end && n < BURST);
		/* pairs with the acquire in ring_write() */
		smp_store_release(&ring->tail, pos);
		cond_resched();
		/* it may be free by now */
		d->busy = 0;
	}
	op_eb_publish();
	return true;
}

/* ---- contexts of the dead --------------------------------------------- */

/*
 * An idle CPU's last context holds its mm. When that is dead the writer is
 * asked to restate everything; a grace period later every handler knows, and
 * once the ring has been drained after that without a new note, no record
 * refers to the old one any more. Returns true where that is under way.
 */
static bool mark_stale(void)
{
	bool any = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;
		struct drain *d = &per_cpu(drains, cpu);

		if (!d->subject.mm || atomic_read(&d->subject.mm->mm_users))
			continue;
		atomic_long_inc(&ring->restate);
		d->stale = d->note;
		d->stale_known = true;
		any = true;
	}
	return any;
}

static bool any_dead_context(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct drain *d = &per_cpu(drains, cpu);

		if (d->subject.mm && !atomic_read(&d->subject.mm->mm_users))
			return true;
	}
	return false;
}

static void drop_stale(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct drain *d = &per_cpu(drains, cpu);

		if (d->stale_known && d->stale == d->note)
			end_context(d);
		d->stale_known = false;
	}
}

/* ---- all of it -------------------------------------------------------- */

/* One drain of everything. Returns true where there was any sample. */
static bool sync_pass(bool give_up)
{
	bool any = false, over;
	int cpu;

	op_test_worker(true);
	op_count(&op_stats.sync_runs, 1);
	/* 0 is no pass */
	if (!++pass)
		pass++;
	op_pictures_retire();
	if (READ_ONCE(grace) == GRACE_NONE) {
		forget_spaces(false);
		over = op_pictures_collect();
		over |= mark_stale();
		if (over) {
			WRITE_ONCE(grace, GRACE_WAITING);
			call_rcu_hurry(&grace_rcu, grace_over);
		}
	}
	/* pairs with the release in grace_over(); before any ring is read */
	over = smp_load_acquire(&grace) == GRACE_OVER;
	for_each_possible_cpu(cpu)
		any |= drain_ring(cpu);
	retry_aside(give_up);
	if (over) {
		op_pictures_release();
		drop_stale();
		WRITE_ONCE(grace, GRACE_NONE);
	}
	op_test_worker(false);
	return any;
}

static bool rings_empty(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;

		if (op_ring_published(ring) != ring->tail)
			return false;
	}
	return true;
}

static void sync_worker(struct work_struct *work)
{
	unsigned long period = PERIOD;
	bool again;

	mutex_lock(&op_sync_mutex);
	if (!running) {
		mutex_unlock(&op_sync_mutex);
		return;
	}
	again = sync_pass(false);
	op_eb_wake(false);
	again |= op_eb_waiting() || op_pictures_left() || any_dead_context();
	if (READ_ONCE(grace) != GRACE_NONE) {
		again = true;
		period = PERIOD_GRACE;
	}
	if (nr_aside) {
		again = true;
		period = PERIOD_RETRY;
	}
	if (!again) {
		forget_spaces(true);
		/* see above */
		WRITE_ONCE(op_sync_armed, 0);
		op_rings_restate();
	}
	mutex_unlock(&op_sync_mutex);

	if (!again) {
		synchronize_rcu();
		if (rings_empty() && !op_pictures_left())
			return;
		WRITE_ONCE(op_sync_armed, 1);
	}
	queue_delayed_work(sync_wq, &sync_work, period);
}

/**
 * op_sync_work() - call the worker: soon for a ring that fills, else in time
 * @work: a CPU's
 *
 * Context: irq_work.
 */
void op_sync_work(struct irq_work *work)
{
	struct op_cpu *cpu = container_of(work, struct op_cpu, work);

	/* With rings that fill at once it still comes once a tick at most. */
	if (READ_ONCE(cpu->ring.kicked))
		mod_delayed_work(sync_wq, &sync_work, 1);
	else
		queue_delayed_work(sync_wq, &sync_work, PERIOD);
}

/* Something to be done by a worker, while its caller waits. */
struct call {
	struct work_struct work;
	void (*fn)(void *data);
	void *data;
};

static void run_call(struct work_struct *work)
{
	struct call *call = container_of(work, struct call, work);

	call->fn(call->data);
}

/*
 * Paths are as the root directory of whoever asks sees them, so drains are for
 * workers only: their root is the system's.
 */
static void in_worker(void (*fn)(void *data), void *data)
{
	struct call call = { .fn = fn, .data = data };

	INIT_WORK_ONSTACK(&call.work, run_call);
	queue_work(sync_wq, &call.work);
	flush_work(&call.work);
	destroy_work_on_stack(&call.work);
}

static void drain_then(void *data)
{
	struct call *then = data;

	mutex_lock(&op_sync_mutex);
	if (running) {
		sync_pass(false);
		/* for what this has left to wait: data, samples, pictures */
		queue_delayed_work(sync_wq, &sync_work, PERIOD);
	}
	if (then->fn)
		then->fn(then->data);
	mutex_unlock(&op_sync_mutex);
}

/**
 * op_sync_drained() - convert everything, then do something
 * @fn: called with op_sync_mutex held, in a worker; may be NULL
 * @data: for @fn
 *
 * Context: process context, may sleep; op_sync_mutex not held.
 */
void op_sync_drained(void (*fn)(void *data), void *data)
{
	struct call then = { .fn = fn, .data = data };

	in_worker(drain_then, &then);
}

/**
 * op_sync_start() - get ready for a run
 * @words: size of the event buffer
 * @watershed: its watershed
 *
 * Context: no counter runs.
 * Return: 0, or -ENOMEM: nothing has changed.
 */
int op_sync_start(unsigned long words, unsigned long watershed)
{
	int cpu, err;

	mutex_lock(&op_sync_mutex);
	err = op_eb_start(words, watershed);
	if (!err) {
		op_rings_reset();
		op_stats_reset();
		op_cookies_start();
		for_each_possible_cpu(cpu)
			memset(&per_cpu(drains, cpu), 0, sizeof(struct drain));
		WRITE_ONCE(op_sync_armed, 0);
		running = true;
	}
	mutex_unlock(&op_sync_mutex);
	return err;
}

static void stop_in_worker(void *unused)
{
	unsigned long deadline = jiffies + STOP_GRACE;
	int cpu;

	mutex_lock(&op_sync_mutex);
	sync_pass(false);
	while (nr_aside && time_before(jiffies, deadline)) {
		mutex_unlock(&op_sync_mutex);
		schedule_timeout_uninterruptible(PERIOD_RETRY);
		mutex_lock(&op_sync_mutex);
		sync_pass(false);
	}
	sync_pass(true);
	running = false;
	for_each_possible_cpu(cpu)
		end_context(&per_cpu(drains, cpu));
	forget_spaces(true);
	op_eb_stop();
	mutex_unlock(&op_sync_mutex);
}

/**
 * op_sync_stop() - convert what is left, and let go of everything
 *
 * Samples that still wait get a short grace.
 *
 * Context: no counter runs, the hooks still do; may sleep.
 */
void op_sync_stop(void)
{
	in_worker(stop_in_worker, NULL);
}

/**
 * op_sync_quiesce() - see to it that nothing of the last run is under way
 *
 * Context: no counter and no hook is active, which might call the worker; may
 *	sleep.
 */
void op_sync_quiesce(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(op_cpu, cpu).work);
	cancel_delayed_work_sync(&sync_work);
	rcu_barrier();
	WRITE_ONCE(grace, GRACE_NONE);
}

/**
 * op_sync_init() - set up, once
 *
 * Return: 0, or -ENOMEM.
 */
int op_sync_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		init_irq_work(&per_cpu(op_cpu, cpu).work, op_sync_work);
	sync_wq = alloc_workqueue("oprofile", WQ_UNBOUND | WQ_HIGHPRI, 0);
	return sync_wq ? 0 : -ENOMEM;
}

/**
 * op_sync_exit() - undo op_sync_init()
 */
void op_sync_exit(void)
{
	destroy_workqueue(sync_wq);
}
