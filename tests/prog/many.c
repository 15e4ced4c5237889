// SPDX-License-Identifier: GPL-2.0
/*
 * many: many files with code, each of them used once.
 *
 *	many make DIR N		writes them
 *	many call DIR N [BATCH]	maps and calls them, so many (500) in each process
 *	many make-programs DIR N	writes programs that do nothing
 *	many run DIR N		executes them
 *
 * The code of file number n, DIR/n, is at offset n % 4096 and nowhere else; a
 * program's first instruction, DIR/n.run, at 128 + n % 3072. Each file is mapped
 * at an address that its process has not used before. x86-64 code.
 */

#define _GNU_SOURCE
#include <elf.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "optool.h"

#define PAGE		4096u
#define ADDRESS		0x400000ul
#define RET		0xc3
#define INT3		0xcc

static const char *dir;

static const char *path_of(unsigned int n, const char *end)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u%s", dir, n, end);
	return path;
}

static void write_page(const char *path, const unsigned char *page)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, page, PAGE) != PAGE || close(fd))
		die("%s: %s", path, strerror(errno));
}

static void make(unsigned int n)
{
	static unsigned char page[PAGE];

	memset(page, INT3, sizeof(page));
	page[n % PAGE] = RET;
	write_page(path_of(n, ""), page);
}

/*
 *	mov	$__NR_exit_group, %eax
 *	xor	%edi, %edi
 *	syscall
 */
static const unsigned char program_code[] = {
	0xb8, 231, 0, 0, 0,
	0x31, 0xff,
	0x0f, 0x05,
};

static void make_program(unsigned int n)
{
	unsigned int start = 128 + n % 3072;
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr code;
	} head = {
		.e = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				     ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = ADDRESS + start,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.code = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = ADDRESS,
			.p_paddr = ADDRESS,
			.p_filesz = PAGE,
			.p_memsz = PAGE,
			.p_align = PAGE,
		},
	};
	static unsigned char page[PAGE];

	_Static_assert(sizeof(head) <= 128, "too long");
	memset(page, INT3, sizeof(page));
	memcpy(page, &head, sizeof(head));
	memcpy(page + start, program_code, sizeof(program_code));
	write_page(path_of(n, ".run"), page);
}

static void call(unsigned int n)
{
	const char *path = path_of(n, "");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *page;

	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (fd < 0 || page == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	((void (*)(void))(page + n % PAGE))();
}

static void must_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("many: a process has failed");
}

/* A process can have only so many mappings. */
static void call_all(unsigned int n, unsigned int batch)
{
	unsigned int first, i;
	pid_t pid;

	for (first = 0; first < n; first += batch) {
		pid = fork();
		if (!pid) {
			for (i = first; i < n && i < first + batch; i++)
				call(i);
			_exit(0);
		}
		must_wait(pid);
	}
}

static void run(unsigned int n)
{
	const char *path = path_of(n, ".run");
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, NULL);
		_exit(127);
	}
	must_wait(pid);
}

static void for_each(unsigned int n, void (*f)(unsigned int n))
{
	unsigned int i;

	for (i = 0; i < n; i++)
		f(i);
}

int main(int argc, char **argv)
{
	unsigned int n;

	if (argc != 4 && argc != 5)
		die("many: see its source");
	dir = argv[2];
	n = strtoul(argv[3], NULL, 10);
	if (!strcmp(argv[1], "make"))
		for_each(n, make);
	else if (!strcmp(argv[1], "make-programs"))
		for_each(n, make_program);
	else if (!strcmp(argv[1], "call"))
		call_all(n, argc == 5 ? atoi(argv[4]) : 500);
	else if (!strcmp(argv[1], "run"))
		for_each(n, run);
	else
		die("many: see its source");
	return 0;
}
