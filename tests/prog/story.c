// SPDX-License-Identifier: GPL-2.0
/*
 * story SECONDS: the same story each time it is told. So much CPU time goes to a
 * function of the program, to the C library, to code without a file at a fixed
 * address, and to the kernel, in slices of random order and length. It prints
 * how many seconds each has had.
 */

#define _GNU_SOURCE
#include <sys/mman.h>

#include "optool.h"

#define CODE_ADDRESS ((void *)0x10000000)

__attribute__((noinline))
static void story_hot(void)
{
	unsigned int i;

	for (i = 0; i < 300000; i++)
		__asm__ volatile("" : "+r"(i));
}

static void story_libc(void)
{
	static char text[65536];
	unsigned int i;

	memset(text, 'a', sizeof(text) - 1);
	for (i = 0; i < 16; i++) {
		if (strlen(text) != sizeof(text) - 1)
			die("strlen has failed");
		__asm__ volatile("" : : : "memory");
	}
}

/* Code that is no file's once it has been copied. */
void story_code(unsigned long loops);
extern const char story_code_end[];

#if defined(__x86_64__)
__asm__(".text\n"
	"story_code:\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	ret\n"
	"story_code_end:\n");
#elif defined(__i386__)
__asm__(".text\n"
	"story_code:\n"
	"	mov 4(%esp), %eax\n"
	"1:	dec %eax\n"
	"	jnz 1b\n"
	"	ret\n"
	"story_code_end:\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	"story_code:\n"
	"1:	subs x0, x0, #1\n"
	"	b.ne 1b\n"
	"	ret\n"
	"story_code_end:\n");
#endif

static void story_anon(void)
{
	static void (*code)(unsigned long loops);

	if (!code) {
		code = mmap(CODE_ADDRESS, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);
		if ((void *)code != CODE_ADDRESS)
			die("mmap: %s", strerror(errno));
		memcpy(code, story_code, story_code_end - (char *)story_code);
		if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
			die("mprotect: %s", strerror(errno));
		__builtin___clear_cache((char *)code, (char *)code + 4096);
	}
	code(300000);
}

static void story_kernel(void)
{
	static char bytes[65536];
	static int fd = -1;
	unsigned int i;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 16; i++) {
		if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			die("/dev/zero: %s", strerror(errno));
	}
}

static struct {
	const char *name;
	void (*tell)(void);
	unsigned int weight;	/* how often it has its turn, of 8 times */
	double seconds;
} chapters[] = {
	{ .name = "hot", .tell = story_hot, .weight = 3 },
	{ .name = "libc", .tell = story_libc, .weight = 2 },
	{ .name = "anon", .tell = story_anon, .weight = 1 },
	{ .name = "kernel", .tell = story_kernel, .weight = 2 },
};

#define N_CHAPTERS (sizeof(chapters) / sizeof(chapters[0]))

static unsigned int next_chapter(void)
{
	unsigned int turn = rand() % 8, i;

	for (i = 0; turn >= chapters[i].weight; i++)
		turn -= chapters[i].weight;
	return i;
}

int main(int argc, char **argv)
{
	double total = argc > 1 ? strtod(argv[1], NULL) : 4;
	double first = cpu_time(), begin = first, at = first, length;
	unsigned int i;

	while (at - first < total) {
		i = next_chapter();
		length = 0.001 + rand() % 20000 * 1e-6;
		do {
			chapters[i].tell();
			at = cpu_time();
		} while (at - begin < length);
		chapters[i].seconds += at - begin;
		begin = at;
	}
	for (i = 0; i < N_CHAPTERS; i++)
		printf("%s %.6f\n", chapters[i].name, chapters[i].seconds);
	return 0;
}
