// SPDX-License-Identifier: GPL-2.0
/*
 * storm SECONDS NAME...: makes processes and mappings come and go as fast as it
 * can, with the files that storm-make has made, and writes down in their table
 * who has run and mapped what. A name is that of a storm (storm.h), or
 * "processes", "mappings", "swaps", "together" (the first two), "all" (those).
 * Prints how often each file was run.
 *
 * A storm is a few workers, each a process, some with threads, that repeat one
 * step until the time is over. What a worker forks it writes down itself, after
 * the fork: no worker is ever killed.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "optool.h"
#include "storm.h"

#define MAX_FILES	8	/* of a storm, of one kind */
#define MAX_CHILDREN	6
#define PAGE		STORM_PAGE

/* Where storms map things that need a place of their own; apart by thread. */
#define PLACE		0x30000000ul
#define PLACE_SIZE	0x10000ul
#define BURST		256	/* mappings; takes 16 such places */

/* A storm's directory in a cgroup2 file system, with a limit on memory. */
#define OOM_GROUP	"/sys/fs/cgroup/storm"

struct storm;

static struct {
	const struct storm *storm;
	enum storm_id id;
	struct storm_file *programs[MAX_FILES];
	struct storm_file *files[MAX_FILES];	/* libraries, code, pairs */
	int fds[MAX_FILES];			/* of files */
	unsigned int nr_programs;
	unsigned int nr_files;
	uint64_t apps;
	uint64_t mapped;
	pid_t children[MAX_CHILDREN];
} worker;

static struct storm_table *table;
static double deadline;
static uint64_t vdso, vdso_end;
static __thread unsigned int seed;

/* ---- the table -------------------------------------------------------- */

static uint64_t bit(const struct storm_file *file)
{
	return 1ull << (file - table->files);
}

static void log_process(pid_t tgid, uint64_t apps, uint64_t files)
{
	unsigned int i = atomic_fetch_add(&table->nr_entries, 1);
	struct storm_entry *e;

	if (i >= STORM_ENTRIES)
		die("storm: the table is full");
	e = &table->entries[i];
	e->storm = worker.id;
	e->apps = apps;
	e->files = apps | files;
	e->vdso = vdso;
	e->vdso_end = vdso_end;
	e->anon = worker.id == STORM_JIT;
	atomic_store(&e->tgid, tgid);
}

static void ran(struct storm_file *file)
{
	atomic_fetch_add(&file->runs, 1);
}

static uint64_t base_files(void)
{
	uint64_t files = 0;
	unsigned int i;

	for (i = 0; i < table->nr_files; i++) {
		if (!table->files[i].generated)
			files |= bit(&table->files[i]);
	}
	return files;
}

/* The file that a process executes, if it is in the table. */
static uint64_t app_of(const char *process)
{
	char link[64], path[PATH_MAX];
	unsigned int i;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%s/exe", process);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		die("%s: %s", link, strerror(errno));
	path[n] = 0;
	for (i = 0; i < table->nr_files; i++) {
		if (!strcmp(table->files[i].path, path))
			return bit(&table->files[i]);
	}
	return 0;
}

/* Of a process, or "self". */
static void find_vdso(const char *process, uint64_t *start, uint64_t *end)
{
	char line[PATH_MAX + 128];
	FILE *maps;

	snprintf(line, sizeof(line), "/proc/%s/maps", process);
	maps = fopen(line, "re");
	if (!maps)
		die("%s: %s", line, strerror(errno));
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) != 2)
			die("/proc/%s/maps: %s", process, line);
	}
	fclose(maps);
}

/* ---- what steps are made of ------------------------------------------- */

static unsigned int any(unsigned int below)
{
	return rand_r(&seed) / 7 % below;
}

static struct storm_file *any_program(void)
{
	return worker.programs[any(worker.nr_programs)];
}

/* From microseconds to some milliseconds. */
static unsigned long rounds(void)
{
	return table->factor * (1000 + any(any(4) ? 100000 : 1000000));
}

static void pause_us(unsigned int us)
{
	struct timespec t = { 0, us * 1000l };

	nanosleep(&t, NULL);
}

/* Fails only when there are too many processes: not here. */
static pid_t must_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	return pid;
}

static void must_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("wait: %s", strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		die("%s: a child got signal %d", storm_needs[worker.id].name,
		    WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		die("%s: a child ended with status %d",
		    storm_needs[worker.id].name, WEXITSTATUS(status));
}

static void call(void *page, struct storm_file *file, unsigned long n)
{
	void (*code)(unsigned long n);

	code = (void *)((char *)page + file->start % PAGE);
	ran(file);
	code(n);
}

/* Map pages of file number i of this storm; the page of its code is number 0. */
static void *map_pages(void *at, unsigned int i, int prot, int flags,
		       long first, unsigned long pages)
{
	const struct storm_file *file = worker.files[i];
	off_t offset = file->start / PAGE * PAGE + first * (long)PAGE;
	void *page;

	page = mmap(at, pages * PAGE, prot, MAP_PRIVATE | flags, worker.fds[i],
		    offset);
	if (page == MAP_FAILED || ((flags & MAP_FIXED) && page != at))
		die("mmap %s: %s", file->path, strerror(errno));
	return page;
}

/* With so many pages around its code. */
static void *map_around(void *at, unsigned int i, int prot, int flags,
			unsigned long before, unsigned long after)
{
	return map_pages(at, i, prot, flags, -(long)before, before + 1 + after);
}

static void *map_page(void *at, unsigned int i, int prot)
{
	return map_around(at, i, prot, at ? MAP_FIXED : 0, 0, 0);
}

static void unmap(void *page, unsigned long pages)
{
	if (munmap(page, pages * PAGE))
		die("munmap: %s", strerror(errno));
}

static void protect(void *page, int prot)
{
	if (mprotect(page, PAGE, prot))
		die("mprotect: %s", strerror(errno));
}

static char *place(unsigned int thread)
{
	return (char *)PLACE + thread * PLACE_SIZE;
}

#define RX (PROT_READ | PROT_EXEC)

/* Execute the programs one after the other; the list ends with NULL. */
static pid_t execute(struct storm_file **programs)
{
	char *args[MAX_FILES + 1];
	unsigned int i;
	uint64_t apps = worker.apps;
	pid_t pid;

	for (i = 0; programs[i]; i++) {
		args[i] = programs[i]->path;
		apps |= bit(programs[i]);
		ran(programs[i]);
	}
	args[i] = NULL;
	pid = must_fork();
	if (!pid) {
		execv(args[0], args);
		_exit(127);
	}
	log_process(pid, apps, worker.mapped);
	return pid;
}

static pid_t execute_one(struct storm_file *program)
{
	return execute((struct storm_file *[]){ program, NULL });
}

/* ---- processes -------------------------------------------------------- */

static void step_exec(unsigned int thread)
{
	(void)thread;
	must_wait(execute_one(any_program()));
}

static void *pages[MAX_FILES];

static void map_all(void)
{
	unsigned int i;

	for (i = 0; i < worker.nr_files; i++)
		pages[i] = map_page(NULL, i, RX);
}

static void call_any(void)
{
	unsigned int i = any(worker.nr_files);

	call(pages[i], worker.files[i], rounds());
}

static void step_fork(unsigned int thread)
{
	unsigned int i = any(2);
	pid_t pid;

	(void)thread;
	pid = must_fork();
	if (!pid) {
		call(pages[i], worker.files[i], rounds());
		_exit(0);
	}
	log_process(pid, worker.apps, worker.mapped);
	must_wait(pid);
}

/* Apart, as the child runs on this function's stack. */
__attribute__((noinline))
static pid_t vfork_and(struct storm_file *program, unsigned int code)
{
	char *args[] = { program ? program->path : NULL, NULL };
	pid_t pid = vfork();

	if (pid < 0)
		die("vfork: %s", strerror(errno));
	if (!pid) {
		call(pages[code], worker.files[code], 10000);
		if (program)
			execv(args[0], args);
		_exit(program ? 127 : 0);
	}
	return pid;
}

static void step_vfork(unsigned int thread)
{
	struct storm_file *program = any(2) ? any_program() : NULL;
	pid_t pid;

	(void)thread;
	pid = vfork_and(program, any(2));
	if (program)
		ran(program);
	log_process(pid, worker.apps | (program ? bit(program) : 0),
		    worker.mapped);
	must_wait(pid);
}

static void *thread_calls(void *arg)
{
	seed = (unsigned long)arg;
	call_any();
	return NULL;
}

static void run_threads(unsigned int n)
{
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&threads[i], NULL, thread_calls,
				   (void *)(unsigned long)any(1u << 24)))
			die("no thread");
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void step_threads(unsigned int thread)
{
	(void)thread;
	run_threads(1 + any(4));
}

/* Three threads in code, until they are killed. */
static pid_t fork_threads(void)
{
	pid_t pid = must_fork();

	if (!pid) {
		for (;;)
			run_threads(3);
	}
	log_process(pid, worker.apps, worker.mapped);
	return pid;
}

static void step_kill(unsigned int thread)
{
	unsigned int i = any(MAX_CHILDREN);

	(void)thread;
	if (worker.children[i]) {
		kill(worker.children[i], SIGKILL);
		must_wait(worker.children[i]);
	}
	worker.children[i] = any(2) ? execute_one(any_program()) :
				      fork_threads();
	pause_us(any(3000));
}

static void end_children(void)
{
	unsigned int i;

	for (i = 0; i < MAX_CHILDREN; i++) {
		if (!worker.children[i])
			continue;
		kill(worker.children[i], SIGKILL);
		must_wait(worker.children[i]);
	}
}

static void step_reexec(unsigned int thread)
{
	struct storm_file *programs[MAX_FILES + 1] = {};
	unsigned int i, n = 2 + any(MAX_FILES - 2);

	(void)thread;
	for (i = 0; i < n; i++)
		programs[i] = any_program();
	must_wait(execute(programs));
}

static void move(pid_t pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(any(sysconf(_SC_NPROCESSORS_CONF)), &set);
	/* It may have ended, and the CPU may be away. */
	sched_setaffinity(pid, sizeof(set), &set);
}

static void step_migrate(unsigned int thread)
{
	unsigned int i;
	pid_t *child;
	int status;

	(void)thread;
	for (i = 0; i < 3; i++) {
		child = &worker.children[i];
		if (*child && waitpid(*child, &status, WNOHANG) == *child)
			*child = 0;
		if (!*child)
			*child = execute_one(any_program());
		move(*child);
	}
	move(0);
	pause_us(any(500));
}

/* A child that takes memory, in a group that may not have so much. */
static void step_oom(unsigned int thread)
{
	const size_t size = 64u << 20;
	char *memory;
	pid_t pid;
	size_t i;

	(void)thread;
	pid = must_fork();
	if (!pid) {
		if (write_text(OOM_GROUP "/cgroup.procs", "0"))
			_exit(1);
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			_exit(2);
		for (i = 0; i < size; i += PAGE) {
			memory[i] = 1;
			if (i % (64 * PAGE) == 0)
				call(pages[0], worker.files[0], 300000);
		}
		_exit(3);
	}
	log_process(pid, worker.apps, worker.mapped);
	must_wait(pid);
}

/* ---- mappings --------------------------------------------------------- */

static void step_dlopen(unsigned int thread)
{
	struct storm_file *file = worker.files[any(worker.nr_files)];
	void (*code)(unsigned long n);
	void *library;

	(void)thread;
	library = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		die("dlopen: %s", dlerror());
	code = (void (*)(unsigned long))dlsym(library, "storm_code");
	if (!code)
		die("dlsym: %s", dlerror());
	ran(file);
	code(rounds());
	dlclose(library);
}

static void step_mmap(unsigned int thread)
{
	unsigned int i = any(worker.nr_files);
	void *page = map_page(NULL, i, RX);

	(void)thread;
	call(page, worker.files[i], rounds());
	unmap(page, 1);
}

/* Another file at the same place, right after, or over it. */
static void step_same(unsigned int thread)
{
	char *at = place(thread);
	unsigned int i, n;

	for (n = 0; n < 4; n++) {
		i = any(worker.nr_files);
		map_page(at, i, RX);
		call(at, worker.files[i], rounds());
		if (any(2))
			unmap(at, 1);
	}
	unmap(at, 1);
}

/*
 * Thread 0 runs file 0 in the middle of three pages, while thread 1 maps other
 * files, and file 0 again, over its neighbours, and file 0 over all of it.
 */
static void step_fixed(unsigned int thread)
{
	static atomic_bool ready;
	char *at = place(0);
	unsigned int i, n;

	if (thread == 0) {
		if (!atomic_load(&ready))
			map_around(at, 0, RX, MAP_FIXED, 1, 1);
		atomic_store(&ready, true);
		call(at + PAGE, worker.files[0], 50000);
		return;
	}
	if (!atomic_load(&ready))
		return;
	for (n = 0; n < 4; n++) {
		i = 1 + any(worker.nr_files - 1);
		map_page(at + 2 * any(2) * PAGE, i, RX);
		map_page(at + 2 * PAGE, i, RX);
		call(at + 2 * PAGE, worker.files[i], rounds());
	}
	map_around(at, 0, RX, MAP_FIXED, 1, any(2));
}

static void move_pages(char *from, unsigned long old, unsigned long new,
		       char *to)
{
	if (mremap(from, old * PAGE, new * PAGE,
		   to ? MREMAP_MAYMOVE | MREMAP_FIXED : 0, to) == MAP_FAILED)
		die("mremap: %s", strerror(errno));
}

/*
 * Grow a mapping over code that was unmapped, run what is there now, and have
 * the whole of it mapped once more, as it merges with what comes behind it.
 */
static void grow_over(char *at, unsigned int i, unsigned int j)
{
	map_pages(at, i, RX, MAP_FIXED, -1, 2);
	call(at + PAGE, worker.files[i], rounds());
	unmap(at + PAGE, 1);
	map_pages(at, j, RX, MAP_FIXED, -1, 1);
	move_pages(at, 1, 2, NULL);
	call(at + PAGE, worker.files[j], rounds());
	map_pages(at + 2 * PAGE, j, RX, MAP_FIXED, 1, 1);
	call(at + PAGE, worker.files[j], rounds());
	unmap(at, 3);
}

static void step_mremap(unsigned int thread)
{
	char *a = place(thread), *b = a + PLACE_SIZE / 2;
	unsigned int i = any(worker.nr_files), j = any(worker.nr_files);

	map_page(a, i, RX);
	call(a, worker.files[i], rounds());
	move_pages(a, 1, 1, b);
	call(b, worker.files[i], rounds());
	map_around(a, j, RX, MAP_FIXED, 0, 1);
	call(a, worker.files[j], rounds());
	/* over the other one, shrinking */
	move_pages(a, 2, 1, b);
	call(b, worker.files[j], rounds());
	/* growing, and shrinking in place */
	move_pages(b, 1, 2, NULL);
	call(b, worker.files[j], rounds());
	move_pages(b, 2, 1, NULL);
	call(b, worker.files[j], rounds());
	map_page(a, i, RX);
	call(a, worker.files[i], rounds());
	unmap(a, 1);
	unmap(b, 1);
	j = (i + 1 + any(worker.nr_files - 1)) % worker.nr_files;
	grow_over(a + PLACE_SIZE / 4, i, j);
}

static void step_mprotect(unsigned int thread)
{
	unsigned int i = any(worker.nr_files), j = any(worker.nr_files);
	char *at = place(thread);

	map_page(at, i, RX);
	call(at, worker.files[i], rounds());
	protect(at, PROT_READ);
	protect(at, RX);
	call(at, worker.files[i], rounds());
	/* not executable any more when it goes */
	protect(at, PROT_NONE);
	unmap(at, 1);
	/* not executable yet when it comes */
	map_page(at, j, PROT_READ);
	protect(at, RX);
	call(at, worker.files[j], rounds());
	protect(at, PROT_READ);
	map_page(at, i, RX);
	call(at, worker.files[i], rounds());
	unmap(at, 1);
}

/*
 * More mappings go at once than the module may be ready for. Where the same file
 * came back to its place, it would not have to look again.
 */
static void step_burst(unsigned int thread)
{
	static unsigned int turn;
	char *at = place(thread);
	unsigned int i, n;

	turn++;
	for (i = 0; i < BURST; i++)
		map_page(at + i * PAGE, (i + turn) % worker.nr_files, RX);
	for (i = 0; i < 8; i++) {
		n = any(BURST);
		call(at + n * PAGE, worker.files[(n + turn) % worker.nr_files],
		     50000);
	}
	unmap(at, BURST);
	pause_us(5000);
}

/* One mapping now and then, for which there is always room. */
static void step_breeze(unsigned int thread)
{
	(void)thread;
	step_mmap(0);
	pause_us(2000);
}

static void step_jit(unsigned int thread)
{
	char *at = (char *)STORM_ANON + thread * PLACE_SIZE;
	char *code = at + STORM_ANON_SLOT * STORM_SLOT;
	unsigned int i = any(worker.nr_files), n;

	for (n = 0; n < 2; n++) {
		if (mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
			die("mmap: %s", strerror(errno));
		memcpy(code, pages[i] + worker.files[i]->start % PAGE,
		       worker.files[i]->end - worker.files[i]->start);
		__builtin___clear_cache(code, code + STORM_SLOT);
		protect(at, RX);
		((void (*)(unsigned long))code)(rounds());
		if (any(2))
			unmap(at, 1);
		map_page(at, i, RX);
		call(at, worker.files[i], rounds());
	}
	unmap(at, 1);
}

/* ---- swaps: the code that other threads are running ------------------- */

/* Nothing is there just now: try again. */
static void on_fault(int signal)
{
	(void)signal;
}

static atomic_bool swap_ready;

static void run_swapped(void)
{
	unsigned long door = worker.files[0]->door % PAGE;

	/* On a busy machine thread 0 may begin when all is over. */
	while (!atomic_load(&swap_ready)) {
		if (now() >= deadline)
			return;
		pause_us(1000);
	}
	/* Whichever is there now. */
	((void (*)(unsigned long))(place(0) + door))(20000 + any(100000));
}

static void prepare_swap(void)
{
	struct sigaction action = { .sa_handler = on_fault };

	if (sigaction(SIGSEGV, &action, NULL) ||
	    sigaction(SIGBUS, &action, NULL))
		die("sigaction: %s", strerror(errno));
}

static void swap_fixed(unsigned int i)
{
	map_page(place(0), i, RX);
}

static void swap_munmap(unsigned int i)
{
	munmap(place(0), PAGE);
	map_page(place(0), i, RX);
}

static void swap_mprotect(unsigned int i)
{
	static unsigned int turn;

	protect(place(0), turn++ % 2 ? PROT_READ : PROT_NONE);
	map_page(place(0), i, PROT_READ);
	protect(place(0), RX);
}

static void swap_mremap(unsigned int i)
{
	map_page(place(1), i, RX);
	/* Then nobody faults when it has been moved. */
	(void)*(volatile char *)place(1);
	move_pages(place(1), 1, 1, place(0));
}

static void swap_step(unsigned int thread, void (*swap)(unsigned int i))
{
	static unsigned int now_there;

	if (thread) {
		run_swapped();
		return;
	}
	if (!atomic_load(&swap_ready)) {
		/* This thread only, or the others would hardly let it run. */
		setpriority(PRIO_PROCESS, 0, -15);
		map_page(place(0), 0, RX);
		atomic_store(&swap_ready, true);
	}
	now_there ^= 1;
	swap(now_there);
	ran(worker.files[now_there]);
	atomic_fetch_add(&table->changes, 1);
	pause_us(any(3) ? any(1000) : 1);
}

static void step_swap_fixed(unsigned int thread)
{
	swap_step(thread, swap_fixed);
}

static void step_swap_munmap(unsigned int thread)
{
	swap_step(thread, swap_munmap);
}

static void step_swap_mprotect(unsigned int thread)
{
	swap_step(thread, swap_mprotect);
}

static void step_swap_mremap(unsigned int thread)
{
	swap_step(thread, swap_mremap);
}

/* ---- the storms ------------------------------------------------------- */

enum storm_set { PROCESSES = 1, MAPPINGS, SWAPS };

/**
 * struct storm - how to make one
 * @set: with which others it belongs
 * @workers: processes at once
 * @threads: of each, or 0: only the first, which may fork
 * @prepare: what each does first, or NULL
 * @step: what each of its threads does over and over
 * @end: what it does last, or NULL
 */
struct storm {
	enum storm_set set;
	unsigned int workers;
	unsigned int threads;
	void (*prepare)(void);
	void (*step)(unsigned int thread);
	void (*end)(void);
};

static const struct storm storms[STORM_NR] = {
	[STORM_EXEC] = { PROCESSES, 2, 0, NULL, step_exec, NULL },
	[STORM_FORK] = { PROCESSES, 2, 0, map_all, step_fork, NULL },
	[STORM_VFORK] = { PROCESSES, 2, 0, map_all, step_vfork, NULL },
	[STORM_THREADS] = { PROCESSES, 2, 0, map_all, step_threads, NULL },
	[STORM_KILL] = { PROCESSES, 1, 0, map_all, step_kill, end_children },
	[STORM_REEXEC] = { PROCESSES, 2, 0, NULL, step_reexec, NULL },
	[STORM_MIGRATE] = { PROCESSES, 1, 0, NULL, step_migrate, end_children },
	[STORM_OOM] = { 0, 1, 0, map_all, step_oom, NULL },
	[STORM_DLOPEN] = { MAPPINGS, 1, 2, NULL, step_dlopen, NULL },
	[STORM_MMAP] = { MAPPINGS, 1, 4, NULL, step_mmap, NULL },
	[STORM_SAME] = { MAPPINGS, 1, 2, NULL, step_same, NULL },
	[STORM_FIXED] = { MAPPINGS, 1, 2, NULL, step_fixed, NULL },
	[STORM_MREMAP] = { MAPPINGS, 1, 2, NULL, step_mremap, NULL },
	[STORM_MPROTECT] = { MAPPINGS, 1, 2, NULL, step_mprotect, NULL },
	[STORM_JIT] = { MAPPINGS, 1, 2, map_all, step_jit, NULL },
	[STORM_SWAP_FIXED] = { SWAPS, 1, 4, prepare_swap, step_swap_fixed, NULL },
	[STORM_SWAP_MUNMAP] = { SWAPS, 1, 4, prepare_swap, step_swap_munmap,
				NULL },
	[STORM_SWAP_MPROTECT] = { SWAPS, 1, 4, prepare_swap,
				  step_swap_mprotect, NULL },
	[STORM_SWAP_MREMAP] = { SWAPS, 1, 4, prepare_swap, step_swap_mremap,
				NULL },
	[STORM_BURST] = { 0, 1, 0, NULL, step_burst, NULL },
	[STORM_BREEZE] = { 0, 1, 0, NULL, step_breeze, NULL },
};

static void *work(void *arg)
{
	unsigned int thread = (unsigned long)arg;

	seed = getpid() * 64 + thread;
	while (now() < deadline)
		worker.storm->step(thread);
	return NULL;
}

static void find_files(void)
{
	const struct storm_need *need = &storm_needs[worker.id];
	struct storm_file *file;
	unsigned int i, seen = 0;
	int fd;

	for (i = 0; i < table->nr_files; i++) {
		file = &table->files[i];
		if (file->storm != worker.id)
			continue;
		if (seen++ < need->programs) {
			worker.programs[worker.nr_programs++] = file;
			continue;
		}
		fd = open(file->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die("%s: %s", file->path, strerror(errno));
		worker.fds[worker.nr_files] = fd;
		worker.files[worker.nr_files++] = file;
		worker.mapped |= bit(file);
	}
}

static void be_worker(enum storm_id id)
{
	const struct storm *storm = &storms[id];
	pthread_t threads[8];
	unsigned int i;

	worker.id = id;
	worker.storm = storm;
	worker.apps = app_of("self");
	worker.mapped = base_files();
	find_files();
	log_process(getpid(), worker.apps, worker.mapped);
	if (storm->prepare)
		storm->prepare();
	for (i = 1; i < storm->threads; i++) {
		if (pthread_create(&threads[i], NULL, work,
				   (void *)(unsigned long)i))
			die("no thread");
	}
	work(NULL);
	for (i = 1; i < storm->threads; i++)
		pthread_join(threads[i], NULL);
	if (storm->end)
		storm->end();
	exit(0);
}

static bool named(enum storm_id id, const char *name)
{
	static const char * const sets[] = {
		[PROCESSES] = "processes",
		[MAPPINGS] = "mappings",
		[SWAPS] = "swaps",
	};

	if (!strcmp(name, storm_needs[id].name))
		return true;
	/* What belongs to no set needs more than the others. */
	if (!storms[id].set)
		return false;
	if (!strcmp(name, "together"))
		return storms[id].set != SWAPS;
	return !strcmp(name, "all") || !strcmp(name, sets[storms[id].set]);
}

static void open_table(void)
{
	int fd = open(STORM_TABLE, O_RDWR | O_CLOEXEC);
	unsigned int i;

	if (fd < 0)
		die("%s: %s", STORM_TABLE, strerror(errno));
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (table == MAP_FAILED)
		die("%s: %s", STORM_TABLE, strerror(errno));
	for (i = 0; i < table->nr_files; i++)
		atomic_store(&table->files[i].runs, 0);
	atomic_store(&table->nr_entries, 0);
	atomic_store(&table->changes, 0);
}

int main(int argc, char **argv)
{
	unsigned int i, workers = 0;
	enum storm_id id;
	char parent[16];
	int status;
	bool bad = false;

	if (argc < 3)
		die("storm SECONDS NAME...");
	deadline = now() + strtod(argv[1], NULL);
	open_table();
	find_vdso("self", &vdso, &vdso_end);
	/* Before it executed this program it was a fork of that one. */
	snprintf(parent, sizeof(parent), "%d", (int)getppid());
	worker.id = STORM_NR;
	log_process(getpid(), app_of("self") | app_of(parent), base_files());
	find_vdso(parent, &table->vdso, &table->vdso_end);

	for (id = 0; id < STORM_NR; id++) {
		for (i = 2; i < (unsigned int)argc; i++) {
			if (named(id, argv[i]))
				break;
		}
		if (i == (unsigned int)argc)
			continue;
		for (i = 0; i < storms[id].workers; i++) {
			if (!must_fork())
				be_worker(id);
			workers++;
		}
	}
	if (!workers)
		die("storm: no such name");
	while (workers--) {
		if (wait(&status) < 0)
			die("wait: %s", strerror(errno));
		bad |= status != 0;
	}
	for (i = 0; i < table->nr_files; i++) {
		if (atomic_load(&table->files[i].runs))
			printf("%s %lu\n", table->files[i].path,
			       (unsigned long)table->files[i].runs);
	}
	return bad;
}
