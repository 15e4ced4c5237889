// SPDX-License-Identifier: GPL-2.0
/*
 * dcookie_test.c - one number for one file, and its build-id if it has one
 *
 * Most files here are hand-made, so that two of them can have what no two files
 * of a real file system share.
 */
#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uuid.h>
#include <linux/xarray.h>

#include "common.h"

#undef pr_fmt
#include "../src/dcookie.c"

/* A file that nobody can open. */
struct made {
	struct file file;
	struct dentry dentry;
	struct inode inode;
	struct super_block *sb;
	struct made *real;
	char path[64];
};

static char *made_name(struct dentry *dentry, char *buf, int size)
{
	struct made *m = container_of(dentry, struct made, dentry);

	return strscpy(buf, m->path, size) < 0 ? ERR_PTR(-ENAMETOOLONG) : buf;
}

static struct dentry *made_real(struct dentry *dentry, enum d_real_type type)
{
	struct made *m = container_of(dentry, struct made, dentry);

	return &m->real->dentry;
}

static const struct dentry_operations made_ops = {
	.d_dname = made_name,
	.d_real = made_real,
};

static struct super_block *make_sb(struct kunit *test, dev_t dev)
{
	struct super_block *sb = kunit_kzalloc(test, sizeof(*sb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sb);
	sb->s_dev = dev;
	return sb;
}

static struct made *make(struct kunit *test, struct super_block *sb,
			 unsigned long ino, u32 generation, const char *path)
{
	struct made *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->file.f_inode = &m->inode;
	/* newer kernels have it read-only there */
	((struct path *)&m->file.f_path)->dentry = &m->dentry;
	m->dentry.d_inode = &m->inode;
	m->dentry.d_op = &made_ops;
	m->inode.i_sb = sb;
	m->inode.i_ino = ino;
	m->inode.i_generation = generation;
	/* no regular file: it has no build-id */
	m->inode.i_mode = S_IFCHR;
	strscpy(m->path, path, sizeof(m->path));
	return m;
}

static const struct cookie *cookie_of(struct file *file)
{
	return xa_load(&by_number, op_cookie(file));
}

/* ---- identity --------------------------------------------------------- */

static void a_file_has_one_cookie(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *a = make(test, sb, 1, 2, "/a");
	struct made *again = make(test, sb, 1, 2, "/other-name");
	unsigned long number = op_cookie(&a->file);
	char path[64];

	KUNIT_EXPECT_GE(test, number, OP_COOKIE_FIRST);
	KUNIT_EXPECT_EQ(test, op_cookie(&a->file), number);
	KUNIT_EXPECT_EQ(test, op_cookie(&again->file), number);
	/* the first path seen stays */
	KUNIT_EXPECT_EQ(test, op_cookie_path(number, path, sizeof(path)), 2);
	KUNIT_EXPECT_STREQ(test, path, "/a");
	KUNIT_EXPECT_EQ(test, op_cookie_path(number + 1, path, sizeof(path)),
			-ENOENT);
}

static void what_tells_files_apart(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct super_block *other = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 1, 2, "/a");
	unsigned long number[6];
	unsigned int i, j;

	number[0] = op_cookie(&m->file);
	m->inode.i_ino = 3;
	number[1] = op_cookie(&m->file);
	m->inode.i_ino = 1;
	m->inode.i_generation = 3;
	number[2] = op_cookie(&m->file);
	m->inode.i_generation = 2;
	m->inode.i_sb = other;
	number[3] = op_cookie(&m->file);
	m->inode.i_sb = sb;
	sb->s_dev = MKDEV(8, 2);
	number[4] = op_cookie(&m->file);
	sb->s_dev = MKDEV(8, 1);
	sb->s_uuid.b[15] = 1;
	number[5] = op_cookie(&m->file);
	for (i = 0; i < ARRAY_SIZE(number); i++) {
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE_MSG(test, number[i], number[j],
					    "%u and %u", i, j);
	}
	sb->s_uuid.b[15] = 0;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number[0]);
}

/* Its address is used again at once. */
static void a_file_system_goes(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(7, 0));
	struct super_block *real = make_sb(test, MKDEV(7, 1));
	struct made *m = make(test, sb, 1, 0, "/a");
	struct made *lower = make(test, real, 1, 0, "/lower");
	struct pt_regs regs = {};
	unsigned long number, overlay;

	number = op_cookie(&m->file);
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number);
	op_test_set_arg(&regs, 0, (unsigned long)sb);
	sb_goes(&sb_probe, &regs);
	KUNIT_EXPECT_NE(test, op_cookie(&m->file), number);
	sb->s_magic = OVERLAYFS_SUPER_MAGIC;
	m->dentry.d_flags = DCACHE_OP_REAL;
	m->real = lower;
	overlay = op_cookie(&m->file);
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), overlay);
	op_test_set_arg(&regs, 0, (unsigned long)real);
	sb_goes(&sb_probe, &regs);
	KUNIT_EXPECT_NE(test, op_cookie(&m->file), overlay);
	KUNIT_EXPECT_TRUE(test, sb_probe_there);
}

static void layers_of_an_overlay(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(0, 30));
	struct made *m = make(test, sb, 1, 0, "/merged");
	struct made *lower = make(test, make_sb(test, MKDEV(8, 1)), 1, 5, "/l");
	struct made *upper = make(test, make_sb(test, MKDEV(8, 2)), 1, 5, "/u");
	unsigned long number;

	sb->s_magic = OVERLAYFS_SUPER_MAGIC;
	m->dentry.d_flags = DCACHE_OP_REAL;
	m->real = lower;
	number = op_cookie(&m->file);
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number);
	m->real = upper;
	KUNIT_EXPECT_NE(test, op_cookie(&m->file), number);
	m->real = lower;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number);
	lower->inode.i_generation++;
	KUNIT_EXPECT_NE(test, op_cookie(&m->file), number);
}

static void many_files_collide_nowhere(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 0, 0, "/a");
	unsigned long first = 0, i;

	for (i = 0; i < 2000; i++) {
		m->inode.i_ino = i << 32 | (i & 3);
		m->inode.i_generation = i >> 2;
		if (!i)
			first = op_cookie(&m->file);
		else
			KUNIT_EXPECT_EQ(test, op_cookie(&m->file), first + i);
	}
	for (i = 0; i < 2000; i++) {
		m->inode.i_ino = i << 32 | (i & 3);
		m->inode.i_generation = i >> 2;
		KUNIT_EXPECT_EQ(test, op_cookie(&m->file), first + i);
	}
}

/* ---- paths ------------------------------------------------------------ */

static void paths_are_escaped(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 1, 0, "/a b\tc\nd\\e\x01\x1b\x7f\xff");
	unsigned long number = op_cookie(&m->file);
	static const char want[] = "/a\\040b\\011c\\012d\\134e\\001\\033\\177\xff";
	char path[64];

	KUNIT_EXPECT_EQ(test, op_cookie_path(number, path, sizeof(path)),
			(int)strlen(want));
	KUNIT_EXPECT_STREQ(test, path, want);
}

static void paths_are_cut_off(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 1, 0, "/    x");
	unsigned long number = op_cookie(&m->file);
	size_t size;
	char path[64];

	for (size = 1; size < 40; size++) {
		int n;

		memset(path, '#', sizeof(path));
		n = op_cookie_path(number, path, size);
		KUNIT_EXPECT_LT(test, n, (int)size);
		KUNIT_EXPECT_EQ(test, (int)strlen(path), n);
		KUNIT_EXPECT_EQ(test, path[size], '#');
	}
}

/* ---- limits ----------------------------------------------------------- */

static void a_full_table(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 1, 0, "/a");
	unsigned long count = nr_cookies, number = op_cookie(&m->file);

	nr_cookies = COOKIES_MAX;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number);
	m->inode.i_ino = 2;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), 0UL);
	nr_cookies = COOKIES_MAX - 1;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number + 1);
	m->inode.i_ino = 3;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), 0UL);
	nr_cookies = count + 2;
	cookie_bytes = COOKIES_MAX_BYTES - 10;
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), 0UL);
	/* a start that finds it full empties it, and no number comes twice */
	op_cookies_start();
	KUNIT_EXPECT_EQ(test, nr_cookies, 0UL);
	KUNIT_EXPECT_EQ(test, cookie_bytes, 0UL);
	m->inode.i_ino = 1;
	KUNIT_EXPECT_GT(test, op_cookie(&m->file), number + 1);
}

static void a_start_keeps_what_there_is(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 1));
	struct made *m = make(test, sb, 1, 0, "/a");
	unsigned long number = op_cookie(&m->file);

	op_cookies_start();
	KUNIT_EXPECT_EQ(test, op_cookie(&m->file), number);
}

/* ---- build-ids -------------------------------------------------------- */

struct elf {
	struct elf64_hdr h;
	struct elf64_phdr p[2];
	u8 notes[256];
};

static size_t put_note(u8 *at, u32 type, const char *name, u32 namesz,
		       const void *desc, u32 descsz)
{
	struct elf32_note n = {
		.n_namesz = namesz, .n_descsz = descsz, .n_type = type
	};
	size_t len = sizeof(n);

	memcpy(at, &n, len);
	memcpy(at + len, name, namesz);
	len = ALIGN(len + namesz, 4);
	memcpy(at + len, desc, descsz);
	return ALIGN(len + descsz, 4);
}

static void make_elf(struct elf *e)
{
	size_t len;

	memset(e, 0, sizeof(*e));
	memcpy(e->h.e_ident, ELFMAG, SELFMAG);
	e->h.e_ident[EI_CLASS] = ELFCLASS64;
	e->h.e_ident[EI_DATA] = ELF_DATA;
	e->h.e_phentsize = sizeof(struct elf64_phdr);
	e->h.e_phoff = offsetof(struct elf, p);
	e->h.e_phnum = 2;
	e->p[0].p_type = PT_LOAD;
	e->p[1].p_type = PT_NOTE;
	e->p[1].p_offset = offsetof(struct elf, notes);
	e->p[1].p_align = 4;
	len = put_note(e->notes, 1, "XX\0", 3, "12345", 5);
	len += put_note(e->notes + len, NT_GNU_BUILD_ID, "GNU", 4,
			"\xde\xad\xbe\xef\x05\x06\x07\x08", 8);
	e->p[1].p_filesz = len;
}

/* Bytes of the build-id that is found in a file with this content. */
static unsigned int build_id_len(struct kunit *test, const void *data,
				 size_t len)
{
	struct file *file = op_test_file(test, "elf", data, len);
	const struct cookie *c;

	/* a name that lives in memory has no generation of its own */
	i_size_write(file_inode(file), len);
	c = cookie_of(file);
	KUNIT_EXPECT_NOT_NULL(test, c);
	return c ? c->build_id_len : 0;
}

static void a_build_id_is_found(struct kunit *test)
{
	struct elf e;
	struct file *file;
	const struct cookie *c;

	make_elf(&e);
	file = op_test_file(test, "elf", &e, sizeof(e));
	i_size_write(file_inode(file), sizeof(e));
	c = cookie_of(file);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_EXPECT_EQ(test, c->build_id_len, 8);
	KUNIT_EXPECT_MEMEQ(test, c->build_id,
			   "\xde\xad\xbe\xef\x05\x06\x07\x08", 8);
}

/* Written to in place: another build-id is another file. */
static void another_build_id_is_another_file(struct kunit *test)
{
	struct file *file;
	const struct cookie *c;
	unsigned long number;
	struct elf e;
	loff_t pos = 0;

	make_elf(&e);
	file = op_test_file(test, "elf", &e, sizeof(e));
	i_size_write(file_inode(file), sizeof(e));
	number = op_cookie(file);
	/* the same again, with another date */
	inode_set_mtime(file_inode(file), 1, 0);
	KUNIT_EXPECT_EQ(test, op_cookie(file), number);
	KUNIT_EXPECT_EQ(test, op_cookie(file), number);
	/* behind the first note, and the name of the second one */
	e.notes[24 + 16 + 3] = 0xee;
	KUNIT_ASSERT_EQ(test, kernel_write(file, &e, sizeof(e), &pos),
			(ssize_t)sizeof(e));
	inode_set_mtime(file_inode(file), 2, 0);
	KUNIT_EXPECT_NE(test, op_cookie(file), number);
	c = cookie_of(file);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_EXPECT_MEMEQ(test, c->build_id,
			   "\xde\xad\xbe\xee\x05\x06\x07\x08", 8);
	/* what was written down before holds for what was sampled before */
	c = xa_load(&by_number, number);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_EXPECT_MEMEQ(test, c->build_id,
			   "\xde\xad\xbe\xef\x05\x06\x07\x08", 8);
	number = op_cookie(file);
	/* none any more */
	memset(&e, 0, sizeof(e));
	pos = 0;
	KUNIT_ASSERT_EQ(test, kernel_write(file, &e, sizeof(e), &pos),
			(ssize_t)sizeof(e));
	inode_set_mtime(file_inode(file), 3, 0);
	KUNIT_EXPECT_NE(test, op_cookie(file), number);
}

static void a_32_bit_file_has_one_too(struct kunit *test)
{
	struct {
		struct elf32_hdr h;
		struct elf32_phdr p[2];
		u8 notes[64];
	} e = {};
	size_t len = put_note(e.notes, NT_GNU_BUILD_ID, "GNU", 4, "1234567", 7);

	memcpy(e.h.e_ident, ELFMAG, SELFMAG);
	e.h.e_ident[EI_CLASS] = ELFCLASS32;
	e.h.e_ident[EI_DATA] = ELF_DATA;
	e.h.e_phentsize = sizeof(e.p[0]);
	e.h.e_phoff = sizeof(e.h);
	e.h.e_phnum = ARRAY_SIZE(e.p);
	e.p[0].p_type = PT_LOAD;
	e.p[1].p_type = PT_NOTE;
	e.p[1].p_offset = sizeof(e.h) + sizeof(e.p);
	e.p[1].p_filesz = len;
	e.p[1].p_align = 4;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 7U);
	e.p[1].p_filesz = U32_MAX;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	e.p[1].p_filesz = len;
	e.p[1].p_offset = U32_MAX - len + 1;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	e.h.e_phoff = U32_MAX;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
}

static void the_file_shows_all_cookies(struct kunit *test)
{
	struct super_block *sb = make_sb(test, MKDEV(8, 17));
	struct made *m = make(test, sb, 1234, U32_MAX, "/a b\tc\nd\\e\x1b");
	struct cookie *c;
	char text[160], want[160];
	unsigned long number;

	free_all();
	KUNIT_EXPECT_EQ(test, 0, op_test_read(test, "dcookies", text,
					      sizeof(text)));
	number = op_cookie(&m->file);
	m->inode.i_ino = U32_MAX;
	m->inode.i_generation = 0;
	strscpy(m->path, "/x", sizeof(m->path));
	op_cookie(&m->file);
	/* as if it had one */
	c = xa_load(&by_number, number + 1);
	KUNIT_ASSERT_NOT_NULL(test, c);
	memcpy(c->build_id, "\x01\xfe\x00\x80", 4);
	c->build_id_len = 4;
	snprintf(want, sizeof(want),
		 "%lu 8:17 1234 4294967295 - /a\\040b\\011c\\012d\\134e\\033\n"
		 "%lu 8:17 4294967295 0 01fe0080 /x", number, number + 1);
	op_test_read(test, "dcookies", text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, want);
}

static void what_is_no_elf_file_has_none(struct kunit *test)
{
	struct elf e;

	KUNIT_EXPECT_EQ(test, build_id_len(test, "", 0), 0U);
	KUNIT_EXPECT_EQ(test, build_id_len(test, ELFMAG, SELFMAG), 0U);
	make_elf(&e);
	e.h.e_ident[0] = 0;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	make_elf(&e);
	e.h.e_ident[EI_CLASS] = 3;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	make_elf(&e);
	e.h.e_ident[EI_DATA] ^= 3;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	make_elf(&e);
	e.h.e_phentsize--;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
}

static void places_outside_of_the_file(struct kunit *test)
{
	static const u64 bad[] = {
		sizeof(struct elf), sizeof(struct elf) - 1, 1ULL << 32,
		S64_MAX, U64_MAX, U64_MAX - 7, U64_MAX - sizeof(struct elf)
	};
	struct elf e;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make_elf(&e);
		e.h.e_phoff = bad[i];
		KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
		make_elf(&e);
		e.p[1].p_offset = bad[i];
		KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
		make_elf(&e);
		e.p[1].p_filesz = bad[i];
		KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
	}
	make_elf(&e);
	e.h.e_phnum = 0xffff;
	KUNIT_EXPECT_EQ(test, build_id_len(test, &e, sizeof(e)), 0U);
}

static void files_that_end_anywhere(struct kunit *test)
{
	size_t len, need = offsetof(struct elf, notes);
	struct elf e;

	make_elf(&e);
	need += e.p[1].p_filesz;
	for (len = 0; len < sizeof(e); len += 13)
		KUNIT_EXPECT_EQ(test, build_id_len(test, &e, len),
				len >= need ? 8U : 0U);
}

static unsigned int in_notes(const u8 *notes, size_t len, size_t align)
{
	struct cookie c = {};

	return find_build_id(&c, notes, len, align) ? c.build_id_len : 0;
}

static void notes_of_all_sizes(struct kunit *test)
{
	u8 desc[64] = { 1 }, *notes;
	size_t len;
	u32 size;

	for (size = 0; size < 64; size++) {
		notes = kunit_kzalloc(test, 128, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, notes);
		len = put_note(notes, NT_GNU_BUILD_ID, "GNU", 4, desc, size);
		KUNIT_EXPECT_EQ(test, in_notes(notes, len, 4),
				size && size <= BUILD_ID_MAX ? size : 0);
		/* one byte too few of it */
		if (size)
			KUNIT_EXPECT_EQ(test, in_notes(notes, 16 + size - 1, 4),
					0U);
	}
	notes = kunit_kzalloc(test, 128, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, notes);
	len = put_note(notes, NT_GNU_BUILD_ID, "GNU", 3, desc, 8);
	KUNIT_EXPECT_EQ(test, in_notes(notes, len, 4), 0U);
	len = put_note(notes, NT_GNU_BUILD_ID, "GNX", 4, desc, 8);
	KUNIT_EXPECT_EQ(test, in_notes(notes, len, 4), 0U);
	len = put_note(notes, NT_GNU_BUILD_ID + 1, "GNU", 4, desc, 8);
	KUNIT_EXPECT_EQ(test, in_notes(notes, len, 4), 0U);
}

/* Sizes that nobody means; each buffer ends where KASAN sees it. */
static void hostile_notes(struct kunit *test)
{
	static const u32 sizes[] = {
		0, 1, 3, 4, 5, 12, 0x7fffffff, 0x80000000, 0xfffffff0,
		0xfffffffc, 0xfffffffd, 0xffffffff
	};
	unsigned int i, j;
	size_t len;

	for (len = 0; len < 48; len++) {
		u8 *notes = kmalloc(len ?: 1, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, notes);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			for (j = 0; j < ARRAY_SIZE(sizes); j++) {
				struct elf32_note n = {
					.n_namesz = sizes[i],
					.n_descsz = sizes[j],
					.n_type = NT_GNU_BUILD_ID,
				};

				memset(notes, 0, len);
				memcpy(notes, &n, min(len, sizeof(n)));
				if (len >= 16)
					memcpy(notes + 12, "GNU", 4);
				KUNIT_EXPECT_LE(test, in_notes(notes, len, 4),
						(unsigned int)len);
				in_notes(notes, len, 8);
			}
		}
		kfree(notes);
	}
}

static void random_elf_files(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int seed, i, found = 0;
	struct elf e;

	for (seed = 1; seed < 100; seed++) {
		prandom_seed_state(&rnd, seed);
		make_elf(&e);
		for (i = op_test_random(&rnd, 6); i-- > 0; )
			((u8 *)&e)[4 + op_test_random(&rnd, sizeof(e) - 4)] =
				op_test_random(&rnd, 256);
		found += build_id_len(test, &e, sizeof(e)) > 0;
	}
	KUNIT_EXPECT_GT(test, found, 10U);
	KUNIT_EXPECT_LT(test, found, 99U);
}

/* Nothing of other cases, whose memory may come again. */
static int dcookie_test_init(struct kunit *test)
{
	free_all();
	return 0;
}

static void dcookie_test_exit(struct kunit *test)
{
	free_all();
}

static struct kunit_case dcookie_cases[] = {
	KUNIT_CASE(a_file_has_one_cookie),
	KUNIT_CASE(what_tells_files_apart),
	KUNIT_CASE(a_file_system_goes),
	KUNIT_CASE(layers_of_an_overlay),
	KUNIT_CASE(many_files_collide_nowhere),
	KUNIT_CASE(paths_are_escaped),
	KUNIT_CASE(paths_are_cut_off),
	KUNIT_CASE(a_full_table),
	KUNIT_CASE(a_start_keeps_what_there_is),
	KUNIT_CASE(a_build_id_is_found),
	KUNIT_CASE(another_build_id_is_another_file),
	KUNIT_CASE(a_32_bit_file_has_one_too),
	KUNIT_CASE(the_file_shows_all_cookies),
	KUNIT_CASE(what_is_no_elf_file_has_none),
	KUNIT_CASE(places_outside_of_the_file),
	KUNIT_CASE(files_that_end_anywhere),
	KUNIT_CASE(notes_of_all_sizes),
	KUNIT_CASE(hostile_notes),
	KUNIT_CASE(random_elf_files),
	{}
};

static struct kunit_suite dcookie_suite = {
	.name = "oprofile_dcookie",
	.init = dcookie_test_init,
	.exit = dcookie_test_exit,
	.test_cases = dcookie_cases,
};

kunit_test_suite(dcookie_suite);
