// SPDX-License-Identifier: GPL-2.0
/*
 * storm-make [FACTOR]: writes the files that the storms run, and the table that
 * lists them (storm.h), to an empty STORM_DIR. Their code runs FACTOR times as
 * long as it would. Code for x86 and arm64.
 *
 * A program is a static executable at an address that is the same for all of
 * them; it spins, then executes its first argument with the rest as arguments,
 * if there is one. A library has one function, "storm_code". Any other file has
 * the same function without a name; it takes the number of rounds.
 */

#define _GNU_SOURCE
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "optool.h"
#include "storm.h"

#define PROGRAM_ADDRESS	0x400000ul

#if defined(__x86_64__) || defined(__i386__)
#define TAIL		8

/* What is alike in both modes of a pair's slot; see fill_pair(). */
static void fill_slots(unsigned char *slot, unsigned char *jumps, int tag,
		       const unsigned char *tail)
{
	unsigned int i;

	for (i = 0; i < STORM_SLOT - TAIL; i += 4) {
		slot[i] = 0x0f;
		slot[i + 1] = 0x1f;
		slot[i + 2] = 0x40;
		slot[i + 3] = tag;
	}
	memcpy(slot + i, tail, TAIL);
	for (i = 0; i < STORM_SLOT; i += 2) {
		jumps[i] = 0xeb;
		jumps[i + 1] = slot - (jumps + i + 2);
	}
}
#endif

#if defined(__x86_64__)
#define MACHINE		EM_X86_64
#define TRAP		0xcc		/* int3 */
#define DOOR_SIZE	5

/*
 *	mov	(%rsp), %rax
 *	mov	$SPIN, %ecx
 * 1:	dec	%ecx
 *	jnz	1b
 *	mov	16(%rsp), %rdi		argv[1]
 *	test	%rdi, %rdi
 *	je	2f
 *	lea	16(%rsp), %rsi		argv + 1
 *	lea	16(%rsp, %rax, 8), %rdx	envp
 *	mov	$__NR_execve, %eax
 *	syscall
 * 2:	xor	%edi, %edi
 *	mov	$__NR_exit_group, %eax
 *	syscall
 */
static const unsigned char program_code[] = {
	0x48, 0x8b, 0x04, 0x24,
	0xb9, 0, 0, 0, 0,
	0xff, 0xc9,
	0x75, 0xfc,
	0x48, 0x8b, 0x7c, 0x24, 0x10,
	0x48, 0x85, 0xff,
	0x74, 0x11,
	0x48, 0x8d, 0x74, 0x24, 0x10,
	0x48, 0x8d, 0x54, 0xc4, 0x10,
	0xb8, 59, 0, 0, 0,
	0x0f, 0x05,
	0x31, 0xff,
	0xb8, 231, 0, 0, 0,
	0x0f, 0x05,
};

#define SPIN_AT 5

/*
 * 1:	sub	$1, %rdi
 *	jnz	1b
 *	ret
 */
static const unsigned char function_code[] = {
	0x48, 0x83, 0xef, 0x01,
	0x75, 0xfa,
	0xc3,
};

/*
 * What fills a slot of a file that takes another one's place under a running
 * thread. No instruction begins at an odd address, and the other file of the
 * pair has a jump at each even one: so a thread that finds itself there goes on
 * in that file's own slot. The bytes at each such address differ from the other's.
 * Both are entered through a door, a jump at the same address in both.
 *
 * 1:	nopl	TAG(%rax)		14 times
 *	sub	$1, %rdi
 *	jg	1b			it may come here with 0
 *	ret
 *	nop
 */
static void fill_pair(unsigned char *slot, unsigned char *jumps,
		      unsigned char *door, int tag)
{
	static const unsigned char tail[TAIL] = {
		0x48, 0x83, 0xef, 0x01, 0x7f, 0xc2, 0xc3, 0x90
	};
	int32_t way = slot - (door + DOOR_SIZE);

	fill_slots(slot, jumps, tag, tail);
	door[0] = 0xe9;
	memcpy(door + 1, &way, sizeof(way));
}
#elif defined(__i386__)
#define MACHINE		EM_386
#define TRAP		0xcc		/* int3 */
#define DOOR_SIZE	9

/* The same, by 32-bit registers and int $0x80. */
static const unsigned char program_code[] = {
	0x8b, 0x04, 0x24,		/*	mov	(%esp), %eax	*/
	0xb9, 0, 0, 0, 0,		/*	mov	$SPIN, %ecx	*/
	0x49,				/* 1:	dec	%ecx		*/
	0x75, 0xfd,			/*	jnz	1b		*/
	0x8b, 0x5c, 0x24, 0x08,		/*	mov	8(%esp), %ebx	*/
	0x85, 0xdb,			/*	test	%ebx, %ebx	*/
	0x74, 0x0f,			/*	je	2f		*/
	0x8d, 0x4c, 0x24, 0x08,		/*	lea	8(%esp), %ecx	*/
	0x8d, 0x54, 0x84, 0x08,		/*	lea	8(%esp, %eax, 4), %edx */
	0xb8, 11, 0, 0, 0,		/*	mov	$__NR_execve, %eax */
	0xcd, 0x80,			/*	int	$0x80		*/
	0x31, 0xdb,			/* 2:	xor	%ebx, %ebx	*/
	0xb8, 252, 0, 0, 0,		/*	mov	$__NR_exit_group, %eax */
	0xcd, 0x80,			/*	int	$0x80		*/
};

#define SPIN_AT 4

static const unsigned char function_code[] = {
	0x8b, 0x44, 0x24, 0x04,		/*	mov	4(%esp), %eax	*/
	0x48,				/* 1:	dec	%eax		*/
	0x75, 0xfd,			/*	jnz	1b		*/
	0xc3,				/*	ret			*/
};

/*
 * The door fetches the argument.
 *
 * 1:	nopl	TAG(%eax)		14 times
 *	ds sub	$1, %eax		so long that the next one is even
 *	jg	1b
 *	ret
 *	nop
 */
static void fill_pair(unsigned char *slot, unsigned char *jumps,
		      unsigned char *door, int tag)
{
	static const unsigned char tail[TAIL] = {
		0x3e, 0x83, 0xe8, 0x01, 0x7f, 0xc2, 0xc3, 0x90
	};
	static const unsigned char fetch[] = { 0x8b, 0x44, 0x24, 0x04, 0xe9 };
	int32_t way = slot - (door + DOOR_SIZE);

	fill_slots(slot, jumps, tag, tail);
	memcpy(door, fetch, sizeof(fetch));
	memcpy(door + sizeof(fetch), &way, sizeof(way));
}
#elif defined(__aarch64__)
#define MACHINE		EM_AARCH64
#define TRAP		0		/* udf #0 */
#define DOOR_SIZE	4

/* The same as above. */
static const uint32_t program_code[] = {
	0xf94003e0,		/*	ldr	x0, [sp]		*/
	0x180001a1,		/*	ldr	w1, 3f			*/
	0x71000421,		/* 1:	subs	w1, w1, #1		*/
	0x54ffffe1,		/*	b.ne	1b			*/
	0xf9400be2,		/*	ldr	x2, [sp, #16]		*/
	0xb40000c2,		/*	cbz	x2, 2f			*/
	0x910043e1,		/*	add	x1, sp, #16		*/
	0x8b000c22,		/*	add	x2, x1, x0, lsl #3	*/
	0xf9400be0,		/*	ldr	x0, [sp, #16]		*/
	0xd2801ba8,		/*	mov	x8, #__NR_execve	*/
	0xd4000001,		/*	svc	#0			*/
	0xd2800000,		/* 2:	mov	x0, #0			*/
	0xd2800bc8,		/*	mov	x8, #__NR_exit_group	*/
	0xd4000001,		/*	svc	#0			*/
	0,			/* 3:	.word	SPIN			*/
};

#define SPIN_AT (sizeof(program_code) - 4)

static const uint32_t function_code[] = {
	0xf1000400,		/* 1:	subs	x0, x0, #1		*/
	0x54ffffe1,		/*	b.ne	1b			*/
	0xd65f03c0,		/*	ret				*/
};

/* The jump from one word to another. */
static uint32_t jump(const uint32_t *from, const uint32_t *to)
{
	return 0x14000000 | ((to - from) & 0x3ffffff);
}

/*
 * 1:	mov	w9, #TAG		13 times
 *	subs	x0, x0, #1
 *	b.gt	1b
 *	ret
 */
static void fill_pair(unsigned char *slot_bytes, unsigned char *jumps_bytes,
		      unsigned char *door_bytes, int tag)
{
	static const uint32_t tail[] = { 0xf1000400, 0x54fffe4c, 0xd65f03c0 };
	uint32_t *slot = (uint32_t *)slot_bytes;
	uint32_t *jumps = (uint32_t *)jumps_bytes;
	uint32_t *door = (uint32_t *)door_bytes;
	unsigned int i;

	for (i = 0; i < STORM_SLOT / 4 - 3; i++)
		slot[i] = 0x52800009 | (tag & 0xffff) << 5;
	memcpy(slot + i, tail, sizeof(tail));
	for (i = 0; i < STORM_SLOT / 4; i++)
		jumps[i] = jump(jumps + i, slot);
	*door = jump(door, slot);
}
#endif

/* What is made: the table, and the number of the next slot. */
static struct storm_table *table;
static unsigned int next_slot;

static struct storm_file *new_file(enum storm_id storm, const char *kind)
{
	struct storm_file *file = &table->files[table->nr_files];

	if (table->nr_files == STORM_FILES || next_slot == STORM_DOOR_SLOT)
		die("storm-make: too many files");
	snprintf(file->path, sizeof(file->path), STORM_DIR "/%s%u.%s",
		 storm_needs[storm].name, table->nr_files++, kind);
	file->storm = storm;
	file->generated = true;
	file->start = (STORM_FIRST + next_slot) * STORM_PAGE +
		      next_slot * STORM_SLOT;
	next_slot++;
	return file;
}

/*
 * Write head at the begin and the page where the code is; one more page without
 * code follows.
 */
static void write_file(const struct storm_file *file, const void *head,
		       size_t size, const unsigned char *page)
{
	off_t at = file->start / STORM_PAGE * STORM_PAGE;
	int fd;

	fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || pwrite(fd, head, size, 0) != (ssize_t)size ||
	    pwrite(fd, page, STORM_PAGE, at) != (ssize_t)STORM_PAGE ||
	    ftruncate(fd, at + 2 * STORM_PAGE) || close(fd))
		die("%s: %s", file->path, strerror(errno));
}

/* A page with that code in the file's slot. */
static unsigned char *code_page(struct storm_file *file, const void *code,
				size_t size)
{
	_Alignas(8) static unsigned char page[STORM_PAGE];

	_Static_assert(sizeof(program_code) <= STORM_SLOT, "too long");
	memset(page, TRAP, sizeof(page));
	memcpy(page + file->start % STORM_PAGE, code, size);
	file->end = file->start + size;
	return page;
}

static void fill_header(ElfW(Ehdr) *e, unsigned int type, unsigned int segments)
{
	*e = (ElfW(Ehdr)){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			     sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = type,
		.e_machine = MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*e),
		.e_ehsize = sizeof(*e),
		.e_phentsize = sizeof(ElfW(Phdr)),
		.e_phnum = segments,
		.e_shentsize = sizeof(ElfW(Shdr)),
	};
}

static void make_program(enum storm_id storm)
{
	struct {
		ElfW(Ehdr) e;
		ElfW(Phdr) code, stack;
	} head = {};
	struct storm_file *file = new_file(storm, "program");
	unsigned long page = file->start / STORM_PAGE * STORM_PAGE;
	uint32_t spin = storm_needs[storm].spin * table->factor;
	unsigned char code[sizeof(program_code)];

	memcpy(code, program_code, sizeof(code));
	memcpy(code + SPIN_AT, &spin, sizeof(spin));
	fill_header(&head.e, ET_EXEC, 2);
	head.e.e_entry = PROGRAM_ADDRESS + file->start % STORM_PAGE;
	head.code = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = page,
		.p_vaddr = PROGRAM_ADDRESS,
		.p_paddr = PROGRAM_ADDRESS,
		.p_filesz = STORM_PAGE,
		.p_memsz = STORM_PAGE,
		.p_align = STORM_PAGE,
	};
	head.stack = (ElfW(Phdr)){
		.p_type = PT_GNU_STACK,
		.p_flags = PF_R | PF_W,
	};
	write_file(file, &head, sizeof(head),
		   code_page(file, code, sizeof(code)));
}

static void make_library(enum storm_id storm)
{
	struct {
		ElfW(Ehdr) e;
		ElfW(Phdr) data, code, dynamic, stack;
		ElfW(Dyn) dyn[6];
		ElfW(Sym) sym[2];
		uint32_t hash[5];
		char str[16];
	} head = {};
	struct storm_file *file = new_file(storm, "so");
	unsigned long page = file->start / STORM_PAGE * STORM_PAGE;

	fill_header(&head.e, ET_DYN, 4);
	head.data = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_filesz = sizeof(head),
		.p_memsz = sizeof(head),
		.p_align = STORM_PAGE,
	};
	head.code = (ElfW(Phdr)){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = page,
		.p_vaddr = page,
		.p_paddr = page,
		.p_filesz = STORM_PAGE,
		.p_memsz = STORM_PAGE,
		.p_align = STORM_PAGE,
	};
	head.dynamic = (ElfW(Phdr)){
		.p_type = PT_DYNAMIC,
		.p_flags = PF_R | PF_W,
		.p_offset = (char *)head.dyn - (char *)&head,
		.p_vaddr = (char *)head.dyn - (char *)&head,
		.p_filesz = sizeof(head.dyn),
		.p_memsz = sizeof(head.dyn),
		.p_align = 8,
	};
	head.stack = (ElfW(Phdr)){
		.p_type = PT_GNU_STACK,
		.p_flags = PF_R | PF_W,
	};
	head.dyn[0] = (ElfW(Dyn)){ DT_HASH, { (char *)head.hash - (char *)&head } };
	head.dyn[1] = (ElfW(Dyn)){ DT_SYMTAB, { (char *)head.sym - (char *)&head } };
	head.dyn[2] = (ElfW(Dyn)){ DT_STRTAB, { head.str - (char *)&head } };
	head.dyn[3] = (ElfW(Dyn)){ DT_STRSZ, { sizeof(head.str) } };
	head.dyn[4] = (ElfW(Dyn)){ DT_SYMENT, { sizeof(ElfW(Sym)) } };
	strcpy(head.str + 1, "storm_code");
	head.sym[1] = (ElfW(Sym)){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = file->start,
		.st_size = sizeof(function_code),
	};
	/* one bucket, which begins with symbol 1, of 2; none follows it */
	head.hash[0] = 1;
	head.hash[1] = 2;
	head.hash[2] = 1;
	write_file(file, &head, sizeof(head),
		   code_page(file, function_code, sizeof(function_code)));
}

static void make_code(enum storm_id storm)
{
	struct storm_file *file = new_file(storm, "code");

	write_file(file, "", 0,
		   code_page(file, function_code, sizeof(function_code)));
}

static void make_pair(enum storm_id storm)
{
	struct storm_file *file;
	unsigned char *page;
	unsigned long at;
	int i, other;

	/* Two neighbours that differ in the last bit of their number. */
	next_slot += next_slot % 2;
	for (i = 0; i < 2; i++) {
		file = new_file(storm, "code");
		other = i ? -(int)STORM_SLOT : (int)STORM_SLOT;
		page = code_page(file, "", 0);
		at = file->start % STORM_PAGE;
		fill_pair(page + at, page + at + other,
			  page + STORM_DOOR_SLOT * STORM_SLOT, next_slot - 1);
		file->end = file->start + STORM_SLOT;
		file->jumps = file->start + other;
		file->jumps_end = file->end + other;
		file->door = file->start - at + STORM_DOOR_SLOT * STORM_SLOT;
		file->door_end = file->door + DOOR_SIZE;
		write_file(file, "", 0, page);
	}
}

static void list_base(const char *path)
{
	struct storm_file *file = &table->files[table->nr_files];
	unsigned int i;

	for (i = 0; i < table->nr_files; i++) {
		if (!strcmp(table->files[i].path, path))
			return;
	}
	if (table->nr_files == STORM_FILES || strlen(path) >= sizeof(file->path))
		die("storm-make: %s: no room", path);
	strcpy(file->path, path);
	file->storm = STORM_NR;
	table->nr_files++;
}

/* What is mapped in each process of the storms: the program "storm", which lies
 * beside this one, the libraries of both, and what executes them.
 */
static void list_bases(void)
{
	char link[64], path[PATH_MAX], line[PATH_MAX + 128], *slash, *end;
	FILE *maps;
	ssize_t n;

	n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	if (n < 0)
		die("/proc/self/exe: %s", strerror(errno));
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash + 1, "storm");
	list_base(path);

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)getppid());
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		die("%s: %s", link, strerror(errno));
	path[n] = 0;
	list_base(path);

	maps = fopen("/proc/self/maps", "re");
	if (!maps)
		die("/proc/self/maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), maps)) {
		end = strchr(line, '/');
		if (!end || !strstr(line, " r-xp ") || strstr(end, "/storm-make"))
			continue;
		end[strcspn(end, "\n")] = 0;
		list_base(end);
	}
	fclose(maps);
}

int main(int argc, char **argv)
{
	const struct storm_need *need;
	enum storm_id storm;
	unsigned int i;
	int fd;

	if (mkdir(STORM_DIR, 0755))
		die("%s: %s", STORM_DIR, strerror(errno));
	fd = open(STORM_TABLE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*table)))
		die("%s: %s", STORM_TABLE, strerror(errno));
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (table == MAP_FAILED)
		die("%s: %s", STORM_TABLE, strerror(errno));
	table->factor = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	if (!table->factor || table->factor > 16)
		die("FACTOR is 1 to 16");
	for (storm = 0; storm < STORM_NR; storm++) {
		need = &storm_needs[storm];
		for (i = 0; i < need->programs; i++)
			make_program(storm);
		for (i = 0; i < need->libraries; i++)
			make_library(storm);
		for (i = 0; i < need->codes; i++)
			make_code(storm);
		for (i = 0; i < need->pairs; i++)
			make_pair(storm);
	}
	list_bases();
	return 0;
}
