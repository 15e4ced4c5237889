// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * fuzz OPERATIONS SEED: random system calls on the module's files.
 *
 * The module is loaded. PROCESSES processes do the operations, each with random
 * files, sizes and contents, of which many are good, so that profiles start and
 * stop. What the n'th operation of a process is follows from the seed alone;
 * what comes of it, of course, also from what the others do meanwhile.
 *
 * The judge looks at each result: its errno must be one that the call may give,
 * a control file must hold a value that it may hold, and what a process has
 * written to the folder of an event, which is its alone, must be read there. A
 * timer's signal ends every wait; a process that comes no further is one that
 * hangs. At the end, a clean run must be whole.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "oprun.h"

#define PROCESSES	8	/* as many as there are event folders */
#define SLOTS		12	/* files that each has open */
#define MAX_FILES	256
#define BUFFER		65536u
#define STREAM		(16u << 20)
#define TICK_MS		50	/* between signals */
#define PATIENCE	300	/* seconds without an operation: a hang */
#define PARAMETERS	"/sys/module/oprofile/parameters"

#define N(array)	(sizeof(array) / sizeof((array)[0]))

/* Random numbers: splitmix64, begun anew for each operation */

static uint64_t random_state;

static uint64_t next_random(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void seed_random(uint64_t seed, uint64_t process, uint64_t operation)
{
	random_state = seed;
	random_state = next_random() + process;
	random_state = next_random() + operation;
}

static unsigned long below(unsigned long n)
{
	return next_random() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static unsigned int me;		/* number of this process, and of its event */

/* The files */

struct file {
	char *path;
	const char *name;	/* last part of path */
	int event;		/* number of its folder, or -1 */
};

static struct file files[MAX_FILES];
static unsigned int n_files;

/* @event of a folder's parent: -1 where none of those above is an event's. */
static void find_files(const char *dir, int event)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	struct file *f;
	char *path;

	if (!d)
		die("%s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0)
			die("out of memory");
		if (entry->d_type == DT_DIR) {
			find_files(path, isdigit(entry->d_name[0]) ?
				   atoi(entry->d_name) : event);
			free(path);
			continue;
		}
		if (n_files == MAX_FILES)
			die("more files than expected");
		f = &files[n_files++];
		f->path = path;
		f->name = strrchr(path, '/') + 1;
		f->event = event;
	}
	closedir(d);
}

static const struct file *find_file(const char *path)
{
	unsigned int i;

	for (i = 0; i < n_files; i++) {
		if (!strcmp(files[i].path, path))
			return &files[i];
	}
	die("no file %s", path);
}

/*
 * Most files are counters, or another process's event: the others get as many
 * turns as all those.
 */
static const struct file *random_file(void)
{
	const struct file *f;
	static const char * const names[] = {
		"buffer", "samples", "dcookies", "hooks", "enable", "dump",
		"buffer_size", "buffer_watershed", "cpu_buffer_size", "cpu_type",
	};

	if (one_in(2)) {
		do {
			f = &files[below(n_files)];
		} while (f->event >= 0 && f->event != (int)me);
		return f;
	}
	if (one_in(4))
		return &files[below(n_files)];
	return find_file(op_path("%s", names[below(N(names))]));
}

/* What to write */

static const char * const event_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cycles",
};

static const struct good {
	const char *name;
	const char *values[6];
} good_values[] = {
	{ "enable", { "1", "1", "1", "0" } },
	{ "buffer_size", { "32", "100", "1000", "5000", "131072", "0x8000" } },
	{ "buffer_watershed", { "1", "16", "99", "1000", "32768" } },
	{ "cpu_buffer_size", { "1", "2", "17", "100", "8192" } },
	{ "backtrace_depth", { "0" } },
	{ "enabled", { "0", "0", "1" } },
	{ "name", { "cpu-clock", "task-clock", "page-faults",
		    "context-switches", "cycles", "rc0" } },
	{ "event", { "0", "0xc0", "0x1c2" } },
	{ "unit_mask", { "0", "1", "0xff" } },
	{ "count", { "1000000", "3000000", "10000019", "0x1000000" } },
	{ "freq", { "1", "100", "997" } },
	{ "kernel", { "0", "1" } },
	{ "user", { "0", "1" } },
	{ "idle", { "0", "1" } },
};

static const struct good *good_of(const struct file *f)
{
	size_t i;

	for (i = 0; i < N(good_values); i++) {
		if (!strcmp(good_values[i].name, f->name))
			return &good_values[i];
	}
	return NULL;
}

/* Sizes that this machine could make are a trial of its memory only. */
static uint64_t random_number(void)
{
	if (one_in(2))
		return below(1000);
	if (one_in(2))
		return 1ull << (40 + below(24)) | below(1000);
	return -below(1000);
}

static size_t garbage(char *text, size_t size)
{
	static const char * const junk[] = {
		"", "\n", " ", "x", "-1", "1 1", "1\n1", "0x", "1.0", "r", "rg",
		"bogus", "cpu-clock junk", "\xff\xfe", "%s%n", "00000000000001",
		"18446744073709551616",
	};
	size_t n, i;

	switch (below(4)) {
	case 0:
		return snprintf(text, size, "%llu",
				(unsigned long long)random_number());
	case 1:
		return snprintf(text, size, "0x%llx\n",
				(unsigned long long)random_number());
	case 2:
		return snprintf(text, size, "%s", junk[below(N(junk))]);
	default:
		n = one_in(8) ? size : below(100);
		for (i = 0; i < n; i++)
			text[i] = next_random();
		return n;
	}
}

/* Returns the length; *good: the value is one that the file takes. */
static size_t random_text(const struct file *f, char *text, size_t size,
			  bool *good)
{
	const struct good *values = f ? good_of(f) : NULL;
	unsigned int n = 0;

	*good = values && !one_in(4);
	if (!*good)
		return garbage(text, size);
	while (n < N(values->values) && values->values[n])
		n++;
	return snprintf(text, size, "%s%s", values->values[below(n)],
			one_in(2) ? "\n" : "");
}

/* The judge */

struct progress {
	unsigned long done;
	unsigned long starts;
	unsigned long wrong;
	char now[128];
};

static struct progress *progress;	/* one for each process, shared */
static struct progress *my;

__attribute__((format(printf, 1, 2)))
static void complain(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (my->wrong++ < 10)
		diag("process %u, operation %lu: %s", me, my->done, text);
}

enum call {
	OPEN, READ, WRITE, POLL, LSEEK, PREAD, READV, SPLICE, SENDFILE, CLOSE,
	DUP, FCNTL, CALLS
};

/*
 * What each call may say. A read of cpu_type and a start ask perf, which has
 * its own: ENOENT, EOPNOTSUPP and EINVAL for events that can't be counted.
 */
static const struct {
	const char *name;
	int errors[10];
} calls[CALLS] = {
	[OPEN] = { "open", { EBUSY, EACCES, EINTR } },
	[READ] = { "read", { EAGAIN, EINTR, EFAULT, EINVAL, EBADF, ENOENT,
			     EOPNOTSUPP } },
	[WRITE] = { "write", { EINTR, EFAULT, EINVAL, EBADF, EACCES, ERANGE,
			       EBUSY, ENOMEM, ENOENT, EOPNOTSUPP } },
	[POLL] = { "poll", { EINTR } },
	[LSEEK] = { "lseek", { EINVAL, ESPIPE, EBADF, ENXIO } },
	[PREAD] = { "pread", { EINTR, EFAULT, EINVAL, EBADF, ENOENT, EOPNOTSUPP,
			       ESPIPE } },
	[READV] = { "readv", { EAGAIN, EINTR, EFAULT, EINVAL, EBADF, ENOENT,
			       EOPNOTSUPP } },
	[SPLICE] = { "splice", { EAGAIN, EINTR, EINVAL, EBADF, ENOENT,
				 EOPNOTSUPP, ESPIPE } },
	/* EOVERFLOW: the VFS, where the position is the last there is */
	[SENDFILE] = { "sendfile", { EAGAIN, EINTR, EINVAL, EBADF, ENOENT,
				     EOPNOTSUPP, ESPIPE, EOVERFLOW } },
	[CLOSE] = { "close", { EBADF } },
	[DUP] = { "dup", { EBADF } },
	[FCNTL] = { "fcntl", { EBADF } },
};

static const char *name_of(const struct file *f)
{
	return f ? f->path : "no file";
}

static void judge(enum call call, const struct file *f, long result)
{
	int error = errno;
	size_t i;

	if (result >= 0)
		return;
	for (i = 0; i < N(calls[call].errors); i++) {
		if (calls[call].errors[i] == error)
			return;
	}
	complain("%s of %s: %s", calls[call].name, name_of(f), error_name(error));
}

static bool is_event_name(const char *text)
{
	size_t i;

	for (i = 0; i < N(event_names); i++) {
		if (!strcmp(text, event_names[i]))
			return true;
	}
	/* that of a raw event is empty, unless it was written so */
	return !text[0] || (text[0] == 'r' && text[1] &&
			    !text[1 + strspn(text + 1, "0123456789abcdef")]);
}

/* A value that a control file may hold. */
static bool is_value(const struct file *f, const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!strcmp(f->name, "name"))
		return is_event_name(text);
	return digits && !text[digits];
}

/* What the folder of this process's event holds is what was written last. */
static void read_back(const struct file *f, char *text, size_t len)
{
	char got[128];
	int error;

	if (len && text[len - 1] == '\n')
		len--;
	text[len] = 0;
	error = read_text(f->path, got, sizeof(got));
	if (error == EINTR)
		return;
	if (error)
		complain("%s: %s", f->path, error_name(error));
	else if (!strcmp(f->name, "name") ? strcmp(got, text) :
		 strtoul(got, NULL, 10) != strtoul(text, NULL, 0))
		complain("%s: '%s' was written, '%s' read", f->path, text, got);
}

static void check_value(const struct file *f)
{
	char text[128];
	int error;

	if (!good_of(f))
		return;
	error = read_text(f->path, text, sizeof(text));
	if (!error && !is_value(f, text))
		complain("%s holds '%s'", f->path, text);
}

/* The operations */

static struct slot {
	int fd;			/* -1: none */
	const struct file *file;
} slots[SLOTS];

static char *buffer;		/* what is behind it can't be accessed */
static char *stream;
static int null_fd, pipe_fds[2];

static size_t random_size(void)
{
	static const size_t sizes[] = {
		0, 1, 7, 8, 9, 16, 64, 255, 4096, 4097, BUFFER
	};

	return one_in(2) ? sizes[below(N(sizes))] : below(BUFFER);
}

/* Where @size bytes go: mostly good memory, else bad from the begin or soon. */
static char *random_memory(size_t size)
{
	if (one_in(12))
		return buffer + BUFFER - below(size + 1);
	if (one_in(20))
		return (char *)below(3) - 1;
	return buffer;
}

static void do_open(struct slot *slot)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	const struct file *f = random_file();
	int flags = modes[below(3)] | (one_in(4) ? 0 : O_NONBLOCK) | O_CLOEXEC;

	/* What can be read only is read more often than not. */
	if (!good_of(f) && !one_in(4))
		flags = (flags & ~O_ACCMODE) |
			(strcmp(f->name, "dump") ? O_RDONLY : O_WRONLY);
	if (slot->fd >= 0)
		close(slot->fd);
	slot->file = f;
	slot->fd = open(f->path, flags);
	judge(OPEN, f, slot->fd);
}

/* Another process's event is not to be written. */
static bool may_write(const struct file *f)
{
	return !f || f->event < 0 || f->event == (int)me;
}

/*
 * Starts and stops take their time: not every write to enable happens. What a
 * bad pointer or a short length makes of a good value is none.
 */
static void do_write(struct slot *slot)
{
	const struct file *f = slot->file;
	char text[5000], *from = text;
	size_t len;
	ssize_t n;
	bool good;

	len = random_text(f, text, sizeof(text) - 1, &good);
	if (f && !strcmp(f->name, "enable") && !one_in(4))
		return;
	if (!may_write(f))
		return;
	if (one_in(20)) {
		from = random_memory(len);
		if (from == buffer)
			memcpy(buffer, text, len);
		else
			good = false;
	}
	n = write(slot->fd, from, len);
	judge(WRITE, f, n);
	if (n < 0 || !f || !strcmp(f->name, "dump"))
		return;
	if ((size_t)n != len)
		complain("%s: %zd of %zu bytes written", f->path, n, len);
	if (good && !strcmp(f->name, "enable") && text[0] == '1')
		my->starts++;
	if (good && f->event == (int)me)
		read_back(f, text, len);
	else
		check_value(f);
}

static bool is_ours(const struct file *f)
{
	return !strncmp(f->path, OP_DIR, strlen(OP_DIR));
}

static void do_poll(struct slot *slot)
{
	struct pollfd p = {
		.fd = slot->fd, .events = POLLIN | POLLOUT | POLLPRI
	};
	int n = poll(&p, 1, one_in(4) ? 1000 : 0);

	judge(POLL, slot->file, n);
	/* sysfs has it that there is always something */
	if (n > 0 && slot->fd >= 0 && is_ours(slot->file) &&
	    p.revents & (POLLERR | POLLHUP | POLLNVAL))
		complain("poll of %s: %#x", name_of(slot->file), p.revents);
}

static void do_read(struct slot *slot)
{
	size_t size = random_size();
	ssize_t n = read(slot->fd, random_memory(size), size);

	judge(READ, slot->file, n);
	if (n > 0 && (size_t)n > size)
		complain("read of %s: %zd of %zu bytes", name_of(slot->file), n,
			 size);
}

static void do_lseek(struct slot *slot)
{
	static const off_t offsets[] = { 0, 1, 4096, -1, INT64_MAX, INT64_MIN };

	judge(LSEEK, slot->file, lseek(slot->fd, offsets[below(N(offsets))],
				       below(6)));
}

static void do_pread(struct slot *slot)
{
	size_t size = random_size();

	judge(PREAD, slot->file, pread(slot->fd, random_memory(size), size,
				       one_in(4) ? -1 : (off_t)below(10000)));
}

static void do_readv(struct slot *slot)
{
	struct iovec parts[5];
	unsigned int i, n = below(N(parts) + 1);

	for (i = 0; i < n; i++) {
		parts[i].iov_len = one_in(2) ? below(40) : random_size();
		parts[i].iov_base = random_memory(parts[i].iov_len);
	}
	judge(READV, slot->file, readv(slot->fd, parts, n));
}

static void do_splice(struct slot *slot)
{
	judge(SPLICE, slot->file, splice(slot->fd, NULL, pipe_fds[1], NULL,
					 1 + random_size(), SPLICE_F_NONBLOCK));
	while (read(pipe_fds[0], buffer, BUFFER) > 0)
		;
}

static void do_sendfile(struct slot *slot)
{
	judge(SENDFILE, slot->file, sendfile(null_fd, slot->fd, NULL,
					     random_size()));
}

static void do_close(struct slot *slot)
{
	judge(CLOSE, slot->file, close(slot->fd));
	slot->fd = -1;
}

static void do_dup(struct slot *slot)
{
	struct slot *to = &slots[below(SLOTS)];
	int fd;

	if (to == slot)
		return;
	fd = dup(slot->fd);
	judge(DUP, slot->file, fd);
	if (fd < 0)
		return;
	if (to->fd >= 0)
		close(to->fd);
	to->fd = fd;
	to->file = slot->file;
}

static void do_fcntl(struct slot *slot)
{
	judge(FCNTL, slot->file, fcntl(slot->fd, F_SETFL,
				       one_in(4) ? 0 : O_NONBLOCK));
}

static void (*const operations[CALLS])(struct slot *slot) = {
	[OPEN] = do_open,
	[READ] = do_read,
	[WRITE] = do_write,
	[POLL] = do_poll,
	[LSEEK] = do_lseek,
	[PREAD] = do_pread,
	[READV] = do_readv,
	[SPLICE] = do_splice,
	[SENDFILE] = do_sendfile,
	[CLOSE] = do_close,
	[DUP] = do_dup,
	[FCNTL] = do_fcntl,
};

/* How often each is done, of 64. */
static const unsigned char weights[CALLS] = {
	[OPEN] = 14, [READ] = 14, [WRITE] = 14, [POLL] = 4, [LSEEK] = 3,
	[PREAD] = 3, [READV] = 3, [SPLICE] = 2, [SENDFILE] = 2, [CLOSE] = 2,
	[DUP] = 2, [FCNTL] = 1,
};

static enum call random_call(void)
{
	unsigned int turn = below(64), call;

	for (call = 0; turn >= weights[call]; call++)
		turn -= weights[call];
	return call;
}

static void on_tick(int number)
{
	(void)number;
}

static void start_ticks(void)
{
	struct itimerval every = {
		{ 0, TICK_MS * 1000 }, { 0, TICK_MS * 1000 }
	};
	struct sigaction action = { .sa_handler = on_tick };

	/* no SA_RESTART: a wait ends */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/*
 * What is set at random seldom makes a profile. So that one starts now and then,
 * whatever it is that the others set meanwhile.
 */
static void start_profile(void)
{
	static const char *const settings[][2] = {
		{ "enable", "0" }, { "0/name", "cpu-clock" },
		{ "0/count", "1000000" }, { "0/kernel", "1" },
		{ "0/user", "1" }, { "0/enabled", "1" },
		{ "buffer_watershed", "1" }, { "buffer_size", "131072" },
		{ "cpu_buffer_size", "8192" }, { "enable", "1" },
	};
	char text[32];
	unsigned int i;
	int error = 0;

	for (i = 1; i < PROCESSES; i++) {
		snprintf(text, sizeof(text), "%u/enabled", i);
		write_text(op_path(text), "0");
	}
	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		error = write_text(op_path(settings[i][0]), settings[i][1]);
	if (!error)
		my->starts++;
}

static void fuzz(unsigned int process, unsigned long n, uint64_t seed)
{
	struct slot *slot;
	enum call call;
	unsigned int i;

	me = process;
	my = &progress[process];
	for (i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null_fd < 0 || pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC))
		die("no pipe: %s", strerror(errno));
	start_ticks();
	while (my->done < n) {
		if (!process && my->done % 300 == 150)
			start_profile();
		seed_random(seed, process, my->done);
		call = random_call();
		slot = &slots[below(SLOTS)];
		if (slot->fd < 0 && !one_in(10))
			call = OPEN;
		snprintf(my->now, sizeof(my->now), "%s of %s", calls[call].name,
			 name_of(slot->file));
		operations[call](slot);
		__atomic_add_fetch(&my->done, 1, __ATOMIC_RELEASE);
	}
}

/* Waits for all processes. Returns false where one of them hangs or has died. */
static bool wait_all(const pid_t *pids)
{
	unsigned long last[PROCESSES] = {};
	double since[PROCESSES];
	unsigned int left = PROCESSES, i;
	bool gone[PROCESSES] = {}, good = true;
	int status;

	for (i = 0; i < PROCESSES; i++)
		since[i] = now();
	while (left) {
		nap(100);
		for (i = 0; i < PROCESSES; i++) {
			if (gone[i])
				continue;
			if (waitpid(pids[i], &status, WNOHANG) == pids[i]) {
				gone[i] = true;
				left--;
				if (status) {
					good = false;
					diag("process %u ended with status %#x in %s",
					     i, status, progress[i].now);
				}
				continue;
			}
			if (progress[i].done != last[i]) {
				last[i] = progress[i].done;
				since[i] = now();
			} else if (now() - since[i] > PATIENCE) {
				diag("process %u hangs in operation %lu: %s", i,
				     last[i], progress[i].now);
				return false;
			}
		}
	}
	return good;
}

/* A run of which all is known. */
static void clean_run(void)
{
	size_t len = 0;
	char text[32];
	ssize_t n;
	int fd, i;

	set("enable", "0");
	for (i = 0; i < PROCESSES; i++) {
		snprintf(text, sizeof(text), "%d/enabled", i);
		set(text, i ? "0" : "1");
	}
	set("0/name", "page-faults");
	set("0/count", "1");
	set("0/kernel", "1");
	set("0/user", "1");
	set("buffer_watershed", "1");
	set("buffer_size", "131072");
	set("cpu_buffer_size", "8192");
	set("enable", "1");
	make_samples(1000);
	set("enable", "0");
	fd = open(op_path("buffer"), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("buffer: %s", strerror(errno));
	while ((n = read(fd, stream + len, STREAM - len)) > 0)
		len += n;
	close(fd);
	ok(!n && count_words(stream, len) >= 1000, "a clean run follows");
	law(count_words(stream, len), "the clean run");
}

int main(int argc, char **argv)
{
	unsigned long n, done = 0, starts = 0, complaints = 0;
	pid_t pids[PROCESSES];
	unsigned int i;
	uint64_t seed;
	bool good;

	if (argc != 3)
		return 2;
	n = strtoul(argv[1], NULL, 0);
	seed = strtoull(argv[2], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 4096);
	diag("SEED=%llu", (unsigned long long)seed);
	find_files(OP_DIR, -1);
	find_files(PARAMETERS, -1);
	page_size = sysconf(_SC_PAGESIZE);
	buffer = map_memory(BUFFER + page_size);
	/* not unmapped: something else could come there */
	mprotect(buffer + BUFFER, page_size, PROT_NONE);
	progress = mmap(NULL, PROCESSES * sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		die("mmap: %s", strerror(errno));

	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork: %s", strerror(errno));
		if (!pids[i]) {
			fuzz(i, (n + PROCESSES - 1) / PROCESSES, seed);
			_exit(0);
		}
	}
	good = wait_all(pids);
	for (i = 0; i < PROCESSES; i++) {
		done += progress[i].done;
		starts += progress[i].starts;
		complaints += progress[i].wrong;
	}
	ok(good, "no process of %u hangs or dies", PROCESSES);
	ok(done >= n && starts, "%lu operations, profiling was started %lu times",
	   done, starts);
	ok(!complaints, "no result is out of place (%lu)", complaints);
	if (!good) {
		/* Nothing that comes after could be trusted. */
		tap_end();
		_exit(1);
	}
	stream = map_memory(STREAM);
	prepare_samples();
	clean_run();
	return tap_end();
}
