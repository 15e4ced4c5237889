// SPDX-License-Identifier: GPL-2.0
/*
 * oprofilefs.c - helpers that make a file in a line
 *
 * Control files take one value a write, whole, with or without a newline.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "oprofile.h"

#define TEXT_MAX	64

/**
 * op_parse_ulong() - read a number, decimal, or hexadecimal after 0x
 * @text: the number and nothing else
 * @value: set to it
 *
 * Return: 0; -EINVAL for what is no number, or a negative one; -ERANGE for one
 *	that is too large.
 */
int op_parse_ulong(const char *text, unsigned long *value)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	/* kstrtoul() takes a sign, and octal numbers that nobody means */
	if (!isdigit(text[0]))
		return -EINVAL;
	return kstrtoul(text, hex ? 16 : 10, value);
}

static ssize_t control_read(struct file *file, char __user *to, size_t count,
			    loff_t *pos)
{
	const struct op_control *control = file->private_data;
	char text[TEXT_MAX];
	int err;

	err = control->get(control->data, text, sizeof(text) - 1);
	if (err)
		return err;
	strcat(text, "\n");
	return simple_read_from_buffer(to, count, pos, text, strlen(text));
}

static ssize_t control_write(struct file *file, const char __user *from,
			     size_t count, loff_t *pos)
{
	const struct op_control *control = file->private_data;
	unsigned long value;
	char text[TEXT_MAX];
	int err;

	/* root passes the mode of a read-only file */
	if (!control->set && !control->set_number)
		return -EACCES;
	if (!perfmon_capable())
		return -EPERM;
	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	if (strlen(text) != count)
		return -EINVAL;
	if (count && text[count - 1] == '\n')
		text[count - 1] = '\0';
	if (!text[0])
		return -EINVAL;
	if (control->set) {
		err = control->set(control->data, text);
	} else {
		err = op_parse_ulong(text, &value);
		if (!err)
			err = control->set_number(value);
	}
	return err ?: count;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = control_read,
	.write = control_write,
	.llseek = default_llseek,
};

/**
 * op_create_dir() - make a directory that only its owner may enter
 * @name: its name
 * @parent: where; NULL: at the top
 *
 * debugfs makes them 0755.
 *
 * Return: as debugfs_create_dir().
 */
struct dentry *op_create_dir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(name, parent);

	if (!IS_ERR_OR_NULL(dir))
		d_inode(dir)->i_mode = S_IFDIR | 0700;
	return dir;
}

/**
 * op_create_control() - make a control file
 * @dir: where
 * @name: its name
 * @control: what it does; must stay
 *
 * Mode 0600, or 0400 where it takes nothing.
 */
void op_create_control(struct dentry *dir, const char *name,
		       const struct op_control *control)
{
	bool writable = control->set || control->set_number;

	debugfs_create_file(name, writable ? 0600 : 0400, dir,
			    (void *)control, &control_fops);
}

static int counter_get(void *data, u64 *value)
{
	*value = READ_ONCE(*(unsigned long *)data);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(counter_fops, counter_get, NULL, "%llu\n");

/**
 * op_create_counter() - make a file that shows a counter
 * @dir: where
 * @name: its name
 * @counter: the counter; must stay
 */
void op_create_counter(struct dentry *dir, const char *name,
		       const unsigned long *counter)
{
	debugfs_create_file_unsafe(name, 0400, dir, (void *)counter,
				   &counter_fops);
}

static int local_get(void *data, u64 *value)
{
	*value = (unsigned long)local_read((local_t *)data);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(local_fops, local_get, NULL, "%llu\n");

/**
 * op_create_local() - make a file that shows a counter of a CPU
 * @dir: where
 * @name: its name
 * @counter: the counter; must stay
 */
void op_create_local(struct dentry *dir, const char *name,
		     const local_t *counter)
{
	debugfs_create_file_unsafe(name, 0400, dir, (void *)counter,
				   &local_fops);
}
