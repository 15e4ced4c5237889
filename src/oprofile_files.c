// SPDX-License-Identifier: GPL-2.0
/*
 * oprofile_files.c - the files in /sys/kernel/debug/oprofile
 *
 * What a file shows is read without a lock, a word at a time; what is written
 * goes through a setter of oprof.c, which checks it under op_control_mutex.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "oprofile.h"

static struct dentry *root;

static int get_ulong(void *data, char *text, size_t size)
{
	snprintf(text, size, "%lu", READ_ONCE(*(unsigned long *)data));
	return 0;
}

/* ---- the files of the whole ------------------------------------------- */

static int get_enable(void *data, char *text, size_t size)
{
	snprintf(text, size, "%d", op_is_running());
	return 0;
}

static int get_cpu_type(void *data, char *text, size_t size)
{
	return op_cpu_type(text, size);
}

static unsigned long backtrace_depth;
static unsigned long pointer_size = sizeof(long);

static const struct op_control enable = {
	.get = get_enable,
	.set_number = op_set_enable,
};

static const struct op_control buffer_size = {
	.get = get_ulong,
	.set_number = op_set_buffer_size,
	.data = &op_settings.buffer_size,
};

static const struct op_control buffer_watershed = {
	.get = get_ulong,
	.set_number = op_set_buffer_watershed,
	.data = &op_settings.buffer_watershed,
};

static const struct op_control cpu_buffer_size = {
	.get = get_ulong,
	.set_number = op_set_cpu_buffer_size,
	.data = &op_settings.cpu_buffer_size,
};

static const struct op_control backtrace = {
	.get = get_ulong,
	.set_number = op_set_backtrace_depth,
	.data = &backtrace_depth,
};

static const struct op_control cpu_type = {
	.get = get_cpu_type,
};

static const struct op_control pointer = {
	.get = get_ulong,
	.data = &pointer_size,
};

static void wake_reader(void *unused)
{
	op_eb_wake(true);
}

static int dump_open(struct inode *inode, struct file *file)
{
	return op_may_open();
}

static ssize_t dump_write(struct file *file, const char __user *from,
			  size_t count, loff_t *pos)
{
	if (!perfmon_capable())
		return -EPERM;
	op_sync_drained(wake_reader, NULL);
	return count;
}

static const struct file_operations dump_fops = {
	.owner = THIS_MODULE,
	.open = dump_open,
	.write = dump_write,
	.llseek = noop_llseek,
};

static int hooks_open(struct inode *inode, struct file *file)
{
	return op_may_open() ?:
	       single_open(file, op_profile_events_show, NULL);
}

static const struct file_operations hooks_fops = {
	.owner = THIS_MODULE,
	.open = hooks_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- the files of an event -------------------------------------------- */

enum {
	F_ENABLED,
	F_NAME,
	F_EVENT,
	F_UNIT_MASK,
	F_COUNT,
	F_FREQ,
	F_KERNEL,
	F_USER,
	F_IDLE,
	NR_EVENT_FILES,
};

static const char *const event_files[NR_EVENT_FILES] = {
	"enabled", "name", "event", "unit_mask", "count", "freq", "kernel",
	"user", "idle"
};

/* What a file of an event is about; the files' own data. */
struct event_file {
	struct op_control control;
	unsigned int event;
	unsigned int file;
};

static struct event_file files[OP_MAX_EVENTS][NR_EVENT_FILES];

static bool *event_flag(struct op_event_config *config, unsigned int file)
{
	switch (file) {
	case F_ENABLED:
		return &config->enabled;
	case F_KERNEL:
		return &config->kernel;
	case F_USER:
		return &config->user;
	default:
		return &config->idle;
	}
}

static int get_event_file(void *data, char *text, size_t size)
{
	const struct event_file *f = data;
	struct op_event_config *config = &op_settings.event[f->event];
	unsigned long value;

	switch (f->file) {
	case F_NAME:
		mutex_lock(&op_control_mutex);
		snprintf(text, size, "%s", config->raw ? "" : config->name);
		mutex_unlock(&op_control_mutex);
		return 0;
	case F_EVENT:
		value = READ_ONCE(config->event);
		break;
	case F_UNIT_MASK:
		value = READ_ONCE(config->unit_mask);
		break;
	case F_COUNT:
		value = READ_ONCE(config->count);
		break;
	case F_FREQ:
		value = READ_ONCE(config->freq);
		break;
	default:
		value = READ_ONCE(*event_flag(config, f->file));
		break;
	}
	snprintf(text, size, "%lu", value);
	return 0;
}

static int set_event_file(void *data, const char *text)
{
	const struct event_file *f = data;
	struct op_event_config *config = &op_settings.event[f->event];
	unsigned long value;
	int err;

	if (f->file == F_NAME)
		return op_set_event_name(f->event, text);
	err = op_parse_ulong(text, &value);
	if (err)
		return err;
	switch (f->file) {
	case F_EVENT:
	case F_UNIT_MASK:
		return op_set_event_code(f->event, f->file == F_UNIT_MASK,
					 value);
	case F_COUNT:
		return op_set_event_count(f->event, value);
	case F_FREQ:
		return op_set_event_freq(f->event, value);
	default:
		return op_set_event_flag(f->event, event_flag(config, f->file),
					 value);
	}
}

static void create_event_files(unsigned int event)
{
	struct dentry *dir;
	unsigned int i;
	char name[4];

	snprintf(name, sizeof(name), "%u", event);
	dir = op_create_dir(name, root);
	for (i = 0; i < NR_EVENT_FILES; i++) {
		struct event_file *f = &files[event][i];

		f->control.get = get_event_file;
		f->control.set = set_event_file;
		f->control.data = f;
		f->event = event;
		f->file = i;
		op_create_control(dir, event_files[i], &f->control);
	}
}

/* ---- all -------------------------------------------------------------- */

/**
 * op_files_remove() - remove all files
 *
 * Context: no file is open, as open files hold the module.
 */
void op_files_remove(void)
{
	debugfs_remove_recursive(root);
	root = NULL;
}

/**
 * op_files_create() - make all files
 *
 * Return: 0; -EEXIST where another oprofile has them; -ENODEV without debugfs;
 *	-ENOMEM.
 */
int op_files_create(void)
{
	unsigned int i;
	int err;

	if (!debugfs_initialized()) {
		pr_err("debugfs is off (debugfs=off?), and all files are there\n");
		return -ENODEV;
	}
	root = op_create_dir("oprofile", NULL);
	if (IS_ERR_OR_NULL(root)) {
		pr_err("can't make oprofile in debugfs: error %ld\n",
		       PTR_ERR(root));
		return root ? PTR_ERR(root) : -ENODEV;
	}
	op_create_control(root, "enable", &enable);
	op_create_control(root, "buffer_size", &buffer_size);
	op_create_control(root, "buffer_watershed", &buffer_watershed);
	op_create_control(root, "cpu_buffer_size", &cpu_buffer_size);
	op_create_control(root, "backtrace_depth", &backtrace);
	op_create_control(root, "cpu_type", &cpu_type);
	op_create_control(root, "pointer_size", &pointer);
	op_create_file(root, "buffer", 0400, NULL, &op_buffer_fops);
	op_create_file(root, "samples", 0400, NULL, &op_samples_fops);
	op_create_file(root, "dcookies", 0400, NULL, &op_dcookies_fops);
	op_create_file(root, "dump", 0200, NULL, &dump_fops);
	op_create_file(root, "hooks", 0400, NULL, &hooks_fops);
	for (i = 0; i < OP_MAX_EVENTS; i++)
		create_event_files(i);
	op_stats_create_files(root);
	err = op_files_complete();
	if (err) {
		pr_err("can't make all files in debugfs: error %d\n", err);
		op_files_remove();
	}
	return err;
}
