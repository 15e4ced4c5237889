// SPDX-License-Identifier: GPL-2.0
/*
 * workload SECONDS: spends that much CPU time in four parts of known shares,
 * two functions at 70 : 30 among them, and prints the truth.
 *
 * The parts take turns in slices of random length, so that no sampling period
 * can lock to them. The one that is furthest behind its share comes next.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>

#include "demo.h"
#include "libwork.h"

#define SLICE_MIN_NS	1000000
#define SLICE_MAX_NS	9000000

struct part {
	const char	*name;
	unsigned long	(*run)(unsigned long rounds);
	double		weight;
	char		mode;
	const char	*symbol;
	uint64_t	ns;
	uint64_t	rounds;
};

static volatile unsigned long sink;

__attribute__((noinline))
static unsigned long seventy(unsigned long rounds)
{
	unsigned long x = rounds;

	while (rounds--)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	return x;
}

__attribute__((noinline))
static unsigned long thirty(unsigned long rounds)
{
	unsigned long x = rounds | 1;

	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

/* Nearly all of its time goes into clearing buf, in the kernel. */
static unsigned long kernel(unsigned long rounds)
{
	static char buf[1 << 20];
	static int fd = -1;

	if (fd < 0) {
		fd = open("/dev/zero", O_RDONLY);
		if (fd < 0)
			die("/dev/zero");
		memset(buf, 1, sizeof(buf));
	}
	while (rounds--) {
		if (read(fd, buf, sizeof(buf)) != sizeof(buf))
			die("/dev/zero");
	}
	return buf[0];
}

/*
 * The kernel's functions on the way of a read from /dev/zero; their names
 * differ a little between kernels and processors.
 */
#define READ_ZERO \
	"(__)?(arch_)?clear_user(_.*)?|rep_stos_alternative|_?iov_iter_zero|" \
	"read_iter_zero|read_zero|_*cond_resched"

static struct part parts[] = {
	{ "seventy", seventy, 0.35, 'u', "seventy", 0, 0 },
	{ "thirty", thirty, 0.15, 'u', "thirty", 0, 0 },
	{ "library", library, 0.20, 'u', "library", 0, 0 },
	{ "kernel", kernel, 0.30, 'k', READ_ZERO, 0, 0 },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

static void run(struct part *part, uint64_t rounds)
{
	uint64_t start = cpu_ns();

	sink += part->run(rounds);
	part->ns += cpu_ns() - start;
	part->rounds += rounds;
}

static struct part *furthest_behind(void)
{
	struct part *behind = &parts[0];
	unsigned int i;

	for (i = 1; i < PARTS; i++) {
		if (parts[i].ns / parts[i].weight <
		    behind->ns / behind->weight)
			behind = &parts[i];
	}
	return behind;
}

static uint64_t total_ns(void)
{
	uint64_t ns = 0;
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		ns += parts[i].ns;
	return ns;
}

int main(int argc, char **argv)
{
	char app[PATH_MAX], library_path[PATH_MAX];
	uint64_t until, rounds;
	unsigned int i;
	Dl_info info;

	if (argc != 2 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: workload SECONDS\n");
		return 2;
	}
	until = atoi(argv[1]) * 1000000000ull;

	/* How long does a round take? */
	for (i = 0; i < PARTS; i++) {
		parts[i].run(1);
		for (rounds = 1; parts[i].ns < SLICE_MIN_NS; rounds *= 2)
			run(&parts[i], rounds);
	}
	while (total_ns() < until) {
		struct part *part = furthest_behind();

		rounds = random_between(SLICE_MIN_NS, SLICE_MAX_NS) *
			 (double)part->rounds / part->ns;
		run(part, rounds ? rounds : 1);
	}

	own_path(app);
	if (!dladdr((void *)library, &info) ||
	    !realpath(info.dli_fname, library_path))
		die("libwork.so");
	for (i = 0; i < PARTS; i++) {
		const char *image = app;

		if (parts[i].run == library)
			image = library_path;
		else if (parts[i].mode == 'k')
			image = "[kernel]";
		put_truth(parts[i].name, parts[i].ns, 1, parts[i].mode, app,
			  image, parts[i].symbol);
	}
	return 0;
}
