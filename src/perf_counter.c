// SPDX-License-Identifier: GPL-2.0
/*
 * perf_counter.c - perf_events as the source of samples
 *
 * One pinned perf_event for each enabled event and online CPU. What a CPU has
 * is changed under op_control_mutex only: at start, at stop, and by a work item
 * that the CPU hotplug callbacks queue. (They can't do it themselves: making
 * some software events takes the hotplug lock.) A callback marks its CPU; a
 * marked CPU's events are released, as perf has detached them, and made anew if
 * it is online.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "oprofile.h"
#include "test_nmi.h"

/* hw.interrupts of a counter that perf has stopped until its next tick */
#define THROTTLED	(~0ULL)

static const struct {
	const char *name;
	u32 type;
	u64 config;
} known_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
};

/**
 * struct source - an event of the run
 * @number: of its folder
 * @takes: what is to become of kernel samples, and of user samples; read by
 *	handlers
 * @wants: the same, while samples are taken
 * @enabled: it is one
 * @attr: what perf is asked for
 */
struct source {
	unsigned int number;
	u8 takes[2];
	u8 wants[2];
	bool enabled;
	struct perf_event_attr attr;
};

enum { TAKE_NONE, TAKE_ALL, TAKE_BUSY /* not those of the idle task */ };

static struct source sources[OP_MAX_EVENTS];

struct cpu_events {
	struct perf_event *event[OP_MAX_EVENTS];
};

static DEFINE_PER_CPU(struct cpu_events, cpu_events);

static struct cpumask marked;
static int hotplug_state;
static bool counting;		/* under op_control_mutex */

static void hotplug_worker(struct work_struct *work);
static DECLARE_WORK(hotplug_work, hotplug_worker);

/* ---- what to ask perf for --------------------------------------------- */

static u64 raw_config(unsigned long event, unsigned long unit_mask)
{
	if (IS_ENABLED(CONFIG_X86))
		/* AMD has four more bits of the event far up */
		return (event & 0xff) | (u64)(unit_mask & 0xff) << 8 |
		       (u64)(event & 0xf00) << 24;
	return event | (u64)unit_mask << 16;
}

/* kstrtou64() alone would take signs, prefixes and a newline. */
static bool is_hex(const char *text)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	return n && n <= 16 && !text[n];
}

static int parse_event(const char *name, u32 *type, u64 *config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known_events); i++) {
		if (!strcmp(name, known_events[i].name)) {
			*type = known_events[i].type;
			*config = known_events[i].config;
			return 0;
		}
	}
	/* r<hex> */
	if (name[0] != 'r' || !is_hex(name + 1))
		return -EINVAL;
	*type = PERF_TYPE_RAW;
	return kstrtou64(name + 1, 16, config);
}

static int check_event(const char *name)
{
	u32 type;
	u64 config;

	return parse_event(name, &type, &config);
}

static int fill_source(struct source *source,
		       const struct op_event_config *config)
{
	struct perf_event_attr *attr = &source->attr;
	u64 code;
	u32 type;

	memset(source, 0, sizeof(*source));
	source->enabled = config->enabled;
	if (config->raw) {
		type = PERF_TYPE_RAW;
		code = raw_config(config->event, config->unit_mask);
	} else if (parse_event(config->name, &type, &code)) {
		return -EINVAL;
	}
	attr->type = type;
	attr->config = code;
	attr->size = sizeof(*attr);
	attr->pinned = 1;
	attr->disabled = 1;
	if (config->freq) {
		attr->freq = 1;
		attr->sample_freq = config->freq;
	} else {
		attr->sample_period = config->count;
	}
	if (config->kernel)
		source->wants[false] = config->idle ? TAKE_ALL : TAKE_BUSY;
	if (config->user)
		source->wants[true] = TAKE_ALL;
	attr->exclude_kernel = !config->kernel;
	attr->exclude_user = !config->user;
	attr->exclude_idle = !config->idle;
	return 0;
}

/* ---- samples ---------------------------------------------------------- */

/* Not every PMU has all the filters. */
static __always_inline void take(const struct source *source,
				 struct pt_regs *regs)
{
	bool user = user_mode(regs);
	/* pairs with the release in let_take() */
	u8 takes = smp_load_acquire(&source->takes[user]);

	if (takes != TAKE_ALL &&
	    (takes == TAKE_NONE || is_idle_task(current)))
		return;
	op_add_sample(regs, source->number, user);
}

static noinline void overflow_throttled(const struct source *source,
					struct pt_regs *regs)
{
	if (READ_ONCE(source->takes[false]) | READ_ONCE(source->takes[true]))
		op_count_throttled();
	take(source, regs);
}

static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	const struct source *source = event->overflow_handler_context;

	op_test_nmi();
	if (unlikely(event->hw.interrupts == THROTTLED))
		overflow_throttled(source, regs);
	else
		take(source, regs);
}

/* From here on samples are taken, or are not. */
static void let_take(bool take)
{
	unsigned int i, user;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		for (user = 0; user < 2; user++) {
			/* what was written before is seen by who sees it */
			smp_store_release(&sources[i].takes[user],
					  take ? sources[i].wants[user] :
					  TAKE_NONE);
		}
	}
}

/*
 * Make a disabled event. PMUs without a filter refuse to be asked for it; take()
 * filters then.
 */
static struct perf_event *make_event(struct source *source, int cpu)
{
	struct perf_event_attr attr = source->attr;
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, overflow,
						 source);
	if (!IS_ERR(event) || !attr.exclude_idle)
		return event;
	attr.exclude_idle = 0;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, overflow,
						source);
}

/*
 * perf refuses a CPU that goes down some time before it counts as offline.
 * Wait until it does.
 */
static bool has_gone(int cpu)
{
	cpus_read_lock();
	cpus_read_unlock();
	return !cpu_online(cpu);
}

static void release_cpu(int cpu)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		struct perf_event **event = &per_cpu(cpu_events, cpu).event[i];

		if (*event)
			perf_event_release_kernel(*event);
		*event = NULL;
	}
}

/* Make a CPU's events; @failed is set to the one that could not be. */
static int create_cpu(int cpu, unsigned int *failed)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		struct perf_event *event;

		if (!sources[i].enabled)
			continue;
		event = make_event(&sources[i], cpu);
		if (IS_ERR(event)) {
			*failed = i;
			release_cpu(cpu);
			return PTR_ERR(event);
		}
		per_cpu(cpu_events, cpu).event[i] = event;
	}
	return 0;
}

/* Enable a CPU's events; a pinned one that finds no counter goes to ERROR. */
static int enable_cpu(int cpu, unsigned int *failed)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		struct perf_event *event = per_cpu(cpu_events, cpu).event[i];

		if (!event)
			continue;
		perf_event_enable(event);
		if (READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR) {
			*failed = i;
			return -EBUSY;
		}
	}
	return 0;
}

static void release_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		release_cpu(cpu);
	/* software events call handlers under RCU */
	synchronize_rcu();
}

static const char *event_name(const struct op_event_config *config, char *buf,
			      size_t size)
{
	if (!config->raw)
		return config->name;
	snprintf(buf, size, "r%llx", raw_config(config->event,
						config->unit_mask));
	return buf;
}

static int start(const struct op_event_config *config)
{
	char name[OP_EVENT_NAME_LEN];
	unsigned int i, failed = 0;
	int cpu, err = -ENODEV;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		err = fill_source(&sources[i], &config[i]);
		if (err)
			return err;
		sources[i].number = i;
	}
	/* A CPU that comes or goes now is marked, and looked at again. */
	for_each_online_cpu(cpu) {
		err = create_cpu(cpu, &failed);
		if (err == -ENODEV && has_gone(cpu))
			err = 0;
		if (err)
			goto release;
	}
	for_each_online_cpu(cpu) {
		err = enable_cpu(cpu, &failed);
		if (err)
			goto release;
	}
	counting = true;
	return 0;

release:
	pr_notice("event %u (%s) can't be counted on CPU %d: error %d\n", failed,
		  event_name(&config[failed], name, sizeof(name)), cpu, err);
	release_all();
	return err;
}

static void begin(const struct op_event_config *config)
{
	char name[OP_EVENT_NAME_LEN];
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++)
		op_samples_name_event(i, event_name(&config[i], name,
						    sizeof(name)));
	let_take(true);
}

static void stop(void)
{
	let_take(false);
	counting = false;
	release_all();
}

/* ---- CPU hotplug ------------------------------------------------------ */

/* A ring for a CPU that may not have one yet; nobody drains meanwhile. */
static void make_ring(void *data)
{
	int *cpu = data;

	*cpu = op_ring_alloc_cpu(*cpu, op_settings.cpu_buffer_size);
}

static void replace_cpu(int cpu)
{
	unsigned int failed;
	int err = cpu;

	release_cpu(cpu);
	if (!cpu_online(cpu)) {
		op_sync_drained(NULL, NULL);
		return;
	}
	op_sync_drained(make_ring, &err);
	if (!err)
		err = create_cpu(cpu, &failed);
	if (!err)
		err = enable_cpu(cpu, &failed);
	if (!err || has_gone(cpu))
		return;
	release_cpu(cpu);
	pr_notice("CPU %d is not profiled: error %d\n", cpu, err);
}

static void hotplug_worker(struct work_struct *work)
{
	int cpu;

	mutex_lock(&op_control_mutex);
	for_each_possible_cpu(cpu) {
		if (cpumask_test_and_clear_cpu(cpu, &marked) && counting)
			replace_cpu(cpu);
	}
	mutex_unlock(&op_control_mutex);
}

static int cpu_changed(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &marked);
	schedule_work(&hotplug_work);
	return 0;
}

/* ---- setup ------------------------------------------------------------ */

static struct perf_event *probe_event(const struct op_event_config *config)
{
	struct source source;
	int err;

	err = fill_source(&source, config);
	if (err)
		return ERR_PTR(err);
	/* any CPU will do, but it must be there */
	return make_event(&source, cpumask_first(cpu_online_mask));
}

static int cpu_type(const struct op_event_config *config, char *name,
		    size_t size)
{
	struct perf_event *event;
	unsigned int i = 0;

	while (i < OP_MAX_EVENTS - 1 && !config[i].enabled)
		i++;
	if (!config[i].raw && (!strcmp(config[i].name, "cpu-clock") ||
			       !strcmp(config[i].name, "task-clock"))) {
		strscpy(name, "timer", size);
		return 0;
	}
	event = probe_event(&config[i]);
	if (IS_ERR(event))
		return PTR_ERR(event);
	strscpy(name, event->pmu->name ?: "unknown", size);
	perf_event_release_kernel(event);
	return 0;
}

static const char *default_event(void)
{
	static const struct op_event_config cycles = {
		.name = "cycles", .freq = 1000, .kernel = true, .user = true,
	};
	struct perf_event *event = probe_event(&cycles);

	if (IS_ERR(event))
		return "cpu-clock";
	perf_event_release_kernel(event);
	return "cycles";
}

static int setup(void)
{
	/* after perf's own state: events can be made on a CPU that comes */
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
						  "oprofile:online",
						  cpu_changed, cpu_changed);
	return min(hotplug_state, 0);
}

static void shutdown(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&hotplug_work);
}

const struct op_source op_perf_source = {
	.setup = setup,
	.shutdown = shutdown,
	.start = start,
	.begin = begin,
	.stop = stop,
	.default_event = default_event,
	.cpu_type = cpu_type,
	.check_event = check_event,
};
