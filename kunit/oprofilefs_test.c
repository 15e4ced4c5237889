// SPDX-License-Identifier: GPL-2.0
/*
 * oprofilefs_test.c - what a control file takes and gives
 */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "common.h"

#include "../src/oprofilefs.c"

struct desk {
	struct file file;
	struct op_control control;
	char __user *user;
	char text[TEXT_MAX];
	unsigned long number;
	unsigned int calls;
	int err;
};

static struct desk *desk;

static int get_text(void *data, char *text, size_t size)
{
	snprintf(text, size, "%s", desk->text);
	return desk->err;
}

static int set_text(void *data, const char *text)
{
	desk->calls++;
	strscpy(desk->text, text, sizeof(desk->text));
	return desk->err;
}

static int set_number(unsigned long number)
{
	desk->calls++;
	desk->number = number;
	return desk->err;
}

static ssize_t write_bytes(const char *bytes, size_t len)
{
	loff_t pos = 0;

	if (copy_to_user(desk->user, bytes, len))
		return -EFAULT;
	return control_write(&desk->file, desk->user, len, &pos);
}

static ssize_t write_text(const char *text)
{
	return write_bytes(text, strlen(text));
}

static void numbers(struct kunit *test)
{
	static const struct {
		const char *text;
		int err;
		unsigned long value;
	} row[] = {
		{ "0", 0, 0 },
		{ "1", 0, 1 },
		{ "4096", 0, 4096 },
		{ "010", 0, 10 },
		{ "0x10", 0, 16 },
		{ "0XfF", 0, 255 },
		{ "18446744073709551615", 0, ULONG_MAX },
		{ "0xffffffffffffffff", 0, ULONG_MAX },
		{ "18446744073709551616", -ERANGE },
		{ "0x10000000000000000", -ERANGE },
		{ "99999999999999999999999", -ERANGE },
		{ "", -EINVAL },
		{ "-1", -EINVAL },
		{ "+1", -EINVAL },
		{ " 1", -EINVAL },
		{ "1 ", -EINVAL },
		{ "1x", -EINVAL },
		{ "0x", -EINVAL },
		{ "x10", -EINVAL },
		{ "ff", -EINVAL },
		{ "1.5", -EINVAL },
		{ "one", -EINVAL },
		{ "0x0x1", -EINVAL },
	};
	unsigned long value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		value = 7;
		KUNIT_EXPECT_EQ_MSG(test, op_parse_ulong(row[i].text, &value),
				    row[i].err, "%s", row[i].text);
		KUNIT_EXPECT_EQ_MSG(test, value,
				    row[i].err ? 7 : row[i].value, "%s",
				    row[i].text);
	}
}

static void one_value_a_write(struct kunit *test)
{
	desk->control.set = set_text;
	KUNIT_EXPECT_EQ(test, write_text("abc"), 3);
	KUNIT_EXPECT_STREQ(test, desk->text, "abc");
	KUNIT_EXPECT_EQ(test, write_text("de\n"), 3);
	KUNIT_EXPECT_STREQ(test, desk->text, "de");
	/* one newline */
	KUNIT_EXPECT_EQ(test, write_text("f\n\n"), 3);
	KUNIT_EXPECT_STREQ(test, desk->text, "f\n");
	KUNIT_EXPECT_EQ(test, desk->calls, 3U);
	desk->err = -EBUSY;
	KUNIT_EXPECT_EQ(test, write_text("g"), -EBUSY);
}

static void writes_that_are_refused(struct kunit *test)
{
	char text[TEXT_MAX + 1];
	loff_t pos = 0;

	desk->control.set = set_text;
	memset(text, 'x', sizeof(text));
	KUNIT_EXPECT_EQ(test, write_bytes(text, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_text("\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_bytes("a\0b", 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_bytes("\0", 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_bytes(text, TEXT_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_bytes(text, TEXT_MAX + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, control_write(&desk->file, (void __user *)8, 4,
					    &pos), -EFAULT);
	KUNIT_EXPECT_EQ(test, desk->calls, 0U);
	KUNIT_EXPECT_EQ(test, write_bytes(text, TEXT_MAX - 1), TEXT_MAX - 1);
	KUNIT_EXPECT_EQ(test, desk->calls, 1U);
	desk->control.set = NULL;
	KUNIT_EXPECT_EQ(test, write_text("1"), -EACCES);
}

static void files_that_take_a_number(struct kunit *test)
{
	desk->control.set_number = set_number;
	KUNIT_EXPECT_EQ(test, write_text("0x20\n"), 5);
	KUNIT_EXPECT_EQ(test, desk->number, 32UL);
	KUNIT_EXPECT_EQ(test, write_text("no"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_text("99999999999999999999"), -ERANGE);
	KUNIT_EXPECT_EQ(test, desk->calls, 1U);
	desk->err = -ERANGE;
	KUNIT_EXPECT_EQ(test, write_text("5"), -ERANGE);
}

static void reads_in_pieces(struct kunit *test)
{
	char text[8] = "";
	loff_t pos = 0;

	desk->control.get = get_text;
	strscpy(desk->text, "hello", sizeof(desk->text));
	KUNIT_EXPECT_EQ(test, control_read(&desk->file, desk->user, 4, &pos),
			4);
	KUNIT_EXPECT_EQ(test, control_read(&desk->file, desk->user + 4, 40,
					   &pos), 2);
	KUNIT_EXPECT_EQ(test, control_read(&desk->file, desk->user, 40, &pos),
			0);
	KUNIT_EXPECT_EQ(test, copy_from_user(text, desk->user, 6), 0UL);
	KUNIT_EXPECT_STREQ(test, text, "hello\n");
	desk->err = -ENOENT;
	pos = 0;
	KUNIT_EXPECT_EQ(test, control_read(&desk->file, desk->user, 4, &pos),
			-ENOENT);
}

static int oprofilefs_test_init(struct kunit *test)
{
	desk = kunit_kzalloc(test, sizeof(*desk), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, desk);
	desk->file.private_data = &desk->control;
	desk->user = op_test_user(test, PAGE_SIZE);
	return 0;
}

static struct kunit_case oprofilefs_cases[] = {
	KUNIT_CASE(numbers),
	KUNIT_CASE(one_value_a_write),
	KUNIT_CASE(writes_that_are_refused),
	KUNIT_CASE(files_that_take_a_number),
	KUNIT_CASE(reads_in_pieces),
	{}
};

static struct kunit_suite oprofilefs_suite = {
	.name = "oprofile_oprofilefs",
	.init = oprofilefs_test_init,
	.test_cases = oprofilefs_cases,
};

kunit_test_suite(oprofilefs_suite);
