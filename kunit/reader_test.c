// SPDX-License-Identifier: GPL-2.0
/*
 * reader_test.c - the file buffer: every word once, whatever the reader does
 *
 * The cases open files of their own through the file operations, and read into
 * memory of a user's.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "decode.h"
#include "common.h"

/* Comes in between what a read takes and what it commits. */
static void (*during_copy)(void);

static unsigned long test_copy_to_user(void __user *to, const void *from,
				       unsigned long n)
{
	if (during_copy)
		during_copy();
	return copy_to_user(to, from, n);
}

/* What is not in memory: all of it, or from some access on. */
static bool all_faults;
static unsigned int fault_at, puts;

#define copy_to_user(to, from, n)	test_copy_to_user(to, from, n)

static bool faults_here(void)
{
	return all_faults || (fault_at && ++puts == fault_at);
}

static __always_inline bool test_put(unsigned long word,
				     unsigned long __user *to)
{
	return faults_here() || put_user(word, to);
}

#undef user_write_access_begin
#undef user_write_access_end
#undef unsafe_put_user
#define user_write_access_begin(to, n)	access_ok(to, n)
#define user_write_access_end()		((void)0)
#define unsafe_put_user(word, to, label)				\
	do {								\
		if (test_put(word, to))					\
			goto label;					\
	} while (0)

#include "../src/reader.c"

#define ROOM		(4 * PAGE_SIZE)
#define SAMPLES_MAX	1024

struct desk {
	struct kunit *test;
	struct inode inode;
	struct file file;
	const struct file_operations *fops;
	char __user *user;
	char *text;
	unsigned long *words;
	unsigned long app;
	struct decoder d;
	struct decoded expect[SAMPLES_MAX];
	unsigned long nr;
};

static void check(struct decoder *d, const struct decoded *sample)
{
	if (d->at >= d->nr_expect)
		d->error = "a sample too many";
	else if (!decoded_is(sample, &d->expect[d->at]))
		d->error = "another sample";
	d->at++;
}

static void open_desk(struct desk *k, const struct file_operations *fops)
{
	memset(&k->file, 0, sizeof(k->file));
	k->file.f_inode = &k->inode;
	k->file.f_flags = O_NONBLOCK;
	k->fops = fops;
	KUNIT_ASSERT_EQ(k->test, fops->open(&k->inode, &k->file), 0);
}

static void close_desk(struct desk *k)
{
	k->fops->release(&k->inode, &k->file);
	k->fops = NULL;
}

static ssize_t read_to(struct desk *k, void __user *to, size_t count)
{
	loff_t pos = 0;

	return k->fops->read(&k->file, to, count, &pos);
}

/* What a read gives is decoded. */
static ssize_t read_words(struct desk *k, size_t count)
{
	ssize_t n = read_to(k, k->user, count);

	if (n <= 0)
		return n;
	KUNIT_EXPECT_EQ(k->test, n % sizeof(long), 0UL);
	KUNIT_EXPECT_EQ(k->test, copy_from_user(k->words, k->user, n), 0UL);
	k->d.sample = check;
	k->d.expect = k->expect;
	k->d.nr_expect = k->nr;
	decode(&k->d, k->words, n / sizeof(long));
	KUNIT_EXPECT_STREQ(k->test, k->d.error ?: "", "");
	return n;
}

static void read_all(struct desk *k, size_t count)
{
	while (read_words(k, count) > 0)
		;
	KUNIT_EXPECT_TRUE(k->test, decode_ends(&k->d));
	KUNIT_EXPECT_EQ(k->test, k->d.at, k->nr);
	KUNIT_EXPECT_EQ(k->test, op_stats.delivered, k->d.samples);
}

static void add(struct desk *k, unsigned long cpu, unsigned long tid,
		unsigned int event, bool kernel, unsigned long cookie,
		unsigned long offset, unsigned int frames)
{
	struct op_context c = {
		.cpu = cpu, .tid = tid, .tgid = tid, .app = k->app
	};
	struct op_entry e[8];
	unsigned int i;

	for (i = 0; i <= frames; i++) {
		e[i].kernel = kernel;
		e[i].cookie = cookie + i / 2;
		e[i].offset = offset + i;
		k->expect[k->nr++] = (struct decoded) {
			.cpu = cpu,
			.tid = tid,
			.tgid = tid,
			.app = k->app,
			.kernel = kernel,
			/* reserved ones are nobody's business */
			.cookie = e[i].cookie < OP_COOKIE_FIRST ? 0 :
				  e[i].cookie,
			.offset = e[i].offset,
			.event = event,
			.caller = i,
			.chain = frames,
		};
	}
	op_eb_sample(&c, event, e, frames);
}

static void begin(struct desk *k)
{
	KUNIT_ASSERT_EQ(k->test, op_eb_start(4096, 64), 0);
	op_stats.lost_event_overflow = 0;
	memset(&k->d, 0, sizeof(k->d));
	k->nr = 0;
}

/* Some batches with a bit of everything. */
static void write_stream(struct desk *k, unsigned int seed, bool chains)
{
	struct rnd_state rnd;
	unsigned int i, j;

	prandom_seed_state(&rnd, seed);
	for (i = 0; i < 6; i++) {
		op_eb_begin();
		for (j = op_test_random(&rnd, 8); j-- > 0; )
			add(k, i % 3, 50 + op_test_random(&rnd, 2),
			    op_test_random(&rnd, 8), op_test_random(&rnd, 2),
			    op_test_random(&rnd, 20),
			    op_test_random(&rnd, 1 << 20),
			    chains ? 1 + op_test_random(&rnd, 5) : 0);
		op_eb_publish();
	}
	op_eb_wake(true);
}

static void readers_of_all_sizes(struct kunit *test)
{
	struct desk *k = test->priv;
	size_t words;
	int chains;

	for (words = 1; words < 70; words++) {
		for (chains = 0; chains < 2; chains++) {
			begin(k);
			open_desk(k, &op_buffer_fops);
			write_stream(k, words, chains);
			read_all(k, words * sizeof(long) + words % 8);
			KUNIT_EXPECT_EQ(test, op_eb.tail, op_eb.head);
			close_desk(k);
		}
	}
}

static void chains_count_their_leaf(struct kunit *test)
{
	struct desk *k = test->priv;

	begin(k);
	open_desk(k, &op_buffer_fops);
	op_eb_begin();
	add(k, 0, 50, 0, false, 30, 100, 5);
	add(k, 0, 50, 0, false, 30, 200, 2);
	op_eb_publish();
	op_eb_wake(true);
	read_all(k, ROOM);
	KUNIT_EXPECT_EQ(test, k->d.samples, 2UL);
	KUNIT_EXPECT_EQ(test, k->d.callers, 7UL);
	KUNIT_EXPECT_EQ(test, op_stats.delivered, 2UL);
	close_desk(k);
}

/*
 * After each number of words another file is opened. It gets the unit that the
 * first got in part whole, and first all it must know.
 */
static void new_reader(struct kunit *test, bool chains)
{
	struct desk *k = test->priv;
	unsigned long at, total = 1, callers;

	for (at = 0; at < total; at++) {
		begin(k);
		open_desk(k, &op_buffer_fops);
		write_stream(k, 7, chains);
		total = op_eb.head;
		if (at)
			KUNIT_EXPECT_EQ(test, read_words(k, at * sizeof(long)),
					(ssize_t)(at * sizeof(long)));
		close_desk(k);
		/* a new decoder; what was delivered is not seen again */
		callers = k->d.chain == IN_CALLERS ? k->d.at : 0;
		while (callers && callers < k->nr && k->expect[callers].caller)
			callers++;
		if (callers)
			k->d.at = callers;
		k->d.cpu = false;
		k->d.have = 0;
		k->d.chain = IN_NO_CHAIN;
		open_desk(k, &op_buffer_fops);
		while (read_words(k, ROOM) > 0)
			;
		KUNIT_EXPECT_TRUE(test, decode_ends(&k->d));
		KUNIT_EXPECT_EQ_MSG(test, k->d.at, k->nr, "after %lu words",
				    at);
		KUNIT_EXPECT_EQ(test, op_stats.delivered, k->d.samples);
		close_desk(k);
	}
	KUNIT_EXPECT_GT(test, total, 100UL);
}

static void a_new_reader_in_mid_batch(struct kunit *test)
{
	new_reader(test, false);
}

static void a_new_reader_in_mid_chain(struct kunit *test)
{
	new_reader(test, true);
}

static void a_fault_loses_nothing(struct kunit *test)
{
	struct desk *k = test->priv;

	begin(k);
	open_desk(k, &op_buffer_fops);
	write_stream(k, 3, false);
	KUNIT_EXPECT_EQ(test, read_to(k, (void __user *)8, 64), -EFAULT);
	KUNIT_EXPECT_EQ(test, op_eb.tail, 0UL);
	KUNIT_EXPECT_EQ(test, op_stats.delivered, 0UL);
	read_all(k, ROOM);
	close_desk(k);
}

/* A page that has to come first: at each word in turn. */
static void a_fault_at_each_word(struct kunit *test)
{
	struct desk *k = test->priv;
	unsigned int n;

	for (n = 1; n < 400; n += 1 + n / 50) {
		begin(k);
		open_desk(k, &op_buffer_fops);
		write_stream(k, 5, false);
		puts = 0;
		fault_at = n;
		read_all(k, n % 3 ? ROOM : 7 * sizeof(long));
		fault_at = 0;
		close_desk(k);
	}
	begin(k);
	open_desk(k, &op_buffer_fops);
	write_stream(k, 5, false);
	all_faults = true;
	read_all(k, ROOM);
	all_faults = false;
	close_desk(k);
}

static void reads_too_small_for_a_word(struct kunit *test)
{
	struct desk *k = test->priv;

	begin(k);
	open_desk(k, &op_buffer_fops);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, sizeof(long) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, sizeof(long)), -EAGAIN);
	close_desk(k);
}

static void one_reader_at_a_time(struct kunit *test)
{
	struct desk *k = test->priv;
	struct file other = { .f_inode = &k->inode };

	open_desk(k, &op_buffer_fops);
	KUNIT_EXPECT_EQ(test, op_buffer_fops.open(&k->inode, &other), -EBUSY);
	KUNIT_EXPECT_EQ(test, op_samples_fops.open(&k->inode, &other), -EBUSY);
	close_desk(k);
	open_desk(k, &op_samples_fops);
	KUNIT_EXPECT_EQ(test, op_buffer_fops.open(&k->inode, &other), -EBUSY);
	close_desk(k);
}

static void the_end_is_told_once(struct kunit *test)
{
	struct desk *k = test->priv;

	begin(k);
	open_desk(k, &op_buffer_fops);
	write_stream(k, 5, false);
	op_eb_stop();
	read_all(k, ROOM);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 64), -EAGAIN);
	/* a new run: no end of the last one */
	begin(k);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 64), -EAGAIN);
	op_eb_stop();
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 64), 0);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 64), -EAGAIN);
	close_desk(k);
	/* each open file gets one */
	open_desk(k, &op_buffer_fops);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 64), 0);
	close_desk(k);
}

static void a_start_gives_the_rest_of_a_unit(struct kunit *test)
{
	struct desk *k = test->priv;
	unsigned long at;

	for (at = 1; at < 15; at++) {
		begin(k);
		open_desk(k, &op_buffer_fops);
		op_eb_begin();
		add(k, 1, 50, 3, false, 30, 100, 0);
		op_eb_publish();
		op_eb_wake(true);
		read_words(k, at * sizeof(long));
		/* what was half read goes on, all else is the new run's */
		KUNIT_ASSERT_EQ(test, op_eb_start(4096, 64), 0);
		if (k->d.at == 0)
			k->nr = 0;
		op_eb_begin();
		add(k, 2, 60, 4, false, 31, 101, 0);
		op_eb_publish();
		op_eb_wake(true);
		if (at == 14) {
			/* half of the sample itself */
			KUNIT_EXPECT_EQ(test, read_words(k, sizeof(long)),
					(ssize_t)sizeof(long));
		}
		while (read_words(k, 3 * sizeof(long)) > 0)
			;
		KUNIT_EXPECT_TRUE(test, decode_ends(&k->d));
		KUNIT_EXPECT_EQ(test, k->d.at, k->nr);
		KUNIT_EXPECT_EQ(test, op_stats.delivered, 1UL);
		close_desk(k);
	}
}

static void start_anew(void)
{
	struct op_context c = { .cpu = 2, .tid = 60, .tgid = 60, .app = 20 };
	struct op_entry e = { .kernel = true, .offset = 1000 };

	during_copy = NULL;
	all_faults = false;
	if (op_eb_start(4096, 64))
		return;
	op_eb_begin();
	op_eb_sample(&c, 4, &e, 0);
	op_eb_publish();
	op_eb_wake(true);
}

/* What was taken is given whole, and counts no more. */
static void a_start_during_a_read(struct kunit *test)
{
	struct desk *k = test->priv;
	unsigned long words, total = 1;
	ssize_t n;

	for (words = 1; words <= total; words++) {
		begin(k);
		open_desk(k, &op_buffer_fops);
		write_stream(k, 7, false);
		total = op_eb.head;
		during_copy = start_anew;
		all_faults = true;
		n = read_to(k, k->user, words * sizeof(long));
		while (n > 0) {
			KUNIT_EXPECT_EQ(test, 0UL,
					copy_from_user(k->words, k->user, n));
			decode(&k->d, k->words, n / sizeof(long));
			n = read_to(k, k->user, ROOM);
		}
		KUNIT_EXPECT_TRUE_MSG(test, decode_ends(&k->d), "%lu words: %s",
				      words, k->d.error ?: "half");
		KUNIT_EXPECT_EQ(test, k->d.now.tid, 60UL);
		KUNIT_EXPECT_EQ(test, k->d.now.offset, 1000UL);
		KUNIT_EXPECT_EQ(test, op_stats.delivered, 1UL);
		KUNIT_EXPECT_EQ(test, op_eb.tail, op_eb.head);
		close_desk(k);
	}
	KUNIT_EXPECT_GT(test, total, 100UL);
}

static __poll_t poll_now(struct desk *k)
{
	return k->fops->poll(&k->file, NULL);
}

static void poll_tells_what_a_read_finds(struct kunit *test)
{
	static const struct file_operations *const fops[] = {
		&op_buffer_fops, &op_samples_fops
	};
	struct desk *k = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fops); i++) {
		begin(k);
		open_desk(k, fops[i]);
		KUNIT_EXPECT_EQ(test, poll_now(k), (__poll_t)0);
		op_eb_begin();
		add(k, 1, 50, 0, false, 0, 100, 0);
		op_eb_publish();
		/* it has not waited long enough yet */
		KUNIT_EXPECT_EQ(test, poll_now(k), (__poll_t)0);
		op_eb_wake(true);
		KUNIT_EXPECT_TRUE(test, poll_now(k) & EPOLLIN);
		KUNIT_EXPECT_GT(test, read_to(k, k->user, 8), 0);
		/* what was given in part can be read on */
		KUNIT_EXPECT_TRUE(test, poll_now(k) & EPOLLIN);
		KUNIT_EXPECT_GT(test, read_to(k, k->user, ROOM), 0);
		KUNIT_EXPECT_EQ(test, poll_now(k), (__poll_t)0);
		/* an escape is no text */
		op_eb_module_loaded();
		op_eb_wake(true);
		KUNIT_EXPECT_EQ(test, !(poll_now(k) & EPOLLIN), i == 1);
		KUNIT_EXPECT_EQ(test, read_to(k, k->user, ROOM),
				i == 1 ? -EAGAIN : 2 * (ssize_t)sizeof(long));
		op_eb_stop();
		KUNIT_EXPECT_TRUE(test, poll_now(k) & EPOLLIN);
		KUNIT_EXPECT_EQ(test, read_to(k, k->user, ROOM), 0);
		KUNIT_EXPECT_EQ(test, poll_now(k), (__poll_t)0);
		close_desk(k);
	}
}

static void a_signal_ends_a_wait(struct kunit *test)
{
	static const struct file_operations *const fops[] = {
		&op_buffer_fops, &op_samples_fops
	};
	struct desk *k = test->priv;
	unsigned int i;
	ssize_t n;

	for (i = 0; i < ARRAY_SIZE(fops); i++) {
		begin(k);
		open_desk(k, fops[i]);
		k->file.f_flags = 0;
		set_tsk_thread_flag(current, TIF_SIGPENDING);
		n = read_to(k, k->user, ROOM);
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
		KUNIT_EXPECT_EQ(test, n, -EINTR);
		/* what there is comes first, and the rest afterwards */
		write_stream(k, 3, false);
		set_tsk_thread_flag(current, TIF_SIGPENDING);
		n = read_to(k, k->user, sizeof(long));
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
		KUNIT_EXPECT_EQ(test, n, (ssize_t)sizeof(long));
		op_eb_stop();
		while (read_to(k, k->user, ROOM) > 0)
			;
		KUNIT_EXPECT_EQ(test, op_stats.delivered, k->nr);
		close_desk(k);
	}
}

struct later {
	struct delayed_work work;
	struct desk *desk;
};

static void write_later(struct work_struct *work)
{
	struct later *later = container_of(to_delayed_work(work), struct later,
					   work);

	write_stream(later->desk, 3, false);
}

static void a_read_waits_for_data(struct kunit *test)
{
	struct desk *k = test->priv;
	struct later later = { .desk = k };

	begin(k);
	open_desk(k, &op_buffer_fops);
	k->file.f_flags = 0;
	INIT_DELAYED_WORK_ONSTACK(&later.work, write_later);
	schedule_delayed_work(&later.work, HZ / 10);
	KUNIT_EXPECT_GT(test, read_words(k, ROOM), 0);
	flush_delayed_work(&later.work);
	destroy_delayed_work_on_stack(&later.work);
	k->file.f_flags = O_NONBLOCK;
	read_all(k, ROOM);
	KUNIT_EXPECT_GT(test, k->nr, 0UL);
	close_desk(k);
}

/* ---- samples ---------------------------------------------------------- */

static void a_fault_loses_no_text(struct kunit *test)
{
	struct desk *k = test->priv;
	unsigned long lines = 0;
	ssize_t n, i;

	begin(k);
	open_desk(k, &op_samples_fops);
	write_stream(k, 3, false);
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 0), 0);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, read_to(k, (void __user *)8, 64),
				-EFAULT);
	KUNIT_EXPECT_EQ(test, op_stats.delivered, 0UL);
	/* within a line, too */
	KUNIT_EXPECT_EQ(test, read_to(k, k->user, 1), 1);
	KUNIT_EXPECT_EQ(test, read_to(k, (void __user *)8, 64), -EFAULT);
	while ((n = read_to(k, k->user, ROOM)) > 0) {
		KUNIT_EXPECT_EQ(test, copy_from_user(k->text, k->user, n), 0UL);
		for (i = 0; i < n; i++)
			lines += k->text[i] == '\n';
	}
	/* one is the header */
	KUNIT_EXPECT_EQ(test, lines, k->nr + 1);
	KUNIT_EXPECT_EQ(test, op_stats.delivered, k->nr);
	close_desk(k);
}

static void text_in_pieces_of_all_sizes(struct kunit *test)
{
	static const char want[] =
		"# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset\n"
		"1\t50\t50\tone\tu\t-\t[anon]\t0x64\n"
		"1\t50\t50\ttwo\tu\t-\t[vdso]\t0x65\n"
		"2\t51\t51\tone\tu\t-\t[anon]\t0x66\n";
	struct desk *k = test->priv;
	size_t size, done;
	ssize_t n;

	k->app = OP_NO_COOKIE;
	op_samples_name_event(0, "one");
	op_samples_name_event(1, "two");
	for (size = 1; size < 70; size++) {
		begin(k);
		open_desk(k, &op_samples_fops);
		op_eb_begin();
		add(k, 1, 50, 0, false, 0, 100, 0);
		add(k, 1, 50, 1, false, OP_COOKIE_VDSO, 101, 0);
		op_eb_publish();
		op_eb_begin();
		add(k, 2, 51, 0, false, 0, 102, 0);
		op_eb_publish();
		op_eb_wake(true);
		done = 0;
		memset(k->text, 0, ROOM);
		while ((n = read_to(k, k->user, size)) > 0) {
			KUNIT_EXPECT_LE(test, (size_t)n, size);
			KUNIT_ASSERT_LE(test, done + n, sizeof(want));
			KUNIT_EXPECT_EQ(test, 0UL,
					copy_from_user(k->text + done, k->user,
						       n));
			done += n;
		}
		KUNIT_EXPECT_STREQ(test, k->text, want);
		KUNIT_EXPECT_EQ(test, op_stats.delivered, 3UL);
		KUNIT_EXPECT_EQ(test, op_eb.tail, op_eb.head);
		close_desk(k);
	}
}

/* The line that a sample should have been given as. */
static size_t line_of(char *to, const struct decoded *e)
{
	const struct op_said said = {
		.context = {
			.cpu = e->cpu, .tid = e->tid, .tgid = e->tgid,
			.app = e->app,
		},
		.kernel = e->kernel,
		.cookie = e->cookie,
	};
	size_t n = op_samples_begin(to, OP_LINE_MAX, &said, e->event);

	return n + op_samples_end(to + n, OP_SAMPLES_END, &said, e->offset, 0);
}

/* Reads what is in the buffer as text: @size bytes at a time, at @to. */
static size_t read_text(struct desk *k, char __user *to, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while ((n = read_to(k, to, size)) > 0) {
		KUNIT_ASSERT_LE(k->test, done + n, (size_t)ROOM);
		KUNIT_EXPECT_EQ(k->test, 0UL,
				copy_from_user(k->text + done, to, n));
		done += n;
	}
	KUNIT_EXPECT_EQ(k->test, n, (ssize_t)-EAGAIN);
	return done;
}

/* Many samples in a row say the same but for their addresses. */
static void lines_that_begin_alike(struct kunit *test)
{
	static const size_t sizes[] = { 1, 30, 100, 1000, ROOM };
	struct desk *k = test->priv;
	char *line = kunit_kzalloc(test, OP_LINE_MAX, GFP_KERNEL);
	unsigned int i, j, wrong;
	size_t at, done, n;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, line);
	k->app = OP_NO_COOKIE;
	op_samples_name_event(0, "one");
	op_samples_name_event(1, "two");
	prandom_seed_state(&rnd, 7);
	for (i = 0; i <= ARRAY_SIZE(sizes); i++) {
		begin(k);
		open_desk(k, &op_samples_fops);
		op_eb_begin();
		for (j = 0; j < 200; j++)
			add(k, 1, 50 + j / 150, !op_test_random(&rnd, 40),
			    j / 80 == 1, 0,
			    !op_test_random(&rnd, 5) ? j : j << 8, 0);
		op_eb_publish();
		op_eb_wake(true);
		/* at last such that most of what is given at once is no memory */
		if (i < ARRAY_SIZE(sizes))
			done = read_text(k, k->user, sizes[i]);
		else
			done = read_text(k, k->user + ROOM - 100, 4000);
		at = strcspn(k->text, "\n") + 1;
		wrong = 0;
		for (j = 0; j < k->nr; j++) {
			n = line_of(line, &k->expect[j]);
			wrong += at + n > done || memcmp(k->text + at, line, n);
			at += n;
		}
		KUNIT_EXPECT_EQ(test, wrong, 0U);
		KUNIT_EXPECT_EQ(test, done, at);
		KUNIT_EXPECT_EQ(test, op_stats.delivered, k->nr);
		KUNIT_EXPECT_EQ(test, op_eb.tail, op_eb.head);
		close_desk(k);
	}
}

static int reader_test_init(struct kunit *test)
{
	struct desk *k = kunit_kzalloc(test, sizeof(*k), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, k);
	test->priv = k;
	k->test = test;
	k->app = 20;
	k->words = kunit_kzalloc(test, ROOM, GFP_KERNEL);
	k->text = kunit_kzalloc(test, ROOM, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, k->words && k->text);
	k->user = op_test_user(test, ROOM);
	return 0;
}

static void reader_test_exit(struct kunit *test)
{
	struct desk *k = test->priv;

	if (k && k->fops)
		close_desk(k);
	op_eb_exit();
	memset(&op_writer, 0, sizeof(op_writer));
	memset(&op_eb.reader, 0, sizeof(op_eb.reader));
	op_eb.running = false;
	op_eb.run = 0;
	op_eb.head = 0;
	op_eb.tail = 0;
}

static struct kunit_case reader_cases[] = {
	KUNIT_CASE(readers_of_all_sizes),
	KUNIT_CASE(chains_count_their_leaf),
	KUNIT_CASE(a_new_reader_in_mid_batch),
	KUNIT_CASE(a_new_reader_in_mid_chain),
	KUNIT_CASE(a_fault_loses_nothing),
	KUNIT_CASE(a_fault_at_each_word),
	KUNIT_CASE(reads_too_small_for_a_word),
	KUNIT_CASE(one_reader_at_a_time),
	KUNIT_CASE(the_end_is_told_once),
	KUNIT_CASE(a_start_gives_the_rest_of_a_unit),
	KUNIT_CASE(a_start_during_a_read),
	KUNIT_CASE(poll_tells_what_a_read_finds),
	KUNIT_CASE(a_signal_ends_a_wait),
	KUNIT_CASE(a_read_waits_for_data),
	KUNIT_CASE(a_fault_loses_no_text),
	KUNIT_CASE(text_in_pieces_of_all_sizes),
	KUNIT_CASE(lines_that_begin_alike),
	{}
};

static struct kunit_suite reader_suite = {
	.name = "oprofile_reader",
	.init = reader_test_init,
	.exit = reader_test_exit,
	.test_cases = reader_cases,
};

kunit_test_suite(reader_suite);
