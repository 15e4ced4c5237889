// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * opread: reads a binary event stream, to its end unless told otherwise,
 * checks every word of it, and says what was in it.
 *
 *	-f FILE	instead of the module's buffer; "-" is the standard input
 *	-s N	bytes a read, 524288
 *	-v	vary the size of reads, from a word to -s
 *	-n N	stop after N reads
 *	-N	don't wait: what is there now
 *	-p, -e	don't wait in read: wait with poll, or with epoll
 *	-k N	SIGKILL to itself after N reads
 *	-w N	the same as -s, in words
 *	-B	each read must be whole batches
 *	-o FILE	also write the bytes there
 *	-q	print only the number of samples
 *	-t	print each distinct sample: how often, then the columns of
 *		"samples"
 *	-c	likewise, with the cookies themselves instead of paths, and
 *		addresses of the kernel instead of symbols
 *
 * The exit status is 0 if the stream was right and each cookie is listed.
 */

#define _GNU_SOURCE
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>

#include <uapi/oprofile.h>

#include "opdecode.h"
#include "optool.h"

/* How to wait for data. */
enum wait { WAIT_READ, WAIT_POLL, WAIT_EPOLL, WAIT_NOT };

static struct {
	const char *path;
	const char *copy;
	size_t size;
	unsigned long max_reads;
	unsigned long kill_after;
	enum wait wait;
	bool vary;
	bool batches;
	bool text;
	bool numbers;
	bool quiet;
} options = {
	.size = 524288,
};

static struct op_counts counts;

static void take_sample(void *arg, const struct op_sample *sample)
{
	(void)arg;
	op_counts_add(&counts, sample);
}

/* cookie -> path, from the file dcookies. */

struct cookie {
	unsigned long cookie;
	char *path;
};

static struct cookie *cookies;
static size_t n_cookies;

static int by_cookie(const void *a, const void *b)
{
	const struct cookie *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

static void read_cookies(void)
{
	FILE *file = fopen(op_path("dcookies"), "re");
	unsigned long cookie;
	char *line = NULL;
	size_t size = 0;
	int at;

	if (!file)
		die("dcookies: %s", strerror(errno));
	while (n_cookies)
		free(cookies[--n_cookies].path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		at = 0;
		/* cookie, dev, inode, generation, build-id, path */
		if (sscanf(line, "%lu %*u:%*u %*u %*u %*s %n", &cookie, &at) != 1 ||
		    !at || !line[at])
			die("dcookies: not a line of it: %s", line);
		cookies = reallocarray(cookies, n_cookies + 1, sizeof(*cookies));
		if (!cookies)
			die("out of memory");
		cookies[n_cookies].cookie = cookie;
		cookies[n_cookies++].path = strdup(line + at);
	}
	free(line);
	fclose(file);
	qsort(cookies, n_cookies, sizeof(*cookies), by_cookie);
}

static const char *cookie_path(unsigned long cookie)
{
	struct cookie key = { .cookie = cookie }, *found;

	found = bsearch(&key, cookies, n_cookies, sizeof(key), by_cookie);
	return found ? found->path : NULL;
}

static unsigned long missing_cookie(void)
{
	const struct op_sample *s;
	size_t i;

	for (i = 0; i < counts.size; i++) {
		s = &counts.table[i].sample;
		if (!counts.table[i].count)
			continue;
		if (s->app != OP_NO_COOKIE && !cookie_path(s->app))
			return s->app;
		if (s->cookie != OP_NO_COOKIE && !cookie_path(s->cookie))
			return s->cookie;
	}
	return OP_NO_COOKIE;
}

/* The table is filled a little after the stream: give it some seconds. */
static void check_cookies(void)
{
	unsigned int try;

	for (try = 0; try < 100; try++) {
		read_cookies();
		if (missing_cookie() == OP_NO_COOKIE)
			return;
		nap(200);
	}
	die("opread: cookie %lu is not in dcookies", missing_cookie());
}

/* Kernel addresses, from /proc/kallsyms. */

struct symbol {
	unsigned long address;
	size_t order;
	char *name;
	char *module;
};

static struct symbol *symbols;
static size_t n_symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void read_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], module[128];
	unsigned long address;
	size_t room = 0;
	char type;
	int n;

	if (!file)
		die("kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		n = sscanf(line, "%lx %c %511s [%127[^]]]", &address, &type,
			   name, module);
		if (n < 3 || !strchr("tTwW", type))
			continue;
		if (n_symbols == room) {
			room = room ? room * 2 : 65536;
			symbols = reallocarray(symbols, room, sizeof(*symbols));
			if (!symbols)
				die("out of memory");
		}
		symbols[n_symbols] = (struct symbol){
			.address = address,
			.order = n_symbols,
			.name = strdup(name),
			.module = n == 4 ? strdup(module) : NULL,
		};
		n_symbols++;
	}
	fclose(file);
	qsort(symbols, n_symbols, sizeof(*symbols), by_address);
}

static const struct symbol *find_symbol(unsigned long address)
{
	size_t low = 0, high = n_symbols, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	/* Of several names for one address the kernel too takes the first. */
	for (low--; low && symbols[low - 1].address == symbols[low].address;)
		low--;
	return &symbols[low];
}

static void print_sample(const struct op_count *count)
{
	const struct op_sample *s = &count->sample;
	const struct symbol *symbol;
	char event[64];

	read_text(op_path("%lu/name", s->event), event, sizeof(event));
	printf("%lu\t%lu\t%lu\t%lu\t%s\t%c\t%s\t", count->count, s->cpu, s->tgid,
	       s->tid, event, s->user ? 'u' : 'k',
	       s->app == OP_NO_COOKIE ? "-" : cookie_path(s->app));
	if (s->user) {
		printf("%s\t0x%lx\n", s->cookie == OP_NO_COOKIE ? "[anon]" :
		       cookie_path(s->cookie), s->offset);
		return;
	}
	symbol = find_symbol(s->offset);
	if (symbol)
		printf("[%s]\t%s+0x%lx\n",
		       symbol->module ? symbol->module : "kernel",
		       symbol->name, s->offset - symbol->address);
	else
		printf("[?]\t0x%lx\n", s->offset);
}

static void print_numbers(const struct op_count *count)
{
	const struct op_sample *s = &count->sample;

	printf("%lu\t%lu\t%lu\t%lu\t%lu\t%c\t%lu\t%lu\t0x%lx\n",
	       count->count, s->cpu, s->tgid, s->tid, s->event,
	       s->user ? 'u' : 'k', s->app, s->cookie, s->offset);
}

static void print_text(void)
{
	size_t i;

	if (!options.numbers)
		read_symbols();
	for (i = 0; i < counts.size; i++) {
		if (!counts.table[i].count)
			continue;
		if (options.numbers)
			print_numbers(&counts.table[i]);
		else
			print_sample(&counts.table[i]);
	}
}

static void print_summary(const struct op_decoder *d, unsigned long reads)
{
	unsigned long cpus[64] = {}, events[8] = {}, users = 0;
	const struct op_count *c;
	size_t i;

	for (i = 0; i < counts.size; i++) {
		c = &counts.table[i];
		if (!c->count || c->sample.caller)
			continue;
		if (c->sample.cpu < 64)
			cpus[c->sample.cpu] += c->count;
		events[c->sample.event] += c->count;
		if (c->sample.user)
			users += c->count;
	}
	printf("samples %lu\nuser %lu\nkernel %lu\nbatches %lu\ncontexts %lu\n"
	       "cookies %lu\nmodules %lu\nwords %lu\nreads %lu\n",
	       d->samples, users, d->samples - users, d->batches, d->contexts,
	       d->cookies, d->modules, d->words, reads);
	for (i = 0; i < 64; i++) {
		if (cpus[i])
			printf("cpu%zu %lu\n", i, cpus[i]);
	}
	for (i = 0; i < 8; i++) {
		if (events[i])
			printf("event%zu %lu\n", i, events[i]);
	}
}

static void print_result(const struct op_decoder *d, unsigned long reads)
{
	if (options.quiet)
		printf("%lu\n", d->samples);
	else if (options.text)
		print_text();
	else
		print_summary(d, reads);
	fflush(stdout);
}

static int epoll_of(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll: %s", strerror(errno));
	return epoll;
}

static int open_stream(void)
{
	int flags = options.wait == WAIT_READ ? 0 : O_NONBLOCK, fd;

	if (strcmp(options.path, "-"))
		fd = open(options.path, O_RDONLY | O_CLOEXEC | flags);
	else
		fd = dup(STDIN_FILENO);
	if (fd < 0)
		die("%s: %s", options.path, error_name(errno));
	return fd;
}

/* One read that gives something: 0 at the end, or when there is no more now. */
static size_t read_some(int fd, int epoll, void *bytes, bool *at_end)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct epoll_event event;
	size_t size = options.size;
	ssize_t n;

	if (options.vary)
		size = sizeof(long) + rand() % (size - sizeof(long) + 1);
	for (;;) {
		if (options.wait == WAIT_POLL && poll(&poll_fd, 1, -1) < 0)
			die("poll: %s", strerror(errno));
		if (options.wait == WAIT_EPOLL &&
		    epoll_wait(epoll, &event, 1, -1) < 0)
			die("epoll: %s", strerror(errno));
		n = read(fd, bytes, size);
		if (n >= 0) {
			*at_end = n == 0;
			return n;
		}
		if (errno == EAGAIN && options.wait == WAIT_NOT)
			return 0;
		/* What poll has seen may be gone when the read comes. */
		if (errno != EINTR && errno != EAGAIN)
			die("%s: read: %s", options.path, error_name(errno));
	}
}

/* Returns the number of reads. */
static unsigned long decode_stream(struct op_decoder *d, FILE *copy)
{
	int fd = open_stream(), epoll = -1;
	unsigned long reads = 0;
	bool at_end = false;
	char *bytes;
	size_t n;

	bytes = malloc(options.size);
	if (!bytes)
		die("out of memory");
	if (options.wait == WAIT_EPOLL)
		epoll = epoll_of(fd);
	while (!options.max_reads || reads < options.max_reads) {
		n = read_some(fd, epoll, bytes, &at_end);
		if (!n)
			break;
		reads++;
		if (copy && fwrite(bytes, n, 1, copy) != 1)
			die("%s: %s", options.copy, strerror(errno));
		if (options.batches)
			op_decoder_forget(d);
		if (op_decoder_feed(d, bytes, n))
			die("opread: %s", d->error);
		if (options.batches && op_decoder_end(d))
			die("opread: read %lu: %s", reads, d->error);
		if (reads == options.kill_after) {
			print_result(d, reads);
			kill(getpid(), SIGKILL);
		}
	}
	if (at_end && op_decoder_end(d))
		die("opread: %s", d->error);
	free(bytes);
	return reads;
}

static void parse_options(int argc, char **argv)
{
	int c;

	options.path = op_path("buffer");
	while ((c = getopt(argc, argv, "f:s:w:vn:Npek:Bo:qtc")) >= 0) {
		switch (c) {
		case 'f':
			options.path = optarg;
			break;
		case 's':
			options.size = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			options.size = strtoul(optarg, NULL, 0) * sizeof(long);
			break;
		case 'v':
			options.vary = true;
			break;
		case 'n':
			options.max_reads = strtoul(optarg, NULL, 0);
			break;
		case 'N':
			options.wait = WAIT_NOT;
			break;
		case 'p':
			options.wait = WAIT_POLL;
			break;
		case 'e':
			options.wait = WAIT_EPOLL;
			break;
		case 'k':
			options.kill_after = strtoul(optarg, NULL, 0);
			break;
		case 'B':
			options.batches = true;
			break;
		case 'o':
			options.copy = optarg;
			break;
		case 'q':
			options.quiet = true;
			break;
		case 't':
			options.text = true;
			break;
		case 'c':
			options.text = true;
			options.numbers = true;
			break;
		default:
			die("opread: see the options in its source");
		}
	}
	if (options.size < sizeof(long) || optind != argc)
		die("opread: see the options in its source");
}

int main(int argc, char **argv)
{
	struct op_decoder decoder;
	unsigned long reads;
	FILE *copy = NULL;

	parse_options(argc, argv);
	if (options.copy) {
		copy = fopen(options.copy, "we");
		if (!copy)
			die("%s: %s", options.copy, strerror(errno));
	}
	op_decoder_init(&decoder);
	decoder.sample = take_sample;
	decoder.cpus = sysconf(_SC_NPROCESSORS_CONF);
	reads = decode_stream(&decoder, copy);
	if (copy && fclose(copy))
		die("%s: %s", options.copy, strerror(errno));
	if (decoder.samples)
		check_cookies();
	print_result(&decoder, reads);
	return 0;
}
