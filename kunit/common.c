// SPDX-License-Identifier: GPL-2.0
/*
 * common.c - what the suites share
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/shmem_fs.h>

#include "common.h"

struct task_struct *op_test_current;
void (*op_test_step)(void);
bool op_test_hardirq;

KUNIT_DEFINE_ACTION_WRAPPER(put_file, fput, struct file *);

/* A file in memory, until the end of the case. */
struct file *op_test_file(struct kunit *test, const char *name,
			  const void *data, size_t len)
{
	struct file *file = shmem_file_setup(name, 1 << 20, 0);
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_file, file));
	if (len)
		KUNIT_ASSERT_EQ(test, (ssize_t)len,
				kernel_write(file, data, len, &pos));
	return file;
}

/* The case's own address space; it is current->mm from here on. */
struct mm_struct *op_test_mm(struct kunit *test)
{
	unsigned long addr;

	if (!current->mm) {
		addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ,
				     MAP_PRIVATE | MAP_ANONYMOUS, 0);
		KUNIT_ASSERT_NE(test, addr, 0UL);
		KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
		vm_munmap(addr, PAGE_SIZE);
	}
	KUNIT_ASSERT_NOT_NULL(test, current->mm);
	return current->mm;
}

/* Looks like a task to a handler and to a hook. */
struct task_struct *op_test_new_task(struct kunit *test, pid_t pid,
				     struct mm_struct *mm)
{
	struct task_struct *task;

	task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, task);
	refcount_set(&task->usage, 1);
	task->pid = pid;
	task->tgid = pid;
	task->mm = mm;
	return task;
}
