// SPDX-License-Identifier: GPL-2.0
/*
 * A module with bugs, to see whether the kernel's tools find them: it is loaded
 * with bug=NAME, and that one happens. Each is in a function that bears its name,
 * so that a report of it does too.
 */

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

static char *bug;
module_param(bug, charp, 0400);
MODULE_PARM_DESC(bug, "kasan, vmalloc, lockdep, sleep, rcu, kcsan or leak");

static int sink;

/* KASAN: memory that has been freed. */
static noinline void opbug_kasan(void)
{
	int *number = kzalloc(sizeof(*number), GFP_KERNEL);
	int *freed = number;

	/* The compiler would see it. */
	OPTIMIZER_HIDE_VAR(freed);
	kfree(number);
	sink = READ_ONCE(*freed);
}

/* KASAN too: what is behind memory of the kind that the rings are of. */
static noinline void opbug_vmalloc(void)
{
	char *page = vmalloc(100);
	unsigned int behind = 100;

	if (!page)
		return;
	OPTIMIZER_HIDE_VAR(behind);
	sink = READ_ONCE(page[behind]);
	vfree(page);
}

/* PROVE_LOCKING: two locks in either order, though nobody waits. */
static noinline void opbug_lockdep(void)
{
	static DEFINE_MUTEX(first);
	static DEFINE_MUTEX(second);

	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

/* DEBUG_ATOMIC_SLEEP: what may sleep, where nothing may. */
static noinline void opbug_sleep(void)
{
	preempt_disable();
	kfree(kmalloc(sizeof(sink), GFP_KERNEL));
	preempt_enable();
}

/* PROVE_RCU: a pointer that only readers may follow. */
static noinline void opbug_rcu(void)
{
	static int __rcu *number;

	if (rcu_dereference(number))
		sink++;
}

/* KCSAN: a number that two tasks change, neither of which knows of the other. */
static unsigned long raced;

static noinline int opbug_kcsan_task(void *done)
{
	unsigned long end = jiffies + HZ;

	while (time_before(jiffies, end)) {
		raced++;
		/* or it would be one addition at the end */
		barrier();
		cond_resched();
	}
	complete(done);
	return 0;
}

static noinline void opbug_kcsan(void)
{
	DECLARE_COMPLETION_ONSTACK(done);

	if (!IS_ERR(kthread_run(opbug_kcsan_task, &done, "opbug"))) {
		DECLARE_COMPLETION_ONSTACK(own);

		opbug_kcsan_task(&own);
		wait_for_completion(&done);
	}
}

/*
 * kmemleak: memory that nobody knows any more; what it says, tells whose it is.
 * So much that most of it is no longer in the sheaves of SLUB (from 6.18 on), where
 * the last addresses given out still lie and kmemleak finds them.
 */
static noinline void opbug_leak(void)
{
	unsigned int i;
	char *text;

	for (i = 0; i < 128; i++) {
		text = kmalloc(32, GFP_KERNEL);
		if (text)
			strscpy(text, __func__, 32);
	}
}

static const struct {
	const char *name;
	void (*happen)(void);
} bugs[] = {
	{ "kasan", opbug_kasan },
	{ "vmalloc", opbug_vmalloc },
	{ "lockdep", opbug_lockdep },
	{ "sleep", opbug_sleep },
	{ "rcu", opbug_rcu },
	{ "kcsan", opbug_kcsan },
	{ "leak", opbug_leak },
};

static int __init opbug_init(void)
{
	unsigned int i;

	for (i = 0; bug && i < ARRAY_SIZE(bugs); i++) {
		if (!strcmp(bug, bugs[i].name)) {
			bugs[i].happen();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit opbug_exit(void)
{
}

module_init(opbug_init);
module_exit(opbug_exit);

MODULE_DESCRIPTION("Bugs for the kernel's tools to find");
MODULE_LICENSE("GPL");
