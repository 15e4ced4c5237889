// SPDX-License-Identifier: GPL-2.0
/*
 * spin WHERE: runs in one place until it is killed. Once it is there, or where
 * only the next instruction is missing, it prints the address.
 *
 *	code			in the program itself
 *	libc			in the C library
 *	file FILE [OFFSET]	at that place of a file, which is mapped
 *	memfd			in a file that has no name
 *	anon			in memory that is no file's
 *	vdso			in [vdso]
 *
 * Besides:
 *
 *	make FILE PAGES		a file with such code at the start of each page
 *	ns COMMAND...		runs a command in a mount namespace of its own
 *	generation FILE		prints the generation of an inode, "-" if the file
 *				system doesn't tell
 */

#define _GNU_SOURCE
#include <linux/fs.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "optool.h"

#define PAGE	4096

/* A loop without an end that can be copied anywhere. */
void spin_loop(void);
extern const char spin_loop_end[];

#if defined(__x86_64__) || defined(__i386__)
__asm__(".text\n"
	"spin_loop:\n"
	"1:	nop\n"
	"	jmp 1b\n"
	"spin_loop_end:\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	"spin_loop:\n"
	"1:	nop\n"
	"	b 1b\n"
	"spin_loop_end:\n");
#endif

static void say_address(const void *address)
{
	printf("%016lx\n", (unsigned long)address);
	fflush(stdout);
}

__attribute__((noreturn))
static void run(const void *code)
{
	say_address(code);
	((void (*)(void))code)();
	die("it has come back");
}

__attribute__((noreturn))
static void run_file(int fd, unsigned long offset)
{
	char *page;

	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    offset & -PAGE);
	if (page == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	close(fd);
	run(page + offset % PAGE);
}

static void put_loops(int fd, unsigned int pages)
{
	static char page[PAGE];

	memcpy(page, spin_loop, spin_loop_end - (char *)spin_loop);
	while (pages--) {
		if (write(fd, page, PAGE) != PAGE)
			die("write: %s", strerror(errno));
	}
}

__attribute__((noreturn))
static void spin_libc(void)
{
	static char text[PAGE * 16];

	memset(text, 'a', sizeof(text) - 1);
	say_address(getenv);
	for (;;) {
		if (strlen(text) != sizeof(text) - 1)
			die("strlen has failed");
		__asm__ volatile("" : : : "memory");
	}
}

__attribute__((noreturn))
static void spin_vdso(void)
{
	struct timespec t;

	say_address((void *)getauxval(AT_SYSINFO_EHDR));
	/* the clock that never needs the kernel */
	for (;;)
		clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
}

static int spin(const char *where, const char *path, unsigned long offset)
{
	int fd;

	if (!strcmp(where, "code"))
		run(spin_loop);
	if (!strcmp(where, "libc"))
		spin_libc();
	if (!strcmp(where, "vdso"))
		spin_vdso();
	if (!strcmp(where, "anon")) {
		char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			die("mmap: %s", strerror(errno));
		memcpy(page, spin_loop, spin_loop_end - (char *)spin_loop);
		__builtin___clear_cache(page, page + PAGE);
		run(page);
	}
	if (!strcmp(where, "memfd")) {
		fd = memfd_create("spin", MFD_CLOEXEC);
		if (fd < 0)
			die("memfd: %s", strerror(errno));
		put_loops(fd, 1);
		run_file(fd, 0);
	}
	if (!strcmp(where, "file") && path) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die("%s: %s", path, strerror(errno));
		run_file(fd, offset);
	}
	return 2;
}

static int make(const char *path, unsigned int pages)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	put_loops(fd, pages);
	return close(fd) != 0;
}

static int in_namespace(char **command)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("mount namespace: %s", strerror(errno));
	execvp(command[0], command);
	die("%s: %s", command[0], strerror(errno));
}

/* shmem knows no ioctl for it, but puts it first into its file handles. */
static int print_generation(const char *path)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} h = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int fd = open(path, O_RDONLY | O_CLOEXEC), mount_id;
	uint32_t generation;
	long version = 0;
	struct statfs s;

	if (fd < 0 || fstatfs(fd, &s))
		die("%s: %s", path, strerror(errno));
	if (!ioctl(fd, FS_IOC_GETVERSION, &version)) {
		printf("%u\n", (unsigned int)version);
	} else if (s.f_type == TMPFS_MAGIC &&
		   !name_to_handle_at(AT_FDCWD, path, &h.handle, &mount_id, 0)) {
		memcpy(&generation, h.handle.f_handle, sizeof(generation));
		printf("%u\n", generation);
	} else {
		puts("-");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (argc == 4 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoul(argv[3], NULL, 0));
	if (argc > 2 && !strcmp(argv[1], "ns"))
		return in_namespace(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "generation"))
		return print_generation(argv[2]);
	return spin(argv[1], argc > 2 ? argv[2] : NULL,
		    argc > 3 ? strtoul(argv[3], NULL, 0) : 0);
}
