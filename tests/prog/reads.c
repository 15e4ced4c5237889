// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode -pthread
/*
 * reads: every way to read "buffer" and "samples", and all that ends a wait.
 *
 * The module is loaded and off. Samples come when make_samples() makes some,
 * and none come otherwise (see oprun.h). So it is known what there is to read.
 *
 * That a dump or the watershed ends a wait, not the second that data may wait
 * at most, is certain when less than a second has passed since the first of
 * the samples. On a slow machine that may need more than one round.
 */

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "oprun.h"

#define PATIENCE	120	/* seconds until a wait counts as endless */
#define ROUNDS		40
#define HUGE_READ	(16u << 20)

static char *huge;

static int open_file(const char *file, int flags)
{
	int fd = open(op_path("%s", file), O_RDONLY | O_CLOEXEC | flags);

	if (fd < 0)
		die("%s: %s", file, error_name(errno));
	return fd;
}

static void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

/* What a read gives: the number of bytes, or the negative errno. */
static ssize_t read_result(int fd, void *bytes, size_t size)
{
	ssize_t n = read(fd, bytes, size);

	return n < 0 ? -errno : n;
}

static ssize_t read_now(int fd)
{
	ssize_t n;

	set_nonblock(fd, true);
	n = read_result(fd, huge, HUGE_READ);
	set_nonblock(fd, false);
	return n;
}

/* Reads into huge until there is no more; *last is what the last read gave. */
static size_t read_all(int fd, size_t (*next)(void), ssize_t *last)
{
	size_t len = 0;

	set_nonblock(fd, true);
	while ((*last = read_result(fd, huge + len, next())) > 0)
		len += *last;
	set_nonblock(fd, false);
	return len;
}

static size_t size_of_word(void)
{
	return sizeof(long);
}

static size_t size_of_byte(void)
{
	return 1;
}

static size_t size_odd(void)
{
	static const size_t sizes[] = { 9, 31, 8, 1001, 17, 15, 4099, 23, 127 };
	static unsigned int turn;

	return sizes[turn++ % (sizeof(sizes) / sizeof(sizes[0]))];
}

static size_t size_huge(void)
{
	return HUGE_READ / 2;
}

static const char *describe(ssize_t n)
{
	static char text[4][32];
	static unsigned int turn;
	char *to = text[turn++ % 4];

	if (n < 0)
		return error_name(-n);
	snprintf(to, 32, "%zd bytes", n);
	return to;
}

/* Samples in bytes of "buffer" or of "samples"; -1 and a word if they are wrong. */

static long count_lines(const char *bytes, size_t len)
{
	static const char header[] =
		"# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset\n";
	const char *at = bytes, *end = bytes + len, *next;
	unsigned int tabs;
	long lines = 0;

	if (!len)
		return 0;
	if (len < strlen(header) || memcmp(at, header, strlen(header))) {
		diag("no header: %.60s", bytes);
		return -1;
	}
	for (at += strlen(header); at < end; at = next + 1, lines++) {
		next = memchr(at, '\n', end - at);
		if (!next) {
			diag("a torn line at the end");
			return -1;
		}
		for (tabs = 0; at < next; at++)
			tabs += *at == '\t';
		if (tabs != 7) {
			diag("%u tabs in line %ld", tabs, lines + 1);
			return -1;
		}
	}
	return lines;
}

static long count_samples(const char *file, const char *bytes, size_t len)
{
	return strcmp(file, "buffer") ? count_lines(bytes, len) :
		count_words(bytes, len);
}

/* Waiting, in a thread of its own */

enum kind { READ, POLL, EPOLL };

static const char * const kinds[] = { "read", "poll", "epoll" };

struct waiter {
	pthread_t thread;
	enum kind kind;
	int fd;
	int epoll;
	volatile pid_t tid;
	volatile bool done;
	double when;
	ssize_t result;		/* of READ; of the others 1: readable */
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	struct epoll_event event = {};
	int n;

	w->tid = syscall(SYS_gettid);
	switch (w->kind) {
	case READ:
		w->result = read_result(w->fd, huge, HUGE_READ);
		break;
	case POLL:
		n = poll(&p, 1, -1);
		w->result = n == 1 && p.revents == POLLIN ? 1 : -EIO;
		break;
	case EPOLL:
		n = epoll_wait(w->epoll, &event, 1, -1);
		w->result = n == 1 && event.events == EPOLLIN ? 1 : -EIO;
		break;
	}
	w->when = now();
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static char thread_state(pid_t tid)
{
	char path[64], text[512], *at;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	if (read_text(path, text, sizeof(text)))
		return '?';
	at = strrchr(text, ')');
	return at && at[1] ? at[2] : '?';
}

static bool waiter_done(struct waiter *w)
{
	return __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
}

/* Returns when the thread sleeps in its call, or has come back from it. */
static void wait_start(struct waiter *w, enum kind kind, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int asleep = 0;
	pthread_attr_t attr;

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	w->fd = fd;
	w->epoll = -1;
	if (kind == EPOLL) {
		w->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event))
			die("epoll: %s", strerror(errno));
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(&w->thread, &attr, wait_in_thread, w))
		die("no thread");
	pthread_attr_destroy(&attr);
	while (!waiter_done(w) && asleep < 5) {
		nap(5);
		asleep = w->tid && thread_state(w->tid) == 'S' ? asleep + 1 : 0;
	}
}

static bool wait_end(struct waiter *w)
{
	double end = now() + PATIENCE;

	while (!waiter_done(w)) {
		if (now() > end) {
			/* Nothing that comes after could be trusted. */
			ok(false, "the wait has an end");
			tap_end();
			_exit(1);
		}
		nap(5);
	}
	pthread_join(w->thread, NULL);
	if (w->epoll >= 0)
		close(w->epoll);
	return w->kind == READ || w->result == 1;
}

/* The ways to wait all find what there is to read. */
static ssize_t wait_result(struct waiter *w)
{
	if (!wait_end(w))
		return w->result;
	return w->kind == READ ? w->result : read_now(w->fd);
}

static void drop_all(int fd)
{
	ssize_t n;

	do {
		set("dump", "1");
		n = read_now(fd);
	} while (n > 0);
	if (n != -EAGAIN)
		die("read: %s", describe(n));
}

/* Tests */

/* Before the first start there is no data, and no end of file either. */
static void test_before_start(const char *file)
{
	int fd = open_file(file, 0);
	struct waiter w;
	ssize_t n;

	n = read_now(fd);
	ok(n == -EAGAIN, "%s: a read without waiting before the first start: %s",
	   file, describe(n));
	ok(!readable(fd), "%s: nothing to poll for before the first start", file);
	wait_start(&w, READ, fd);
	if (!ok(!waiter_done(&w), "%s: a read waits for the first start", file))
		diag("%s", describe(w.result));
	set("enable", "1");
	if (!ok(!waiter_done(&w), "%s: and sleeps on when there is a run", file))
		diag("%s", describe(w.result));
	set("enable", "0");
	n = wait_result(&w);
	ok(n == 0, "%s: the end of an empty run is an end of file: %s", file,
	   describe(n));
	close(fd);
}

/* One run, read afterwards in pieces of the sizes that next() gives. */
static void test_sizes(const char *file, const char *what, size_t (*next)(void))
{
	size_t len;
	ssize_t n;
	long count;
	int fd;

	set("enable", "1");
	make_samples(700);
	set("enable", "0");
	fd = open_file(file, 0);
	len = read_all(fd, next, &n);
	close(fd);
	count = count_samples(file, huge, len);
	if (!ok(n == 0 && count >= 700, "%s: %s", file, what))
		diag("%ld samples, then %s", count, describe(n));
	law(count, what);
}

static void test_too_small(void)
{
	int fd = open_file("buffer", O_NONBLOCK);
	unsigned int wrong = 0;
	size_t size;
	ssize_t n;

	set("enable", "1");
	make_samples(3);
	set("enable", "0");
	for (size = 1; size < sizeof(long); size++)
		wrong += read_result(fd, huge, size) != -EINVAL;
	ok(!wrong, "buffer: a read that can't hold a word: EINVAL");
	n = read_result(fd, huge, sizeof(long));
	ok(n == sizeof(long), "buffer: a read of a word after those: %s",
	   describe(n));
	close(fd);
}

static void test_bad_pointer(const char *file)
{
	int fd = open_file(file, O_NONBLOCK);
	char *hole = map_memory(2 * page_size);
	ssize_t n, part;
	size_t len;
	long count;

	munmap(hole + page_size, page_size);
	set("enable", "1");
	make_samples(1000);
	set("enable", "0");
	n = read_result(fd, hole + page_size, 4096);
	ok(n == -EFAULT, "%s: a read to where nothing is: %s", file, describe(n));
	part = read_result(fd, hole + page_size - 64, 4096);
	ok(part == -EFAULT || (part > 0 && part <= 64),
	   "%s: a read half of which is lost: %s", file, describe(part));
	if (part < 0)
		part = 0;
	len = read_all(fd, size_huge, &n);
	memmove(huge + part, huge, len);
	memcpy(huge, hole + page_size - 64, part);
	count = count_samples(file, huge, part + len);
	ok(count >= 1000, "%s: what could not be copied is still there (%ld)",
	   file, count);
	law(count, "after bad pointers");
	close(fd);
	munmap(hole, page_size);
}

static void test_again(const char *file)
{
	int fd = open_file(file, O_NONBLOCK);
	unsigned int wrong = 0, i;
	ssize_t n;
	long count;

	set("enable", "1");
	for (i = 0; i < 10; i++)
		wrong += read_result(fd, huge, 4096) != -EAGAIN;
	ok(!wrong, "%s: EAGAIN while there is nothing", file);
	make_samples(10);
	set("dump", "1");
	count = count_samples(file, huge, read_all(fd, size_huge, &n));
	ok(count >= 10, "%s: what is there, at once: %ld", file, count);
	ok(n == -EAGAIN, "%s: and EAGAIN again: %s", file, describe(n));
	set("enable", "0");
	close(fd);
}

static void test_end_of_file(const char *file)
{
	int fd = open_file(file, 0);
	ssize_t n;
	long count;

	set("enable", "1");
	make_samples(5);
	set("enable", "0");
	ok(readable(fd), "%s: the data of a run can be polled for", file);
	count = count_samples(file, huge, read_all(fd, size_huge, &n));
	ok(count >= 5, "%s: the data of a run: %ld", file, count);
	ok(n == 0, "%s: end of file: %s", file, describe(n));
	ok(!readable(fd), "%s: then nothing to poll for", file);
	n = read_now(fd);
	ok(n == -EAGAIN, "%s: end of file only once: %s", file, describe(n));

	set("enable", "1");
	set("enable", "0");
	ok(readable(fd), "%s: the next end of file can be polled for", file);
	n = read_now(fd);
	ok(n == 0, "%s: end of file for the next stop: %s", file, describe(n));
	n = read_now(fd);
	ok(n == -EAGAIN, "%s: once: %s", file, describe(n));

	set("enable", "1");
	set("enable", "0");
	set("enable", "1");
	n = read_now(fd);
	ok(n == -EAGAIN, "%s: none when a new run has begun: %s", file,
	   describe(n));
	set("enable", "0");
	set("enable", "0");
	n = read_now(fd);
	ok(n == 0, "%s: but at its end: %s", file, describe(n));
	n = read_now(fd);
	ok(n == -EAGAIN, "%s: and a stop of what has stopped is none: %s", file,
	   describe(n));
	close(fd);

	fd = open_file(file, 0);
	n = read_now(fd);
	ok(n == 0, "%s: another open file gets its own end of file: %s", file,
	   describe(n));
	n = read_now(fd);
	ok(n == -EAGAIN, "%s: once: %s", file, describe(n));
	close(fd);
}

static void on_signal(int number)
{
	(void)number;
}

static void test_signal(const char *file)
{
	struct sigaction action = { .sa_handler = on_signal };
	int fd = open_file(file, 0);
	struct waiter w;
	ssize_t n;

	sigaction(SIGUSR1, &action, NULL);
	set("enable", "1");
	wait_start(&w, READ, fd);
	ok(!waiter_done(&w), "%s: a reader sleeps", file);
	pthread_kill(w.thread, SIGUSR1);
	wait_end(&w);
	ok(w.result == -EINTR, "%s: a signal ends its wait: %s", file,
	   describe(w.result));
	make_samples(5);
	set("enable", "0");
	ok(count_samples(file, huge, read_all(fd, size_huge, &n)) >= 5,
	   "%s: and takes nothing away", file);
	ok(n == 0, "%s: the end follows", file);
	close(fd);
}

/* What ends a wait */

static void cause_dump(struct waiter *w)
{
	(void)w;
	make_samples(3);
	set("dump", "1");
}

static void cause_watershed(struct waiter *w)
{
	while (!waiter_done(w))
		make_samples(FAULT_PAGES);
}

static void cause_second(struct waiter *w)
{
	(void)w;
	make_samples(3);
}

static void cause_stop(struct waiter *w)
{
	(void)w;
	make_samples(3);
	set("enable", "0");
}

static void cause_empty_stop(struct waiter *w)
{
	(void)w;
	set("enable", "0");
}

static const struct cause {
	const char *name;
	void (*make)(struct waiter *w);
	bool prompt;		/* must not take the second */
	bool stops;
	bool empty;
} causes[] = {
	{ .name = "dump", .make = cause_dump, .prompt = true },
	{ .name = "the watershed", .make = cause_watershed, .prompt = true },
	{ .name = "a second's wait", .make = cause_second },
	{ .name = "a stop", .make = cause_stop, .prompt = true, .stops = true },
	{ .name = "a stop without data", .make = cause_empty_stop,
	  .stops = true, .empty = true },
};

static void test_wake(const char *file, enum kind kind, const struct cause *c)
{
	int fd = open_file(file, 0);
	bool good = true, slept = false, prompt = false;
	unsigned int round;
	struct waiter w;
	ssize_t n = 0;
	double begin;

	set("enable", "1");
	for (round = 0; good && round < ROUNDS; round++) {
		drop_all(fd);
		wait_start(&w, kind, fd);
		slept = !waiter_done(&w);
		begin = now();
		c->make(&w);
		n = wait_result(&w);
		prompt = w.when - begin < 0.9;
		good = slept && (c->empty ? n == 0 : n > 0);
		if (!c->prompt || prompt)
			break;
		if (c->stops)
			set("enable", "1");
	}
	if (!ok(good && (prompt || !c->prompt), "%s: %s ends a wait in %s", file,
		c->name, kinds[kind]))
		diag("%s, %s, after %.3f s in round %u",
		     slept ? "slept" : "never slept", describe(n),
		     w.when - begin, round);
	set("enable", "0");
	close(fd);
}

/* An edge-triggered epoll hears of each piece of news. */
static void test_edge(const char *file)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = open_file(file, O_NONBLOCK), epoll = epoll_create1(EPOLL_CLOEXEC);
	unsigned int i, good = 0;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll: %s", strerror(errno));
	set("enable", "1");
	for (i = 0; i < 5; i++) {
		make_samples(3);
		set("dump", "1");
		good += epoll_wait(epoll, &event, 1, PATIENCE * 1000) == 1;
		while (read_result(fd, huge, HUGE_READ) > 0)
			;
	}
	ok(good == 5, "%s: edge-triggered epoll (%u of 5)", file, good);
	set("enable", "0");
	close(epoll);
	close(fd);
}

static void prepare(void)
{
	setvbuf(stdout, NULL, _IOLBF, 4096);
	huge = map_memory(HUGE_READ);
	prepare_samples();

	set("0/name", "page-faults");
	set("0/count", "1");
	set("buffer_watershed", "4096");
	set("buffer_size", "65536");
	set("buffer_watershed", "63488");
	set("cpu_buffer_size", "2048");
}

int main(void)
{
	static const char * const files[] = { "buffer", "samples" };
	enum kind kind;
	size_t i, j;

	prepare();
	test_before_start("buffer");
	test_too_small();
	test_sizes("buffer", "a word at a time", size_of_word);
	test_sizes("samples", "a byte at a time", size_of_byte);
	for (i = 0; i < 2; i++) {
		test_sizes(files[i], "odd sizes", size_odd);
		test_sizes(files[i], "one huge read", size_huge);
		test_bad_pointer(files[i]);
		test_again(files[i]);
		test_end_of_file(files[i]);
		test_signal(files[i]);
		for (j = 0; j < sizeof(causes) / sizeof(causes[0]); j++) {
			for (kind = READ; kind <= EPOLL; kind++)
				test_wake(files[i], kind, &causes[j]);
		}
		test_edge(files[i]);
	}
	return tap_end();
}
