// SPDX-License-Identifier: GPL-2.0
/*
 * perf_counter_test.c - a counter for each event and CPU, and all of them back
 *
 * perf's counters are ours here, so that any of them can be refused.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "common.h"

/**
 * struct lab - perf as the code that is tested sees it
 * @open: a case runs; else, at load and unload, perf is the real one
 * @refuse: how many counters are made before one is refused; -1: none is
 * @err: with what it is refused
 * @refuse_enable: the same for counters that find no hardware
 * @no_filter: the PMU has no filter for the idle task
 * @gone: CPUs that go down
 * @made: counters there are, by CPU
 * @enabled: how often a counter was enabled, by CPU
 * @attr: what was asked for last
 * @pmu: whose counters they are
 * @samples: that came through
 * @event: the last one's event
 * @user: its mode
 * @names: what events are called in the run
 */
struct lab {
	bool open;
	int refuse;
	int err;
	int refuse_enable;
	bool no_filter;
	struct cpumask gone;
	unsigned int made[NR_CPUS];
	unsigned int enabled[NR_CPUS];
	struct perf_event_attr attr;
	struct pmu pmu;
	unsigned int samples;
	unsigned int event;
	bool user;
	char names[OP_MAX_EVENTS][OP_EVENT_NAME_LEN];
};

static struct lab lab;

static struct perf_event *test_create(struct perf_event_attr *attr, int cpu,
				      struct task_struct *task,
				      perf_overflow_handler_t handler,
				      void *context)
{
	struct perf_event *event;

	if (!lab.open)
		return perf_event_create_kernel_counter(attr, cpu, task, handler,
							context);
	lab.attr = *attr;
	if (lab.no_filter && attr->exclude_idle)
		return ERR_PTR(-EOPNOTSUPP);
	if (lab.refuse >= 0 && !lab.refuse--)
		return ERR_PTR(lab.err);
	if (cpumask_test_cpu(cpu, &lab.gone))
		return ERR_PTR(-ENODEV);
	event = kzalloc(sizeof(*event), GFP_KERNEL);
	if (!event)
		return ERR_PTR(-ENOMEM);
	event->cpu = cpu;
	event->state = PERF_EVENT_STATE_OFF;
	event->overflow_handler_context = context;
	event->pmu = &lab.pmu;
	lab.made[cpu]++;
	return event;
}

static int test_release(struct perf_event *event)
{
	if (!lab.open)
		return perf_event_release_kernel(event);
	lab.made[event->cpu]--;
	kfree(event);
	return 0;
}

static void test_enable(struct perf_event *event)
{
	if (!lab.open) {
		perf_event_enable(event);
		return;
	}
	lab.enabled[event->cpu]++;
	event->state = PERF_EVENT_STATE_ACTIVE;
	if (lab.refuse_enable >= 0 && !lab.refuse_enable--)
		event->state = PERF_EVENT_STATE_ERROR;
}

static bool test_online(int cpu)
{
	return cpu_online(cpu) && !cpumask_test_cpu(cpu, &lab.gone);
}

static void test_sample(struct pt_regs *regs, unsigned int event, bool user)
{
	if (!lab.open) {
		op_add_sample(regs, event, user);
		return;
	}
	lab.samples++;
	lab.event = event;
	lab.user = user;
}

static void test_name(unsigned int event, const char *name)
{
	op_samples_name_event(event, name);
	strscpy(lab.names[event], name, OP_EVENT_NAME_LEN);
}

#undef cpu_online
#undef current
#define perf_event_create_kernel_counter(attr, cpu, task, handler, context) \
	test_create(attr, cpu, task, handler, context)
#define perf_event_release_kernel(event)	test_release(event)
#define perf_event_enable(event)		test_enable(event)
#define cpu_online(cpu)				test_online(cpu)
#define op_add_sample(regs, event, user)	test_sample(regs, event, user)
#define op_samples_name_event(event, name)	test_name(event, name)
#define current					op_test_task()

#undef pr_fmt
#include "../src/perf_counter.c"

#undef current
#define current		get_current()

static struct op_event_config config[OP_MAX_EVENTS];
static struct op_settings saved;

static int start_counting(void)
{
	int err;

	mutex_lock(&op_control_mutex);
	err = start(config);
	mutex_unlock(&op_control_mutex);
	return err;
}

static void stop_counting(void)
{
	mutex_lock(&op_control_mutex);
	stop();
	mutex_unlock(&op_control_mutex);
}

/* As many counters on each CPU that is there, and enabled. */
static void expect_counters(struct kunit *test, unsigned int n)
{
	struct perf_event *event;
	unsigned int i, have;
	int cpu;

	for_each_possible_cpu(cpu) {
		KUNIT_EXPECT_EQ_MSG(test, lab.made[cpu],
				    cpu_online(cpu) ? n : 0, "CPU %d", cpu);
		have = 0;
		for (i = 0; i < OP_MAX_EVENTS; i++) {
			event = per_cpu(cpu_events, cpu).event[i];
			if (!event)
				continue;
			have++;
			KUNIT_EXPECT_EQ(test, (int)event->state,
					(int)PERF_EVENT_STATE_ACTIVE);
			KUNIT_EXPECT_PTR_EQ(test, &sources[i],
					    event->overflow_handler_context);
		}
		KUNIT_EXPECT_EQ(test, have, lab.made[cpu]);
	}
}

/* ---- what perf is asked for ------------------------------------------- */

static void names_of_events(struct kunit *test)
{
	static const char *const bad[] = {
		"", "r", "R1", "cycle", "cycles ", "CYCLES", "r-1", "r+1",
		"r0x10", "r1 ", "rg", "r1\n", "r00000000000000000",
		"cpu-clock\n"
	};
	static const struct {
		const char *name;
		u32 type;
		u64 config;
	} good[] = {
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "branch-misses", PERF_TYPE_HARDWARE,
		  PERF_COUNT_HW_BRANCH_MISSES },
		{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
		{ "context-switches", PERF_TYPE_SOFTWARE,
		  PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "r0", PERF_TYPE_RAW, 0 },
		{ "r1aF", PERF_TYPE_RAW, 0x1af },
		{ "rffffffffffffffff", PERF_TYPE_RAW, U64_MAX },
	};
	unsigned int i;
	u64 code;
	u32 type;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, check_event(bad[i]), -EINVAL, "%s",
				    bad[i]);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    parse_event(good[i].name, &type, &code),
				    "%s", good[i].name);
		KUNIT_EXPECT_EQ_MSG(test, type, good[i].type, "%s",
				    good[i].name);
		KUNIT_EXPECT_EQ_MSG(test, code, good[i].config, "%s",
				    good[i].name);
		KUNIT_EXPECT_EQ(test, check_event(good[i].name), 0);
	}
}

static void what_perf_is_asked_for(struct kunit *test)
{
	struct op_event_config *c = &config[0];
	struct perf_event_attr *attr = &lab.attr;

	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	KUNIT_EXPECT_EQ(test, attr->type, PERF_TYPE_SOFTWARE);
	KUNIT_EXPECT_TRUE(test, attr->pinned && attr->disabled && attr->freq);
	KUNIT_EXPECT_EQ(test, attr->sample_freq, 1000ULL);
	KUNIT_EXPECT_TRUE(test, attr->exclude_idle);
	KUNIT_EXPECT_FALSE(test, attr->exclude_kernel || attr->exclude_user);
	stop_counting();

	c->freq = 0;
	c->count = 4711;
	c->idle = true;
	c->user = false;
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	KUNIT_EXPECT_FALSE(test, attr->freq || attr->exclude_idle);
	KUNIT_EXPECT_EQ(test, attr->sample_period, 4711ULL);
	KUNIT_EXPECT_TRUE(test, attr->exclude_user);
	stop_counting();

	c->raw = true;
	c->event = 0xfc0;
	c->unit_mask = 0x12;
	c->kernel = false;
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	KUNIT_EXPECT_EQ(test, attr->type, PERF_TYPE_RAW);
	KUNIT_EXPECT_EQ(test, attr->config, IS_ENABLED(CONFIG_X86) ?
			0xf000012c0ULL : 0x120fc0ULL);
	KUNIT_EXPECT_TRUE(test, attr->exclude_kernel);
	stop_counting();
}

/* ---- start and stop --------------------------------------------------- */

static void all_events_on_all_cpus(struct kunit *test)
{
	int cpu;

	config[3] = config[0];
	config[7] = config[0];
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	expect_counters(test, 3);
	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_EQ(test, lab.enabled[cpu], 3U);
		KUNIT_EXPECT_NOT_NULL(test, per_cpu(cpu_events, cpu).event[7]);
	}
	stop_counting();
	expect_counters(test, 0);
}

static void any_counter_may_be_refused(struct kunit *test)
{
	int i, n;

	/* no filter is asked for that a second try could do without */
	config[0].idle = true;
	config[3] = config[0];
	n = 2 * num_online_cpus();
	for (i = 0; i < n; i++) {
		lab.refuse = i;
		lab.err = -ENOENT;
		KUNIT_EXPECT_EQ(test, start_counting(), -ENOENT);
		expect_counters(test, 0);
		/* it is still there, so that is no excuse */
		lab.refuse = i;
		lab.err = -ENODEV;
		KUNIT_EXPECT_EQ(test, start_counting(), -ENODEV);
		expect_counters(test, 0);
		lab.refuse = -1;
		lab.refuse_enable = i;
		KUNIT_EXPECT_EQ(test, start_counting(), -EBUSY);
		expect_counters(test, 0);
		lab.refuse_enable = -1;
		KUNIT_EXPECT_FALSE(test, counting);
	}
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	expect_counters(test, 2);
	stop_counting();
}

static void an_event_that_is_none(struct kunit *test)
{
	strscpy(config[5].name, "nonsense", OP_EVENT_NAME_LEN);
	KUNIT_EXPECT_EQ(test, start_counting(), -EINVAL);
	expect_counters(test, 0);
}

static void a_pmu_without_a_filter(struct kunit *test)
{
	lab.no_filter = true;
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	KUNIT_EXPECT_FALSE(test, lab.attr.exclude_idle);
	expect_counters(test, 1);
	stop_counting();
	/* refused for another reason: the second error counts */
	lab.refuse = 0;
	lab.err = -ENOENT;
	KUNIT_EXPECT_EQ(test, start_counting(), -ENOENT);
	expect_counters(test, 0);
}

static void a_cpu_that_goes_meanwhile(struct kunit *test)
{
	cpumask_set_cpu(cpumask_last(cpu_online_mask), &lab.gone);
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	expect_counters(test, 1);
	stop_counting();
}

static void counters_of_perf_itself(struct kunit *test)
{
	struct perf_event *event;
	int cpu;

	lab.open = false;
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	for_each_online_cpu(cpu) {
		event = per_cpu(cpu_events, cpu).event[0];
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, (int)event->state,
				(int)PERF_EVENT_STATE_ACTIVE);
	}
	stop_counting();
	for_each_possible_cpu(cpu)
		KUNIT_EXPECT_NULL(test, per_cpu(cpu_events, cpu).event[0]);
	lab.open = true;
}

static void events_are_named_for_the_run(struct kunit *test)
{
	config[1].raw = true;
	config[1].event = 0xf3c;
	config[1].unit_mask = 1;
	begin(config);
	stop_counting();
	KUNIT_EXPECT_STREQ(test, lab.names[0], "cpu-clock");
	KUNIT_EXPECT_STREQ(test, lab.names[1], IS_ENABLED(CONFIG_X86) ?
			   "rf0000013c" : "r10f3c");
}

/* ---- samples ---------------------------------------------------------- */

/* Does an overflow become a sample? */
static bool sampled(struct perf_event *event, bool user)
{
	unsigned int before = lab.samples;
	struct pt_regs regs = {};

	op_test_set_user(&regs, user);
	preempt_disable();
	overflow(event, NULL, &regs);
	preempt_enable();
	return lab.samples != before;
}

static struct perf_event *make_overflowing(struct kunit *test,
					   struct source *source)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->overflow_handler_context = source;
	return event;
}

static void samples_from_begin_to_stop(struct kunit *test)
{
	struct source *source = &sources[0];
	struct perf_event *event = make_overflowing(test, source);

	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	source->number = 5;
	KUNIT_EXPECT_FALSE(test, sampled(event, true));
	begin(config);
	KUNIT_EXPECT_TRUE(test, sampled(event, true));
	KUNIT_EXPECT_EQ(test, lab.event, 5U);
	KUNIT_EXPECT_TRUE(test, lab.user);
	stop_counting();
	KUNIT_EXPECT_FALSE(test, sampled(event, true));
}

static void filters_hold_without_the_pmus_help(struct kunit *test)
{
	struct task_struct *task = op_test_new_task(test, 0, NULL);
	struct perf_event *event = make_overflowing(test, &sources[0]);
	struct op_event_config c = config[0];
	unsigned int bits;

	op_test_current = task;
	for (bits = 0; bits < 8; bits++) {
		c.kernel = bits & 1;
		c.user = bits & 2;
		c.idle = bits & 4;
		KUNIT_EXPECT_EQ(test, fill_source(&sources[0], &c), 0);
		task->flags = 0;
		KUNIT_EXPECT_FALSE(test, sampled(event, true));
		KUNIT_EXPECT_FALSE(test, sampled(event, false));
		begin(config);
		KUNIT_EXPECT_EQ(test, sampled(event, true), c.user);
		KUNIT_EXPECT_EQ(test, sampled(event, false), c.kernel);
		task->flags = PF_IDLE;
		KUNIT_EXPECT_EQ(test, sampled(event, false),
				c.kernel && c.idle);
		stop_counting();
		KUNIT_EXPECT_FALSE(test, sampled(event, true));
		KUNIT_EXPECT_FALSE(test, sampled(event, false));
	}
	op_test_current = NULL;
}

static void throttling_is_counted(struct kunit *test)
{
	struct perf_event *event = make_overflowing(test, &sources[0]);
	local_t *throttled;
	long before;

	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	throttled = &raw_cpu_ptr(&op_cpu)->throttled;
	before = local_read(throttled);
	KUNIT_EXPECT_EQ(test, fill_source(&sources[0], &config[0]), 0);
	begin(config);
	event->hw.interrupts = 1;
	KUNIT_EXPECT_TRUE(test, sampled(event, true));
	KUNIT_EXPECT_EQ(test, local_read(throttled), before);
	event->hw.interrupts = THROTTLED;
	/* this sample is one, too */
	KUNIT_EXPECT_TRUE(test, sampled(event, true));
	KUNIT_EXPECT_EQ(test, local_read(throttled), before + 1);
	stop_counting();
	KUNIT_EXPECT_FALSE(test, sampled(event, true));
	KUNIT_EXPECT_EQ(test, local_read(throttled), before + 1);
	local_set(throttled, before);
}

/* ---- CPU hotplug ------------------------------------------------------ */

static void change_cpu(int cpu)
{
	cpu_changed(cpu);
	flush_work(&hotplug_work);
}

static void a_cpu_that_comes_and_goes(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	cpumask_set_cpu(cpu, &lab.gone);
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	expect_counters(test, 1);
	cpumask_clear_cpu(cpu, &lab.gone);
	change_cpu(cpu);
	expect_counters(test, 1);
	KUNIT_EXPECT_GT(test, per_cpu(op_cpu, cpu).ring.size, 0UL);
	/* the counters are new: perf has detached the old ones */
	lab.enabled[cpu] = 0;
	change_cpu(cpu);
	expect_counters(test, 1);
	KUNIT_EXPECT_EQ(test, lab.enabled[cpu], 1U);
	cpumask_set_cpu(cpu, &lab.gone);
	change_cpu(cpu);
	expect_counters(test, 1);
	stop_counting();
	expect_counters(test, 0);
}

static void a_cpu_that_can_not_be_profiled(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	config[0].idle = true;
	config[3] = config[0];
	KUNIT_EXPECT_EQ(test, start_counting(), 0);
	lab.refuse = 1;
	lab.err = -ENOENT;
	change_cpu(cpu);
	KUNIT_EXPECT_EQ(test, lab.made[cpu], 0U);
	lab.refuse_enable = 1;
	change_cpu(cpu);
	KUNIT_EXPECT_EQ(test, lab.made[cpu], 0U);
	/* no room for its ring, of another size than it had */
	op_settings.cpu_buffer_size = ULONG_MAX;
	change_cpu(cpu);
	KUNIT_EXPECT_EQ(test, lab.made[cpu], 0U);
	op_settings.cpu_buffer_size = 16;
	change_cpu(cpu);
	expect_counters(test, 2);
	stop_counting();
}

static void cpus_may_change_while_nothing_is_counted(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	change_cpu(cpu);
	expect_counters(test, 0);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&marked));
}

/* ---- what the machine has --------------------------------------------- */

static void what_counts(struct kunit *test)
{
	char name[16];

	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "timer");
	strscpy(config[0].name, "task-clock", OP_EVENT_NAME_LEN);
	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "timer");
	/* the first that is enabled */
	config[0].enabled = false;
	config[2].enabled = true;
	strscpy(config[2].name, "cycles", OP_EVENT_NAME_LEN);
	lab.pmu.name = "armv8_cortex_a72_with_a_long_name";
	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "armv8_cortex_a7");
	KUNIT_EXPECT_EQ(test, lab.attr.config,
			(u64)PERF_COUNT_HW_CPU_CYCLES);
	lab.pmu.name = NULL;
	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), 0);
	KUNIT_EXPECT_STREQ(test, name, "unknown");
	/* a code is what is counted, whatever the name was */
	strscpy(config[2].name, "cpu-clock", OP_EVENT_NAME_LEN);
	config[2].raw = true;
	lab.refuse = 0;
	config[2].idle = true;
	lab.err = -ENOENT;
	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), -ENOENT);
	config[2].raw = false;
	config[2].name[0] = '\0';
	KUNIT_EXPECT_EQ(test, cpu_type(config, name, sizeof(name)), -EINVAL);
	expect_counters(test, 0);
}

static void the_event_of_who_does_not_choose(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, default_event(), "cycles");
	KUNIT_EXPECT_EQ(test, lab.attr.type, PERF_TYPE_HARDWARE);
	lab.no_filter = true;
	lab.refuse = 0;
	lab.err = -ENOENT;
	KUNIT_EXPECT_STREQ(test, default_event(), "cpu-clock");
	expect_counters(test, 0);
}

static int perf_counter_test_init(struct kunit *test)
{
	unsigned int i;

	saved = op_settings;
	op_settings.cpu_buffer_size = 16;
	memset(config, 0, sizeof(config));
	for (i = 0; i < OP_MAX_EVENTS; i++) {
		config[i].freq = 1000;
		config[i].kernel = true;
		config[i].user = true;
		strscpy(config[i].name, "cpu-clock", OP_EVENT_NAME_LEN);
	}
	config[0].enabled = true;
	memset(&lab, 0, sizeof(lab));
	lab.refuse = -1;
	lab.refuse_enable = -1;
	lab.open = true;
	return 0;
}

static void perf_counter_test_exit(struct kunit *test)
{
	stop_counting();
	lab.open = false;
	op_settings = saved;
	op_rings_free();
}

static struct kunit_case perf_counter_cases[] = {
	KUNIT_CASE(names_of_events),
	KUNIT_CASE(what_perf_is_asked_for),
	KUNIT_CASE(all_events_on_all_cpus),
	KUNIT_CASE(any_counter_may_be_refused),
	KUNIT_CASE(an_event_that_is_none),
	KUNIT_CASE(a_pmu_without_a_filter),
	KUNIT_CASE(a_cpu_that_goes_meanwhile),
	KUNIT_CASE(counters_of_perf_itself),
	KUNIT_CASE(events_are_named_for_the_run),
	KUNIT_CASE(samples_from_begin_to_stop),
	KUNIT_CASE(filters_hold_without_the_pmus_help),
	KUNIT_CASE(throttling_is_counted),
	KUNIT_CASE(a_cpu_that_comes_and_goes),
	KUNIT_CASE(a_cpu_that_can_not_be_profiled),
	KUNIT_CASE(cpus_may_change_while_nothing_is_counted),
	KUNIT_CASE(what_counts),
	KUNIT_CASE(the_event_of_who_does_not_choose),
	{}
};

static struct kunit_suite perf_counter_suite = {
	.name = "oprofile_perf_counter",
	.init = perf_counter_test_init,
	.exit = perf_counter_test_exit,
	.test_cases = perf_counter_cases,
};

kunit_test_suite(perf_counter_suite);
