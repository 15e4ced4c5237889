// SPDX-License-Identifier: GPL-2.0
// link: -ltruthone -ltruthtwo
/*
 * truth DIR NAME MS: spends that much CPU time, by the clock of its thread, in
 * functions of its own, of two libraries, of one that it loads by itself, and in
 * system calls, and writes down how much went where.
 *
 * The slices have random lengths, so that no sampling period can lock to them,
 * and after some of them it moves to another CPU. It adds a line to DIR/ready
 * when it could begin, begins when somebody opens DIR/go for writing, leaves the
 * truth in DIR/NAME.truth, and ends when somebody opens DIR/end: so a profile
 * can have all of that and nothing else. The shares differ between names.
 *
 * A line of truth, tabs between: program, part, nanoseconds, mode, image, and
 * the first offset of the function there and the one behind it.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <sched.h>

#include "optool.h"
#include "truth.h"

#define SLICE_MIN	300000u		/* ns */
#define SLICE_MAX	3000000u

TRUTH_CODE(hot);
TRUTH_CODE(warm);
extern const struct truth_code code_one, code_two;

struct part {
	const char *name;
	const struct truth_code *code;	/* NULL: system calls */
	unsigned int weight;
	uint64_t ns;
	double ns_per_round;
};

static struct part parts[] = {
	{ .name = "hot", .code = &code_hot, .weight = 30 },
	{ .name = "warm", .code = &code_warm, .weight = 10 },
	{ .name = "one", .code = &code_one, .weight = 20 },
	{ .name = "two", .code = &code_two, .weight = 8 },
	{ .name = "later", .weight = 14 },
	{ .name = "system", .weight = 18 },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))
#define LATER	4u

static const char *dir;

static unsigned int any(unsigned int below)
{
	static uint64_t state;

	if (!state)
		state = getpid() * 0x9e3779b97f4a7c15ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 32) % below;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		die("clock_gettime: %s", strerror(errno));
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void call_system(unsigned long rounds)
{
	static char bytes[16384];
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	while (rounds--) {
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			die("/dev/zero: %s", strerror(errno));
	}
}

/* Returns the nanoseconds that it took. */
static uint64_t run(const struct part *part, unsigned long rounds)
{
	uint64_t begin = cpu_ns();

	if (part->code)
		part->code->run(rounds);
	else
		call_system(rounds);
	return cpu_ns() - begin;
}

/* The best of a few, as some are held up by what else the machine does. */
static void calibrate(struct part *part)
{
	unsigned long rounds = part->code ? 1000 : 1;
	unsigned int enough = 0;
	double ns;

	for (; enough < 4; rounds += rounds / 2 + 1) {
		ns = run(part, rounds);
		enough += ns > SLICE_MIN / 2;
		if (!part->ns_per_round || ns / rounds < part->ns_per_round)
			part->ns_per_round = ns / rounds;
	}
}

static struct part *next_part(void)
{
	unsigned int i, all = 0, turn;

	for (i = 0; i < PARTS; i++)
		all += parts[i].weight;
	turn = any(all);
	for (i = 0; turn >= parts[i].weight; i++)
		turn -= parts[i].weight;
	return &parts[i];
}

static void move(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(any(sysconf(_SC_NPROCESSORS_CONF)), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity: %s", strerror(errno));
}

static void spend(uint64_t total)
{
	unsigned long rounds;
	uint64_t spent = 0, ns;
	struct part *part;

	while (spent < total) {
		part = next_part();
		rounds = (SLICE_MIN + any(SLICE_MAX - SLICE_MIN)) /
			 part->ns_per_round;
		ns = run(part, rounds + 1);
		part->ns += ns;
		spent += ns;
		if (!any(16))
			move();
	}
}

/* Print where an address lies, as image and offset. */
static void print_place(FILE *file, const char *start, const char *end)
{
	uintptr_t first, last, at = (uintptr_t)start;
	char path[PATH_MAX], line[PATH_MAX + 128];
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t offset;

	if (!maps)
		die("/proc/self/maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " r-xp %" SCNx64
			   " %*s %*s %s", &first, &last, &offset, path) == 4 &&
		    at >= first && at < last) {
			offset += at - first;
			fprintf(file, "%s\t%" PRIu64 "\t%" PRIu64 "\n", path,
				offset, offset + (end - start));
			fclose(maps);
			return;
		}
	}
	die("truth: no place of %p", (const void *)start);
}

static void tell(const char *name)
{
	char app[PATH_MAX], path[PATH_MAX];
	const struct part *part;
	unsigned int i;
	ssize_t n;
	FILE *file;

	n = readlink("/proc/self/exe", app, sizeof(app) - 1);
	if (n < 0)
		die("/proc/self/exe: %s", strerror(errno));
	app[n] = 0;
	snprintf(path, sizeof(path), "%s/%s.truth", dir, name);
	file = fopen(path, "we");
	if (!file)
		die("%s: %s", path, strerror(errno));
	for (i = 0; i < PARTS; i++) {
		part = &parts[i];
		fprintf(file, "%s\t%s\t%" PRIu64 "\t", app, part->name,
			part->ns);
		if (part->code) {
			fprintf(file, "u\t");
			print_place(file, part->code->start, part->code->end);
		} else {
			fprintf(file, "k\t[kernel]\t0\t0\n");
		}
	}
	if (fclose(file))
		die("%s: %s", path, strerror(errno));
}

static void wait_for(const char *fifo)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, fifo);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static void add_line(const char *name, const char *line)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line) ||
	    write(fd, "\n", 1) != 1)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned int i;
	void *library;

	if (argc != 4)
		die("truth DIR NAME MS");
	dir = argv[1];
	library = dlopen("libtruthlater.so", RTLD_NOW);
	parts[LATER].code = library ? dlsym(library, "code_later") : NULL;
	if (!parts[LATER].code)
		die("truth: %s", dlerror());
	for (i = 0; i < PARTS; i++) {
		calibrate(&parts[i]);
		parts[i].weight += any(10);
	}
	add_line("ready", argv[2]);
	wait_for("go");
	spend(strtoul(argv[3], NULL, 10) * 1000000ull);
	add_line("done", argv[2]);
	wait_for("end");
	tell(argv[2]);
	return 0;
}
