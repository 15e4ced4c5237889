// SPDX-License-Identifier: GPL-2.0
/*
 * hook WHAT N: does one of the things that the module has hooks for, N times.
 *
 *	munmap		unmaps a page of code
 *	fixed		maps a page of code over another one
 *	mremap-move	moves a page of code to where nothing is
 *	mremap-over	moves it over another one
 *	mremap-shrink	makes a mapping of code a page shorter
 *	mremap-grow	makes one a page longer, where it is
 *	brk		gives back a page of the heap that was executable
 *	shmdt		detaches shared memory with code
 *	mprotect	takes the execute bit, or gives it
 *	exec		executes another program, in place of this one
 *	exit		ends a process
 *	thread		ends a thread
 *	nothing
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "optool.h"

#define PAGE	4096ul
#define RX	(PROT_READ | PROT_EXEC)

/* Places with room around them. */
static char *place(unsigned int i)
{
	return (char *)0x30000000ul + i * 0x1000000ul;
}

/* An error of any of these would leave the hook nothing to see. */
static void must(bool good, const char *what)
{
	if (!good)
		die("%s: %s", what, strerror(errno));
}

static void map(char *at, unsigned long pages)
{
	must(mmap(at, pages * PAGE, RX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		  -1, 0) == at, "mmap");
}

static void do_munmap(unsigned long n)
{
	map(place(0), n);
	/* from the end, so that each leaves one mapping */
	while (n--)
		must(!munmap(place(0) + n * PAGE, PAGE), "munmap");
}

static void do_fixed(unsigned long n)
{
	map(place(0), 1);
	while (n--)
		map(place(0), 1);
}

static void move(char *from, char *to)
{
	must(mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to,
	     "mremap");
}

static void do_mremap_move(unsigned long n)
{
	unsigned long i;

	map(place(0), 1);
	for (i = 0; i < n; i++)
		move(place(i % 2), place((i + 1) % 2));
}

/* The hook sees both of them go: what is moved, and what it is moved over. */
static void do_mremap_over(unsigned long n)
{
	map(place(0), n);
	map(place(1), 1);
	while (n--)
		move(place(0) + n * PAGE, place(1));
}

static void do_mremap_shrink(unsigned long n)
{
	map(place(0), n + 1);
	for (; n; n--)
		must(mremap(place(0), (n + 1) * PAGE, n * PAGE, 0) == place(0),
		     "mremap");
}

static void do_mremap_grow(unsigned long n)
{
	unsigned long i;

	map(place(0), 1);
	for (i = 1; i <= n; i++)
		must(mremap(place(0), i * PAGE, (i + 1) * PAGE, 0) == place(0),
		     "mremap");
}

static void do_brk(unsigned long n)
{
	char *end = sbrk(0);

	end += -(unsigned long)end % PAGE;
	while (n--) {
		must(!brk(end + PAGE), "brk");
		must(!mprotect(end, PAGE, RX), "mprotect");
		must(!brk(end), "brk");
	}
}

static void do_shmdt(unsigned long n)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0700);
	char *at;

	must(id >= 0, "shmget");
	while (n--) {
		at = shmat(id, NULL, SHM_EXEC);
		must(at != (void *)-1, "shmat");
		must(!shmdt(at), "shmdt");
	}
	must(!shmctl(id, IPC_RMID, NULL), "shmctl");
}

static void do_mprotect(unsigned long n)
{
	map(place(0), 1);
	while (n--)
		must(!mprotect(place(0), PAGE, n % 2 ? PROT_READ : RX),
		     "mprotect");
}

static void do_exec(unsigned long n)
{
	char left[24];

	if (!n)
		return;
	snprintf(left, sizeof(left), "%lu", n - 1);
	execl("/proc/self/exe", "hook", "exec", left, NULL);
	must(false, "exec");
}

static void do_exit(unsigned long n)
{
	pid_t pid;

	while (n--) {
		pid = fork();
		if (!pid)
			_exit(0);
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	}
}

static void *end_thread(void *arg)
{
	return arg;
}

static void do_thread(unsigned long n)
{
	pthread_t thread;

	while (n--) {
		must(!pthread_create(&thread, NULL, end_thread, NULL), "thread");
		pthread_join(thread, NULL);
	}
}

static void do_nothing(unsigned long n)
{
	(void)n;
}

static const struct {
	const char *name;
	void (*repeat)(unsigned long n);
} things[] = {
	{ "munmap", do_munmap },
	{ "fixed", do_fixed },
	{ "mremap-move", do_mremap_move },
	{ "mremap-over", do_mremap_over },
	{ "mremap-shrink", do_mremap_shrink },
	{ "mremap-grow", do_mremap_grow },
	{ "brk", do_brk },
	{ "shmdt", do_shmdt },
	{ "mprotect", do_mprotect },
	{ "exec", do_exec },
	{ "exit", do_exit },
	{ "thread", do_thread },
	{ "nothing", do_nothing },
};

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 3)
		die("hook WHAT N");
	for (i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		if (!strcmp(argv[1], things[i].name)) {
			things[i].repeat(strtoul(argv[2], NULL, 10));
			return 0;
		}
	}
	die("hook: what is %s?", argv[1]);
}
