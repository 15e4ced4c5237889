// SPDX-License-Identifier: GPL-2.0
// link: -static
/*
 * bench LOAD N [SIZE]: does something fixed N times and prints how many
 * nanoseconds it took, which is what the benchmark (tests/bench) compares.
 *
 *	user	a loop in this program, a million instructions
 *	kernel	reads of zeroes, of some million instructions together
 *	exec	fork, exec of this program, exit
 *	mmap	mmap of a page of this program's code, a look at it, munmap
 *	nothing	which has the module convert what was sampled, as each load does
 *		before and after
 *	read	reads "buffer" to its end
 *	mix	a loop of 20,000 instructions in each of 64 processes in turn
 *	libraries a loop of 20,000 instructions in one of 5,000 mappings of 500
 *		files, another one each time
 *
 * and a page fault
 *
 *	processes in one of SIZE processes
 *	mappings on the code in one of SIZE mappings of a file
 *	files	on the code in one of SIZE files of "many make /tmp/many SIZE"
 *
 * x86-64 code.
 */

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "optool.h"

#define PAGE		4096ul
#define MIX		64ul
#define LIBRARIES	500ul
#define MAPPINGS	5000ul
#define SHORT_LOOP	6666u		/* times three instructions */

static int self;
static unsigned long size, turn;

__attribute__((noinline))
static void load_user(void)
{
	unsigned int n;

	for (n = 0; n < 333333; n++)
		__asm__ volatile("nop");
}

static void load_kernel(void)
{
	static char buffer[65536];
	static int zero = -1;
	unsigned int i;

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 64; i++) {
		if (read(zero, buffer, sizeof(buffer)) != sizeof(buffer))
			die("/dev/zero: %s", strerror(errno));
	}
}

static void load_exec(void)
{
	char *args[] = { "/proc/self/exe", NULL };
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		execv(args[0], args);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("bench: the child failed");
}

static void load_mmap(void)
{
	volatile char *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 4096);
	if (page == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	(void)*page;
	if (munmap((void *)page, 4096))
		die("munmap: %s", strerror(errno));
}

/* Has the module convert what was sampled, where it is there. */
static void convert(void)
{
	int error = write_text(op_path("dump"), "1");

	if (error && error != ENOENT)
		die("dump: %s", strerror(error));
}

static void load_nothing(void)
{
}

static void load_read(void)
{
	static char buffer[65536];
	int fd = open(op_path("buffer"), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		die("buffer: %s", strerror(errno));
	do {
		n = read(fd, buffer, sizeof(buffer));
	} while (n > 0);
	if (n < 0)
		die("buffer: %s", strerror(errno));
	close(fd);
}

/* ---- processes that take turns --------------------------------------- */

static pid_t *children;

/* The signal with which a turn is given. */
static sigset_t set;

static void wait_turn(void)
{
	if (sigwaitinfo(&set, NULL) != SIGUSR1)
		die("a signal: %s", strerror(errno));
}

static void give_turn(pid_t pid)
{
	if (kill(pid, SIGUSR1))
		die("process %d: %s", (int)pid, strerror(errno));
}

__attribute__((noinline))
static void short_loop(void)
{
	unsigned int n;

	for (n = 0; n < SHORT_LOOP; n++)
		__asm__ volatile("nop");
}

static void fault(void)
{
	static char *page;

	if (!page)
		page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || madvise(page, PAGE, MADV_DONTNEED))
		die("a page: %s", strerror(errno));
	*(volatile char *)page = 1;
}

static void child(void (*work)(void))
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		wait_turn();
		work();
		give_turn(parent);
	}
}

static void load_turn(void)
{
	give_turn(children[turn++ % size]);
	wait_turn();
}

/* Signals, as the cost of a futex hangs on where its address is hashed to. */
static void start_children(void (*work)(void))
{
	unsigned long i;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	children = calloc(size, sizeof(*children));
	if (!children)
		die("%lu processes: %s", size, strerror(errno));
	for (i = 0; i < size; i++) {
		children[i] = fork();
		if (children[i] < 0)
			die("fork: %s", strerror(errno));
		if (!children[i])
			child(work);
	}
	/* What each does only the first time. */
	for (i = 0; i < size; i++)
		load_turn();
}

static void prepare_processes(void)
{
	start_children(fault);
}

static void prepare_mix(void)
{
	size = MIX;
	start_children(short_loop);
}

/* ---- mappings --------------------------------------------------------- */

static char **codes;

static void call(char *code)
{
	((void (*)(void))code)();
}

static char *map_code(int fd)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (fd < 0 || page == MAP_FAILED)
		die("code: %s", strerror(errno));
	return page;
}

static int code_file(const unsigned char *code, size_t len)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, code, len, 0) != (ssize_t)len ||
	    ftruncate(fd, PAGE))
		die("code: %s", strerror(errno));
	return fd;
}

static void make_codes(void)
{
	codes = calloc(size, sizeof(*codes));
	if (!codes)
		die("%lu mappings: %s", size, strerror(errno));
}

/* Far from the last one: the next prime step. */
static char *next_code(void)
{
	turn = (turn + 7919) % size;
	return codes[turn];
}

static void load_faulting_code(void)
{
	char *code = next_code();

	if (madvise((char *)((uintptr_t)code & -PAGE), PAGE, MADV_DONTNEED))
		die("code: %s", strerror(errno));
	call(code);
}

static void prepare_mappings(void)
{
	int fd = code_file((const unsigned char *)"\xc3", 1);
	unsigned long i;

	make_codes();
	for (i = 0; i < size; i++) {
		codes[i] = map_code(fd);
		call(codes[i]);
	}
}

static void prepare_files(void)
{
	char path[64];
	unsigned long i;
	int fd;

	make_codes();
	for (i = 0; i < size; i++) {
		snprintf(path, sizeof(path), "/tmp/many/%lu", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		codes[i] = map_code(fd) + i % PAGE;
		close(fd);
		call(codes[i]);
	}
}

static void load_code(void)
{
	call(next_code());
}

static void prepare_libraries(void)
{
	/* mov $SHORT_LOOP, %ecx; nop; dec %ecx; jnz; ret */
	static const unsigned char loop[] = {
		0xb9, SHORT_LOOP & 255, SHORT_LOOP >> 8, 0, 0,
		0x90, 0xff, 0xc9, 0x75, 0xfb, 0xc3,
	};
	int fds[LIBRARIES];
	unsigned long i;

	size = MAPPINGS;
	make_codes();
	for (i = 0; i < LIBRARIES; i++)
		fds[i] = code_file(loop, sizeof(loop));
	for (i = 0; i < size; i++)
		codes[i] = map_code(fds[i % LIBRARIES]);
	for (i = 0; i < LIBRARIES; i++)
		close(fds[i]);
}

static const struct {
	const char *name;
	void (*load)(void);
	void (*prepare)(void);
} loads[] = {
	{ "user", load_user, NULL },
	{ "kernel", load_kernel, NULL },
	{ "exec", load_exec, NULL },
	{ "mmap", load_mmap, NULL },
	{ "nothing", load_nothing, NULL },
	{ "read", load_read, NULL },
	{ "mix", load_turn, prepare_mix },
	{ "libraries", load_code, prepare_libraries },
	{ "processes", load_turn, prepare_processes },
	{ "mappings", load_faulting_code, prepare_mappings },
	{ "files", load_faulting_code, prepare_files },
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned long i, n;
	uint64_t begin;
	unsigned int l;

	/* what "exec" executes */
	if (argc < 3)
		return 0;
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (self < 0)
		die("/proc/self/exe: %s", strerror(errno));
	n = strtoul(argv[2], NULL, 10);
	size = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	if (!size)
		die("bench: SIZE is 1 at least");
	for (l = 0; l < sizeof(loads) / sizeof(loads[0]); l++) {
		if (strcmp(loads[l].name, argv[1]))
			continue;
		if (loads[l].prepare)
			loads[l].prepare();
		/* what is only done once */
		if (n > 1)
			loads[l].load();
		/* Samples of the past are not to be paid for here. */
		convert();
		begin = clock_ns();
		for (i = 0; i < n; i++)
			loads[l].load();
		convert();
		printf("%llu\n", (unsigned long long)(clock_ns() - begin));
		return 0;
	}
	die("bench: no such load: %s", argv[1]);
}
