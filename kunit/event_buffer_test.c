// SPDX-License-Identifier: GPL-2.0
/*
 * event_buffer_test.c - the stream: every sample whole, with all it needs
 *
 * What the writer puts into the buffer is read from the ring itself, and a
 * strict decoder (decode.h) must find just those samples that were not counted
 * as lost. reader_test.c has the other side.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "decode.h"
#include "common.h"

#include "../src/event_buffer.c"

#define SAMPLES_MAX	4096

struct tape {
	struct kunit *test;
	struct decoder d;
	struct decoded expect[SAMPLES_MAX];
	unsigned long nr;
	unsigned long lost;
	unsigned long calls;
};

static void check(struct decoder *d, const struct decoded *sample)
{
	if (d->at >= d->nr_expect) {
		d->error = "a sample too many";
		return;
	}
	if (!decoded_is(sample, &d->expect[d->at]))
		d->error = "another sample";
	d->at++;
}

/* Decode what was published, and make room for @words more. */
static void play_back(struct tape *t, unsigned long words)
{
	unsigned long word, n = 0;

	t->d.expect = t->expect;
	t->d.nr_expect = t->nr;
	t->d.sample = check;
	while (op_eb.tail != op_eb.head && n++ < words) {
		word = op_eb_word(op_eb.tail);
		decode(&t->d, &word, 1);
		op_eb.tail++;
	}
	KUNIT_EXPECT_STREQ(t->test, t->d.error ?: "", "");
}

static void play_to_the_end(struct tape *t)
{
	play_back(t, ULONG_MAX);
	KUNIT_EXPECT_TRUE(t->test, decode_ends(&t->d));
	KUNIT_EXPECT_EQ(t->test, t->d.at, t->nr);
}

/* Adds a sample; what must come out of it goes on the tape. */
static bool add(struct tape *t, const struct op_context *c, unsigned int event,
		const struct op_entry *e, unsigned int frames)
{
	unsigned long lost = op_stats.lost_event_overflow, pos = op_writer.pos;
	unsigned int i;

	t->calls++;
	op_eb_sample(c, event, e, frames);
	KUNIT_EXPECT_LE(t->test, op_writer.pos - op_eb.tail, op_eb.size);
	if (op_stats.lost_event_overflow != lost) {
		t->lost++;
		KUNIT_EXPECT_EQ(t->test, op_writer.pos, pos);
		return false;
	}
	for (i = 0; i <= frames && t->nr < SAMPLES_MAX; i++) {
		t->expect[t->nr++] = (struct decoded) {
			.cpu = c->cpu,
			.tid = c->tid,
			.tgid = c->tgid,
			.app = c->app,
			.kernel = e[i].kernel,
			.cookie = e[i].cookie,
			.offset = e[i].offset,
			.event = event,
			.caller = i,
			.chain = frames,
		};
	}
	return true;
}

static void begin(struct tape *t, unsigned long words)
{
	KUNIT_ASSERT_EQ(t->test, op_eb_start(words, words / 4), 0);
	op_stats.lost_event_overflow = 0;
	memset(&t->d, 0, sizeof(t->d));
	t->nr = 0;
	t->lost = 0;
	t->calls = 0;
}

static void random_context(struct rnd_state *rnd, struct op_context *c)
{
	c->tid = 100 + op_test_random(rnd, 3);
	c->tgid = 100 + op_test_random(rnd, 2);
	c->app = 16 + op_test_random(rnd, 3);
}

static void random_entry(struct rnd_state *rnd, struct op_entry *e)
{
	e->kernel = !op_test_random(rnd, 3);
	e->cookie = op_test_random(rnd, 4) ? 16 + op_test_random(rnd, 3) : 0;
	e->offset = op_test_random(rnd, 1 << 20);
}

static const struct op_context first = {
	.cpu = 1, .tid = 10, .tgid = 11, .app = 20
};

static void a_batch_states_everything(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 0x1234 };
	unsigned int i;

	begin(t, 256);
	for (i = 0; i < 3; i++) {
		op_eb_begin();
		add(t, &first, 5, &e, 0);
		/* and then nothing again */
		add(t, &first, 6, &e, 0);
		op_eb_publish();
		KUNIT_EXPECT_EQ(test, op_eb.head, (i + 1) * (15UL + 4));
	}
	play_to_the_end(t);
	KUNIT_EXPECT_EQ(test, t->d.batches, 3UL);
}

static void nothing_is_read_before_it_is_published(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 0x1234 };

	begin(t, 256);
	op_eb_begin();
	add(t, &first, 5, &e, 0);
	KUNIT_EXPECT_EQ(test, op_eb.head, 0UL);
	KUNIT_EXPECT_EQ(test, op_eb_position(), 0UL);
	op_eb_publish();
	KUNIT_EXPECT_EQ(test, op_eb.head, op_writer.pos);
	play_to_the_end(t);
}

static void only_changes_are_stated(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };
	struct op_context c = first;
	unsigned long pos;

	begin(t, 256);
	op_eb_begin();
	add(t, &c, 0, &e, 0);
	pos = op_writer.pos;
	e.cookie = 31;
	add(t, &c, 0, &e, 0);
	KUNIT_EXPECT_EQ(test, op_writer.pos - pos, 3 + 2UL);
	pos = op_writer.pos;
	e.kernel = true;
	add(t, &c, 0, &e, 0);
	KUNIT_EXPECT_EQ(test, op_writer.pos - pos, 2 + 2UL);
	pos = op_writer.pos;
	c.tid++;
	add(t, &c, 0, &e, 0);
	KUNIT_EXPECT_EQ(test, op_writer.pos - pos, 7 + 2UL);
	/* the cookie is of the context before */
	pos = op_writer.pos;
	e.kernel = false;
	add(t, &c, 0, &e, 0);
	KUNIT_EXPECT_EQ(test, op_writer.pos - pos, 2 + 3 + 2UL);
	op_eb_publish();
	play_to_the_end(t);
}

/* As the drain does where nothing needs to be said. */
static bool append(struct tape *t, bool kernel, unsigned long cookie,
		   unsigned long offset, unsigned long event)
{
	unsigned long *out, room;

	out = op_eb_room(&room);
	KUNIT_EXPECT_LE(t->test, room, op_writer.limit - op_writer.pos);
	if (!op_eb_said_place(kernel, cookie) || room < 2)
		return false;
	out[0] = offset;
	out[1] = event;
	op_eb_add(2);
	t->expect[t->nr] = t->expect[t->nr - 1];
	t->expect[t->nr].offset = offset;
	t->expect[t->nr++].event = event;
	return true;
}

static void append_is_for_what_was_said(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };
	struct op_context c = first;

	begin(t, 64);
	op_eb_begin();
	KUNIT_EXPECT_FALSE(test, op_eb_said(&c));
	KUNIT_EXPECT_FALSE(test, append(t, false, 30, 1, 0));
	add(t, &c, 0, &e, 0);
	KUNIT_EXPECT_TRUE(test, op_eb_said(&c));
	KUNIT_EXPECT_FALSE(test, append(t, true, 30, 1, 0));
	KUNIT_EXPECT_FALSE(test, append(t, false, 31, 1, 0));
	KUNIT_EXPECT_TRUE(test, append(t, false, 30, 2, 3));
	c.tid++;
	KUNIT_EXPECT_FALSE(test, op_eb_said(&c));
	op_eb_publish();
	play_to_the_end(t);
	op_eb_begin();
	KUNIT_EXPECT_FALSE(test, append(t, false, 30, 1, 0));
}

static void append_stops_at_the_limit(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };

	begin(t, 33);
	op_eb_begin();
	add(t, &first, 0, &e, 0);
	while (append(t, false, 30, 1, 0))
		;
	KUNIT_EXPECT_GE(test, op_writer.pos, 32UL);
	KUNIT_EXPECT_LE(test, op_writer.pos, 33UL);
	op_eb_publish();
	play_to_the_end(t);
}

/* Nor does it go beyond the end of the ring, wherever that lies. */
static void append_stops_where_the_ring_ends(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };
	unsigned int i, start;

	for (start = 0; start < 64; start++) {
		begin(t, 64);
		op_writer.pos = start;
		op_eb.head = start;
		op_eb.tail = start;
		op_eb.reader.pos = start;
		for (i = 0; i < 10; i++) {
			op_eb_begin();
			add(t, &first, 0, &e, 0);
			while (append(t, false, 30, 1, i % 8))
				;
			op_eb_publish();
			play_to_the_end(t);
		}
	}
}

/* ---- around the limit ------------------------------------------------- */

/*
 * So many words are free; a sample of each kind comes, then the reader makes
 * room, and another one comes.
 */
static void fill_level(struct tape *t, unsigned long size, unsigned long room,
		       bool kernel, unsigned int frames, bool same)
{
	struct op_entry e[8] = {}, plain[2] = {
		{ .cookie = 30, .offset = 7 }, { .cookie = 30, .offset = 8 }
	};
	unsigned int more = frames ? 1 : 0;
	struct op_context c = first;
	unsigned int i;

	begin(t, size);
	/* anywhere in the ring */
	op_writer.pos = 3 * size + room;
	op_eb.head = op_writer.pos;
	op_eb.tail = op_writer.pos;
	op_eb_begin();
	add(t, &c, 0, plain, more);
	while (op_eb.size - (op_writer.pos - op_eb.tail) >=
	       room + 2 + 4 * more)
		add(t, &c, 0, plain, more);
	for (i = 0; i < 8; i++) {
		e[i].kernel = kernel != (i % 3 == 1);
		e[i].cookie = 30 + i / 2;
		e[i].offset = i;
	}
	if (!same)
		c.tid++;
	if (!add(t, &c, 1, e, frames)) {
		/* nothing that was said counts */
		KUNIT_EXPECT_FALSE(t->test, op_writer.said.cpu_known);
		KUNIT_EXPECT_FALSE(t->test, op_eb_said(&first));
	}
	op_eb_publish();
	play_back(t, size / 2);
	add(t, &c, 2, plain, more);
	op_eb_publish();
	play_back(t, ULONG_MAX);
	add(t, &c, 3, e, frames);
	op_eb_publish();
	play_to_the_end(t);
}

static void every_fill_level(struct kunit *test)
{
	struct tape *t = test->priv;
	unsigned int kind;
	unsigned long size, room, lost = 0, fit = 0;

	for (size = 70; size < 74; size++) {
		for (room = 0; room < 48; room++) {
			for (kind = 0; kind < 16; kind++) {
				static const unsigned int frames[] = {
					0, 1, 3, 7
				};

				fill_level(t, size, room, kind & 1,
					   frames[kind >> 2], kind & 2);
				lost += t->lost;
				fit += t->calls - t->lost;
			}
			cond_resched();
		}
	}
	KUNIT_EXPECT_GT(test, lost, 100UL);
	KUNIT_EXPECT_GT(test, fit, 100UL);
}

static void the_smallest_buffer(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };

	begin(t, 32);
	op_eb_begin();
	KUNIT_EXPECT_TRUE(test, add(t, &first, 0, &e, 0));
	op_eb_publish();
	play_to_the_end(t);
}

static void a_gap_is_restated(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e[16] = { { .cookie = 30, .offset = 1 } };
	struct op_context other = first;

	other.tid++;
	begin(t, 32);
	op_eb_begin();
	while (add(t, &first, 0, e, 0))
		;
	/* there is room for what follows, but for what does it hold? */
	op_eb_publish();
	play_back(t, ULONG_MAX);
	KUNIT_EXPECT_TRUE(test, add(t, &first, 0, e, 0));
	KUNIT_EXPECT_FALSE(test, add(t, &other, 0, e, 15));
	op_eb_publish();
	play_to_the_end(t);
	KUNIT_EXPECT_EQ(test, t->d.batches, 2UL);
}

/* ---- generated sequences ---------------------------------------------- */

static void generated(struct kunit *test, unsigned long size, u32 slowness)
{
	struct tape *t = test->priv;
	unsigned int seed, i, j, k, n, frames;
	unsigned long lost = 0, right = 0;
	struct op_entry e[8];
	struct op_context c;
	struct rnd_state rnd;

	for (seed = 1; seed <= 40; seed++) {
		prandom_seed_state(&rnd, seed);
		begin(t, size);
		for (i = 0; i < 20; i++) {
			c.cpu = op_test_random(&rnd, 4);
			random_context(&rnd, &c);
			n = op_test_random(&rnd, 12);
			op_eb_begin();
			for (j = 0; j < n; j++) {
				if (!op_test_random(&rnd, 3))
					random_context(&rnd, &c);
				for (k = 0; k < ARRAY_SIZE(e); k++)
					random_entry(&rnd, &e[k]);
				/* all samples have call chains, or none */
				frames = seed % 2 ? 0 :
					 1 + op_test_random(&rnd, ARRAY_SIZE(e) - 1);
				add(t, &c, op_test_random(&rnd, 8), e, frames);
			}
			op_eb_publish();
			if (!op_test_random(&rnd, 5))
				op_eb_module_loaded();
			play_back(t, op_test_random(&rnd, slowness));
		}
		play_to_the_end(t);
		KUNIT_EXPECT_EQ(test, t->lost, op_stats.lost_event_overflow);
		lost += t->lost;
		right += t->nr;
		cond_resched();
	}
	kunit_info(test, "%lu decoded, %lu lost\n", right, lost);
	KUNIT_EXPECT_GT(test, right, 500UL);
	if (slowness < 100)
		KUNIT_EXPECT_GT(test, lost, 100UL);
}

static void generated_streams(struct kunit *test)
{
	generated(test, 4096, 100000);
}

static void generated_streams_that_overflow(struct kunit *test)
{
	generated(test, 100, 50);
	generated(test, 37, 30);
}

/* ---- notices and waking ----------------------------------------------- */

static void module_notices(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .cookie = 30, .offset = 1 };

	begin(t, 33);
	op_eb_module_loaded();
	KUNIT_EXPECT_EQ(test, op_eb.head, 2UL);
	op_eb_begin();
	while (add(t, &first, 0, &e, 0))
		;
	op_eb_publish();
	/* no room now: it is owed */
	op_eb_module_loaded();
	KUNIT_EXPECT_TRUE(test, op_writer.module_notice);
	play_to_the_end(t);
	KUNIT_EXPECT_EQ(test, t->d.modules, 1UL);
	op_eb_publish();
	play_to_the_end(t);
	KUNIT_EXPECT_EQ(test, t->d.modules, 2UL);
	op_eb_stop();
	op_eb_module_loaded();
	KUNIT_EXPECT_FALSE(test, op_writer.module_notice);
}

static void the_watershed_wakes(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .kernel = true, .offset = 1 };

	/* awake where 16 words or fewer are free */
	begin(t, 64);
	op_eb_begin();
	add(t, &first, 0, &e, 0);
	while (op_eb.size - (op_writer.pos - op_eb.tail) > 16) {
		op_eb_publish();
		op_eb_wake(false);
		KUNIT_EXPECT_FALSE(test, op_eb.ready);
		KUNIT_EXPECT_TRUE(test, op_eb_waiting());
		add(t, &first, 0, &e, 0);
	}
	op_eb_publish();
	op_eb_wake(false);
	KUNIT_EXPECT_TRUE(test, op_eb.ready);
	KUNIT_EXPECT_FALSE(test, op_eb_waiting());
}

static void a_second_or_a_dump_wakes(struct kunit *test)
{
	struct tape *t = test->priv;
	struct op_entry e = { .kernel = true, .offset = 1 };

	begin(t, 1024);
	op_eb_wake(true);
	KUNIT_EXPECT_FALSE(test, op_eb.ready);
	op_eb_begin();
	add(t, &first, 0, &e, 0);
	op_eb_publish();
	op_eb_wake(false);
	KUNIT_EXPECT_FALSE(test, op_eb.ready);
	op_eb_wake(true);
	KUNIT_EXPECT_TRUE(test, op_eb.ready);
	op_eb.ready = false;
	op_writer.announced = jiffies - HZ;
	op_eb_wake(false);
	KUNIT_EXPECT_TRUE(test, op_eb.ready);
}

static void starts_keep_or_change_the_buffer(struct kunit *test)
{
	struct tape *t = test->priv;
	unsigned long *words;

	begin(t, 100);
	words = op_eb.words;
	KUNIT_EXPECT_EQ(test, op_eb.mask, 127UL);
	begin(t, 100);
	KUNIT_EXPECT_PTR_EQ(test, op_eb.words, words);
	KUNIT_EXPECT_EQ(test, op_eb_start(ULONG_MAX, 1), -ENOMEM);
	KUNIT_EXPECT_PTR_EQ(test, op_eb.words, words);
	KUNIT_EXPECT_EQ(test, op_eb.size, 100UL);
	KUNIT_EXPECT_EQ(test, op_eb_try(ULONG_MAX), -ENOMEM);
	KUNIT_EXPECT_EQ(test, op_eb_try(ULONG_MAX / 64), -ENOMEM);
	KUNIT_EXPECT_EQ(test, op_eb_try(1000), 0);
	begin(t, 128);
	KUNIT_EXPECT_EQ(test, op_eb.mask, 127UL);
	begin(t, 129);
	KUNIT_EXPECT_EQ(test, op_eb.mask, 255UL);
}

static int event_buffer_test_init(struct kunit *test)
{
	struct tape *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	test->priv = t;
	return 0;
}

static void event_buffer_test_exit(struct kunit *test)
{
	op_eb.running = false;
	op_eb_exit();
	memset(&op_writer, 0, sizeof(op_writer));
}

static struct kunit_case event_buffer_cases[] = {
	KUNIT_CASE(a_batch_states_everything),
	KUNIT_CASE(nothing_is_read_before_it_is_published),
	KUNIT_CASE(only_changes_are_stated),
	KUNIT_CASE(append_is_for_what_was_said),
	KUNIT_CASE(append_stops_at_the_limit),
	KUNIT_CASE(append_stops_where_the_ring_ends),
	KUNIT_CASE(every_fill_level),
	KUNIT_CASE(the_smallest_buffer),
	KUNIT_CASE(a_gap_is_restated),
	KUNIT_CASE(generated_streams),
	KUNIT_CASE(generated_streams_that_overflow),
	KUNIT_CASE(module_notices),
	KUNIT_CASE(the_watershed_wakes),
	KUNIT_CASE(a_second_or_a_dump_wakes),
	KUNIT_CASE(starts_keep_or_change_the_buffer),
	{}
};

static struct kunit_suite event_buffer_suite = {
	.name = "oprofile_event_buffer",
	.init = event_buffer_test_init,
	.exit = event_buffer_test_exit,
	.test_cases = event_buffer_cases,
};

kunit_test_suite(event_buffer_suite);
