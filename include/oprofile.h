/* SPDX-License-Identifier: GPL-2.0 */
/*
 * oprofile.h - what the parts of the module share.
 *
 * A sample travels down this list, each part calling only the next:
 *
 *   perf_counter  cpu_buffer  buffer_sync  (dcookie)  event_buffer
 *
 * and the hooks' way, profile_event and picture, meets it in buffer_sync.
 *
 * Locks, outermost first; all but the last are mutexes:
 *
 *   op_control_mutex	settings, start, stop, CPU hotplug work (oprof.c)
 *   op_sync_mutex	one drain at a time (buffer_sync.c)
 *   mmap_lock		of a sampled process, only ever tried (buffer_sync.c)
 *   reader->mutex	one read() at a time (event_buffer.c)
 *   op_eb.mutex	the event buffer's reader side and run state
 *   op_slot.lock	raw spinlock: pictures of a slot (picture.c)
 *
 * No lock is taken in a counter's overflow handler.
 */
#ifndef _OPROFILE_H
#define _OPROFILE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <asm/local.h>

struct dentry;
struct seq_file;

#include "compat.h"
#include "uapi/oprofile.h"

#define OP_MAX_EVENTS		8
#define OP_EVENT_NAME_LEN	20

/* Cookies below this one stand for what has no file; readers of the binary
 * stream see them all as OP_NO_COOKIE.
 */
#define OP_COOKIE_VDSO		1UL
#define OP_COOKIE_KTHREAD	2UL
#define OP_COOKIE_FIRST		16UL

/* ---- settings: oprof.c ------------------------------------------------ */

/**
 * struct op_event_config - what one event folder says
 * @enabled: counted in the next run
 * @raw: @event and @unit_mask say what is counted, not @name
 * @name: one of op_event_names, or r<hex>
 * @event: raw event code
 * @unit_mask: raw unit mask
 * @count: period in the event's own units; 0: @freq is used
 * @freq: samples a second; 0: @count is used
 * @kernel: samples in the kernel are wanted
 * @user: samples in user space are wanted
 * @idle: samples in the idle task are wanted too
 */
struct op_event_config {
	bool enabled;
	bool raw;
	char name[OP_EVENT_NAME_LEN];
	unsigned long event;
	unsigned long unit_mask;
	unsigned long count;
	unsigned long freq;
	bool kernel;
	bool user;
	bool idle;
};

/**
 * struct op_settings - everything that a run starts with
 * @buffer_size: words in the event buffer
 * @buffer_watershed: wake the reader when so few words are free
 * @cpu_buffer_size: samples in a CPU's ring
 * @event: the event folders
 */
struct op_settings {
	unsigned long buffer_size;
	unsigned long buffer_watershed;
	unsigned long cpu_buffer_size;
	struct op_event_config event[OP_MAX_EVENTS];
};

extern struct mutex op_control_mutex;
extern struct op_settings op_settings;

bool op_is_running(void);
int op_start(void);
void op_stop(void);
int op_set_enable(unsigned long value);
int op_set_buffer_size(unsigned long words);
int op_set_buffer_watershed(unsigned long words);
int op_set_cpu_buffer_size(unsigned long samples);
int op_set_backtrace_depth(unsigned long depth);
int op_set_event_name(unsigned int event, const char *name);
int op_set_event_count(unsigned int event, unsigned long count);
int op_set_event_freq(unsigned int event, unsigned long freq);
int op_set_event_code(unsigned int event, bool mask, unsigned long value);
int op_set_event_flag(unsigned int event, bool *flag, unsigned long value);
int op_cpu_type(char *name, size_t size);

/* ---- sources of samples: perf_counter.c ------------------------------- */

/**
 * struct op_source - operations of a source of samples
 * @setup: finds out what the machine has; called once, at load
 * @shutdown: undoes @setup
 * @start: begins to count on all CPUs, or undoes all it did and returns an
 *	error; under op_control_mutex
 * @begin: begins to call op_add_sample() with what is counted
 * @stop: ends that; no call is under way when it returns
 * @default_event: the name of the event for who doesn't choose
 * @cpu_type: writes the name of what counts the first enabled event
 * @check_event: 0, or -EINVAL when there is no event of that name
 */
struct op_source {
	int (*setup)(void);
	void (*shutdown)(void);
	int (*start)(const struct op_event_config *config);
	void (*begin)(const struct op_event_config *config);
	void (*stop)(void);
	const char *(*default_event)(void);
	int (*cpu_type)(const struct op_event_config *config, char *name,
			size_t size);
	int (*check_event)(const char *name);
};

extern const struct op_source op_perf_source;

/* ---- the per-CPU ring: cpu_buffer.c ----------------------------------- */

/*
 * A record in the ring:
 *
 *   header | [epoch] | [key, tid, tgid] | address | [frames]
 *
 * Header bits; the upper half says how many frames there are.
 */
#define OP_REC_EVENT_MASK	0x00ffUL
#define OP_REC_KERNEL		0x0100UL
#define OP_REC_SOFT		0x0200UL	/* interrupts were on */
#define OP_REC_EPOCH		0x0400UL
#define OP_REC_CONTEXT		0x0800UL
#define OP_REC_KTHREAD		0x1000UL	/* key is 0 */
#define OP_REC_EXITING		0x2000UL	/* key is op_task_began() */
#define OP_REC_FRAMES_SHIFT	16
#define OP_REC_MAX_FRAMES	0xffffUL

/* Words of a record that states everything, without frames. */
#define OP_REC_MAX_WORDS	6

/**
 * struct op_ring - one CPU's ring of records
 *
 * Written by handlers on this CPU, which may interrupt one another in the
 * order process, hardirq, NMI; read by the sync core.
 *
 * @words: the ring
 * @size: words in it, a power of two; 0: there is no ring
 * @head: words reserved so far (handlers)
 * @alarm: where the usual record has no place any more: more may have to be
 *	done there than to write it (outermost handler)
 * @seen: the value of @restate up to which @key, @tid and @epoch describe what
 *	the next record follows (outermost handler)
 * @key: context of the last record (outermost handler)
 * @tid: likewise
 * @epoch: epoch of the last record (outermost handler)
 * @nest: handlers on this CPU at the moment
 * @kicked: a drain was asked for (handlers set it, the sync core clears it)
 * @pub: words that may be read (outermost handler, release; pairs with the
 *	acquire in op_ring_published())
 * @tail: words read (sync core, release; pairs with the acquire in
 *	ring_write())
 * @restate: raised to have everything restated: by a handler that interrupts
 *	another one or leaves out a record, and by the sync core
 */
struct op_ring {
	unsigned long *words;
	unsigned long size;
	local_t head;
	unsigned long alarm;
	unsigned long seen;
	unsigned long key;
	pid_t tid;
	unsigned long epoch;
	int nest;
	int kicked;
	unsigned long pub;
	atomic_long_t restate;
	unsigned long tail ____cacheline_aligned_in_smp;
};

/**
 * struct op_cpu - what the module keeps for each possible CPU
 * @ring: its ring
 * @received: samples that passed the filters
 * @lost_overflow: of these, lost because the ring was full
 * @invalid_eip: of these, refused for an address no code can have
 * @backtrace_aborted: call chains cut short
 * @throttled: how often perf stopped a counter until its next tick
 * @work: wakes the worker from a handler
 */
struct op_cpu {
	struct op_ring ring;
	local_t received;
	local_t lost_overflow;
	local_t invalid_eip;
	local_t backtrace_aborted;
	local_t throttled;
	struct irq_work work;
};

DECLARE_PER_CPU(struct op_cpu, op_cpu);

unsigned long *op_words_alloc(unsigned long words);
int op_rings_alloc(unsigned long samples);
int op_ring_alloc_cpu(int cpu, unsigned long samples);
int op_rings_try(unsigned long samples);
void op_rings_reset(void);
void op_rings_restate(void);
void op_rings_free(void);
void op_add_sample(struct pt_regs *regs, unsigned int event, bool user);
void op_count_throttled(void);

static inline unsigned long op_ring_published(const struct op_ring *ring)
{
	/* pairs with the release in ring_publish(): the words are there */
	return smp_load_acquire(&ring->pub);
}

static inline unsigned long op_ring_word(const struct op_ring *ring,
					 unsigned long pos)
{
	return ring->words[pos & (ring->size - 1)];
}

/* ---- profile events: profile_event.c ---------------------------------- */

enum op_profile_event_type {
	OP_EXIT_TASK,
	OP_EXIT_MMAP,
	OP_EXEC_UNMAP,
	OP_EXEC_MAP,
	OP_PROFILE_EVENTS,
};

/**
 * struct op_profile_event - what a listener gets
 * @mm: the address space it is about
 * @start: first address (EXEC_UNMAP, EXEC_MAP)
 * @end: address behind the last one
 * @vma: the VMA that was made, or NULL where only the range is known, or
 *	nothing is mapped there yet (EXEC_MAP)
 */
struct op_profile_event {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	struct vm_area_struct *vma;
};

int op_profile_event_register(enum op_profile_event_type type,
			      struct notifier_block *nb);
int op_profile_event_unregister(enum op_profile_event_type type,
				struct notifier_block *nb);
int op_profile_events_start(void);
void op_profile_events_stop(void);
bool op_profile_event_told(enum op_profile_event_type type);
int op_profile_events_show(struct seq_file *m, void *unused);

/* ---- pictures: picture.c ---------------------------------------------- */

#define OP_SLOT_BITS		10
#define OP_SLOT_BLIND		4

/**
 * struct op_slot - the pictures of the address spaces that hash here
 * @lock: guards all but the atomics
 * @ranges: interval tree of range pictures that are closed, or never close
 * @open_ranges: likewise, of those that may be closed
 * @keyed: pictures found by their key: executables of dead address spaces,
 *	exiting tasks
 * @open: pictures that are not done yet
 * @blind_mm: address spaces in which a hook could not picture an unmap that
 *	may not be over yet; nothing of theirs can be told meanwhile
 * @nr_blind: how many there are
 * @blind_all: there were too many; until the end of the run the whole slot is
 *	blind
 * @pending: context notes, set-aside samples and what the sync core remembers
 *	that name an mm of this slot
 * @nr_open: entries of @open, and one for a blind unmap
 * @seq: changes with every change of a range picture
 * @blind_epoch: samples older than this can't be told any more
 * @soft_start: soft samples can't be told in this run from here
 * @soft_last: up to here; empty where @soft_start is above it
 * @soft_mm: in which address space, where it is one; only compared
 * @wanted: the next hook in this address space takes a snapshot of it; only
 *	compared (sync core sets it, the hook clears it)
 * @aside: samples set aside (sync core only)
 */
struct op_slot {
	raw_spinlock_t lock;
	struct rb_root_cached ranges;
	struct rb_root_cached open_ranges;
	struct hlist_head keyed;
	struct list_head open;
	struct mm_struct *blind_mm[OP_SLOT_BLIND];
	unsigned int nr_blind;
	bool blind_all;
	unsigned long soft_start;
	unsigned long soft_last;
	const struct mm_struct *soft_mm;
	atomic_t pending;
	atomic_t nr_open;
	atomic_t seq;
	unsigned long blind_epoch;
	struct mm_struct *wanted;
	unsigned int aside;
} ____cacheline_aligned_in_smp;

extern struct op_slot op_slots[1 << OP_SLOT_BITS];
extern atomic_long_t op_epoch;

static inline struct op_slot *op_slot_of(const void *key)
{
	return &op_slots[hash_ptr(key, OP_SLOT_BITS)];
}

/**
 * op_task_began() - what tells a task from others that have its number later
 * @task: exiting, so that it doesn't take its leader's place any more
 */
static inline unsigned long op_task_began(const struct task_struct *task)
{
	return task->start_boottime;
}

/**
 * op_epoch_before() - is epoch @a older than epoch @b?
 *
 * Epochs wrap on 32-bit machines.
 */
static inline bool op_epoch_before(unsigned long a, unsigned long b)
{
	return (long)(a - b) < 0;
}

/**
 * op_mm_note() - hold an address space for a note or a sample that names it
 * @mm: pinned by the caller, or current->mm
 *
 * While the count of the mm's slot is not zero the hooks take pictures.
 *
 * Context: any, NMI included.
 */
static inline void op_mm_note(struct mm_struct *mm)
{
	mmgrab(mm);
	atomic_inc(&op_slot_of(mm)->pending);
}

/**
 * op_mm_unnote() - undo op_mm_note()
 * @mm: may be freed
 *
 * Context: process context.
 */
static inline void op_mm_unnote(struct mm_struct *mm)
{
	atomic_dec(&op_slot_of(mm)->pending);
	mmdrop(mm);
}

/**
 * op_unmap_matters() - may a sample need a picture of what is unmapped now?
 * @mm: current->mm
 *
 * Not where no undrained sample and no CPU's context is of this mm, unless
 * another thread may be taking the first just now.
 *
 * Context: any.
 */
static __always_inline bool op_unmap_matters(struct mm_struct *mm)
{
	/*
	 * In this order: a thread that was sampled and has died since raised
	 * the count of notes before it lowered mm_users.
	 */
	if (atomic_read(&mm->mm_users) != 1)
		return true;
	/* pairs with the full barrier of atomic_dec_and_test() in mmput() */
	smp_rmb();
	return atomic_read(&op_slot_of(mm)->pending);
}

/**
 * op_map_matters() - is there a picture that may have to be closed, or one to
 *	be taken, now that something is mapped?
 * @mm: current->mm
 *
 * Another address space than current's is one in which nothing has run yet.
 *
 * Context: any.
 */
static __always_inline bool op_map_matters(const struct mm_struct *mm)
{
	const struct op_slot *slot = op_slot_of(mm);

	return atomic_read(&slot->nr_open) || READ_ONCE(slot->wanted) == mm;
}

/**
 * op_exit_matters() - may a sample need pictures of an address space that goes?
 * @mm: without users, so nobody can be taking a first sample
 *
 * Context: any.
 */
static __always_inline bool op_exit_matters(const struct mm_struct *mm)
{
	return atomic_read(&op_slot_of(mm)->pending);
}

/**
 * enum op_found - what became of a sample's address
 * @OP_FOUND: there is a cookie and an offset
 * @OP_BUSY: the address space can't be asked now; try again
 * @OP_NO_MM: it is gone and was not pictured; try again for a while
 * @OP_NO_MAPPING: nothing was mapped there, or nobody can tell what
 */
enum op_found {
	OP_FOUND,
	OP_BUSY,
	OP_NO_MM,
	OP_NO_MAPPING,
};

/**
 * struct op_place - where an address lies
 * @cookie: of its file, or a reserved one
 * @offset: in the file, or the address
 * @live: found in the live address space, or where one ended, and the following
 *	hold
 * @start: the same answer holds from here
 * @end: up to here
 * @delta: what to add to an address to get its offset
 * @seq: as long as the slot's @seq is this
 */
struct op_place {
	unsigned long cookie;
	unsigned long offset;
	bool live;
	unsigned long start;
	unsigned long end;
	unsigned long delta;
	int seq;
};

enum op_found op_picture_find(struct mm_struct *mm, unsigned long addr,
			      unsigned long epoch, bool soft,
			      struct op_place *place);
void op_picture_want(struct mm_struct *mm);
struct file *op_picture_exe(struct mm_struct *mm);
struct file *op_picture_task_exe(unsigned long began, pid_t tid);

int op_pictures_init(void);
void op_pictures_exit(void);
int op_pictures_start(void);
void op_pictures_blind_busy(void);
void op_pictures_stop(void);
void op_pictures_retire(void);
bool op_pictures_collect(void);
void op_pictures_release(void);
bool op_pictures_left(void);
bool op_pictures_unfinished(void);
unsigned long op_pictures_missed(void);

/* ---- cookies: dcookie.c ----------------------------------------------- */

unsigned long op_cookie(struct file *file);
int op_cookie_path(unsigned long cookie, char *buf, size_t size);
int op_cookies_init(void);
void op_cookies_start(void);
void op_cookies_exit(void);
extern const struct file_operations op_dcookies_fops;

/* ---- the sync core: buffer_sync.c ------------------------------------- */

/* How long a sample may be set aside, in jiffies. */
#define OP_ASIDE_TIME		(3 * HZ)

/*
 * Handlers read it with each sample that takes the long way, and hooks; zero:
 * nobody will come by himself. See op_rings_restate().
 */
extern int op_sync_armed;

/* The worker comes by in time. Any context, with preemption off. */
static inline void op_sync_arm(struct op_cpu *cpu)
{
	if (unlikely(!READ_ONCE(op_sync_armed))) {
		WRITE_ONCE(op_sync_armed, 1);
		irq_work_queue(&cpu->work);
	}
}

int op_sync_init(void);
void op_sync_exit(void);
int op_sync_start(unsigned long words, unsigned long watershed);
void op_sync_stop(void);
void op_sync_quiesce(void);
void op_sync_work(struct irq_work *work);
void op_sync_drained(void (*fn)(void *data), void *data);

/* ---- the event buffer: event_buffer.c --------------------------------- */

/**
 * struct op_context - what is said once for many samples
 * @cpu: where they were taken
 * @tid: thread id
 * @tgid: process id
 * @app: cookie of the program, or a reserved one
 */
struct op_context {
	unsigned long cpu;
	unsigned long tid;
	unsigned long tgid;
	unsigned long app;
};

/**
 * struct op_entry - a sample, or a frame of its call chain
 * @kernel: @offset is a kernel address
 * @cookie: of the file; user only
 * @offset: in the file, or an address
 */
struct op_entry {
	bool kernel;
	unsigned long cookie;
	unsigned long offset;
};

int op_eb_try(unsigned long words);
int op_eb_start(unsigned long words, unsigned long watershed);
void op_eb_stop(void);
void op_eb_exit(void);
void op_eb_begin(void);
void op_eb_sample(const struct op_context *context, unsigned int event,
		  const struct op_entry *entry, unsigned int frames);
void op_eb_publish(void);
void op_eb_wake(bool now);
bool op_eb_waiting(void);
void op_eb_module_loaded(void);
unsigned long op_eb_position(void);
extern const struct file_operations op_buffer_fops;
extern const struct file_operations op_samples_fops;
void op_samples_name_event(unsigned int event, const char *name);

/* ---- kernel symbols: symbol.c ----------------------------------------- */

int op_symbols_init(void);
void op_symbols_exit(void);

/* ---- counters: oprofile_stats.c --------------------------------------- */

/**
 * struct op_stats - counters that are not a CPU's own; see README.md
 *
 * Written by the sync core, @delivered by the reader.
 */
struct op_stats {
	unsigned long lost_no_mm;
	unsigned long lost_no_mapping;
	unsigned long lost_mmap_lock;
	unsigned long lost_no_cookie;
	unsigned long lost_event_overflow;
	unsigned long bt_lost_no_mapping;
	unsigned long delivered;
	unsigned long sync_runs;
};

extern struct op_stats op_stats;

/* Its writers exclude one another; files are read at any time. */
static inline void op_count(unsigned long *counter, unsigned long n)
{
	WRITE_ONCE(*counter, *counter + n);
}

void op_stats_reset(void);
void op_stats_create_files(struct dentry *root);

/* ---- files: oprofile_files.c, oprofilefs.c ---------------------------- */

int op_files_create(void);
void op_files_remove(void);
int op_parse_ulong(const char *text, unsigned long *value);

/**
 * struct op_control - a control file
 * @get: writes its value into @text, without a newline
 * @set: takes what was written, without a newline, or says why not
 * @set_number: likewise, for a file that takes a number and needs no @data;
 *	neither of them: the file is read-only
 * @data: for @get and @set
 */
struct op_control {
	int (*get)(void *data, char *text, size_t size);
	int (*set)(void *data, const char *text);
	int (*set_number)(unsigned long value);
	void *data;
};

int op_may_open(void);
int op_files_complete(void);
struct dentry *op_create_dir(const char *name, struct dentry *parent);
void op_create_file(struct dentry *dir, const char *name, umode_t mode,
		    const void *data, const struct file_operations *fops);
void op_create_control(struct dentry *dir, const char *name,
		       const struct op_control *control);
void op_create_counter(struct dentry *dir, const char *name,
		       const unsigned long *counter);
void op_create_local(struct dentry *dir, const char *name,
		     const local_t *counter);

#endif /* _OPROFILE_H */
