// SPDX-License-Identifier: GPL-2.0
/*
 * oprof_test.c - settings, and the order in which a run begins and ends
 *
 * The source of samples is one of our own; all else is real, but that each step
 * of a start can fail.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "common.h"
#include "../src/event_buffer.h"

/**
 * struct stage - what happens around the code that is tested
 * @open: a case runs; else, at load and unload, all is as in oprofile.ko
 * @fails: the step that fails
 * @err: with that error
 * @interrupted: a signal comes while a mutex is waited for
 * @unfinished: unmaps never come to an end
 * @asked: how often that was asked
 * @log: the steps so far, a space after each
 */
struct stage {
	bool open;
	const char *fails;
	int err;
	bool interrupted;
	bool unfinished;
	unsigned int asked;
	char log[256];
};

static struct stage stage;

static int step(const char *what)
{
	size_t n = strlen(stage.log);

	if (!stage.open)
		return 0;
	scnprintf(stage.log + n, sizeof(stage.log) - n, "%s ", what);
	return stage.fails && !strcmp(what, stage.fails) ? stage.err : 0;
}

static int test_start(const struct op_event_config *config)
{
	int err = step("count");

	return err || stage.open ? err : op_perf_source.start(config);
}

static void test_begin(const struct op_event_config *config)
{
	step("sample");
	if (!stage.open)
		op_perf_source.begin(config);
}

static void test_stop(void)
{
	step("-count");
	if (!stage.open)
		op_perf_source.stop();
}

static int test_setup(void)
{
	return op_perf_source.setup();
}

static void test_shutdown(void)
{
	op_perf_source.shutdown();
}

static const char *test_default_event(void)
{
	return op_perf_source.default_event();
}

static int test_cpu_type(const struct op_event_config *config, char *name,
			 size_t size)
{
	if (!stage.open)
		return op_perf_source.cpu_type(config, name, size);
	strscpy(name, "test", size);
	return stage.err;
}

static int test_check_event(const char *name)
{
	return op_perf_source.check_event(name);
}

static const struct op_source test_source = {
	.setup = test_setup,
	.shutdown = test_shutdown,
	.start = test_start,
	.begin = test_begin,
	.stop = test_stop,
	.default_event = test_default_event,
	.cpu_type = test_cpu_type,
	.check_event = test_check_event,
};

static int test_rings_alloc(unsigned long samples)
{
	return step("rings") ?: op_rings_alloc(samples);
}

static int test_pictures_start(void)
{
	return step("pictures") ?: op_pictures_start();
}

static void test_pictures_stop(void)
{
	step("-pictures");
	op_pictures_stop();
}

static int test_sync_start(unsigned long words, unsigned long watershed)
{
	return step("sync") ?: op_sync_start(words, watershed);
}

static void test_sync_stop(void)
{
	step("-sync");
	op_sync_stop();
}

static void test_sync_quiesce(void)
{
	step("quiet");
	op_sync_quiesce();
}

static int test_hooks_start(void)
{
	return step("hooks") ?: op_profile_events_start();
}

static void test_hooks_stop(void)
{
	step("-hooks");
	op_profile_events_stop();
}

static bool test_unfinished(void)
{
	stage.asked++;
	return stage.unfinished || op_pictures_unfinished();
}

static int test_lock(struct mutex *mutex)
{
	return stage.interrupted ? -EINTR : mutex_lock_interruptible(mutex);
}

#undef mutex_lock_interruptible
#define op_perf_source			test_source
#define op_rings_alloc(n)		test_rings_alloc(n)
#define op_pictures_start()		test_pictures_start()
#define op_pictures_stop()		test_pictures_stop()
#define op_sync_start(n, w)		test_sync_start(n, w)
#define op_sync_stop()			test_sync_stop()
#define op_sync_quiesce()		test_sync_quiesce()
#define op_profile_events_start()	test_hooks_start()
#define op_profile_events_stop()	test_hooks_stop()
#define op_pictures_unfinished()	test_unfinished()
#define mutex_lock_interruptible(m)	test_lock(m)

#undef pr_fmt
#include "../src/oprof.c"

#define STARTED		"count rings pictures hooks sync sample "
#define STOPPED		"-count -sync -hooks quiet -pictures "

static struct op_settings saved;

static int start_run(void)
{
	int err;

	mutex_lock(&op_control_mutex);
	err = op_start();
	mutex_unlock(&op_control_mutex);
	return err;
}

static void stop_run(void)
{
	mutex_lock(&op_control_mutex);
	op_stop();
	mutex_unlock(&op_control_mutex);
}

/* What the steps were since the last look. */
static void expect_steps(struct kunit *test, const char *want)
{
	KUNIT_EXPECT_STREQ(test, stage.log, want);
	stage.log[0] = '\0';
}

static void a_run_begins_and_ends_in_order(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, start_run(), 0);
	expect_steps(test, STARTED);
	KUNIT_EXPECT_TRUE(test, op_is_running());
	KUNIT_EXPECT_EQ(test, start_run(), 0);
	expect_steps(test, "");
	stop_run();
	expect_steps(test, STOPPED);
	KUNIT_EXPECT_FALSE(test, op_is_running());
	stop_run();
	expect_steps(test, "");
}

/* A run that leaves one sample unread. */
static void leave_a_sample(struct kunit *test)
{
	struct pt_regs regs = {};

	KUNIT_ASSERT_EQ(test, start_run(), 0);
	instruction_pointer_set(&regs, (unsigned long)leave_a_sample);
	preempt_disable();
	op_add_sample(&regs, 0, false);
	preempt_enable();
	stop_run();
	stage.log[0] = '\0';
	KUNIT_EXPECT_GT(test, op_eb.head, op_eb.tail);
}

static void a_refused_start_leaves_nothing(struct kunit *test)
{
	static const struct {
		const char *fails;
		int err;
		const char *steps;
	} row[] = {
		{ "count", -ENOENT, "count " },
		{ "count", -EBUSY, "count " },
		{ "rings", -ENOMEM, "count rings -count " },
		{ "pictures", -ENOMEM, "count rings pictures -count " },
		{ "hooks", -ENOMEM,
		  "count rings pictures hooks quiet -pictures -count " },
		{ "sync", -ENOMEM,
		  "count rings pictures hooks sync -hooks quiet -pictures -count " },
	};
	unsigned long head, run;
	unsigned int i;

	leave_a_sample(test);
	head = op_eb.head;
	run = op_eb.run;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		stage.fails = row[i].fails;
		stage.err = row[i].err;
		KUNIT_EXPECT_EQ(test, start_run(), row[i].err);
		expect_steps(test, row[i].steps);
		KUNIT_EXPECT_FALSE(test, op_is_running());
		/* what the last run left can still be read */
		KUNIT_EXPECT_EQ(test, op_eb.head, head);
		KUNIT_EXPECT_EQ(test, op_eb.run, run);
	}
	op_settings.event[0].enabled = false;
	KUNIT_EXPECT_EQ(test, start_run(), -EINVAL);
	expect_steps(test, "");
	KUNIT_EXPECT_EQ(test, op_eb.head, head);
	/* now it begins, and that is thrown away */
	op_settings.event[OP_MAX_EVENTS - 1].enabled = true;
	stage.fails = NULL;
	KUNIT_EXPECT_EQ(test, start_run(), 0);
	expect_steps(test, STARTED);
	KUNIT_EXPECT_EQ(test, op_eb.head, 0UL);
	KUNIT_EXPECT_EQ(test, op_eb.run, run + 1);
	stop_run();
}

static void a_start_waits_for_unmaps_only_so_long(struct kunit *test)
{
	stage.unfinished = true;
	KUNIT_EXPECT_EQ(test, start_run(), 0);
	KUNIT_EXPECT_EQ(test, stage.asked, (unsigned int)SETTLE_TRIES);
	expect_steps(test, STARTED);
	stop_run();
}

static void enable_starts_and_stops(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, op_set_enable(2), -ERANGE);
	KUNIT_EXPECT_EQ(test, op_set_enable(ULONG_MAX), -ERANGE);
	KUNIT_EXPECT_EQ(test, op_set_enable(0), 0);
	expect_steps(test, "");
	KUNIT_EXPECT_EQ(test, op_set_enable(1), 0);
	KUNIT_EXPECT_EQ(test, op_set_enable(1), 0);
	expect_steps(test, STARTED);
	KUNIT_EXPECT_EQ(test, op_set_enable(0), 0);
	expect_steps(test, STOPPED);
	stage.fails = "count";
	stage.err = -ENOENT;
	KUNIT_EXPECT_EQ(test, op_set_enable(1), -ENOENT);
	KUNIT_EXPECT_FALSE(test, op_is_running());
}

static void enable_is_refused_while_the_module_comes_or_goes(struct kunit *test)
{
	phase = LOADING;
	KUNIT_EXPECT_EQ(test, op_set_enable(1), -EBUSY);
	phase = GONE;
	KUNIT_EXPECT_EQ(test, op_set_enable(1), -EBUSY);
	KUNIT_EXPECT_EQ(test, op_set_enable(0), -EBUSY);
	expect_steps(test, "");
	phase = READY;
}

/* Each setter with a value that it takes. */
static int set(unsigned int i)
{
	switch (i) {
	case 0:
		return op_set_buffer_size(1024);
	case 1:
		return op_set_buffer_watershed(100);
	case 2:
		return op_set_cpu_buffer_size(100);
	case 3:
		return op_set_backtrace_depth(0);
	case 4:
		return op_set_event_name(1, "task-clock");
	case 5:
		return op_set_event_code(1, false, 3);
	case 6:
		return op_set_event_code(1, true, 3);
	case 7:
		return op_set_event_count(1, 12345);
	case 8:
		return op_set_event_freq(1, 12345);
	case 9:
		return op_set_event_flag(1, &op_settings.event[1].idle, 1);
	default:
		return 1;
	}
}

static void expect_refused(struct kunit *test, int err)
{
	struct op_settings before = op_settings;
	unsigned int i;
	int got;

	for (i = 0; (got = set(i)) <= 0; i++) {
		KUNIT_EXPECT_EQ_MSG(test, got, err, "setter %u", i);
		KUNIT_EXPECT_MEMEQ(test, &op_settings, &before, sizeof(before));
	}
	KUNIT_EXPECT_EQ(test, i, 10U);
}

static void settings_stay_while_a_profile_runs(struct kunit *test)
{
	unsigned int i;
	int got;

	KUNIT_EXPECT_EQ(test, op_set_enable(1), 0);
	expect_refused(test, -EBUSY);
	KUNIT_EXPECT_EQ(test, op_set_enable(0), 0);
	for (i = 0; (got = set(i)) <= 0; i++)
		KUNIT_EXPECT_EQ_MSG(test, got, 0, "setter %u", i);
	KUNIT_EXPECT_EQ(test, op_settings.buffer_size, 1024UL);
	KUNIT_EXPECT_TRUE(test, op_settings.event[1].idle);
}

static void a_signal_ends_the_wait(struct kunit *test)
{
	char name[8] = "-";

	stage.interrupted = true;
	expect_refused(test, -EINTR);
	KUNIT_EXPECT_EQ(test, op_set_enable(1), -EINTR);
	KUNIT_EXPECT_EQ(test, op_cpu_type(name, sizeof(name)), -EINTR);
	KUNIT_EXPECT_STREQ(test, name, "-");
	expect_steps(test, "");
}

static void cpu_type_is_the_sources(struct kunit *test)
{
	char name[8];

	KUNIT_EXPECT_EQ(test, op_cpu_type(name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "test");
	stage.err = -ENODEV;
	KUNIT_EXPECT_EQ(test, op_cpu_type(name, sizeof(name)), -ENODEV);
}

/* ---- module parameters ------------------------------------------------ */

static void size_parameters(struct kunit *test)
{
	const struct kernel_param size = { .arg = &op_settings.buffer_size };
	const struct kernel_param shed = {
		.arg = &op_settings.buffer_watershed
	};

	op_settings.buffer_size = 77;
	at_load.watershed_given = false;
	KUNIT_EXPECT_EQ(test, param_set_size("0", &size), -ERANGE);
	KUNIT_EXPECT_EQ(test, param_set_size("", &size), -EINVAL);
	KUNIT_EXPECT_EQ(test, param_set_size("1k", &size), -EINVAL);
	KUNIT_EXPECT_EQ(test, param_set_size("0x1ffffffffffffffff", &size),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, op_settings.buffer_size, 77UL);
	KUNIT_EXPECT_EQ(test, param_set_size("0x100", &size), 0);
	KUNIT_EXPECT_EQ(test, op_settings.buffer_size, 256UL);
	KUNIT_EXPECT_FALSE(test, at_load.watershed_given);
	KUNIT_EXPECT_EQ(test, param_set_size("10", &shed), 0);
	KUNIT_EXPECT_TRUE(test, at_load.watershed_given);
}

static void sizes_are_checked_together(struct kunit *test)
{
	static const struct {
		unsigned long size;
		unsigned long shed;	/* 0: not given */
		unsigned long cpu_size;
		int err;
		unsigned long got_shed;
	} row[] = {
		{ 131072, 0, 8192, 0, 32768 },
		{ 1 << 20, 0, 8192, 0, 32768 },
		{ 1000, 0, 8192, 0, 250 },
		{ 32, 0, 1, 0, 8 },
		{ 31, 0, 1, -ERANGE, 7 },
		{ 1, 0, 1, -ERANGE, 0 },
		{ 1000, 999, 1, 0, 999 },
		{ 1000, 1000, 1, -ERANGE, 1000 },
		{ ULONG_MAX, 0, 1, -ENOMEM, 32768 },
		{ 1000, 0, ULONG_MAX, -ENOMEM, 250 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		op_settings.buffer_size = row[i].size;
		op_settings.buffer_watershed = row[i].shed ?: BUFFER_WATERSHED;
		op_settings.cpu_buffer_size = row[i].cpu_size;
		at_load.watershed_given = row[i].shed;
		KUNIT_EXPECT_EQ_MSG(test, check_params(), row[i].err, "row %u",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, op_settings.buffer_watershed,
				    row[i].got_shed, "row %u", i);
	}
}

static void event_parameters(struct kunit *test)
{
	struct op_event_config *config = &op_settings.event[0];

	KUNIT_EXPECT_EQ(test, param_set_event("page-faults", NULL), 0);
	KUNIT_EXPECT_STREQ(test, config->name, "page-faults");
	KUNIT_EXPECT_EQ(test, param_set_event("faults", NULL), -EINVAL);
	KUNIT_EXPECT_STREQ(test, config->name, "page-faults");
	KUNIT_EXPECT_EQ(test, param_set_count("100", NULL), 0);
	KUNIT_EXPECT_EQ(test, config->count, 100UL);
	KUNIT_EXPECT_EQ(test, config->freq, 0UL);
	KUNIT_EXPECT_EQ(test, param_set_count("0", NULL), -ERANGE);
	KUNIT_EXPECT_EQ(test, param_set_count("all", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, config->count, 100UL);
}

static void the_enable_parameter(struct kunit *test)
{
	const struct cred *cred;

	KUNIT_EXPECT_EQ(test, param_set_enable("x", NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, param_set_enable("2", NULL), -ERANGE);
	KUNIT_EXPECT_EQ(test, param_set_enable("1", NULL), 0);
	KUNIT_EXPECT_TRUE(test, op_is_running());
	KUNIT_EXPECT_EQ(test, param_set_enable("0", NULL), 0);
	KUNIT_EXPECT_FALSE(test, op_is_running());
	phase = GONE;
	KUNIT_EXPECT_EQ(test, param_set_enable("1", NULL), -EBUSY);
	phase = READY;
	cred = op_test_drop_rights(test);
	KUNIT_EXPECT_EQ(test, param_set_enable("1", NULL), -EPERM);
	revert_creds(cred);
	KUNIT_EXPECT_FALSE(test, op_is_running());
}

/* Whoever loads modules needs no other right, and nothing is there yet. */
static void the_enable_parameter_at_load(struct kunit *test)
{
	const struct cred *cred = op_test_drop_rights(test);

	stage.log[0] = '\0';
	phase = PARSING;
	at_load.enable = false;
	KUNIT_EXPECT_EQ(test, param_set_enable("2", NULL), -ERANGE);
	KUNIT_EXPECT_EQ(test, param_set_enable("x", NULL), -EINVAL);
	KUNIT_EXPECT_FALSE(test, at_load.enable);
	KUNIT_EXPECT_EQ(test, param_set_enable("1", NULL), 0);
	KUNIT_EXPECT_TRUE(test, at_load.enable);
	KUNIT_EXPECT_EQ(test, param_set_enable("0", NULL), 0);
	KUNIT_EXPECT_FALSE(test, at_load.enable);
	phase = READY;
	revert_creds(cred);
	expect_steps(test, "");
}

static void parameters_can_be_read(struct kunit *test)
{
	const struct kernel_param count = { .arg = &op_settings.event[0].count };
	char *text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	op_settings.event[0].count = ULONG_MAX;
	KUNIT_EXPECT_EQ(test, param_get_number(text, &count), 21);
	KUNIT_EXPECT_STREQ(test, text, "18446744073709551615\n");
	KUNIT_EXPECT_EQ(test, param_get_event(text, NULL), 10);
	KUNIT_EXPECT_STREQ(test, text, "cpu-clock\n");
	KUNIT_EXPECT_EQ(test, param_get_enable(text, NULL), 2);
	KUNIT_EXPECT_STREQ(test, text, "0\n");
	KUNIT_EXPECT_EQ(test, op_set_enable(1), 0);
	KUNIT_EXPECT_EQ(test, param_get_enable(text, NULL), 2);
	KUNIT_EXPECT_STREQ(test, text, "1\n");
}

static int oprof_test_init(struct kunit *test)
{
	struct op_event_config *config = &op_settings.event[0];

	saved = op_settings;
	memset(op_settings.event, 0, sizeof(op_settings.event));
	op_settings.buffer_size = 256;
	op_settings.buffer_watershed = 64;
	op_settings.cpu_buffer_size = 16;
	config->enabled = true;
	config->freq = FREQ;
	strscpy(config->name, "cpu-clock", sizeof(config->name));
	memset(&stage, 0, sizeof(stage));
	stage.open = true;
	return 0;
}

static void oprof_test_exit(struct kunit *test)
{
	stop_run();
	memset(&stage, 0, sizeof(stage));
	op_settings = saved;
	phase = READY;
	op_rings_free();
	op_eb_exit();
}

static struct kunit_case oprof_cases[] = {
	KUNIT_CASE(a_run_begins_and_ends_in_order),
	KUNIT_CASE(a_refused_start_leaves_nothing),
	KUNIT_CASE(a_start_waits_for_unmaps_only_so_long),
	KUNIT_CASE(enable_starts_and_stops),
	KUNIT_CASE(enable_is_refused_while_the_module_comes_or_goes),
	KUNIT_CASE(settings_stay_while_a_profile_runs),
	KUNIT_CASE(a_signal_ends_the_wait),
	KUNIT_CASE(cpu_type_is_the_sources),
	KUNIT_CASE(size_parameters),
	KUNIT_CASE(sizes_are_checked_together),
	KUNIT_CASE(event_parameters),
	KUNIT_CASE(the_enable_parameter),
	KUNIT_CASE(the_enable_parameter_at_load),
	KUNIT_CASE(parameters_can_be_read),
	{}
};

static struct kunit_suite oprof_suite = {
	.name = "oprofile_oprof",
	.init = oprof_test_init,
	.exit = oprof_test_exit,
	.test_cases = oprof_cases,
};

kunit_test_suite(oprof_suite);
