// SPDX-License-Identifier: GPL-2.0
/*
 * oprofilefs.c - helpers that make a file in a line
 *
 * Control files take one value a write, whole, with or without a newline.
 *
 * A file that can't be made is remembered, and then the module doesn't load.
 * While it loads no file can be opened: an open file keeps no module whose init
 * fails. So all of them go through debugfs's proxies, which know of those who
 * try.
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

static int first_err;
static bool all_made;

/**
 * op_may_open() - what the open of every file asks first
 *
 * Return: 0, or -EBUSY while the module loads.
 */
int op_may_open(void)
{
	return READ_ONCE(all_made) ? 0 : -EBUSY;
}

/**
 * op_files_complete() - all files have been made
 *
 * Return: 0, and they can be opened; or why one of them could not be made.
 */
int op_files_complete(void)
{
	if (!first_err)
		WRITE_ONCE(all_made, true);
	return first_err;
}

/* The open of a file that needs nothing of its own. */
static int plain_open(struct inode *inode, struct file *file)
{
	return op_may_open() ?: simple_open(inode, file);
}

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
	.open = plain_open,
	.read = control_read,
	.write = control_write,
	.llseek = default_llseek,
};

static void check_made(const struct dentry *made)
{
	if (IS_ERR_OR_NULL(made) && !first_err)
		first_err = made ? PTR_ERR(made) : -ENODEV;
}

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

	check_made(dir);
	if (!IS_ERR_OR_NULL(dir))
		d_inode(dir)->i_mode = S_IFDIR | 0700;
	return dir;
}

/**
 * op_create_file() - make a file
 * @dir: where
 * @name: its name
 * @mode: its permissions
 * @data: for its inode; must stay
 * @fops: its operations; its open asks op_may_open() first
 */
void op_create_file(struct dentry *dir, const char *name, umode_t mode,
		    const void *data, const struct file_operations *fops)
{
	check_made(debugfs_create_file(name, mode, dir, (void *)data, fops));
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

	op_create_file(dir, name, writable ? 0600 : 0400, control,
		       &control_fops);
}

static ssize_t show_number(char __user *to, size_t count, loff_t *pos,
			   unsigned long number)
{
	char text[TEXT_MAX];
	int len = scnprintf(text, sizeof(text), "%lu\n", number);

	return simple_read_from_buffer(to, count, pos, text, len);
}

static ssize_t counter_read(struct file *file, char __user *to, size_t count,
			    loff_t *pos)
{
	const unsigned long *counter = file->private_data;

	return show_number(to, count, pos, READ_ONCE(*counter));
}

static const struct file_operations counter_fops = {
	.owner = THIS_MODULE,
	.open = plain_open,
	.read = counter_read,
	.llseek = default_llseek,
};

/**
 * op_create_counter() - make a file that shows a counter
 * @dir: where
 * @name: its name
 * @counter: the counter; must stay
 */
void op_create_counter(struct dentry *dir, const char *name,
		       const unsigned long *counter)
{
	op_create_file(dir, name, 0400, counter, &counter_fops);
}

static ssize_t local_counter_read(struct file *file, char __user *to,
				  size_t count, loff_t *pos)
{
	const local_t *counter = file->private_data;

	return show_number(to, count, pos, local_read(counter));
}

static const struct file_operations local_counter_fops = {
	.owner = THIS_MODULE,
	.open = plain_open,
	.read = local_counter_read,
	.llseek = default_llseek,
};

/**
 * op_create_local() - make a file that shows a counter of a CPU
 * @dir: where
 * @name: its name
 * @counter: the counter; must stay
 */
void op_create_local(struct dentry *dir, const char *name,
		     const local_t *counter)
{
	op_create_file(dir, name, 0400, counter, &local_counter_fops);
}
