// SPDX-License-Identifier: GPL-2.0
/*
 * cpu_buffer.c - the per-CPU ring between overflow handlers and the sync core
 *
 * One ring a CPU, written by the handlers on that CPU and read by the sync
 * core. Handlers may interrupt one another (page-faults in process context,
 * timers in hardirq context, counters in an NMI), strictly nested, and take
 * no lock: each reserves its words with a local cmpxchg, and the outermost
 * one publishes what all of them wrote, as perf's own ring buffer does.
 *
 * A record that was written by a nested handler states everything, and so
 * does the one after it: what the outer handler was about to write may come
 * before or after it in the ring. The same happens after a record that found
 * no room, and when the sync core asks for it (op_ring.restate).
 *
 * All of a handler runs with preemption off, so an RCU grace period that
 * begins after some change has all handlers behind it that missed it.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "oprofile.h"

#ifdef OP_TEST_CODE
#include "test_code.h"
#else
#define FRAMES_MAX	0

/* What goes with a sample: nothing, until there are call chains. */
static inline unsigned int sample_frames(unsigned long addr, bool user,
					 unsigned long *frames)
{
	return 0;
}
#endif

DEFINE_PER_CPU(struct op_cpu, op_cpu);

/* A ring holds at least that many samples, each with everything restated. */
static unsigned long ring_words(unsigned long samples)
{
	if (samples > (ULONG_MAX >> 1) / sizeof(long) / OP_REC_MAX_WORDS)
		return 0;
	return roundup_pow_of_two(samples * OP_REC_MAX_WORDS);
}

/**
 * op_words_alloc() - words of a ring or of the event buffer
 * @words: how many; made a power of two. 0: none can be had
 *
 * Nobody is to be killed for a wish, now or when he next needs memory: as much
 * as is taken must be left.
 *
 * Context: process context, may sleep.
 * Return: them, for vfree(); or NULL.
 */
unsigned long *op_words_alloc(unsigned long words)
{
	long pages;

	if (!words || words > (ULONG_MAX >> 1) / sizeof(long))
		return NULL;
	words = roundup_pow_of_two(words);
	pages = DIV_ROUND_UP(words, PAGE_SIZE / sizeof(long));
	if (pages > si_mem_available() / 2)
		return NULL;
	return __vmalloc(words * sizeof(long),
			 GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
}

static unsigned long *words_alloc(unsigned long samples)
{
	return op_words_alloc(ring_words(samples));
}

/* An empty ring; its first record states everything. */
static void ring_init(struct op_ring *ring, unsigned long *words,
		      unsigned long size)
{
	memset(ring, 0, sizeof(*ring));
	ring->words = words;
	ring->size = size;
	atomic_long_set(&ring->restate, 1);
}

/**
 * op_ring_alloc_cpu() - see to it that a CPU has an empty ring of a size
 * @cpu: a possible CPU on which no counter runs
 * @samples: how many samples it must hold
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int op_ring_alloc_cpu(int cpu, unsigned long samples)
{
	struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;
	unsigned long size = ring_words(samples);
	unsigned long *words;

	if (ring->size && ring->size == size)
		return 0;
	words = words_alloc(samples);
	if (!words)
		return -ENOMEM;
	vfree(ring->words);
	ring_init(ring, words, size);
	return 0;
}

/**
 * op_rings_alloc() - op_ring_alloc_cpu() for all CPUs that are online
 * @samples: how many samples a ring must hold
 *
 * Return: 0, or -ENOMEM; rings that were made remain.
 */
int op_rings_alloc(unsigned long samples)
{
	int cpu, err;

	for_each_online_cpu(cpu) {
		err = op_ring_alloc_cpu(cpu, samples);
		if (err)
			return err;
	}
	return 0;
}

/**
 * op_rings_try() - could rings of this size be had?
 * @samples: how many samples a ring must hold
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int op_rings_try(unsigned long samples)
{
	unsigned long **rings;
	unsigned int i, n = num_online_cpus();
	int err = 0;

	rings = kcalloc(n, sizeof(*rings), GFP_KERNEL);
	if (!rings)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++) {
		rings[i] = words_alloc(samples);
		if (!rings[i])
			err = -ENOMEM;
	}
	for (i = 0; i < n; i++)
		vfree(rings[i]);
	kfree(rings);
	return err;
}

/**
 * op_rings_reset() - forget what the last run left
 *
 * Context: no counter runs, nobody drains.
 */
void op_rings_reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;

		ring_init(ring, ring->words, ring->size);
	}
}

/**
 * op_rings_restate() - have each CPU's next record state everything
 *
 * Its handler comes the long way then, which sees whether the worker is called.
 *
 * Context: op_sync_mutex held.
 */
void op_rings_restate(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		atomic_long_inc(&per_cpu(op_cpu, cpu).ring.restate);
}

/**
 * op_rings_free() - free all rings
 *
 * Context: no counter runs, nobody drains.
 */
void op_rings_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct op_ring *ring = &per_cpu(op_cpu, cpu).ring;

		vfree(ring->words);
		memset(ring, 0, sizeof(*ring));
	}
}

/*
 * Make all records up to here readable, and be no handler on this ring any
 * more. @head: where the ring stands, as far as the outermost handler knows.
 */
static __always_inline void ring_publish(struct op_ring *ring,
					 unsigned long head)
{
again:
	/* pairs with the acquire in op_ring_published() */
	smp_store_release(&ring->pub, head);
	/*
	 * A handler that interrupts before this store counts as nested and
	 * leaves the publishing to us, so look again after it.
	 */
	barrier();
	WRITE_ONCE(ring->nest, 0);
	barrier();
	if (unlikely(local_read(&ring->head) != head)) {
		WRITE_ONCE(ring->nest, 1);
		barrier();
		head = local_read(&ring->head);
		goto again;
	}
}

/* What the note of the current task's context says. */
static inline unsigned long context_key(unsigned long *header,
					struct mm_struct **mm)
{
	*mm = NULL;
	if (unlikely(current->flags & PF_KTHREAD)) {
		*header |= OP_REC_KTHREAD;
		return 0;
	}
	if (likely(current->mm)) {
		*mm = current->mm;
		return (unsigned long)current->mm;
	}
	*header |= OP_REC_EXITING;
	return op_task_began(current);
}

/*
 * The usual record: it says nothing but its address, as it follows one of the
 * same context and epoch, or what the new context is. Returns false, with
 * nothing written, where it must say more, or there is more to do.
 */
static __always_inline bool ring_write_usual(struct op_ring *ring,
					     unsigned long header,
					     unsigned long addr)
{
	unsigned long mask = ring->size - 1;
	unsigned long *words = ring->words;
	struct mm_struct *mm = current->mm;
	unsigned long head, end;

	if (unlikely(READ_ONCE(ring->nest)))
		return false;
	WRITE_ONCE(ring->nest, 1);
	barrier();
	/* Before all that it is to follow: see ring_write(). */
	head = local_read(&ring->head);
	barrier();
	if (unlikely(atomic_long_read(&op_epoch) != ring->epoch ||
		     atomic_long_read(&ring->restate) != ring->seen ||
		     (long)(ring->alarm - head) < OP_REC_MAX_WORDS))
		goto unusual;
	/* For a kernel thread both keys are 0; who exits goes the other way. */
	if (likely((unsigned long)mm == ring->key && current->pid == ring->tid)) {
		end = head + 2;
		if (unlikely(local_cmpxchg(&ring->head, head, end) != head))
			goto unusual;
		words[head & mask] = header;
	} else {
		if (unlikely(!mm || current->flags & PF_KTHREAD))
			goto unusual;
		end = head + 5;
		if (unlikely(local_cmpxchg(&ring->head, head, end) != head))
			goto unusual;
		/* The space is certain, so this reference will be found. */
		op_mm_note(mm);
		words[head & mask] = header | OP_REC_CONTEXT;
		words[(head + 1) & mask] = (unsigned long)mm;
		words[(head + 2) & mask] = current->pid;
		words[(head + 3) & mask] = current->tgid;
		ring->key = (unsigned long)mm;
		ring->tid = current->pid;
	}
	words[(end - 1) & mask] = addr;
	ring_publish(ring, end);
	return true;

unusual:
	/* what a nested handler wrote meanwhile is published by what follows */
	WRITE_ONCE(ring->nest, 0);
	return false;
}

/* Call the worker, where it must come: soon if the ring fills, else in time. */
static void ring_call_worker(struct op_cpu *cpu, unsigned long used)
{
	struct op_ring *ring = &cpu->ring;

	if (used > ring->size / 2 && !READ_ONCE(ring->kicked)) {
		WRITE_ONCE(ring->kicked, 1);
		irq_work_queue(&cpu->work);
	} else {
		op_sync_arm(cpu);
	}
}

static noinline void ring_write(struct op_cpu *cpu, unsigned long header,
				unsigned long addr, const unsigned long *frames)
{
	struct op_ring *ring = &cpu->ring;
	unsigned long mask = ring->size - 1;
	unsigned long *words = ring->words;
	unsigned long head, tail, used, epoch, seen, key, flags = 0;
	struct mm_struct *mm;
	bool nested, all;
	unsigned int i, n, nr_frames = header >> OP_REC_FRAMES_SHIFT;
	int nest;

	nest = READ_ONCE(ring->nest) + 1;
	WRITE_ONCE(ring->nest, nest);
	barrier();
	nested = nest > 1;
	if (unlikely(nested))
		atomic_long_inc(&ring->restate);
	key = context_key(&flags, &mm);

	/*
	 * What this record must state depends on what it follows, so both are
	 * settled by one cmpxchg. An epoch that grows after it was read here
	 * does no harm: a mapping that this handler may have interrupted is
	 * not closed before the handler ends, as its TLB flush waits for us.
	 */
	do {
		head = local_read(&ring->head);
		seen = atomic_long_read(&ring->restate);
		epoch = atomic_long_read(&op_epoch);
		all = nested || seen != ring->seen;
		n = 2 + nr_frames;
		header &= ~(OP_REC_CONTEXT | OP_REC_EPOCH);
		if (all || key != ring->key || current->pid != ring->tid) {
			header |= OP_REC_CONTEXT;
			n += 3;
		}
		if (all || epoch != ring->epoch) {
			header |= OP_REC_EPOCH;
			n++;
		}
		/* pairs with the release in the drain: it has read the words */
		tail = smp_load_acquire(&ring->tail);
		used = head + n - tail;
		if (unlikely(used > ring->size)) {
			local_inc(&cpu->lost_overflow);
			atomic_long_inc(&ring->restate);
			goto out;
		}
	} while (unlikely(local_cmpxchg(&ring->head, head, head + n) != head));

	if (header & OP_REC_CONTEXT) {
		header |= flags;
		/* The space is certain, so this reference will be found. */
		if (mm)
			op_mm_note(mm);
	}
	words[head++ & mask] = header;
	if (header & OP_REC_EPOCH)
		words[head++ & mask] = epoch;
	if (header & OP_REC_CONTEXT) {
		words[head++ & mask] = key;
		words[head++ & mask] = current->pid;
		words[head++ & mask] = current->tgid;
	}
	words[head++ & mask] = addr;
	for (i = 0; i < nr_frames; i++)
		words[head++ & mask] = frames[i];
	if (likely(!nested)) {
		ring->seen = seen;
		ring->key = key;
		ring->tid = current->pid;
		ring->epoch = epoch;
	}
out:
	if (unlikely(nested)) {
		WRITE_ONCE(ring->nest, nest - 1);
	} else {
		/* Stop half way to call the worker, and again where it is full. */
		ring->alarm = tail + ring->size / (used > ring->size / 2 ? 1 : 2);
		ring_publish(ring, local_read(&ring->head));
	}
	ring_call_worker(cpu, used);
}

/*
 * With interrupts on, a TLB flush may have been served since the address was
 * current, and a new mapping be there by now.
 */
static bool is_soft(void)
{
	return !in_hardirq() && !in_nmi();
}

/* All other samples. */
static noinline void add_sample(struct op_cpu *cpu, unsigned long header,
				unsigned long addr, bool user)
{
	unsigned long frames[FRAMES_MAX + 1];
	unsigned int nr_frames;

	if (unlikely(!cpu->ring.size))
		return;
	local_inc(&cpu->received);
	/* The legacy vsyscall page lies up there too; it has no VMA. */
	if (user ? addr >= TASK_SIZE_MAX : !addr || addr == OP_ESCAPE_CODE) {
		local_inc(&cpu->invalid_eip);
		return;
	}
	nr_frames = sample_frames(addr, user, frames);
	header |= (unsigned long)nr_frames << OP_REC_FRAMES_SHIFT;
	ring_write(cpu, header, addr, frames);
}

/**
 * op_add_sample() - take a sample that has passed the filters
 * @regs: what the overflow interrupted
 * @event: number of its event folder
 * @user: it interrupted user space
 *
 * Context: any, with preemption off; process context under RCU (software
 *	events), hardirq, NMI. Never waits.
 */
void op_add_sample(struct pt_regs *regs, unsigned int event, bool user)
{
	struct op_cpu *cpu = this_cpu_ptr(&op_cpu);
	unsigned long addr = instruction_pointer(regs);
	unsigned long header = event;
	bool usual = !FRAMES_MAX;

	if (!user) {
		header |= OP_REC_KERNEL;
		usual &= addr && addr != OP_ESCAPE_CODE;
	} else if (unlikely(is_soft())) {
		header |= OP_REC_SOFT;
		usual = false;
	} else {
		usual &= addr < TASK_SIZE_MAX;
	}
	if (likely(usual && ring_write_usual(&cpu->ring, header, addr)))
		local_inc(&cpu->received);
	else
		add_sample(cpu, header, addr, user);
}

/**
 * op_count_throttled() - count that perf stopped a counter until its next tick
 *
 * Context: as op_add_sample().
 */
void op_count_throttled(void)
{
	local_inc(&this_cpu_ptr(&op_cpu)->throttled);
}
