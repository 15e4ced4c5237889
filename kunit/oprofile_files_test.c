// SPDX-License-Identifier: GPL-2.0
/*
 * oprofile_files_test.c - the control files, by their names in debugfs
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../src/event_buffer.h"
#include "common.h"

static bool debugfs_there = true;

#define debugfs_initialized()	(debugfs_there)

#undef pr_fmt
#include "../src/oprofile_files.c"

static struct op_settings saved;

/**
 * struct row - a write, and what the file shows after it
 * @file: its name
 * @text: what is written; NULL: nothing
 * @err: what the write gives, if not all its bytes
 * @shows: what a read gives then
 */
struct row {
	const char *file;
	const char *text;
	int err;
	const char *shows;
};

static void expect_shows(struct kunit *test, const char *name,
			 const char *shows, const char *after)
{
	char text[64];
	ssize_t n = op_test_read(test, name, text, sizeof(text));

	KUNIT_EXPECT_EQ_MSG(test, n, (ssize_t)strlen(shows) + 1,
			    "%s after '%s'", name, after);
	KUNIT_EXPECT_STREQ_MSG(test, text, shows, "%s after '%s'", name, after);
}

static void try_rows(struct kunit *test, const char *dir, const struct row *row,
		     unsigned int n)
{
	char name[32];
	ssize_t want;

	for (; n-- > 0; row++) {
		snprintf(name, sizeof(name), "%s%s", dir, row->file);
		if (row->text) {
			want = row->err ?: (ssize_t)strlen(row->text);
			KUNIT_EXPECT_EQ_MSG(test, want,
					    op_test_write(test, name, row->text),
					    "'%s' to %s", row->text, name);
		}
		expect_shows(test, name, row->shows, row->text ?: "");
	}
}

/* How many codes of events there are, and the last one. */
#ifdef CONFIG_X86
#define CODES		"4096"
#define CODE_MAX	"4095"
#else
#define CODES		"65536"
#define CODE_MAX	"65535"
#endif

static void files_of_the_whole(struct kunit *test)
{
	static const struct row rows[] = {
		{ "enable", NULL, 0, "0" },
		{ "enable", "0", 0, "0" },
		{ "enable", "2", -ERANGE, "0" },
		{ "enable", "-1", -EINVAL, "0" },
		{ "enable", "yes", -EINVAL, "0" },
		{ "enable", "", -EINVAL, "0" },
		{ "buffer_size", NULL, 0, "131072" },
		{ "buffer_size", "65536", 0, "65536" },
		{ "buffer_size", "0x8001\n", 0, "32769" },
		{ "buffer_size", "32768", -ERANGE, "32769" },
		{ "buffer_size", "0", -ERANGE, "32769" },
		{ "buffer_size", "18446744073709551616", -ERANGE, "32769" },
		{ "buffer_size", "0x7fffffffffffffff", -ENOMEM, "32769" },
		{ "buffer_size", "-1", -EINVAL, "32769" },
		{ "buffer_size", "64k", -EINVAL, "32769" },
		{ "buffer_watershed", NULL, 0, "32768" },
		{ "buffer_watershed", "32769", -ERANGE, "32768" },
		{ "buffer_watershed", "0", -ERANGE, "32768" },
		{ "buffer_watershed", "half", -EINVAL, "32768" },
		{ "buffer_watershed", "1", 0, "1" },
		{ "buffer_size", "31", -ERANGE, "32769" },
		{ "buffer_size", "32", 0, "32" },
		{ "buffer_watershed", "32", -ERANGE, "1" },
		{ "buffer_watershed", "31", 0, "31" },
		{ "cpu_buffer_size", NULL, 0, "8192" },
		{ "cpu_buffer_size", "1", 0, "1" },
		{ "cpu_buffer_size", "0", -ERANGE, "1" },
		{ "cpu_buffer_size", "0x7fffffffffffffff", -ENOMEM, "1" },
		{ "cpu_buffer_size", " 2", -EINVAL, "1" },
		{ "backtrace_depth", "0", 0, "0" },
		{ "backtrace_depth", "1", -ERANGE, "0" },
		{ "backtrace_depth", "deep", -EINVAL, "0" },
		{ "cpu_type", "timer", -EACCES, "timer" },
#if BITS_PER_LONG == 64
		{ "pointer_size", "4", -EACCES, "8" },
#else
		{ "pointer_size", "8", -EACCES, "4" },
#endif
	};

	try_rows(test, "", rows, ARRAY_SIZE(rows));
}

static void files_of_an_event(struct kunit *test)
{
	static const struct row rows[] = {
		{ "enabled", "1", 0, "1" },
		{ "enabled", "2", -ERANGE, "1" },
		{ "enabled", "on", -EINVAL, "1" },
		{ "enabled", "0\n", 0, "0" },
		{ "name", NULL, 0, "cpu-clock" },
		{ "name", "page-faults\n", 0, "page-faults" },
		{ "name", "Page-faults", -EINVAL, "page-faults" },
		{ "name", "page-faults ", -EINVAL, "page-faults" },
		{ "name", "page", -EINVAL, "page-faults" },
		{ "name", "\n", -EINVAL, "page-faults" },
		{ "name", "r", -EINVAL, "page-faults" },
		{ "name", "r0x1", -EINVAL, "page-faults" },
		{ "name", "r-1", -EINVAL, "page-faults" },
		{ "name", "r1g", -EINVAL, "page-faults" },
		{ "name", "r1\n\n", -EINVAL, "page-faults" },
		{ "name", "r00123456789abcdef", -EINVAL, "page-faults" },
		{ "name", "rfedcba9876543210", 0, "rfedcba9876543210" },
		{ "event", CODES, -ERANGE, "0" },
		{ "event", "cycles", -EINVAL, "0" },
		{ "name", NULL, 0, "rfedcba9876543210" },
		/* a code takes the name's place, and the other way */
		{ "event", CODE_MAX, 0, CODE_MAX },
		{ "name", NULL, 0, "" },
		{ "name", "nonsense", -EINVAL, "" },
		{ "name", "branches", 0, "branches" },
		{ "unit_mask", "256", -ERANGE, "0" },
		{ "name", NULL, 0, "branches" },
		{ "unit_mask", "0xff", 0, "255" },
		{ "name", NULL, 0, "" },
		{ "event", NULL, 0, CODE_MAX },
		/* of a count and a frequency the last one written counts */
		{ "count", NULL, 0, "0" },
		{ "freq", NULL, 0, "1000" },
		{ "count", "0", -ERANGE, "0" },
		{ "count", "0x8000000000000000", -ERANGE, "0" },
		{ "freq", NULL, 0, "1000" },
		{ "count", "0x7fffffffffffffff", 0, "9223372036854775807" },
		{ "freq", NULL, 0, "0" },
		{ "freq", "0", -ERANGE, "0" },
		{ "freq", "100001", -ERANGE, "0" },
		{ "freq", "1e3", -EINVAL, "0" },
		{ "count", NULL, 0, "9223372036854775807" },
		{ "freq", "100000", 0, "100000" },
		{ "count", NULL, 0, "0" },
		{ "kernel", NULL, 0, "1" },
		{ "kernel", "0", 0, "0" },
		{ "kernel", "2", -ERANGE, "0" },
		{ "user", NULL, 0, "1" },
		{ "user", "0", 0, "0" },
		{ "user", "no", -EINVAL, "0" },
		{ "kernel", "1", 0, "1" },
		{ "user", NULL, 0, "0" },
		{ "idle", NULL, 0, "0" },
		{ "idle", "1", 0, "1" },
		{ "idle", "18446744073709551615", -ERANGE, "1" },
	};
	struct op_event_config before[OP_MAX_EVENTS];
	unsigned int i, j;
	char dir[4];

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		memcpy(before, op_settings.event, sizeof(before));
		snprintf(dir, sizeof(dir), "%u/", i);
		try_rows(test, dir, rows, ARRAY_SIZE(rows));
		for (j = 0; j < OP_MAX_EVENTS; j++) {
			if (j != i)
				KUNIT_EXPECT_MEMEQ(test, &before[j],
						   &op_settings.event[j],
						   sizeof(before[j]));
		}
	}
}

/* Every value here would be taken, but for what stands in its way. */
static void try_all(struct kunit *test, int err)
{
	static const struct row good[] = {
		{ "buffer_size", "65536" },
		{ "buffer_watershed", "16" },
		{ "cpu_buffer_size", "16" },
		{ "backtrace_depth", "0" },
		{ "0/enabled", "0" },
		{ "0/name", "page-faults" },
		{ "0/event", "1" },
		{ "0/unit_mask", "1" },
		{ "0/count", "100000" },
		{ "0/freq", "100" },
		{ "0/kernel", "0" },
		{ "0/user", "0" },
		{ "0/idle", "1" },
		{ "7/enabled", "1" },
		{ "7/name", "page-faults" },
	};
	struct op_settings before = op_settings;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		KUNIT_EXPECT_EQ_MSG(test, (ssize_t)err,
				    op_test_write(test, good[i].file,
						  good[i].text),
				    "%s", good[i].file);
		KUNIT_EXPECT_MEMEQ_MSG(test, &before, &op_settings,
				       sizeof(before), "%s", good[i].file);
	}
}

static void nothing_changes_while_a_profile_runs(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, op_test_write(test, "enable", "1"), 1);
	expect_shows(test, "enable", "1", "1");
	try_all(test, -EBUSY);
	/* what is wrong anyway is told as such only where it is looked at */
	KUNIT_EXPECT_EQ(test, op_test_write(test, "0/count", "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "enable", "1"), 1);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "enable", "2"), -ERANGE);
	expect_shows(test, "enable", "1", "2");
	KUNIT_EXPECT_EQ(test, op_test_write(test, "enable", "0\n"), 2);
	expect_shows(test, "enable", "0", "0");
	KUNIT_EXPECT_EQ(test, op_test_write(test, "0/count", "7"), 1);
}

static void writes_need_the_right(struct kunit *test)
{
	static const char *const readers[] = { "buffer", "samples", "dcookies" };
	const struct cred *cred = op_test_drop_rights(test);
	struct file *file;
	unsigned int i;

	try_all(test, -EPERM);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "enable", "1"), -EPERM);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "enable", "0"), -EPERM);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "dump", "1"), -EPERM);
	expect_shows(test, "enable", "0", "");
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		file = op_test_open(test, readers[i], O_RDONLY);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(file), (long)-EPERM, "%s",
				    readers[i]);
		if (!IS_ERR(file))
			__fput_sync(file);
	}
	revert_creds(cred);
	KUNIT_EXPECT_FALSE(test, op_is_running());
}

static void files_are_for_their_owner(struct kunit *test)
{
	static const struct {
		const char *name;
		umode_t mode;
	} row[] = {
		{ "", 0700 },
		{ "0", 0700 },
		{ "7", 0700 },
		{ "stats", 0700 },
		{ "stats/cpu0", 0700 },
		{ "enable", 0600 },
		{ "buffer_size", 0600 },
		{ "backtrace_depth", 0600 },
		{ "0/name", 0600 },
		{ "7/idle", 0600 },
		{ "cpu_type", 0400 },
		{ "pointer_size", 0400 },
		{ "buffer", 0400 },
		{ "samples", 0400 },
		{ "dcookies", 0400 },
		{ "hooks", 0400 },
		{ "dump", 0200 },
		{ "stats/sample_delivered", 0400 },
		{ "stats/pictures_missed", 0400 },
		{ "stats/cpu0/sample_received", 0400 },
	};
	struct file *file;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		file = op_test_open(test, row[i].name, row[i].mode == 0200 ?
				    O_WRONLY : O_RDONLY);
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%s", row[i].name);
		KUNIT_EXPECT_EQ_MSG(test, file_inode(file)->i_mode & 07777,
				    row[i].mode, "%s", row[i].name);
		__fput_sync(file);
	}
	file = op_test_open(test, "8", O_RDONLY);
	KUNIT_EXPECT_EQ(test, PTR_ERR(file), (long)-ENOENT);
}

static void a_dump_wakes_the_reader(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, op_eb_start(64, 16), 0);
	op_eb_begin();
	op_eb_sample(&(struct op_context){}, 0,
		     &(struct op_entry){ .kernel = true, .offset = 1 }, 0);
	op_eb_publish();
	KUNIT_EXPECT_FALSE(test, op_eb.ready);
	KUNIT_EXPECT_EQ(test, op_test_write(test, "dump", "whatever"), 8);
	KUNIT_EXPECT_TRUE(test, op_eb.ready);
	op_eb_stop();
}

static void hooks_names_all_events(struct kunit *test)
{
	static const char *const events[] = {
		"\nEXIT_TASK ", "\nEXIT_MMAP ", "\nEXEC_UNMAP ", "\nEXEC_MAP "
	};
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_GT(test, op_test_read(test, "hooks", text, PAGE_SIZE), 0);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text, events[i]), "%s",
					  events[i]);
}

static void files_that_can_not_be_made(struct kunit *test)
{
	struct dentry *ours = root;

	debugfs_there = false;
	KUNIT_EXPECT_EQ(test, op_files_create(), -ENODEV);
	debugfs_there = true;
	KUNIT_EXPECT_PTR_EQ(test, root, ours);
	/* they are there already */
	KUNIT_EXPECT_EQ(test, op_files_create(), -EEXIST);
	root = ours;
	expect_shows(test, "enable", "0", "");
}

static int oprofile_files_test_init(struct kunit *test)
{
	struct op_event_config config = {
		.name = "cpu-clock", .freq = 1000, .kernel = true, .user = true,
	};
	unsigned int i;

	saved = op_settings;
	op_settings.buffer_size = 131072;
	op_settings.buffer_watershed = 32768;
	op_settings.cpu_buffer_size = 8192;
	for (i = 0; i < OP_MAX_EVENTS; i++)
		op_settings.event[i] = config;
	op_settings.event[0].enabled = true;
	return 0;
}

static void oprofile_files_test_exit(struct kunit *test)
{
	op_set_enable(0);
	op_settings = saved;
	op_rings_free();
	op_eb_exit();
}

static struct kunit_case oprofile_files_cases[] = {
	KUNIT_CASE(files_of_the_whole),
	KUNIT_CASE(files_of_an_event),
	KUNIT_CASE(nothing_changes_while_a_profile_runs),
	KUNIT_CASE(writes_need_the_right),
	KUNIT_CASE(files_are_for_their_owner),
	KUNIT_CASE(a_dump_wakes_the_reader),
	KUNIT_CASE(hooks_names_all_events),
	KUNIT_CASE(files_that_can_not_be_made),
	{}
};

static struct kunit_suite oprofile_files_suite = {
	.name = "oprofile_oprofile_files",
	.init = oprofile_files_test_init,
	.exit = oprofile_files_test_exit,
	.test_cases = oprofile_files_cases,
};

kunit_test_suite(oprofile_files_suite);
