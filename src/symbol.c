// SPDX-License-Identifier: GPL-2.0
/*
 * symbol.c - names for kernel addresses, also of modules that are gone
 *
 * kallsyms knows what is there now. Before a module's code goes away (unload,
 * or the end of its init part) all rings are drained, and where the stream
 * stood then is remembered: what stands before that and lies in that code is
 * the module's, whoever has its addresses now.
 *
 * The list of what is gone belongs to gone_lock; the notifier runs in process
 * context and takes op_sync_mutex for the drain.
 */
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "event_buffer.h"
#include "oprofile.h"

#define GONE_MAX	1024

/**
 * struct gone - code that went away
 * @list: in gone_list, newest first
 * @start: its first address
 * @size: bytes of it
 * @run: the run in which it went
 * @pos: where the stream stood
 * @name: its module
 */
struct gone {
	struct list_head list;
	unsigned long start;
	unsigned long size;
	unsigned long run;
	unsigned long pos;
	char name[MODULE_NAME_LEN];
};

static DEFINE_SPINLOCK(gone_lock);
static LIST_HEAD(gone_list);
static unsigned int nr_gone;

static void remember(const struct module *mod, unsigned long start,
		     unsigned long size)
{
	struct gone *gone, *old = NULL;

	if (!size)
		return;
	gone = kmalloc(sizeof(*gone), GFP_KERNEL);
	if (!gone)
		return;
	gone->start = start;
	gone->size = size;
	gone->run = op_eb.run;
	gone->pos = op_eb_position();
	strscpy(gone->name, mod->name, sizeof(gone->name));

	spin_lock(&gone_lock);
	list_add(&gone->list, &gone_list);
	if (++nr_gone > GONE_MAX) {
		old = list_last_entry(&gone_list, struct gone, list);
		list_del(&old->list);
		nr_gone--;
	}
	spin_unlock(&gone_lock);
	kfree(old);
}

/* The oldest entry that still stands behind @pos is the one that was there. */
static bool find_gone(unsigned long addr, unsigned long pos, char *image,
		      size_t image_size, char *symbol, size_t symbol_size)
{
	const struct gone *gone;
	bool found = false;

	spin_lock(&gone_lock);
	list_for_each_entry(gone, &gone_list, list) {
		if (gone->run != op_eb.run || (long)(gone->pos - pos) <= 0)
			break;
		if (addr - gone->start < gone->size) {
			snprintf(image, image_size, "[%s]", gone->name);
			snprintf(symbol, symbol_size, ".text+0x%lx",
				 addr - gone->start);
			found = true;
		}
	}
	spin_unlock(&gone_lock);
	return found;
}

/**
 * op_kernel_symbol() - image and symbol of a kernel address
 * @addr: the address
 * @pos: where its sample stood in the stream
 * @image: takes [kernel], or the module's name in brackets
 * @image_size: bytes in @image
 * @symbol: takes symbol+0xoffset, or the address where there is none
 * @symbol_size: bytes in @symbol, at least KSYM_SYMBOL_LEN
 *
 * Context: op_eb.mutex held.
 */
void op_kernel_symbol(unsigned long addr, unsigned long pos,
		      char *image, size_t image_size,
		      char *symbol, size_t symbol_size)
{
	char *s;

	if (find_gone(addr, pos, image, image_size, symbol, symbol_size))
		return;
	/* symbol+0xoffset/0xsize [module], or the address */
	sprint_symbol(symbol, addr);
	strscpy(image, "[kernel]", image_size);
	s = strrchr(symbol, '[');
	if (s && s > symbol && s[-1] == ' ') {
		s[-1] = '\0';
		strscpy(image, s, image_size);
	}
	s = strrchr(symbol, '/');
	if (s)
		*s = '\0';
}

static void module_comes(void *data)
{
	op_eb_module_loaded();
}

static void module_init_goes(void *data)
{
	unsigned long start, size;

	start = op_module_init_text(data, &size);
	remember(data, start, size);
}

static void module_goes(void *data)
{
	unsigned long start, size;

	start = op_module_text(data, &size);
	remember(data, start, size);
	/* still there where the init has failed */
	module_init_goes(data);
}

static int module_notify(struct notifier_block *nb, unsigned long state,
			 void *data)
{
	switch (state) {
	case MODULE_STATE_COMING:
		op_sync_drained(module_comes, data);
		break;
	case MODULE_STATE_LIVE:
		op_sync_drained(module_init_goes, data);
		break;
	case MODULE_STATE_GOING:
		op_sync_drained(module_goes, data);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = { .notifier_call = module_notify };

/**
 * op_symbols_init() - begin to watch modules come and go
 *
 * Return: 0, or a negative errno.
 */
int op_symbols_init(void)
{
	return register_module_notifier(&module_nb);
}

/**
 * op_symbols_exit() - undo op_symbols_init()
 */
void op_symbols_exit(void)
{
	struct gone *gone, *next;

	unregister_module_notifier(&module_nb);
	list_for_each_entry_safe(gone, next, &gone_list, list)
		kfree(gone);
	INIT_LIST_HEAD(&gone_list);
	nr_gone = 0;
}
