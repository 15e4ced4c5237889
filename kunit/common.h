/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - what the suites share
 *
 * A suite includes the source file that it tests, so that it sees what is
 * static there; the file is compiled nowhere else in oprofile_kunit.ko. Loading
 * that module sets up everything as oprofile.ko does, then the suites run.
 */
#ifndef _OPROFILE_KUNIT_COMMON_H
#define _OPROFILE_KUNIT_COMMON_H

#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "oprofile.h"

/* Who current is for the writer of a ring and for the hooks; NULL: who it is. */
extern struct task_struct *op_test_current;

/* Called at each step of the writer of a ring, unless NULL. */
extern void (*op_test_step)(void);

/* The overflow handler believes that it runs in hardirq context. */
extern bool op_test_hardirq;

static inline struct task_struct *op_test_task(void)
{
	return op_test_current ?: get_current();
}

/* A number below @n. */
static inline u32 op_test_random(struct rnd_state *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

/* Argument @n of a function, as it stands in the registers. */
static inline void op_test_set_arg(struct pt_regs *regs, unsigned int n,
				   unsigned long value)
{
#ifdef CONFIG_ARM64
	regs->regs[n] = value;
#else
	unsigned long *const args[] = {
		&regs->di, &regs->si, &regs->dx, &regs->cx, &regs->r8, &regs->r9,
	};

	*args[n] = value;
#endif
}

/* What was interrupted ran in user space, or in the kernel. */
static inline void op_test_set_user(struct pt_regs *regs, bool user)
{
#ifdef CONFIG_ARM64
	regs->pstate = user ? PSR_MODE_EL0t : PSR_MODE_EL1h;
#else
	regs->cs = user ? __USER_CS : __KERNEL_CS;
#endif
}

struct file *op_test_file(struct kunit *test, const char *name,
			  const void *data, size_t len);
struct mm_struct *op_test_mm(struct kunit *test);
char __user *op_test_user(struct kunit *test, size_t size);
struct task_struct *op_test_new_task(struct kunit *test, pid_t pid,
				     struct mm_struct *mm);
const struct cred *op_test_drop_rights(struct kunit *test);
struct file *op_test_open(struct kunit *test, const char *name, int flags);
ssize_t op_test_write(struct kunit *test, const char *name, const char *text);
ssize_t op_test_read(struct kunit *test, const char *name, char *text,
		     size_t size);

#endif /* _OPROFILE_KUNIT_COMMON_H */
