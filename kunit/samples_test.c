// SPDX-License-Identifier: GPL-2.0
/*
 * samples_test.c - a sample as a line of text
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "common.h"

#include "../src/samples.c"

static char *line;

/* A whole one. */
static size_t op_samples_line(char *to, size_t size, const struct op_said *said,
			      unsigned long offset, unsigned long event)
{
	size_t n = op_samples_begin(to, size, said, event);

	return n + op_samples_end(to + n, size - n, said, offset, 0);
}

static void expect_line(struct kunit *test, const struct op_said *said,
			unsigned long offset, unsigned long event,
			const char *want)
{
	size_t n = op_samples_line(line, OP_LINE_MAX, said, offset, event);

	KUNIT_EXPECT_STREQ(test, line, want);
	KUNIT_EXPECT_EQ(test, n, strlen(want));
}

static void the_header_names_the_columns(struct kunit *test)
{
	static const char want[] =
		"# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset\n";

	KUNIT_EXPECT_EQ(test, op_samples_header(line, OP_LINE_MAX),
			strlen(want));
	KUNIT_EXPECT_STREQ(test, line, want);
}

static void a_user_sample_has_a_file_and_an_offset(struct kunit *test)
{
	struct op_said said = {
		.context = { .cpu = 3, .tid = 12, .tgid = 11 },
	};

	said.context.app = op_cookie(op_test_file(test, "app", NULL, 0));
	said.cookie = op_cookie(op_test_file(test, "lib", NULL, 0));
	KUNIT_ASSERT_GE(test, said.context.app, OP_COOKIE_FIRST);
	expect_line(test, &said, 0x1a0, 1,
		    "3\t11\t12\ttwo\tu\t/app\\040(deleted)\t/lib\\040(deleted)\t0x1a0\n");
	said.context.cpu = ULONG_MAX;
	said.cookie = 0;
	expect_line(test, &said, ULONG_MAX - 1, 0,
		    "18446744073709551615\t11\t12\tone\tu\t/app\\040(deleted)\t[anon]\t0xfffffffffffffffe\n");
}

/* A program that takes a line apart at its tabs finds eight columns in it. */
static void paths_bring_no_columns(struct kunit *test)
{
	struct op_said said = {};
	struct file *file = op_test_file(test, "a\tb\nc d\\e", NULL, 0);

	said.context.app = op_cookie(file);
	said.cookie = said.context.app;
	expect_line(test, &said, 0, 0,
		    "0\t0\t0\tone\tu\t"
		    "/a\\011b\\012c\\040d\\134e\\040(deleted)\t"
		    "/a\\011b\\012c\\040d\\134e\\040(deleted)\t0x0\n");
}

static void what_has_no_file_has_a_name(struct kunit *test)
{
	struct op_said said = {};

	expect_line(test, &said, 1, 0, "0\t0\t0\tone\tu\t-\t[anon]\t0x1\n");
	said.cookie = OP_COOKIE_VDSO;
	expect_line(test, &said, 2, 0, "0\t0\t0\tone\tu\t-\t[vdso]\t0x2\n");
	/* a cookie that nobody knows any more, after a start */
	said.cookie = ULONG_MAX;
	said.context.app = ULONG_MAX;
	expect_line(test, &said, 3, 0, "0\t0\t0\tone\tu\t-\t[anon]\t0x3\n");
}

static void a_kernel_sample_has_a_symbol(struct kunit *test)
{
	struct op_said said = { .kernel = true };

	said.context.app = OP_COOKIE_KTHREAD;
	/* the file of the last user sample is none of its business */
	said.cookie = OP_COOKIE_VDSO;
	expect_line(test, &said, (unsigned long)sprint_symbol + 1, 1,
		    "0\t0\t0\ttwo\tk\t[kthread]\t[kernel]\tsprint_symbol+0x1\n");
	expect_line(test, &said, (unsigned long)op_samples_header, 1,
		    "0\t0\t0\ttwo\tk\t[kthread]\t[" KBUILD_MODNAME "]\t"
		    "op_samples_header+0x0\n");
	expect_line(test, &said, 7, 1,
		    "0\t0\t0\ttwo\tk\t[kthread]\t[kernel]\t0x7\n");
}

static void events_have_their_names(struct kunit *test)
{
	struct op_said said = {};

	op_samples_name_event(OP_MAX_EVENTS - 1, "rfedcba9876543210-and-more");
	expect_line(test, &said, 0, OP_MAX_EVENTS - 1,
		    "0\t0\t0\trfedcba9876543210-a\tu\t-\t[anon]\t0x0\n");
	expect_line(test, &said, 0, OP_MAX_EVENTS,
		    "0\t0\t0\t?\tu\t-\t[anon]\t0x0\n");
	expect_line(test, &said, 0, ULONG_MAX,
		    "0\t0\t0\t?\tu\t-\t[anon]\t0x0\n");
}

/* Two paths of the greatest length, with all their characters escaped. */
static void the_longest_line_has_room(struct kunit *test)
{
	struct op_said said = {};
	struct file *file;
	char *name;
	size_t n;

	name = kunit_kzalloc(test, 8192, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, name);
	memset(name, ' ', 8192 - sizeof("/ (deleted)"));
	file = op_test_file(test, name, NULL, 0);
	said.context.app = op_cookie(file);
	said.cookie = said.context.app;
	n = op_samples_line(line, OP_LINE_MAX, &said, ULONG_MAX, 0);
	KUNIT_EXPECT_EQ(test, n, strlen(line));
	KUNIT_EXPECT_GT(test, n, 2 * 4 * strlen(name));
	KUNIT_EXPECT_TRUE(test, strstr(line, "\\040(deleted)\t/\\040"));
	KUNIT_EXPECT_STREQ(test, line + n - 19, "0xffffffffffffffff\n");
}

/* KASAN sees a byte too much. */
static void lines_are_cut_off(struct kunit *test)
{
	struct op_said said = {};
	size_t size, n, whole;
	char *buf;

	said.cookie = op_cookie(op_test_file(test, "a name", NULL, 0));
	said.context.app = said.cookie;
	whole = op_samples_line(line, OP_LINE_MAX, &said, 1, 0);
	for (size = 1; size <= whole + 1; size++) {
		buf = kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		n = op_samples_line(buf, size, &said, 1, 0);
		KUNIT_EXPECT_LT(test, n, size);
		KUNIT_EXPECT_EQ(test, strnlen(buf, size), n);
		KUNIT_EXPECT_EQ(test, n == whole, size == whole + 1);
		kfree(buf);
	}
}

static int samples_test_init(struct kunit *test)
{
	line = kvmalloc(OP_LINE_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, line);
	op_samples_name_event(0, "one");
	op_samples_name_event(1, "two");
	return 0;
}

static void samples_test_exit(struct kunit *test)
{
	kvfree(line);
}

static struct kunit_case samples_cases[] = {
	KUNIT_CASE(the_header_names_the_columns),
	KUNIT_CASE(a_user_sample_has_a_file_and_an_offset),
	KUNIT_CASE(paths_bring_no_columns),
	KUNIT_CASE(what_has_no_file_has_a_name),
	KUNIT_CASE(a_kernel_sample_has_a_symbol),
	KUNIT_CASE(events_have_their_names),
	KUNIT_CASE(the_longest_line_has_room),
	KUNIT_CASE(lines_are_cut_off),
	{}
};

static struct kunit_suite samples_suite = {
	.name = "oprofile_samples",
	.init = samples_test_init,
	.exit = samples_test_exit,
	.test_cases = samples_cases,
};

kunit_test_suite(samples_suite);
