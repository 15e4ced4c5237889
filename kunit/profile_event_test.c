// SPDX-License-Identifier: GPL-2.0
/*
 * profile_event_test.c - ranges out of registers: only what makes sense
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>

#include "common.h"

/* After so many kprobes no more can be registered, for that reason. */
static unsigned int kprobes_left = UINT_MAX;
static int kprobe_error;

static int test_register_kprobe(struct kprobe *kp)
{
	if (!kprobes_left)
		return kprobe_error;
	kprobes_left--;
	return register_kprobe(kp);
}

#define register_kprobe test_register_kprobe

#undef pr_fmt
#include "../src/profile_event.c"

static struct mm_struct *test_mm;

static void set_args(struct pt_regs *regs, const unsigned long *arg)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		op_test_set_arg(regs, i, arg[i]);
}

static void ranges_that_make_sense(struct kunit *test)
{
	struct op_profile_event event = {};

	KUNIT_EXPECT_TRUE(test, get_range(&event, 0x1000, 0x3000));
	KUNIT_EXPECT_PTR_EQ(test, event.mm, test_mm);
	KUNIT_EXPECT_EQ(test, event.start, 0x1000UL);
	KUNIT_EXPECT_EQ(test, event.end, 0x3000UL);
	/* aligned to pages, outwards */
	KUNIT_EXPECT_TRUE(test, get_range(&event, 0x1fff, 0x2001));
	KUNIT_EXPECT_EQ(test, event.start, 0x1000UL);
	KUNIT_EXPECT_EQ(test, event.end, 0x3000UL);
	KUNIT_EXPECT_TRUE(test, get_range(&event, 0, test_mm->task_size));
}

static void ranges_that_make_none(struct kunit *test)
{
	unsigned long size = test_mm->task_size;
	struct op_profile_event event = {};

	KUNIT_EXPECT_FALSE(test, get_range(&event, 0x1000, 0x1000));
	KUNIT_EXPECT_FALSE(test, get_range(&event, 0x2000, 0x1000));
	KUNIT_EXPECT_FALSE(test, get_range(&event, 0x1000, size + 1));
	KUNIT_EXPECT_FALSE(test, get_range(&event, size, size + PAGE_SIZE));
	KUNIT_EXPECT_FALSE(test, get_range(&event, 0, ULONG_MAX));
	KUNIT_EXPECT_FALSE(test, get_range(&event, ULONG_MAX - 1, ULONG_MAX));
	KUNIT_EXPECT_FALSE(test, get_range(&event, 0, ULONG_MAX - PAGE_SIZE));
	/* start + length has gone round */
	KUNIT_EXPECT_FALSE(test, get_range(&event, 0x5000, 0x5000 - 1UL));
	KUNIT_EXPECT_NULL(test, event.mm);
}

static void an_unmap_needs_the_lock(struct kunit *test)
{
	struct op_profile_event event = {};

	KUNIT_EXPECT_FALSE(test, get_unmap(&event, 0x1000, 0x2000));
	mmap_write_lock(test_mm);
	KUNIT_EXPECT_TRUE(test, get_unmap(&event, 0x1000, 0x2000));
	KUNIT_EXPECT_FALSE(test, get_unmap(&event, 0x2000, 0x1000));
	mmap_write_unlock(test_mm);
}

static void munmap_arguments(struct kunit *test)
{
	unsigned long mm = (unsigned long)test_mm;
	struct op_profile_event event = {};
	struct pt_regs regs = {};

	mmap_write_lock(test_mm);
	set_args(&regs, (unsigned long []){ 1, 2, mm, 0x1000, 0x4000, 0 });
	KUNIT_EXPECT_TRUE(test, get_munmap(&event, &regs,
					   "do_vmi_align_munmap"));
	KUNIT_EXPECT_EQ(test, event.start, 0x1000UL);
	KUNIT_EXPECT_EQ(test, event.end, 0x4000UL);
	/* another address space */
	set_args(&regs, (unsigned long []){ 1, 2, mm + 1, 0x1000, 0x4000, 0 });
	KUNIT_EXPECT_FALSE(test, get_munmap(&event, &regs,
					    "do_vmi_align_munmap"));
	/* a length, on old kernels */
	set_args(&regs, (unsigned long []){ mm, 0x1000, 0x1234, 0, 0, 0 });
	KUNIT_EXPECT_TRUE(test, get_munmap(&event, &regs, "__do_munmap"));
	KUNIT_EXPECT_EQ(test, event.start, 0x1000UL);
	KUNIT_EXPECT_EQ(test, event.end, 0x3000UL);
	set_args(&regs, (unsigned long []){ mm, 0x1000, -0x1000UL, 0, 0, 0 });
	KUNIT_EXPECT_FALSE(test, get_munmap(&event, &regs, "__do_munmap"));
	set_args(&regs, (unsigned long []){ 0, 0x1000, 0x2000, 0, 0, 0 });
	KUNIT_EXPECT_TRUE(test, get_mmap_region(&event, &regs, "mmap_region"));
	KUNIT_EXPECT_EQ(test, event.end, 0x3000UL);
	mmap_write_unlock(test_mm);
}

static void mprotect_arguments(struct kunit *test)
{
	struct vm_area_struct vma = { .vm_mm = test_mm };
	struct op_profile_event event = {};
	struct pt_regs regs = {};
	unsigned long arg[6] = {};

	arg[OP_MPROTECT_VMA] = (unsigned long)&vma;
	arg[OP_MPROTECT_START] = 0x1000;
	arg[OP_MPROTECT_START + 1] = 0x2000;
	set_args(&regs, arg);
	mmap_write_lock(test_mm);
	KUNIT_EXPECT_TRUE(test, get_mprotect(&event, &regs, "mprotect_fixup"));
	KUNIT_EXPECT_EQ(test, event.end, 0x2000UL);
	vma.vm_mm = NULL;
	KUNIT_EXPECT_FALSE(test, get_mprotect(&event, &regs, "mprotect_fixup"));
	mmap_write_unlock(test_mm);
}

static void an_exit_has_no_users_left(struct kunit *test)
{
	struct op_profile_event event = {};
	struct pt_regs regs = {};

	KUNIT_EXPECT_FALSE(test, get_exit_mmap(&event, &regs, "exit_mmap"));
	op_test_set_arg(&regs, 0, (unsigned long)test_mm);
	KUNIT_EXPECT_FALSE(test, get_exit_mmap(&event, &regs, "exit_mmap"));
	atomic_dec(&test_mm->mm_users);
	KUNIT_EXPECT_TRUE(test, get_exit_mmap(&event, &regs, "exit_mmap"));
	atomic_inc(&test_mm->mm_users);
	KUNIT_EXPECT_PTR_EQ(test, event.mm, test_mm);
}

static void a_mapping_grows_into_nothing(struct kunit *test)
{
	const unsigned long at = 0x10000000;
	struct op_profile_event event = {};
	struct vm_area_struct vma = { .vm_start = at, .vm_end = at + PAGE_SIZE };
	struct pt_regs regs = {};

	op_test_set_arg(&regs, 1, (unsigned long)&vma);
	op_test_set_arg(&regs, 2, PAGE_SIZE);
	mmap_write_lock(test_mm);
	KUNIT_EXPECT_TRUE(test, get_growth(&event, &regs, "vma_merge_extend"));
	KUNIT_EXPECT_EQ(test, event.start, at + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, event.end, at + 2 * PAGE_SIZE);
	op_test_set_arg(&regs, 0, (unsigned long)&vma);
	op_test_set_arg(&regs, 2, at + 3 * PAGE_SIZE);
	KUNIT_EXPECT_FALSE(test, get_growth(&event, &regs, "__vma_adjust"));
	vma.vm_mm = test_mm;
	KUNIT_EXPECT_TRUE(test, get_growth(&event, &regs, "__vma_adjust"));
	KUNIT_EXPECT_EQ(test, event.start, at + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, event.end, at + 3 * PAGE_SIZE);
	/* split, or cut off at its end */
	op_test_set_arg(&regs, 2, at + PAGE_SIZE / 2);
	KUNIT_EXPECT_FALSE(test, get_growth(&event, &regs, "__vma_adjust"));
	mmap_write_unlock(test_mm);
	/* what is mapped there stays what it is */
	op_test_set_arg(&regs, 2, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, at + PAGE_SIZE,
			vm_mmap(NULL, at + PAGE_SIZE, PAGE_SIZE, PROT_READ,
				MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, 0));
	mmap_write_lock(test_mm);
	KUNIT_EXPECT_FALSE(test, get_growth(&event, &regs, "vma_merge_extend"));
	mmap_write_unlock(test_mm);
}

static void listeners_of_no_event(struct kunit *test)
{
	struct notifier_block nb = {};

	KUNIT_EXPECT_EQ(test, -EINVAL,
			op_profile_event_register(OP_PROFILE_EVENTS, &nb));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			op_profile_event_unregister(OP_PROFILE_EVENTS, &nb));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			op_profile_event_unregister(OP_EXEC_MAP, &nb));
}

static void every_event_has_a_function(struct kunit *test)
{
	bool found[OP_PROFILE_EVENTS] = {};
	unsigned int i;

	op_profile_events_start();
	for (i = 0; i < NR_PROBES; i++)
		found[probes[i].type] |= probes[i].active;
	op_profile_events_stop();
	for (i = 0; i < OP_PROFILE_EVENTS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, found[i], "%s", type_names[i]);
	for (i = 0; i < NR_PROBES; i++)
		KUNIT_EXPECT_FALSE(test, probes[i].active);
}

static unsigned int nr_active(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < NR_PROBES; i++)
		n += probes[i].active;
	return n;
}

static void a_start_needs_memory_for_every_kprobe(struct kunit *test)
{
	unsigned int n;

	kprobe_error = -ENOMEM;
	for (n = 0; n < NR_PROBES - 1; n++) {
		kprobes_left = n;
		KUNIT_EXPECT_EQ(test, -ENOMEM, op_profile_events_start());
		KUNIT_EXPECT_EQ(test, nr_active(), 0U);
	}
	/* but not every function */
	kprobe_error = -ENOENT;
	kprobes_left = 2;
	KUNIT_EXPECT_EQ(test, 0, op_profile_events_start());
	KUNIT_EXPECT_EQ(test, nr_active(), 2U);
	op_profile_events_stop();
	kprobes_left = UINT_MAX;
}

static int profile_event_test_init(struct kunit *test)
{
	test_mm = op_test_mm(test);
	return 0;
}

static struct kunit_case profile_event_cases[] = {
	KUNIT_CASE(ranges_that_make_sense),
	KUNIT_CASE(ranges_that_make_none),
	KUNIT_CASE(an_unmap_needs_the_lock),
	KUNIT_CASE(munmap_arguments),
	KUNIT_CASE(mprotect_arguments),
	KUNIT_CASE(an_exit_has_no_users_left),
	KUNIT_CASE(a_mapping_grows_into_nothing),
	KUNIT_CASE(listeners_of_no_event),
	KUNIT_CASE(every_event_has_a_function),
	KUNIT_CASE(a_start_needs_memory_for_every_kprobe),
	{}
};

static struct kunit_suite profile_event_suite = {
	.name = "oprofile_profile_event",
	.init = profile_event_test_init,
	.test_cases = profile_event_cases,
};

kunit_test_suite(profile_event_suite);
