// SPDX-License-Identifier: GPL-2.0
/*
 * oprof.c - settings, start and stop, setup and shutdown
 *
 * op_control_mutex guards the settings, starts and stops, and what goes with
 * them. The hooks are active before the first sample is taken, and stay until
 * the last one has been drained, or an unmap between the two would go unseen.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/delay.h>
#include <linux/string.h>

#include "oprofile.h"

#define BUFFER_SIZE		131072
#define BUFFER_WATERSHED	32768
#define CPU_BUFFER_SIZE		8192
#define FREQ			1000

/* Room for one sample with everything restated, and to spare. */
#define BUFFER_SIZE_MIN		32
#define FREQ_MAX		100000

/* Starts wait so many times so many us for unmaps that began before. */
#define SETTLE_TRIES		10
#define SETTLE_US		1000

/* settings, starts and stops */
DEFINE_MUTEX(op_control_mutex);

struct op_settings op_settings = {
	.buffer_size = BUFFER_SIZE,
	.buffer_watershed = BUFFER_WATERSHED,
	.cpu_buffer_size = CPU_BUFFER_SIZE,
	.event = {
		[0 ... OP_MAX_EVENTS - 1] = {
			.freq = FREQ,
			.kernel = true,
			.user = true,
		},
	},
};

static const struct op_source *const source = &op_perf_source;

/* Where in its life the module is; under op_control_mutex. */
static enum { PARSING, LOADING, READY, GONE } phase;
static bool running;

/* ---- start and stop --------------------------------------------------- */

/**
 * op_is_running() - does a profile run?
 */
bool op_is_running(void)
{
	return READ_ONCE(running);
}

/* Unmaps that were under way before the hooks were: wait for most of them. */
static void settle_unmaps(void)
{
	unsigned int i;

	op_pictures_blind_busy();
	/* Also has the worker come for what the hooks have taken before now. */
	op_sync_drained(NULL, NULL);
	for (i = 0; i < SETTLE_TRIES && op_pictures_unfinished(); i++) {
		usleep_range(SETTLE_US, 2 * SETTLE_US);
		op_sync_drained(NULL, NULL);
	}
}

static bool any_event(void)
{
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		if (op_settings.event[i].enabled)
			return true;
	}
	return false;
}

/**
 * op_start() - begin a run
 *
 * Context: op_control_mutex held, may sleep.
 * Return: 0; -ENOMEM; -EINVAL without an enabled event; or perf's own error.
 */
int op_start(void)
{
	int err;

	if (running)
		return 0;
	if (!any_event()) {
		pr_notice("no event is enabled\n");
		return -EINVAL;
	}
	/* What may be refused comes first: the last run's data are still there. */
	err = source->start(op_settings.event);
	if (err)
		return err;
	err = op_rings_alloc(op_settings.cpu_buffer_size);
	if (err)
		goto stop_source;
	err = op_pictures_start();
	if (err)
		goto stop_source;
	err = op_profile_events_start();
	if (err)
		goto stop_pictures;
	err = op_sync_start(op_settings.buffer_size,
			    op_settings.buffer_watershed);
	if (err)
		goto stop_events;
	settle_unmaps();
	source->begin(op_settings.event);
	WRITE_ONCE(running, true);
	return 0;

stop_events:
	op_profile_events_stop();
stop_pictures:
	/* hooks that were there for a moment may have called the worker */
	op_sync_quiesce();
	op_pictures_stop();
stop_source:
	source->stop();
	return err;
}

/**
 * op_stop() - end the run; what was sampled waits in the event buffer
 *
 * Context: op_control_mutex held, may sleep.
 */
void op_stop(void)
{
	if (!running)
		return;
	source->stop();
	op_sync_stop();
	op_profile_events_stop();
	op_sync_quiesce();
	op_pictures_stop();
	WRITE_ONCE(running, false);
}

/* ---- setters: each takes op_control_mutex ----------------------------- */

/**
 * op_set_enable() - start or stop
 * @value: 1 or 0
 *
 * Return: 0; -ERANGE; -EBUSY while the module is loaded or unloaded; or why
 *	the start failed.
 */
int op_set_enable(unsigned long value)
{
	int err = 0;

	if (value > 1)
		return -ERANGE;
	if (mutex_lock_interruptible(&op_control_mutex))
		return -EINTR;
	if (phase != READY)
		err = -EBUSY;
	else if (value)
		err = op_start();
	else
		op_stop();
	mutex_unlock(&op_control_mutex);
	return err;
}

/* Settings may change while no profile runs. */
static int lock_settings(void)
{
	if (mutex_lock_interruptible(&op_control_mutex))
		return -EINTR;
	if (running) {
		mutex_unlock(&op_control_mutex);
		return -EBUSY;
	}
	return 0;
}

/**
 * op_set_buffer_size() - set how many words the event buffer holds
 * @words: above the watershed
 *
 * Return: 0, -ERANGE, -ENOMEM, -EBUSY, or -EINTR; as for all setters below.
 */
int op_set_buffer_size(unsigned long words)
{
	int err = lock_settings();

	if (err)
		return err;
	if (words < BUFFER_SIZE_MIN || words <= op_settings.buffer_watershed)
		err = -ERANGE;
	else
		err = op_eb_try(words);
	if (!err)
		WRITE_ONCE(op_settings.buffer_size, words);
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_buffer_watershed() - set with how few words free the reader is woken
 * @words: below the size
 */
int op_set_buffer_watershed(unsigned long words)
{
	int err = lock_settings();

	if (err)
		return err;
	if (!words || words >= op_settings.buffer_size)
		err = -ERANGE;
	else
		WRITE_ONCE(op_settings.buffer_watershed, words);
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_cpu_buffer_size() - set how many samples a CPU's ring holds
 * @samples: at least 1
 */
int op_set_cpu_buffer_size(unsigned long samples)
{
	int err = lock_settings();

	if (err)
		return err;
	if (!samples)
		err = -ERANGE;
	else
		err = op_rings_try(samples);
	if (!err)
		WRITE_ONCE(op_settings.cpu_buffer_size, samples);
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_backtrace_depth() - set how many frames of call chain a sample has
 * @depth: 0, until call chains are built
 */
int op_set_backtrace_depth(unsigned long depth)
{
	int err = lock_settings();

	if (err)
		return err;
	if (depth)
		err = -ERANGE;
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_event_name() - set what an event folder counts
 * @event: number of the folder
 * @name: a name; -EINVAL where there is no such event
 */
int op_set_event_name(unsigned int event, const char *name)
{
	struct op_event_config *config = &op_settings.event[event];
	int err = lock_settings();

	if (err)
		return err;
	err = source->check_event(name);
	if (!err) {
		strscpy(config->name, name, sizeof(config->name));
		config->raw = false;
	}
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_event_code() - set the raw code that an event folder counts
 * @event: number of the folder
 * @mask: @value is the unit mask, else the event
 * @value: the code
 */
int op_set_event_code(unsigned int event, bool mask, unsigned long value)
{
	struct op_event_config *config = &op_settings.event[event];
	unsigned long max = mask ? 0xff : IS_ENABLED(CONFIG_X86) ? 0xfff : 0xffff;
	int err = lock_settings();

	if (err)
		return err;
	if (value > max) {
		err = -ERANGE;
	} else {
		if (mask)
			WRITE_ONCE(config->unit_mask, value);
		else
			WRITE_ONCE(config->event, value);
		WRITE_ONCE(config->raw, true);
	}
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_event_count() - set the period of an event, instead of a frequency
 * @event: number of the folder
 * @count: in the event's own units
 */
int op_set_event_count(unsigned int event, unsigned long count)
{
	struct op_event_config *config = &op_settings.event[event];
	int err = lock_settings();

	if (err)
		return err;
	/* perf takes no period with the top bit set */
	if (!count || (u64)count > S64_MAX) {
		err = -ERANGE;
	} else {
		WRITE_ONCE(config->count, count);
		WRITE_ONCE(config->freq, 0);
	}
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_event_freq() - set the frequency of an event, instead of a period
 * @event: number of the folder
 * @freq: samples a second
 */
int op_set_event_freq(unsigned int event, unsigned long freq)
{
	struct op_event_config *config = &op_settings.event[event];
	int err = lock_settings();

	if (err)
		return err;
	if (!freq || freq > FREQ_MAX) {
		err = -ERANGE;
	} else {
		WRITE_ONCE(config->freq, freq);
		WRITE_ONCE(config->count, 0);
	}
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_set_event_flag() - set a flag of an event
 * @event: number of the folder
 * @flag: in its struct op_event_config
 * @value: 0 or 1
 */
int op_set_event_flag(unsigned int event, bool *flag, unsigned long value)
{
	int err = lock_settings();

	if (err)
		return err;
	if (value > 1)
		err = -ERANGE;
	else
		*flag = value;
	mutex_unlock(&op_control_mutex);
	return err;
}

/**
 * op_cpu_type() - name what counts the first enabled event
 * @name: takes the name
 * @size: bytes in @name
 *
 * Return: 0, or why the event can't be counted.
 */
int op_cpu_type(char *name, size_t size)
{
	int err;

	if (mutex_lock_interruptible(&op_control_mutex))
		return -EINTR;
	err = source->cpu_type(op_settings.event, name, size);
	mutex_unlock(&op_control_mutex);
	return err;
}

/* ---- module parameters ------------------------------------------------ */

/*
 * Those given at load are taken before anything else is there, and checked
 * together once it is.
 */
static struct {
	bool watershed_given;
	bool enable;
} at_load;

static int param_get_number(char *buf, const struct kernel_param *kp)
{
	const unsigned long *value = kp->arg;

	return scnprintf(buf, PAGE_SIZE, "%lu\n", *value);
}

/* A size: zero is never right; the rest is checked by check_params(). */
static int param_set_size(const char *text, const struct kernel_param *kp)
{
	unsigned long *value = kp->arg, number;
	int err = op_parse_ulong(text, &number);

	if (err)
		return err;
	if (!number)
		return -ERANGE;
	*value = number;
	if (value == &op_settings.buffer_watershed)
		at_load.watershed_given = true;
	return 0;
}

static const struct kernel_param_ops size_ops = {
	.set = param_set_size,
	.get = param_get_number,
};

module_param_cb(buffer_size, &size_ops, &op_settings.buffer_size, 0400);
MODULE_PARM_DESC(buffer_size, "words in the event buffer (131072)");
module_param_cb(buffer_watershed, &size_ops, &op_settings.buffer_watershed,
		0400);
MODULE_PARM_DESC(buffer_watershed,
		 "wake the reader when this many words are free (32768, or a quarter of buffer_size)");
module_param_cb(cpu_buffer_size, &size_ops, &op_settings.cpu_buffer_size, 0400);
MODULE_PARM_DESC(cpu_buffer_size, "samples each CPU's ring holds (8192)");

static int param_set_event(const char *text, const struct kernel_param *kp)
{
	return op_set_event_name(0, text);
}

static int param_get_event(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%s\n", op_settings.event[0].name);
}

static const struct kernel_param_ops event_ops = {
	.set = param_set_event,
	.get = param_get_event,
};

module_param_cb(event, &event_ops, NULL, 0400);
MODULE_PARM_DESC(event, "name of event 0 (cycles, or cpu-clock where there is no such counter)");

static int param_set_count(const char *text, const struct kernel_param *kp)
{
	unsigned long count;
	int err = op_parse_ulong(text, &count);

	return err ?: op_set_event_count(0, count);
}

static const struct kernel_param_ops count_ops = {
	.set = param_set_count,
	.get = param_get_number,
};

module_param_cb(count, &count_ops, &op_settings.event[0].count, 0400);
MODULE_PARM_DESC(count, "period of event 0, in its own units (0: freq is used)");

static int param_set_enable(const char *text, const struct kernel_param *kp)
{
	unsigned long value;
	int err;

	/* uid 0 of a container may pass the mode of the file */
	if (READ_ONCE(phase) != PARSING && !perfmon_capable())
		return -EPERM;
	err = op_parse_ulong(text, &value);
	if (err)
		return err;
	if (READ_ONCE(phase) != PARSING)
		return op_set_enable(value);
	if (value > 1)
		return -ERANGE;
	at_load.enable = value;
	return 0;
}

static int param_get_enable(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "%d\n", op_is_running());
}

static const struct kernel_param_ops enable_ops = {
	.set = param_set_enable,
	.get = param_get_enable,
};

module_param_cb(enable, &enable_ops, NULL, 0600);
MODULE_PARM_DESC(enable, "1 starts to profile, 0 stops");

static int check_params(void)
{
	int err;

	if (!at_load.watershed_given)
		op_settings.buffer_watershed =
			min_t(unsigned long, BUFFER_WATERSHED,
			      op_settings.buffer_size / 4);
	/* the setters check the rest */
	err = op_set_buffer_size(op_settings.buffer_size);
	if (!err)
		err = op_set_cpu_buffer_size(op_settings.cpu_buffer_size);
	return err;
}

/* ---- setup and shutdown ----------------------------------------------- */

static void __init set_default_events(void)
{
	const char *name = source->default_event();
	unsigned int i;

	for (i = 0; i < OP_MAX_EVENTS; i++) {
		struct op_event_config *config = &op_settings.event[i];

		if (!config->name[0])
			strscpy(config->name, name, sizeof(config->name));
	}
	op_settings.event[0].enabled = true;
}

static int __init oprofile_init(void)
{
	int err;

	WRITE_ONCE(phase, LOADING);
	set_default_events();
	err = check_params();
	if (err)
		return err;
	err = op_cookies_init();
	if (err)
		return err;
	err = op_pictures_init();
	if (err)
		goto exit_cookies;
	err = op_sync_init();
	if (err)
		goto exit_pictures;
	err = op_symbols_init();
	if (err)
		goto exit_sync;
	err = source->setup();
	if (err)
		goto exit_symbols;
	mutex_lock(&op_control_mutex);
	if (at_load.enable)
		err = op_start();
	mutex_unlock(&op_control_mutex);
	if (err)
		goto shutdown_source;
	/* Last: from here on there are files to open. */
	err = op_files_create();
	if (err)
		goto stop;
	WRITE_ONCE(phase, READY);
	return 0;

stop:
	mutex_lock(&op_control_mutex);
	op_stop();
	mutex_unlock(&op_control_mutex);
shutdown_source:
	source->shutdown();
exit_symbols:
	op_symbols_exit();
exit_sync:
	op_sync_exit();
exit_pictures:
	op_pictures_exit();
exit_cookies:
	op_cookies_exit();
	op_eb_exit();
	op_rings_free();
	return err;
}

static void __exit oprofile_exit(void)
{
	mutex_lock(&op_control_mutex);
	/* The enable parameter is still there. */
	phase = GONE;
	op_stop();
	mutex_unlock(&op_control_mutex);
	op_files_remove();
	source->shutdown();
	op_symbols_exit();
	op_sync_exit();
	op_pictures_exit();
	op_cookies_exit();
	op_eb_exit();
	op_rings_free();
}

module_init(oprofile_init);
module_exit(oprofile_exit);

MODULE_DESCRIPTION("System-wide profiler");
MODULE_LICENSE("GPL");
