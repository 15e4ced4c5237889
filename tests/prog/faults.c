// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * faults FILE [OPERATION]: fails each memory allocation of the module in FILE in
 * turn; those of one operation, or of all.
 *
 * The module is not loaded, and isn't afterwards. An operation is done with its
 * first allocation failing, its second, and so on until none is left to fail
 * (/proc/self/fail-nth). Which ones are meant is told by the stack: only those
 * under the module's own functions. Each time the operation either says ENOMEM
 * and has changed nothing, or does all that it has to.
 */

#define _GNU_SOURCE
#include <poll.h>
#include <sys/syscall.h>

#include "oprun.h"

#define DEBUGFS		"/sys/kernel/debug"
#define STACK_DEPTH	"32"	/* the most there is */
#define BUFFER		(1u << 20)

/* Where x86-64 has its modules: while ours loads, nobody says where it is. */
#define MODULES_START	((unsigned long)0xffffffffa0000000ull)
#define MODULES_END	((unsigned long)0xffffffffff000000ull)

static const char *module_path, *only;
static unsigned long samples;	/* that the last run has received */
static char *buffer;
static int nth_fd;
static unsigned int wrong;

/* Which allocations may fail */

static void set_filter(const char *name, const char *value)
{
	static const char * const kinds[] = { "failslab", "fail_page_alloc" };
	char path[PATH_MAX];
	unsigned int i;
	int error;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), DEBUGFS "/%s/%s", kinds[i], name);
		error = write_text(path, value);
		/* each has some of its own */
		if (error && error != ENOENT)
			die("'%s' > %s: %s", value, path, error_name(error));
	}
}

static void set_filter_address(const char *name, unsigned long address)
{
	char text[32];

	snprintf(text, sizeof(text), "%#lx", address);
	set_filter(name, text);
}

static void require_text(unsigned long start, unsigned long end)
{
	set_filter_address("require-start", start);
	set_filter_address("require-end", end);
}

/* The first of these functions that the kernel has, and where the next begins. */
static void find_function(const char * const *names, unsigned long *start,
			  unsigned long *end)
{
	unsigned long address, best = 0;
	char line[512], name[256], type;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		die("kallsyms: %s", strerror(errno));
	*start = 0;
	*end = ~0ul;
	while (fgets(line, sizeof(line), f)) {
		unsigned int i;

		if (sscanf(line, "%lx %c %255s", &address, &type, name) != 3)
			continue;
		for (i = 0; names[i]; i++) {
			if (!strcmp(name, names[i]) && (!best || i + 1 < best)) {
				*start = address;
				best = i + 1;
			}
		}
	}
	if (!best)
		die("no function %s", names[0]);
	rewind(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx", &address) == 1 && address > *start &&
		    address < *end)
			*end = address;
	}
	fclose(f);
}

/* What this function allocates does not fail; without one: all may. */
static void spare(const char * const *names)
{
	unsigned long start, end;

	find_function(names, &start, &end);
	set_filter_address("reject-start", start);
	set_filter_address("reject-end", end);
}

/* What kmemleak itself needs to note an allocation is not ours. */
static void spare_kmemleak(void)
{
	static const char * const names[] = {
		"__alloc_object", "mem_pool_alloc", "__create_object", NULL
	};

	spare(names);
}

/*
 * The kernel's unregister_kprobes() can't fail, and where it has no memory it
 * warns and leaves the probe armed.
 */
static void spare_kprobes(void)
{
	static const char * const names[] = { "unregister_kprobes", NULL };

	spare(names);
}

static void prepare_filters(void)
{
	set_filter("probability", "0");
	set_filter("verbose", "0");
	set_filter("times", "-1");
	set_filter("min-order", "0");
	set_filter("ignore-gfp-wait", "N");
	set_filter("ignore-gfp-highmem", "N");
	set_filter("stacktrace-depth", STACK_DEPTH);
}

/* Fails the @n'th allocation from here on; 0: none. */
static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("fail-nth: %s", strerror(errno));
}

/* Was it reached? */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth: %s", strerror(errno));
	arm(0);
	return !strtoul(text, NULL, 10);
}

/* The module */

static int module_fd;

static int load(const char *parameters)
{
	return syscall(SYS_finit_module, module_fd, parameters, 0) ? errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "oprofile", O_NONBLOCK) ? errno : 0;
}

static void must_unload(void)
{
	int error = unload();

	if (error)
		die("unload: %s", error_name(error));
}

static void complain(const char *what, int error)
{
	wrong++;
	diag("%s: %s", what, error_name(error));
}

/* How many files and folders there are below one. */
static unsigned int count_files(const char *path)
{
	char below[PATH_MAX];
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned int n = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			n += count_files(below);
	}
	closedir(dir);
	return n;
}

static bool is_running(void)
{
	return read_number(op_path("enable"));
}

static size_t read_stream(void)
{
	int fd = open(op_path("buffer"), O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		die("buffer: %s", strerror(errno));
	while ((n = read(fd, buffer + len, BUFFER - len)) > 0)
		len += n;
	close(fd);
	return len;
}

/* What the last run has left unread is there, whole. */
static void read_run(const char *what)
{
	long decoded = count_words(buffer, read_stream());

	if (decoded < 0 || !law_holds(decoded)) {
		wrong++;
		diag("%s: a run is not whole", what);
	}
}

/* Is all of the last run still there to be read? */
static bool is_unread(void)
{
	int fd = open(op_path("buffer"), O_RDONLY | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool there;

	if (fd < 0)
		die("buffer: %s", strerror(errno));
	there = poll(&p, 1, 0) == 1 && p.revents == POLLIN &&
		sum_of_cpus("sample_received") == samples &&
		!read_number(op_path("stats/sample_delivered"));
	close(fd);
	return there;
}

static void use_page_faults(void)
{
	set("0/name", "page-faults");
	set("0/count", "1");
	set("buffer_watershed", "64");
}

/* The operations */

struct op {
	const char *name;
	int (*run)(const struct op *op);
	const char *file;
	const char *text;
	/* Sees to it that there is something to do. */
	void (*before)(void);
	/* Whether it is all right now that @run gave @error; undoes it. */
	void (*after)(int error);
	bool allocates;
};

static int open_fd = -1;

static int open_file(const struct op *op, int flags)
{
	open_fd = open(op_path("%s", op->file), flags | O_CLOEXEC);
	return open_fd < 0 ? errno : 0;
}

static void close_file(int error)
{
	(void)error;
	if (open_fd >= 0)
		close(open_fd);
	open_fd = -1;
}

static int run_open(const struct op *op)
{
	return open_file(op, O_RDONLY | O_NONBLOCK);
}

static int run_read(const struct op *op)
{
	ssize_t n;

	(void)op;
	do {
		n = read(open_fd, buffer, BUFFER);
	} while (n > 0);
	return n < 0 ? errno : 0;
}

static int run_write(const struct op *op)
{
	ssize_t len = strlen(op->text), n;

	n = write(open_fd, op->text, len);
	return n < 0 ? errno : n == len ? 0 : EMSGSIZE;
}

/* A run of which nothing is read. */
static void make_run(void)
{
	set("enable", "1");
	make_samples(30);
	set("enable", "0");
	samples = sum_of_cpus("sample_received");
}

/* Sizes that are not those of the last start, so that it makes new buffers. */
static void before_start(void)
{
	static bool turn;

	/* the reads have read it all */
	if (!is_unread())
		make_run();
	turn = !turn;
	set("cpu_buffer_size", turn ? "300" : "100");
	set("buffer_size", turn ? "4096" : "2048");
}

/* The functions that the last start has found and probed. */
static void read_symbols(char *symbols, size_t size)
{
	FILE *f = fopen(op_path("hooks"), "re");
	char line[256], symbol[128];

	if (!f)
		die("hooks: %s", strerror(errno));
	*symbols = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %127s", symbol) == 1)
			strncat(symbols, symbol, size - strlen(symbols) - 1);
	}
	fclose(f);
}

static char all_symbols[1024];

static void after_start(int error)
{
	char symbols[1024];

	close_file(error);
	if (is_running() != !error)
		complain("enable is not what it said", error);
	if (!error) {
		read_symbols(symbols, sizeof(symbols));
		if (strcmp(symbols, all_symbols)) {
			wrong++;
			diag("a start without some of the probes: %s", symbols);
		}
		make_samples(30);
		set("enable", "0");
		samples = sum_of_cpus("sample_received");
		return;
	}
	if (!is_unread())
		complain("what the last run left is gone", error);
}

static void before_stop(void)
{
	set("enable", "1");
	make_samples(30);
}

static void after_dump(int error)
{
	close_file(error);
	set("enable", "0");
	read_run("after a dump");
}

static void after_stop(int error)
{
	close_file(error);
	if (is_running())
		complain("it still runs", error);
	else
		read_run("after a stop");
}

static void after_size(int error)
{
	close_file(error);
	if (read_number(op_path("buffer_size")) != (error ? 2048 : 4096))
		complain("buffer_size is not what it said", error);
	set("buffer_size", "2048");
}

static void after_cpu_size(int error)
{
	close_file(error);
	if (read_number(op_path("cpu_buffer_size")) != (error ? 100 : 300))
		complain("cpu_buffer_size is not what it said", error);
	set("cpu_buffer_size", "100");
}

static const struct op ops[] = {
	{ "open buffer", run_open, "buffer", .after = close_file,
	  .allocates = true },
	{ "open samples", run_open, "samples", .after = close_file,
	  .allocates = true },
	{ "open dcookies", run_open, "dcookies", .after = close_file,
	  .allocates = true },
	{ "open hooks", run_open, "hooks", .after = close_file,
	  .allocates = true },
	{ "open a counter", run_open, "stats/sample_delivered",
	  .after = close_file },
	{ "open a CPU's counter", run_open, "stats/cpu0/sample_received",
	  .after = close_file },
	{ "open a control file", run_open, "buffer_size", .after = close_file },
	{ "open an event's file", run_open, "0/name", .after = close_file },
	{ "write buffer_size", run_write, "buffer_size", "4096",
	  .after = after_size, .allocates = true },
	{ "write cpu_buffer_size", run_write, "cpu_buffer_size", "300",
	  .after = after_cpu_size, .allocates = true },
	{ "write buffer_watershed", run_write, "buffer_watershed", "64",
	  .after = close_file },
	{ "write an event's name", run_write, "0/name", "page-faults",
	  .after = close_file },
	{ "read enable", run_read, "enable", .after = close_file },
	{ "read an event's name", run_read, "0/name", .after = close_file },
	{ "read cpu_type", run_read, "cpu_type", .after = close_file,
	  .allocates = true },
	{ "read buffer", run_read, "buffer", .before = make_run,
	  .after = close_file },
	{ "read samples", run_read, "samples", .before = make_run,
	  .after = close_file },
	{ "read dcookies", run_read, "dcookies", .after = close_file },
	{ "read hooks", run_read, "hooks", .after = close_file },
	{ "read a counter", run_read, "stats/sync_runs", .after = close_file },
	{ "start", run_write, "enable", "1", .before = before_start,
	  .after = after_start, .allocates = true },
	{ "dump", run_write, "dump", "1", .before = before_stop,
	  .after = after_dump },
	{ "stop", run_write, "enable", "0", .before = before_stop,
	  .after = after_stop },
};

/* Returns the errno; *hit where an allocation was there to fail. */
static int fail_nth(const struct op *op, unsigned int n, bool *hit)
{
	int error = 0;

	if (op->before)
		op->before();
	/* Of a read or a write the open is not what is meant. */
	if (op->run == run_read)
		error = open_file(op, O_RDONLY);
	else if (op->run == run_write)
		error = open_file(op, O_WRONLY);
	if (error)
		die("%s: %s", op->file, error_name(error));
	arm(n);
	error = op->run(op);
	*hit = disarm();
	op->after(error);
	return error;
}

static void test_op(const struct op *op)
{
	unsigned int n = 0, harmless = 0;
	bool hit;
	int error;

	wrong = 0;
	do {
		error = fail_nth(op, ++n, &hit);
		harmless += hit && !error;
		if (error && error != ENOMEM)
			complain(op->name, error);
	} while (hit);
	if (error)
		complain("with memory", error);
	ok(!wrong && (n > 1 || !op->allocates),
	   "%s: %u allocations fail in turn, %u of them do no harm", op->name,
	   n - 1, harmless);
}

static unsigned int all_files;

/* Loads with the @n'th allocation failing; nothing stays, or all of it is there. */
static int load_nth(const char *parameters, unsigned int n, bool *hit)
{
	int error;

	require_text(MODULES_START, MODULES_END);
	arm(n);
	error = load(parameters);
	*hit = disarm();
	if (!error) {
		if (count_files(OP_DIR) != all_files) {
			wrong++;
			diag("allocation %u of a load: %u files, not %u", n,
			     count_files(OP_DIR), all_files);
		}
		must_unload();
	} else if (error != ENOMEM) {
		complain("load", error);
	}
	if (!access("/sys/module/oprofile", F_OK) || !access(OP_DIR, F_OK)) {
		wrong++;
		diag("allocation %u of a load: something stays", n);
	}
	return error;
}

/* Each @step'th allocation. */
static void test_load(const char *parameters, unsigned int step)
{
	unsigned int n, tried = 0, harmless = 0;
	bool hit = true;
	int error = 0;

	wrong = 0;
	for (n = 1; hit; n += step) {
		error = load_nth(parameters, n, &hit);
		tried += hit;
		harmless += hit && !error;
	}
	if (error)
		complain("with memory", error);
	ok(!wrong && tried,
	   "load %s: %u allocations fail in turn, %u of them do no harm",
	   parameters, tried, harmless);
}

static unsigned long section(const char *name)
{
	char path[PATH_MAX], text[32];
	int error;

	snprintf(path, sizeof(path), "/sys/module/oprofile/sections/%s", name);
	error = read_text(path, text, sizeof(text));
	if (error)
		die("%s: %s", path, error_name(error));
	return strtoul(text, NULL, 16);
}

/* The module's own code is the first in its memory, and smaller than this. */
#define TEXT_MAX	(1ul << 18)

static void test_loaded(void)
{
	unsigned long text = section(".text");
	size_t i;

	require_text(text, text + TEXT_MAX);
	use_page_faults();
	set("buffer_size", "2048");
	set("cpu_buffer_size", "100");
	make_run();
	read_symbols(all_symbols, sizeof(all_symbols));
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (only && strcmp(ops[i].name, only))
			continue;
		if (!strcmp(ops[i].name, "stop"))
			spare_kprobes();
		test_op(&ops[i]);
		spare_kmemleak();
	}
	wrong = 0;
	make_run();
	read_run("at the end");
	ok(!wrong, "a run after all that is whole");
}

int main(int argc, char **argv)
{
	int error;

	if (argc != 2 && argc != 3)
		return 2;
	module_path = argv[1];
	only = argv[2];
	setvbuf(stdout, NULL, _IOLBF, 4096);
	buffer = map_memory(BUFFER);
	prepare_samples();
	nth_fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	module_fd = open(module_path, O_RDONLY | O_CLOEXEC);
	if (nth_fd < 0 || module_fd < 0)
		die("fail-nth or %s: %s", module_path, strerror(errno));
	prepare_filters();
	spare_kmemleak();

	error = load("");
	if (error)
		die("load: %s", error_name(error));
	all_files = count_files(OP_DIR);
	test_loaded();
	must_unload();
	if (!only || !strcmp(only, "load")) {
		/* most are alike: a file's, of more than a hundred */
		test_load("", getenv("OPROFILE_LONG") ? 1 : 5);
		/* those of a start have had their turn */
		test_load("event=page-faults enable=1", 31);
	}
	error = load("");
	ok(!error, "loads after all that");
	if (!error)
		must_unload();
	return tap_end();
}
