// SPDX-License-Identifier: GPL-2.0
/*
 * symbol_test.c - kernel addresses: who was there when the sample was taken
 */
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "common.h"
#include "../src/event_buffer.h"

/* No code lies at these addresses. */
#define TEXT		(TASK_SIZE_MAX + 0x10000)
#define SIZE		0x1000UL

/* Where the stream stands. */
static unsigned long stream_pos;
static bool no_memory;

static void *test_kmalloc(size_t size, gfp_t gfp)
{
	return no_memory ? NULL : kmalloc(size, gfp);
}

/* The suites run in a module notifier, so a case can't take one away. */
static bool test_runs;
static int watches;

static int test_watch(struct notifier_block *nb)
{
	if (!test_runs)
		return register_module_notifier(nb);
	watches++;
	return 0;
}

static int test_unwatch(struct notifier_block *nb)
{
	if (!test_runs)
		return unregister_module_notifier(nb);
	watches--;
	return 0;
}

#undef kmalloc
#define register_module_notifier(nb)	test_watch(nb)
#define unregister_module_notifier(nb)	test_unwatch(nb)
#define op_eb_position()	(stream_pos)
#define kmalloc(size, gfp)	test_kmalloc(size, gfp)

#include "../src/symbol.c"

static char image[MODULE_NAME_LEN + 2], symbol[KSYM_SYMBOL_LEN];

static void look_up(unsigned long addr, unsigned long pos)
{
	op_kernel_symbol(addr, pos, image, sizeof(image), symbol,
			 sizeof(symbol));
}

static void expect_at(struct kunit *test, unsigned long addr, unsigned long pos,
		      const char *want_image, const char *want_symbol)
{
	look_up(addr, pos);
	KUNIT_EXPECT_STREQ_MSG(test, image, want_image, "%lx at %lu", addr, pos);
	KUNIT_EXPECT_STREQ_MSG(test, symbol, want_symbol, "%lx at %lu", addr,
			       pos);
}

/* Nobody is known to have been there. */
static void expect_nobody(struct kunit *test, unsigned long addr,
			  unsigned long pos)
{
	char want[32];

	snprintf(want, sizeof(want), "0x%lx", addr);
	expect_at(test, addr, pos, "[kernel]", want);
}

static struct module *make_module(struct kunit *test, const char *name,
				  unsigned long text, unsigned long size)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	strscpy(mod->name, name, sizeof(mod->name));
	mod->mem[MOD_TEXT].base = (void *)text;
	mod->mem[MOD_TEXT].size = size;
	return mod;
}

static void tell(struct module *mod, unsigned long state, unsigned long pos)
{
	stream_pos = pos;
	module_nb.notifier_call(&module_nb, state, mod);
}

static void what_is_there_has_its_name(struct kunit *test)
{
	expect_at(test, (unsigned long)sprint_symbol, 0, "[kernel]",
		  "sprint_symbol+0x0");
	expect_at(test, (unsigned long)what_is_there_has_its_name + 1, 0,
		  "[" KBUILD_MODNAME "]", "what_is_there_has_its_name+0x1");
	expect_nobody(test, TEXT, 0);
	expect_nobody(test, 1, 0);
}

static void a_module_that_went(struct kunit *test)
{
	struct module *mod = make_module(test, "late", TEXT, SIZE);

	expect_nobody(test, TEXT, 99);
	tell(mod, MODULE_STATE_GOING, 100);
	expect_at(test, TEXT, 99, "[late]", ".text+0x0");
	expect_at(test, TEXT + SIZE - 1, 0, "[late]", ".text+0xfff");
	expect_nobody(test, TEXT - 1, 99);
	expect_nobody(test, TEXT + SIZE, 99);
	/* what stands there or behind was taken later */
	expect_nobody(test, TEXT, 100);
	expect_nobody(test, TEXT, 101);
}

static void modules_that_follow_one_another(struct kunit *test)
{
	struct module *one = make_module(test, "one", TEXT, SIZE);
	struct module *two = make_module(test, "two", TEXT - 0x10, SIZE);
	struct module *far = make_module(test, "far", TEXT + SIZE, SIZE);

	tell(one, MODULE_STATE_GOING, 100);
	tell(far, MODULE_STATE_GOING, 150);
	tell(two, MODULE_STATE_GOING, 200);
	expect_at(test, TEXT, 99, "[one]", ".text+0x0");
	expect_at(test, TEXT, 100, "[two]", ".text+0x10");
	expect_at(test, TEXT, 199, "[two]", ".text+0x10");
	expect_nobody(test, TEXT, 200);
	expect_at(test, TEXT - 1, 99, "[two]", ".text+0xf");
	expect_at(test, TEXT + SIZE, 149, "[far]", ".text+0x0");
	expect_nobody(test, TEXT + SIZE, 150);
}

static void positions_wrap(struct kunit *test)
{
	struct module *mod = make_module(test, "late", TEXT, SIZE);

	tell(mod, MODULE_STATE_GOING, 5);
	expect_at(test, TEXT, ULONG_MAX - 5, "[late]", ".text+0x0");
	expect_nobody(test, TEXT, 6);
}

static void another_run_knows_nothing(struct kunit *test)
{
	struct module *mod = make_module(test, "late", TEXT, SIZE);

	tell(mod, MODULE_STATE_GOING, 100);
	op_eb.run++;
	expect_nobody(test, TEXT, 99);
	/* nor does what went before it stand in the way of what goes in it */
	tell(mod, MODULE_STATE_GOING, 50);
	expect_at(test, TEXT, 49, "[late]", ".text+0x0");
	expect_nobody(test, TEXT, 99);
	op_eb.run--;
}

static void init_code_goes_when_it_has_run(struct kunit *test)
{
	struct module *mod = make_module(test, "mod", TEXT, SIZE);

	mod->mem[MOD_INIT_TEXT].base = (void *)(TEXT + SIZE);
	mod->mem[MOD_INIT_TEXT].size = 0x100;
	tell(mod, MODULE_STATE_LIVE, 100);
	expect_at(test, TEXT + SIZE + 0x20, 99, "[mod]", ".text+0x20");
	expect_nobody(test, TEXT + SIZE, 100);
	expect_nobody(test, TEXT, 99);
	/* as the kernel leaves it */
	mod->mem[MOD_INIT_TEXT].size = 0;
	tell(mod, MODULE_STATE_GOING, 200);
	expect_at(test, TEXT, 199, "[mod]", ".text+0x0");
	expect_nobody(test, TEXT + SIZE, 199);
}

static void an_init_that_fails(struct kunit *test)
{
	struct module *mod = make_module(test, "mod", TEXT, SIZE);

	mod->mem[MOD_INIT_TEXT].base = (void *)(TEXT + SIZE);
	mod->mem[MOD_INIT_TEXT].size = 0x100;
	tell(mod, MODULE_STATE_GOING, 100);
	expect_at(test, TEXT, 99, "[mod]", ".text+0x0");
	expect_at(test, TEXT + SIZE, 99, "[mod]", ".text+0x0");
}

static void a_module_that_comes_is_announced(struct kunit *test)
{
	struct module *mod = make_module(test, "mod", TEXT, SIZE);

	KUNIT_ASSERT_EQ(test, op_eb_start(64, 16), 0);
	tell(mod, MODULE_STATE_LIVE, 1);
	tell(mod, MODULE_STATE_UNFORMED, 1);
	KUNIT_EXPECT_EQ(test, op_eb.head, 0UL);
	tell(mod, MODULE_STATE_COMING, 1);
	KUNIT_EXPECT_EQ(test, op_eb.head, 2UL);
	KUNIT_EXPECT_EQ(test, op_eb_word(0), OP_ESCAPE_CODE);
	KUNIT_EXPECT_EQ(test, op_eb_word(1),
			(unsigned long)OP_MODULE_LOADED_CODE);
	expect_nobody(test, TEXT, 0);
	op_eb_stop();
	op_eb_exit();
}

static void only_so_many_are_remembered(struct kunit *test)
{
	struct module *first = make_module(test, "first", TEXT, SIZE);
	struct module *other = make_module(test, "other", TEXT + SIZE, SIZE);
	unsigned int i;

	tell(first, MODULE_STATE_GOING, 100);
	for (i = 1; i < GONE_MAX; i++)
		tell(other, MODULE_STATE_GOING, 100 + i);
	expect_at(test, TEXT, 99, "[first]", ".text+0x0");
	tell(other, MODULE_STATE_GOING, 100 + i);
	expect_nobody(test, TEXT, 99);
	KUNIT_EXPECT_EQ(test, nr_gone, (unsigned int)GONE_MAX);
	expect_at(test, TEXT + SIZE, 99, "[other]", ".text+0x0");
}

static void no_memory_for_a_name(struct kunit *test)
{
	struct module *mod = make_module(test, "late", TEXT, SIZE);

	no_memory = true;
	tell(mod, MODULE_STATE_GOING, 100);
	no_memory = false;
	expect_nobody(test, TEXT, 99);
	KUNIT_EXPECT_EQ(test, nr_gone, 0U);
}

static int symbol_test_init(struct kunit *test)
{
	test_runs = true;
	return 0;
}

/* As at unload, and at the next load. */
static void symbol_test_exit(struct kunit *test)
{
	op_symbols_exit();
	KUNIT_EXPECT_TRUE(test, list_empty(&gone_list));
	KUNIT_EXPECT_EQ(test, watches, -1);
	KUNIT_EXPECT_EQ(test, op_symbols_init(), 0);
	KUNIT_EXPECT_EQ(test, watches, 0);
	test_runs = false;
}

static struct kunit_case symbol_cases[] = {
	KUNIT_CASE(what_is_there_has_its_name),
	KUNIT_CASE(a_module_that_went),
	KUNIT_CASE(modules_that_follow_one_another),
	KUNIT_CASE(positions_wrap),
	KUNIT_CASE(another_run_knows_nothing),
	KUNIT_CASE(init_code_goes_when_it_has_run),
	KUNIT_CASE(an_init_that_fails),
	KUNIT_CASE(a_module_that_comes_is_announced),
	KUNIT_CASE(only_so_many_are_remembered),
	KUNIT_CASE(no_memory_for_a_name),
	{}
};

static struct kunit_suite symbol_suite = {
	.name = "oprofile_symbol",
	.init = symbol_test_init,
	.exit = symbol_test_exit,
	.test_cases = symbol_cases,
};

kunit_test_suite(symbol_suite);
