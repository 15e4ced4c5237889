// SPDX-License-Identifier: GPL-2.0
/*
 * elfmake DIR: makes ELF files in there, good ones and hostile ones, each with
 * a loop for "spin file" in it. For each it prints a line: its name, where the
 * loop is, and the build-id that it has, or "-".
 */

#define _GNU_SOURCE
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "optool.h"

#define NOTES		0x1000
#define CODE		0x2000
#define FULL_SIZE	0x3000
/* of files that are cut off inside their header: over its type and machine */
#define CODE_IN_HEADER	16

#define ID_TYPE		3

static struct {
	unsigned char bytes[FULL_SIZE];
	size_t size;
	size_t code;
	size_t notes;		/* bytes of notes so far */
	const char *id;
} elf;

/* The file as it would be without hostility; both classes have one note. */
#define header	((Elf64_Ehdr *)elf.bytes)
#define header32 ((Elf32_Ehdr *)elf.bytes)
#define phdr	((Elf64_Phdr *)(elf.bytes + sizeof(Elf64_Ehdr)))
#define phdr32	((Elf32_Phdr *)(elf.bytes + sizeof(Elf32_Ehdr)))
#define note	((Elf64_Nhdr *)(elf.bytes + NOTES))

static const char hex_id[] =
	"101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30";

static void add_note(const char *name, unsigned int name_len, unsigned int type,
		     unsigned int len, unsigned int align)
{
	unsigned char *notes = elf.bytes + NOTES + elf.notes;
	Elf64_Nhdr *at = (void *)notes;
	unsigned int pos = sizeof(*at), i;

	at->n_namesz = name_len;
	at->n_descsz = len;
	at->n_type = type;
	memcpy(notes + pos, name, name_len);
	pos = (pos + name_len + align - 1) & -align;
	for (i = 0; i < len; i++)
		notes[pos + i] = 0x10 + i;
	elf.notes += (pos + len + align - 1) & -align;
}

static void add_id(unsigned int len, unsigned int align)
{
	static char id[sizeof(hex_id)];

	add_note("GNU", 4, ID_TYPE, len, align);
	snprintf(id, sizeof(id), "%.*s", (int)len * 2, hex_id);
	elf.id = id;
}

static void begin(unsigned char class)
{
	memset(&elf, 0, sizeof(elf));
	memcpy(elf.bytes, ELFMAG, SELFMAG);
	elf.bytes[EI_CLASS] = class;
	elf.bytes[EI_DATA] = ELFDATA2LSB;
	elf.bytes[EI_VERSION] = EV_CURRENT;
	elf.size = FULL_SIZE;
	elf.code = CODE;
	elf.id = "-";
}

static void finish64(void)
{
	header->e_type = ET_DYN;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_ehsize = sizeof(*header);
	header->e_phoff = sizeof(*header);
	header->e_phentsize = sizeof(*phdr);
	header->e_phnum = 1;
	phdr->p_type = PT_NOTE;
	phdr->p_offset = NOTES;
	phdr->p_filesz = elf.notes;
	phdr->p_align = 4;
}

static void finish32(void)
{
	header32->e_type = ET_DYN;
	header32->e_machine = EM_386;
	header32->e_version = EV_CURRENT;
	header32->e_ehsize = sizeof(*header32);
	header32->e_phoff = sizeof(*header32);
	header32->e_phentsize = sizeof(*phdr32);
	header32->e_phnum = 1;
	phdr32->p_type = PT_NOTE;
	phdr32->p_offset = NOTES;
	phdr32->p_filesz = elf.notes;
	phdr32->p_align = 4;
}

static void with_id(void)
{
	begin(ELFCLASS64);
	add_id(20, 4);
	finish64();
}

/* What follows has no build-id that anybody could find. */
static void hostile(void)
{
	with_id();
	elf.id = "-";
}

static void cut_off(size_t size)
{
	hostile();
	elf.size = size;
	elf.code = CODE_IN_HEADER;
}

static void swap(void *field, size_t size)
{
	unsigned char *bytes = field, byte;
	size_t i;

	for (i = 0; i < size / 2; i++) {
		byte = bytes[i];
		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

#define SWAP(field) swap(&(field), sizeof(field))

static void good(void) { with_id(); }

static void class_32(void)
{
	begin(ELFCLASS32);
	add_id(20, 4);
	finish32();
}

static void second_note(void)
{
	begin(ELFCLASS64);
	add_note("Linux\0", 6, 1, 3, 4);
	add_note("GNU", 4, 1, 16, 4);
	add_note("", 0, ID_TYPE, 7, 4);
	add_id(20, 4);
	finish64();
}

static void second_segment(void)
{
	begin(ELFCLASS64);
	add_note("GNU", 4, 1, 16, 4);
	finish64();
	header->e_phnum = 3;
	phdr[2] = phdr[0];
	phdr[2].p_offset += elf.notes;
	phdr[1].p_type = PT_LOAD;
	add_id(20, 4);
	phdr[2].p_filesz = elf.notes - phdr[0].p_filesz;
}

/* As linkers do since properties have notes: to eight bytes each. */
static void aligned_8(void)
{
	begin(ELFCLASS64);
	add_note("GNU", 4, 5, 20, 8);
	add_id(20, 8);
	finish64();
	phdr->p_align = 8;
}

static void length_1(void)
{
	begin(ELFCLASS64);
	add_id(1, 4);
	finish64();
}

static void length_32(void)
{
	begin(ELFCLASS64);
	add_id(32, 4);
	finish64();
}

static void length_33(void)
{
	begin(ELFCLASS64);
	add_id(33, 4);
	finish64();
	elf.id = "-";
}

static void no_notes(void)
{
	hostile();
	phdr->p_type = PT_LOAD;
}

static void no_elf(void)
{
	hostile();
	elf.bytes[0] = 0;
}

static void no_phdrs(void)
{
	hostile();
	header->e_phnum = 0;
}

static void cut_in_ident(void) { cut_off(19); }
static void cut_in_header(void) { cut_off(sizeof(Elf64_Ehdr) - 1); }
static void cut_after_header(void) { cut_off(sizeof(Elf64_Ehdr)); }
static void cut_in_phdr(void) { cut_off(sizeof(Elf64_Ehdr) + 20); }
static void cut_before_notes(void) { cut_off(NOTES); }
static void cut_in_note(void) { cut_off(NOTES + sizeof(*note) + 4 + 19); }

static void phoff_max(void)
{
	hostile();
	header->e_phoff = UINT64_MAX;
}

static void phoff_wraps(void)
{
	hostile();
	header->e_phoff = -(uint64_t)sizeof(*phdr);
	header->e_phnum = 2;
}

static void phoff_sign(void)
{
	hostile();
	header->e_phoff = 1ull << 63;
}

static void phoff_past(void)
{
	hostile();
	header->e_phoff = FULL_SIZE - sizeof(*phdr) + 1;
}

static void phnum_max(void)
{
	hostile();
	header->e_phnum = UINT16_MAX;
}

static void phnum_notes(void)
{
	unsigned int i;

	hostile();
	header->e_phnum = UINT16_MAX;
	phdr->p_offset = 0;
	for (i = 1; i < (NOTES - sizeof(*header)) / sizeof(*phdr); i++)
		phdr[i] = phdr[0];
}

static void phentsize_0(void)
{
	hostile();
	header->e_phentsize = 0;
}

static void phentsize_max(void)
{
	hostile();
	header->e_phentsize = UINT16_MAX;
}

static void offset_max(void)
{
	hostile();
	phdr->p_offset = UINT64_MAX;
}

static void offset_wraps(void)
{
	hostile();
	phdr->p_offset = -(uint64_t)8;
	phdr->p_filesz = 64;
}

static void size_max(void)
{
	hostile();
	phdr->p_filesz = UINT64_MAX;
}

static void size_wraps(void)
{
	hostile();
	phdr->p_filesz = -(uint64_t)NOTES;
}

static void size_past(void)
{
	hostile();
	phdr->p_filesz = FULL_SIZE - NOTES + 1;
}

static void size_0(void)
{
	hostile();
	phdr->p_filesz = 0;
}

static void size_tiny(void)
{
	hostile();
	phdr->p_filesz = sizeof(*note) - 1;
}

static void name_max(void)
{
	hostile();
	note->n_namesz = UINT32_MAX;
}

static void name_wraps(void)
{
	hostile();
	note->n_namesz = UINT32_MAX - 2;
}

static void desc_max(void)
{
	hostile();
	note->n_descsz = UINT32_MAX;
}

static void desc_wraps(void)
{
	hostile();
	note->n_descsz = UINT32_MAX - 2;
}

static void both_wrap(void)
{
	hostile();
	note->n_namesz = UINT32_MAX - 15;
	note->n_descsz = 16;
}

static void desc_0(void)
{
	hostile();
	note->n_descsz = 0;
}

static void desc_past_segment(void)
{
	hostile();
	phdr->p_filesz -= 4;
}

static void desc_past_file(void)
{
	hostile();
	memmove(elf.bytes + FULL_SIZE - 32, elf.bytes + NOTES, 32);
	phdr->p_offset = FULL_SIZE - 32;
}

static void name_other(void)
{
	hostile();
	memcpy(note + 1, "GNX", 4);
}

static void type_other(void)
{
	hostile();
	note->n_type = ID_TYPE + 1;
}

static void class_0(void)
{
	hostile();
	elf.bytes[EI_CLASS] = ELFCLASSNONE;
}

static void class_3(void)
{
	hostile();
	elf.bytes[EI_CLASS] = 3;
}

static void class_wrong(void)
{
	hostile();
	elf.bytes[EI_CLASS] = ELFCLASS32;
}

/* It says so, but isn't. */
static void order_claimed(void)
{
	hostile();
	elf.bytes[EI_DATA] = ELFDATA2MSB;
}

static void order_wrong(void)
{
	hostile();
	elf.bytes[EI_DATA] = ELFDATA2MSB;
	SWAP(header->e_type);
	SWAP(header->e_machine);
	SWAP(header->e_version);
	SWAP(header->e_ehsize);
	SWAP(header->e_phoff);
	SWAP(header->e_phentsize);
	SWAP(header->e_phnum);
	SWAP(phdr->p_type);
	SWAP(phdr->p_offset);
	SWAP(phdr->p_filesz);
	SWAP(phdr->p_align);
	SWAP(note->n_namesz);
	SWAP(note->n_descsz);
	SWAP(note->n_type);
}

#define KIND(kind) { #kind, kind }

static const struct {
	const char *name;
	void (*make)(void);
} kinds[] = {
	KIND(good), KIND(class_32), KIND(second_note), KIND(second_segment),
	KIND(aligned_8), KIND(length_1), KIND(length_32), KIND(length_33),
	KIND(no_notes), KIND(no_elf), KIND(no_phdrs), KIND(cut_in_ident),
	KIND(cut_in_header), KIND(cut_after_header), KIND(cut_in_phdr),
	KIND(cut_before_notes), KIND(cut_in_note), KIND(phoff_max),
	KIND(phoff_wraps), KIND(phoff_sign), KIND(phoff_past), KIND(phnum_max),
	KIND(phnum_notes), KIND(phentsize_0), KIND(phentsize_max),
	KIND(offset_max), KIND(offset_wraps), KIND(size_max), KIND(size_wraps),
	KIND(size_past), KIND(size_0), KIND(size_tiny), KIND(name_max),
	KIND(name_wraps), KIND(desc_max), KIND(desc_wraps), KIND(both_wrap),
	KIND(desc_0), KIND(desc_past_segment), KIND(desc_past_file),
	KIND(name_other), KIND(type_other), KIND(class_0), KIND(class_3),
	KIND(class_wrong), KIND(order_claimed), KIND(order_wrong),
};

static void write_file(const char *path)
{
#if defined(__x86_64__) || defined(__i386__)
	static const unsigned char loop[] = { 0x90, 0xeb, 0xfd };
#elif defined(__aarch64__)
	static const unsigned char loop[] = {
		0x1f, 0x20, 0x03, 0xd5, 0xff, 0xff, 0xff, 0x17
	};
#endif
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	memcpy(elf.bytes + elf.code, loop, sizeof(loop));
	if (write(fd, elf.bytes, elf.size) != (ssize_t)elf.size || close(fd))
		die("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	size_t i;

	if (argc != 2)
		return 2;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kinds[i].make();
		snprintf(path, sizeof(path), "%s/%s", argv[1], kinds[i].name);
		write_file(path);
		printf("%s %#zx %s\n", kinds[i].name, elf.code, elf.id);
	}
	return 0;
}
