// SPDX-License-Identifier: GPL-2.0
/*
 * common.c - what the suites share
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "common.h"

struct task_struct *op_test_current;
void (*op_test_step)(void);
bool op_test_hardirq;

KUNIT_DEFINE_ACTION_WRAPPER(put_file, fput, struct file *);
KUNIT_DEFINE_ACTION_WRAPPER(put_rights, put_cred, const struct cred *);

/* Newer kernels have a type of their own for the flags of a VMA. */
#ifdef EMPTY_VMA_FLAGS
#define NO_FLAGS	EMPTY_VMA_FLAGS
#else
#define NO_FLAGS	0
#endif

/* A file in memory, until the end of the case. */
struct file *op_test_file(struct kunit *test, const char *name,
			  const void *data, size_t len)
{
	struct file *file = shmem_file_setup(name, 1 << 20, NO_FLAGS);
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

/* Memory of a user's, in the case's own address space. */
char __user *op_test_user(struct kunit *test, size_t size)
{
	unsigned long addr;

	op_test_mm(test);
	addr = vm_mmap(NULL, 0, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return (char __user *)addr;
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

/* From here to revert_creds() of what it returns, root has no capability. */
const struct cred *op_test_drop_rights(struct kunit *test)
{
	struct cred *cred = prepare_creds();

	KUNIT_ASSERT_NOT_NULL(test, cred);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, put_rights, cred));
	cap_clear(cred->cap_effective);
	return override_creds(cred);
}

static struct vfsmount *debugfs;

static void unmount(void *unused)
{
	kern_unmount(debugfs);
	debugfs = NULL;
}

/*
 * One of the files in debugfs, as a program opens it; close with __fput_sync().
 * What user space has mounted is not everywhere to be seen from here.
 */
struct file *op_test_open(struct kunit *test, const char *name, int flags)
{
	struct vfsmount *mnt;
	char path[64];

	if (!debugfs) {
		mnt = kern_mount(get_fs_type("debugfs"));
		KUNIT_ASSERT_FALSE(test, IS_ERR(mnt));
		debugfs = mnt;
		KUNIT_ASSERT_EQ(test, 0,
				kunit_add_action_or_reset(test, unmount, NULL));
	}
	snprintf(path, sizeof(path), "oprofile/%s", name);
	return file_open_root_mnt(debugfs, path, flags, 0);
}

/* Write one of them, at once. */
ssize_t op_test_write(struct kunit *test, const char *name, const char *text)
{
	struct file *file = op_test_open(test, name, O_WRONLY);
	size_t len = strlen(text);
	char __user *user;
	loff_t pos = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	user = op_test_user(test, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, copy_to_user(user, text, len), 0UL);
	n = file->f_op->write(file, user, len, &pos);
	vm_munmap((unsigned long)user, PAGE_SIZE);
	__fput_sync(file);
	return n;
}

/* Read one of them, at once and without the newline at its end. */
ssize_t op_test_read(struct kunit *test, const char *name, char *text,
		     size_t size)
{
	struct file *file = op_test_open(test, name, O_RDONLY);
	char __user *user;
	loff_t pos = 0;
	ssize_t n;

	text[0] = '\0';
	if (IS_ERR(file))
		return PTR_ERR(file);
	user = op_test_user(test, PAGE_SIZE);
	n = file->f_op->read(file, user, min(size - 1, PAGE_SIZE), &pos);
	if (n > 0) {
		KUNIT_EXPECT_EQ(test, copy_from_user(text, user, n), 0UL);
		text[n] = '\0';
		if (text[n - 1] == '\n')
			text[n - 1] = '\0';
	}
	vm_munmap((unsigned long)user, PAGE_SIZE);
	__fput_sync(file);
	return n;
}
