/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - today's names on yesterday's kernels.
 *
 * The only file that asks for a kernel version. Kernels 5.10 to 7.3.
 */
#ifndef _OPROFILE_COMPAT_H
#define _OPROFILE_COMPAT_H

#include <linux/version.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

/**
 * op_get_mm_exe_file() - take a reference to an address space's executable
 * @mm: the address space; its struct must be pinned (mmgrab), its users may
 *	be gone
 *
 * get_mm_exe_file() is not exported. Files are freed by RCU up to 6.6 and
 * recycled in place since 6.7, where get_file_rcu() took the pointer's
 * address and looks twice.
 *
 * Context: any but NMI.
 * Return: the file, or NULL where there is none any more.
 */
static inline struct file *op_get_mm_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	file = get_file_rcu(&mm->exe_file);
#else
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#endif
	rcu_read_unlock();
	return file;
}

/**
 * op_file_path() - the path of a file as its user sees it
 * @file: a counted file
 *
 * Since 6.8 what overlayfs maps is a backing file whose own path is the
 * lower one; before, the mapped file carries the overlay's path itself.
 *
 * Return: the path, valid as long as the file.
 */
static inline const struct path *op_file_path(struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/**
 * op_file_data_inode() - the inode whose page cache has a file's contents
 * @file: a counted file, from a VMA or an exe_file
 *
 * An exe_file on overlayfs is the overlay's, whose own page cache is empty;
 * what a VMA has is the real file.
 *
 * Return: the inode, valid as long as the file.
 */
static inline struct inode *op_file_data_inode(struct file *file)
{
	struct inode *inode = file_inode(file);

	if (inode->i_sb->s_magic == OVERLAYFS_SUPER_MAGIC)
		return d_real_inode(file->f_path.dentry);
	return inode;
}

/**
 * op_file_inode() - the inode of a file as /proc/PID/maps shows it
 * @file: a counted file, from a VMA or an exe_file
 *
 * Since 6.8 that is the user's inode on overlayfs; before, the real one.
 *
 * Return: the inode, valid as long as the file.
 */
static inline struct inode *op_file_inode(struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	return d_inode(op_file_path(file)->dentry);
#else
	return op_file_data_inode(file);
#endif
}

/**
 * op_inode_mtime() - when a file's contents were changed
 * @inode: its inode
 *
 * The accessor came in 6.7, that of the ctime in 6.6.
 */
static inline struct timespec64 op_inode_mtime(const struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return inode_get_mtime(inode);
#else
	return inode->i_mtime;
#endif
}

/**
 * op_inode_ctime() - when anything of a file was changed
 * @inode: its inode
 */
static inline struct timespec64 op_inode_ctime(const struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return inode_get_ctime(inode);
#else
	return inode->i_ctime;
#endif
}

/**
 * op_task_is_dead() - has a task run its last instruction?
 * @task: a counted task
 *
 * The field got its underscores in 5.14. TASK_DEAD is set with preemption
 * off, just before the task leaves its CPU for good.
 */
static inline bool op_task_is_dead(struct task_struct *task)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	return READ_ONCE(task->__state) & TASK_DEAD;
#else
	return READ_ONCE(task->state) & TASK_DEAD;
#endif
}

/**
 * op_module_text() - where a module's code lies
 * @mod: a module in state COMING, LIVE or GOING
 * @size: set to its size in bytes
 *
 * One layout held everything until 6.4 gave each kind of memory its own.
 *
 * Return: its first address.
 */
static inline unsigned long op_module_text(const struct module *mod,
					   unsigned long *size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	*size = mod->mem[MOD_TEXT].size;
	return (unsigned long)mod->mem[MOD_TEXT].base;
#else
	*size = mod->core_layout.text_size;
	return (unsigned long)mod->core_layout.base;
#endif
}

/**
 * op_vma_is_vdso() - is this the [vdso]?
 * @vma: with its mm's lock held, or in exit_mmap()
 */
static inline bool op_vma_is_vdso(const struct vm_area_struct *vma)
{
#if defined(CONFIG_X86) || defined(CONFIG_ARM64)
	return !vma->vm_file &&
	       vma->vm_start == (unsigned long)vma->vm_mm->context.vdso;
#else
	return false;
#endif
}

/**
 * op_mmap_write_trylock() - see that nobody holds an mmap lock, and keep it so
 * @mm: with users
 *
 * mmap_write_trylock() went in 6.5. The lock itself is enough here: nothing is
 * changed under it, so page faults that go by the VMAs' own locks may go on.
 *
 * Return: true where it is held for writing now.
 */
static inline bool op_mmap_write_trylock(struct mm_struct *mm)
{
	return down_write_trylock(&mm->mmap_lock);
}

/**
 * op_mmap_write_unlock() - undo op_mmap_write_trylock()
 * @mm: the same
 */
static inline void op_mmap_write_unlock(struct mm_struct *mm)
{
	up_write(&mm->mmap_lock);
}

/* in_irq() until 5.11 */
#ifndef in_hardirq
#define in_hardirq()		(hardirq_count())
#endif

/* Mappings of one thread that let it sleep came in 5.11. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define kmap_local_page		kmap_atomic
#define kunmap_local		kunmap_atomic
#endif

/* From 6.2 on call_rcu() may take its time to save power. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define call_rcu_hurry		call_rcu
#endif

/**
 * op_module_init_text() - where the code lies that runs once
 * @mod: as for op_module_text(), its init not freed yet
 * @size: set to its size in bytes
 *
 * Return: its first address.
 */
static inline unsigned long op_module_init_text(const struct module *mod,
						unsigned long *size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	*size = mod->mem[MOD_INIT_TEXT].size;
	return (unsigned long)mod->mem[MOD_INIT_TEXT].base;
#else
	*size = mod->init_layout.text_size;
	return (unsigned long)mod->init_layout.base;
#endif
}

/*
 * Where mprotect_fixup() has its vma, start and end: the mmu_gather came in
 * 5.19, the VMA iterator in 6.3.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define OP_MPROTECT_VMA		2
#define OP_MPROTECT_START	4
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
#define OP_MPROTECT_VMA		1
#define OP_MPROTECT_START	3
#else
#define OP_MPROTECT_VMA		0
#define OP_MPROTECT_START	2
#endif

/* What mremap() calls to grow a mapping in place, until vma_merge_extend(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
#define OP_VMA_GROWTH		"vma_merge"
#else
#define OP_VMA_GROWTH		"__vma_adjust"
#endif

/* Where vma_merge() has its start and end: the VMA iterator came in 6.3. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define OP_VMA_MERGE_START	3
#else
#define OP_VMA_MERGE_START	2
#endif

#endif /* _OPROFILE_COMPAT_H */
