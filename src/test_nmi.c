// SPDX-License-Identifier: GPL-2.0
/*
 * test_nmi.c - for a test build (OP_TEST_NMI): what NMIs have interrupted
 *
 * Overflows that came as NMIs are counted by what they interrupted on their CPU:
 * another handler that writes to the ring, a hook, the worker. The parameter
 * nmi_counts shows them, after the number of all:
 *
 *	NMIS WRITER HOOK WORKER
 */
#include <linux/atomic.h>
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#ifdef CONFIG_ARM64
#include <asm/daifflags.h>
#endif

#include "oprofile.h"
#include "test_nmi.h"

static atomic_long_t nmis, in_writer, in_hook, in_worker;

static DEFINE_PER_CPU(bool, hook);
static struct task_struct *worker;

static int counts_get(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%ld %ld %ld %ld\n",
			 atomic_long_read(&nmis), atomic_long_read(&in_writer),
			 atomic_long_read(&in_hook),
			 atomic_long_read(&in_worker));
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};

module_param_cb(nmi_counts, &counts_ops, NULL, 0444);

/* A counter has overflowed. */
void op_test_nmi(void)
{
	if (!in_nmi())
		return;
	atomic_long_inc(&nmis);
	if (READ_ONCE(this_cpu_ptr(&op_cpu)->ring.nest))
		atomic_long_inc(&in_writer);
	if (__this_cpu_read(hook))
		atomic_long_inc(&in_hook);
	if (READ_ONCE(worker) == current)
		atomic_long_inc(&in_worker);
}

/*
 * A hook begins or ends; preemption is off. On x86 an NMI may come at any time.
 * On arm64 a kprobe's handler runs with everything masked, NMIs too: so that one
 * can interrupt a hook as it does elsewhere, all but interrupts are let in
 * meanwhile (NMIs, and what is not to come: errors and debug exceptions), which
 * is what local_daif_restore() makes of these flags.
 */
void op_test_hook(bool begins)
{
#ifdef CONFIG_ARM64
	if (!begins)
		local_daif_mask();
#endif
	__this_cpu_write(hook, begins);
#ifdef CONFIG_ARM64
	if (begins)
		local_daif_restore(DAIF_PROCCTX_NOIRQ);
#endif
}

/* The current task begins to drain, or has; under op_sync_mutex. */
void op_test_worker(bool begins)
{
	WRITE_ONCE(worker, begins ? current : NULL);
}
