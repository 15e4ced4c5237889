// SPDX-License-Identifier: GPL-2.0
/*
 * profile_event.c - kprobes as notifier chains
 *
 * The kernel's own profile events went with its oprofile driver. Here kprobes
 * on the functions where tasks and mappings come and go take their place:
 *
 *   EXIT_TASK		a task begins to exit
 *   EXIT_MMAP		the last user of an address space is gone, its VMAs
 *			are whole
 *   EXEC_UNMAP		a range of current->mm is about to be unmapped, mapped
 *			over or protected; current holds its lock for writing
 *   EXEC_MAP		something has been mapped, or is about to be where nothing
 *			is mapped; the lock is held
 *
 * Nearly all of it is of no interest, as no sample is concerned: the probes ask
 * for that first (op_unmap_matters() and the like), since it is what a process
 * pays that is not sampled.
 *
 * Listeners know nothing of kprobes, and are called with preemption off: in
 * process context, though in_nmi() where the probe is an int3, and with
 * interrupts off on arm64.
 *
 * The probes are there only while a profile runs. A function that this kernel
 * does not have is left out: it costs attribution, never safety. Who writes
 * what: the hits are per CPU, preemption off; all else changes under
 * op_control_mutex while no probe is active.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "oprofile.h"
#include "test_nmi.h"

/**
 * struct probe - a function that tells of an event
 * @type: the event
 * @symbols: its names, newest kernel first
 * @with: also probed only where this probe's first name was found, or -1
 * @get: fills in the event from the function's arguments; false: makes no
 *	sense
 * @number: of the probe
 * @kp: the kprobe
 * @active: it is registered
 */
struct probe {
	enum op_profile_event_type type;
	const char *symbols[3];
	int with;
	bool (*get)(struct op_profile_event *event, struct pt_regs *regs,
		    const char *symbol);
	unsigned int number;
	struct kprobe kp;
	bool active;
};

static ATOMIC_NOTIFIER_HEAD(exit_task_chain);
static ATOMIC_NOTIFIER_HEAD(exit_mmap_chain);
static ATOMIC_NOTIFIER_HEAD(exec_unmap_chain);
static ATOMIC_NOTIFIER_HEAD(exec_map_chain);

static struct atomic_notifier_head *const chains[OP_PROFILE_EVENTS] = {
	[OP_EXIT_TASK] = &exit_task_chain,
	[OP_EXIT_MMAP] = &exit_mmap_chain,
	[OP_EXEC_UNMAP] = &exec_unmap_chain,
	[OP_EXEC_MAP] = &exec_map_chain,
};

static const char *const type_names[OP_PROFILE_EVENTS] = {
	[OP_EXIT_TASK] = "EXIT_TASK",
	[OP_EXIT_MMAP] = "EXIT_MMAP",
	[OP_EXEC_UNMAP] = "EXEC_UNMAP",
	[OP_EXEC_MAP] = "EXEC_MAP",
};

/* ---- what the arguments say ------------------------------------------- */

static unsigned long arg(struct pt_regs *regs, unsigned int n)
{
	return regs_get_kernel_argument(regs, n);
}

/* A range of current->mm, aligned to pages. */
static bool get_range(struct op_profile_event *event, unsigned long start,
		      unsigned long end)
{
	struct mm_struct *mm = current->mm;

	if (!mm || end < start || end > ULONG_MAX - PAGE_SIZE)
		return false;
	start &= PAGE_MASK;
	end = PAGE_ALIGN(end);
	if (start >= end || end > mm->task_size)
		return false;
	event->mm = mm;
	event->start = start;
	event->end = end;
	return true;
}

static bool get_task(struct op_profile_event *event, struct pt_regs *regs,
		     const char *symbol)
{
	event->mm = current->mm;
	return event->mm;
}

static bool get_exit_mmap(struct op_profile_event *event, struct pt_regs *regs,
			  const char *symbol)
{
	event->mm = (struct mm_struct *)arg(regs, 0);
	return event->mm && !atomic_read(&event->mm->mm_users);
}

/* The listener walks VMAs, so see that the lock is held, whatever was probed. */
static bool get_unmap(struct op_profile_event *event, unsigned long start,
		      unsigned long end)
{
	return get_range(event, start, end) &&
	       rwsem_is_locked(&event->mm->mmap_lock);
}

static bool get_munmap(struct op_profile_event *event, struct pt_regs *regs,
		       const char *symbol)
{
	unsigned long start, end;
	unsigned int mm = 2;

	/* __do_munmap(mm, start, len), else (.., .., mm, start, end) */
	if (symbol[0] == '_') {
		mm = 0;
		start = arg(regs, 1);
		end = start + arg(regs, 2);
	} else {
		start = arg(regs, 3);
		end = arg(regs, 4);
	}
	return arg(regs, mm) == (unsigned long)current->mm &&
	       get_unmap(event, start, end);
}

static bool get_mmap_region(struct op_profile_event *event,
			    struct pt_regs *regs, const char *symbol)
{
	unsigned long start = arg(regs, 1);

	return get_unmap(event, start, start + arg(regs, 2));
}

static bool get_mprotect(struct op_profile_event *event, struct pt_regs *regs,
			 const char *symbol)
{
	const struct vm_area_struct *vma;

	vma = (const struct vm_area_struct *)arg(regs, OP_MPROTECT_VMA);
	return get_unmap(event, arg(regs, OP_MPROTECT_START),
			 arg(regs, OP_MPROTECT_START + 1)) &&
	       vma->vm_mm == event->mm;
}

static bool get_mmap_event(struct op_profile_event *event,
			   struct pt_regs *regs, const char *symbol)
{
	event->vma = (struct vm_area_struct *)arg(regs, 0);
	event->mm = event->vma->vm_mm;
	event->start = event->vma->vm_start;
	event->end = event->vma->vm_end;
	return event->mm;
}

static bool get_copy_vma(struct op_profile_event *event, struct pt_regs *regs,
			 const char *symbol)
{
	unsigned long start = arg(regs, 1);

	return get_range(event, start, start + arg(regs, 2));
}

/*
 * mremap() grows a mapping in place, before it does so. On old kernels the same
 * function is asked about ranges that are mapped already, by madvise() and
 * others: those stay what they are.
 */
static bool get_growth(struct op_profile_event *event, struct pt_regs *regs,
		       const char *symbol)
{
	const struct vm_area_struct *vma;
	unsigned long start, end;

	if (!strcmp(symbol, "vma_merge_extend")) {
		vma = (const struct vm_area_struct *)arg(regs, 1);
		start = vma->vm_end;
		end = start + arg(regs, 2);
	} else if (!strcmp(symbol, "__vma_adjust")) {
		/* exec() moves its stack with it, in an mm that is not yet its */
		vma = (const struct vm_area_struct *)arg(regs, 0);
		if (vma->vm_mm != current->mm)
			return false;
		start = vma->vm_end;
		end = arg(regs, 2);
	} else {
		start = arg(regs, OP_VMA_MERGE_START);
		end = arg(regs, OP_VMA_MERGE_START + 1);
	}
	if (!get_unmap(event, start, end))
		return false;
	vma = find_vma(event->mm, event->start);
	return !vma || vma->vm_start >= event->end;
}

/* ---- the probes ------------------------------------------------------- */

enum {
	P_EXIT,
	P_EXIT_MMAP,
	P_MUNMAP,
	P_MMAP_REGION,
	P_MPROTECT,
	P_MMAP_EVENT,
	P_COPY_VMA,
	P_GROW,
	NR_PROBES,
};

static struct probe probes[NR_PROBES] = {
	[P_EXIT] = { OP_EXIT_TASK, { "do_exit" }, -1, get_task },
	[P_EXIT_MMAP] = { OP_EXIT_MMAP, { "exit_mmap" }, -1, get_exit_mmap },
	[P_MUNMAP] = { OP_EXEC_UNMAP,
		       { "do_vmi_align_munmap", "do_mas_align_munmap",
			 "__do_munmap" }, -1, get_munmap },
	/* Since the VMA iterator, mapping over something need not unmap it. */
	[P_MMAP_REGION] = { OP_EXEC_UNMAP, { "mmap_region" }, P_MUNMAP,
			    get_mmap_region },
	/* may take the execute bit off code that is unmapped later */
	[P_MPROTECT] = { OP_EXEC_UNMAP, { "mprotect_fixup" }, -1,
			 get_mprotect },
	[P_MMAP_EVENT] = { OP_EXEC_MAP, { "perf_event_mmap" }, -1,
			   get_mmap_event },
	/* where mremap() moves to */
	[P_COPY_VMA] = { OP_EXEC_MAP, { "copy_vma" }, -1, get_copy_vma },
	[P_GROW] = { OP_EXEC_MAP, { "vma_merge_extend", OP_VMA_GROWTH }, -1,
		     get_growth },
};

struct hits {
	unsigned long hits[NR_PROBES];
	unsigned long ignored[NR_PROBES];
};

static DEFINE_PER_CPU(struct hits, hits);

static noinline int tell(struct probe *probe, struct pt_regs *regs)
{
	struct op_profile_event event = {};

	op_test_hook(true);
	if (probe->get(&event, regs, probe->kp.symbol_name))
		atomic_notifier_call_chain(chains[probe->type], probe->type,
					   &event);
	else
		this_cpu_inc(hits.ignored[probe->number]);
	op_test_hook(false);
	return 0;
}

static __always_inline struct probe *count_hit(struct kprobe *kp)
{
	struct probe *probe = container_of(kp, struct probe, kp);

	this_cpu_inc(hits.hits[probe->number]);
	return probe;
}

static int exit_task_hit(struct kprobe *kp, struct pt_regs *regs)
{
	return tell(count_hit(kp), regs);
}

static int exit_mmap_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe *probe = count_hit(kp);

	if (!op_exit_matters((struct mm_struct *)arg(regs, 0)))
		return 0;
	return tell(probe, regs);
}

static int unmap_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe *probe = count_hit(kp);

	if (likely(current->mm) && !op_unmap_matters(current->mm))
		return 0;
	return tell(probe, regs);
}

static int map_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct probe *probe = count_hit(kp);

	if (!op_map_matters(current->mm))
		return 0;
	return tell(probe, regs);
}

static const kprobe_pre_handler_t hit_handlers[OP_PROFILE_EVENTS] = {
	[OP_EXIT_TASK] = exit_task_hit,
	[OP_EXIT_MMAP] = exit_mmap_hit,
	[OP_EXEC_UNMAP] = unmap_hit,
	[OP_EXEC_MAP] = map_hit,
};

#ifdef OP_TEST_NO_EVENT
/* In a test build: the event whose functions are not to be found. */
static char *no_event;
module_param(no_event, charp, 0400);

static bool can_probe(const struct probe *probe)
{
	return !no_event || strcmp(no_event, type_names[probe->type]);
}
#else
static bool can_probe(const struct probe *probe)
{
	return true;
}
#endif

/*
 * Returns -ENOMEM where there was no memory for it. Any other error means that
 * this kernel has no such function, or none that can be probed.
 */
static int probe_register(struct probe *probe)
{
	unsigned int i;
	int err = 0;

	if (!can_probe(probe))
		return 0;
	if (probe->with >= 0 &&
	    probes[probe->with].kp.symbol_name != probes[probe->with].symbols[0])
		return 0;
	for (i = 0; i < ARRAY_SIZE(probe->symbols) && probe->symbols[i]; i++) {
		memset(&probe->kp, 0, sizeof(probe->kp));
		probe->kp.symbol_name = probe->symbols[i];
		probe->kp.pre_handler = hit_handlers[probe->type];
		err = register_kprobe(&probe->kp);
		if (!err) {
			probe->active = true;
			return 0;
		}
		if (err == -ENOMEM)
			break;
	}
	probe->kp.symbol_name = NULL;
	return err == -ENOMEM ? err : 0;
}

/* Some function that tells of it is probed; under op_control_mutex. */
static bool told[OP_PROFILE_EVENTS];

/* Say once what this kernel does not tell. */
static void report_missing(void)
{
	static bool reported;
	unsigned int i;

	memset(told, 0, sizeof(told));
	for (i = 0; i < NR_PROBES; i++)
		told[probes[i].type] |= probes[i].active;
	for (i = 0; i < OP_PROFILE_EVENTS; i++) {
		if (!told[i] && !reported)
			pr_notice("no %s: no function to probe; samples of what is gone may be lost\n",
				  type_names[i]);
	}
	reported = true;
}

/**
 * op_profile_event_told() - do listeners get to know of an event?
 * @type: the event
 *
 * Context: between op_profile_events_start() and op_profile_events_stop().
 */
bool op_profile_event_told(enum op_profile_event_type type)
{
	return told[type];
}

/**
 * op_profile_events_stop() - no listener is called any more
 *
 * Context: op_control_mutex held, may sleep.
 */
void op_profile_events_stop(void)
{
	struct kprobe *active[NR_PROBES];
	unsigned int i, n = 0;

	for (i = 0; i < NR_PROBES; i++) {
		if (probes[i].active)
			active[n++] = &probes[i].kp;
	}
	/* waits until none is running */
	unregister_kprobes(active, n);
	for (i = 0; i < NR_PROBES; i++)
		probes[i].active = false;
}

/**
 * op_profile_events_start() - begin to call the listeners
 *
 * Context: op_control_mutex held, may sleep.
 * Return: 0, or -ENOMEM: no listener is called.
 */
int op_profile_events_start(void)
{
	unsigned int i;
	int cpu, err;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&hits, cpu), 0, sizeof(struct hits));
	for (i = 0; i < NR_PROBES; i++) {
		probes[i].number = i;
		err = probe_register(&probes[i]);
		if (err) {
			op_profile_events_stop();
			return err;
		}
	}
	report_missing();
	return 0;
}

/**
 * op_profile_event_register() - add a listener
 * @type: what it listens to
 * @nb: gets a struct op_profile_event
 *
 * Context: process context.
 * Return: 0, or -EINVAL.
 */
int op_profile_event_register(enum op_profile_event_type type,
			      struct notifier_block *nb)
{
	if (type >= OP_PROFILE_EVENTS)
		return -EINVAL;
	return atomic_notifier_chain_register(chains[type], nb);
}

/**
 * op_profile_event_unregister() - remove a listener
 * @type: what it listened to
 * @nb: as registered; not called any more on return
 *
 * Context: process context, may sleep.
 * Return: 0, -EINVAL, or -ENOENT.
 */
int op_profile_event_unregister(enum op_profile_event_type type,
				struct notifier_block *nb)
{
	if (type >= OP_PROFILE_EVENTS)
		return -EINVAL;
	return atomic_notifier_chain_unregister(chains[type], nb);
}

/**
 * op_profile_events_show() - a line for each probed function
 * @m: takes the lines
 * @unused: not used
 *
 * Counts are those of the run, or of the last one.
 *
 * Return: 0.
 */
int op_profile_events_show(struct seq_file *m, void *unused)
{
	unsigned int i;
	int cpu;

	seq_puts(m, "# event symbol hits missed ignored\n");
	for (i = 0; i < NR_PROBES; i++) {
		const struct probe *probe = &probes[i];
		const char *symbol = READ_ONCE(probe->kp.symbol_name);
		unsigned long n = 0, ignored = 0;

		for_each_possible_cpu(cpu) {
			n += READ_ONCE(per_cpu(hits, cpu).hits[i]);
			ignored += READ_ONCE(per_cpu(hits, cpu).ignored[i]);
		}
		seq_printf(m, "%s %s %lu %lu %lu\n", type_names[probe->type],
			   symbol ?: "none", n, READ_ONCE(probe->kp.nmissed),
			   ignored);
	}
	return 0;
}
