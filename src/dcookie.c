// SPDX-License-Identifier: GPL-2.0
/*
 * dcookie.c - file identities that outlive the files' users
 *
 * A cookie is a number for an inode as /proc/PID/maps shows it, told apart by
 * superblock (its address, age, UUID and device), inode number and generation,
 * and, where it has been written to since, by its build-id. An
 * overlay has the numbers of its layers, which may be those of different files
 * in different layers: there the real inode counts too. A cookie remembers the
 * first path seen and the build-id, and holds neither the file nor its file
 * system.
 *
 * The build-id is taken from the page cache only: the ELF header of code that
 * runs is there, and looking never waits for a disk, a FUSE server or a
 * fanotify listener. So a cookie is complete when it is given out, or where
 * the header was not there, a little later.
 *
 * Cookies are made under op_sync_mutex only, read under RCU by anybody, and
 * freed when no reader can be left: at a start that finds the table full, and
 * at unload.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/uuid.h>
#include <linux/xarray.h>

#include "oprofile.h"

/* The bound of the table: about 64 MiB with short paths or with long ones. */
#ifndef COOKIES_MAX
#define COOKIES_MAX		131072
#endif
#define COOKIES_MAX_BYTES	(64UL << 20)

/* the type of the note named GNU; the kernel has no name for it */
#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID		3
#endif

#define PATH_BUFFER		8192
#define BUILD_ID_MAX		32
#define BUILD_ID_TRIES		16
#define NOTES_MAX		4096	/* bytes of notes looked through */
#define PHDRS_MAX		64U

struct identity {
	const struct super_block *sb;	/* compared, never followed */
	uuid_t uuid;			/* of the file system, if it has one */
	u64 ino;
	u32 dev;
	u32 generation;
	u32 sb_age;			/* see there */
	/* of an overlay's file, the real one; else 0 */
	u32 real_sb_age;
	const struct super_block *real_sb;
	u64 real_ino;
	u32 real_generation;
};

/*
 * A super_block's address is used again once it has gone, maybe for another
 * medium with the same inode numbers. So a kprobe counts those that go, by
 * their address; with some others of that hash it is no matter but that their
 * files get another cookie.
 */
#define SB_AGE_BITS	12

static atomic_t sb_ages[1 << SB_AGE_BITS];

static atomic_t *sb_age(const struct super_block *sb)
{
	return &sb_ages[hash_ptr((void *)sb, SB_AGE_BITS)];
}

static int sb_goes(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(sb_age((void *)regs_get_kernel_argument(regs, 0)));
	return 0;
}

static struct kprobe sb_probe = {
	.symbol_name = "generic_shutdown_super",
	.pre_handler = sb_goes,
};

static bool sb_probe_there;

/* What changes with a file's contents, mostly. */
struct version {
	loff_t size;
	struct timespec64 mtime;
	struct timespec64 ctime;
};

struct cookie {
	struct rhash_head node;
	struct identity id;
	struct version version;		/* when the build-id was looked for */
	unsigned long number;
	u8 build_id_tries;
	u8 build_id_len;
	u8 build_id[BUILD_ID_MAX];
	struct rcu_head rcu;
	char path[];
};

/*
 * All but the UUID: whoever can choose these words for two files can't know how
 * they are mixed.
 */
static u32 identity_hash(const void *key, u32 len, u32 seed)
{
	const struct identity *id = key;
	u32 h;

	h = jhash_3words(id->ino, id->ino >> 32, id->generation, seed);
	h = jhash_3words(id->dev, (u32)((unsigned long)id->sb >> 6) ^
			 id->sb_age << 16, id->real_ino, h);
	if (!id->real_sb)
		return h;
	return jhash_3words(id->real_ino >> 32, id->real_generation,
			    (u32)((unsigned long)id->real_sb >> 6) ^
			    id->real_sb_age << 16, h);
}

static const struct rhashtable_params cookie_params = {
	.hashfn = identity_hash,
	.key_len = sizeof(struct identity),
	.key_offset = offsetof(struct cookie, id),
	.head_offset = offsetof(struct cookie, node),
	.automatic_shrinking = true,
};

static struct rhashtable by_identity;
static DEFINE_XARRAY(by_number);
static char *path_buffer;
static unsigned long nr_cookies, cookie_bytes;
static unsigned long next_number = OP_COOKIE_FIRST;
static bool ready;

/* ---- build-id --------------------------------------------------------- */

/* Does a file have all these bytes? */
static bool in_file(struct file *file, u64 pos, u64 len)
{
	u64 size = i_size_read(op_file_data_inode(file));

	return len <= size && pos <= size - len;
}

/* Copy from a file what the page cache has of it; all or nothing. */
static bool read_cached(struct file *file, u64 pos, void *buf, size_t len)
{
	struct address_space *mapping = op_file_data_inode(file)->i_mapping;

	if (!in_file(file, pos, len))
		return false;
	while (len) {
		size_t in_page = offset_in_page(pos);
		size_t n = min_t(size_t, len, PAGE_SIZE - in_page);
		struct page *page;
		void *addr;

		page = find_get_page(mapping, pos >> PAGE_SHIFT);
		if (!page)
			return false;
		if (!PageUptodate(page)) {
			put_page(page);
			return false;
		}
		addr = kmap_local_page(page);
		memcpy(buf, addr + in_page, n);
		kunmap_local(addr);
		put_page(page);
		buf += n;
		pos += n;
		len -= n;
	}
	return true;
}

/*
 * Look through a piece of notes; the sizes in it are anybody's. What is in a
 * note, and the next one, begin at multiples of @align in the piece.
 */
static bool find_build_id(struct cookie *c, const u8 *notes, size_t len,
			  size_t align)
{
	size_t pos = 0, name, desc;
	struct elf32_note n;

	while (pos < len && len - pos >= sizeof(n)) {
		memcpy(&n, notes + pos, sizeof(n));
		name = pos + sizeof(n);
		if (n.n_namesz > len - name)
			return false;
		desc = ALIGN(name + n.n_namesz, align);
		if (desc > len || n.n_descsz > len - desc)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) &&
		    n.n_descsz && n.n_descsz <= BUILD_ID_MAX) {
			memcpy(c->build_id, notes + desc, n.n_descsz);
			/* pairs with the acquire in dcookies_show() */
			smp_store_release(&c->build_id_len, n.n_descsz);
			return true;
		}
		pos = ALIGN(desc + n.n_descsz, align);
	}
	return false;
}

static bool note_segment(struct cookie *c, struct file *file, u8 *buf,
			 u64 offset, u64 size, u64 align)
{
	if (!in_file(file, offset, size))
		return false;
	size = min_t(u64, size, NOTES_MAX);
	return read_cached(file, offset, buf, size) &&
	       find_build_id(c, buf, size, align == 8 ? 8 : 4);
}

/* What is not in the page cache now may be there another time. */
static void read_build_id(struct cookie *c, struct file *file)
{
	union {
		unsigned char ident[EI_NIDENT];
		struct elf32_hdr e32;
		struct elf64_hdr e64;
	} h;
	union {
		struct elf32_phdr p32;
		struct elf64_phdr p64;
	} p;
	size_t phdr_size;
	bool is64, done = false;
	unsigned int i, n;
	u64 phoff;
	u8 *buf;

	if (c->build_id_tries == BUILD_ID_TRIES ||
	    !S_ISREG(file_inode(file)->i_mode))
		return;
	c->build_id_tries++;
	memset(&h, 0, sizeof(h));
	if (!read_cached(file, 0, &h.e32, sizeof(h.e32)) ||
	    memcmp(h.ident, ELFMAG, SELFMAG) ||
	    h.ident[EI_DATA] != ELF_DATA)
		return;
	is64 = h.ident[EI_CLASS] == ELFCLASS64;
	if (is64 && !read_cached(file, 0, &h.e64, sizeof(h.e64)))
		return;
	if (!is64 && h.ident[EI_CLASS] != ELFCLASS32)
		return;
	phdr_size = is64 ? sizeof(p.p64) : sizeof(p.p32);
	if ((is64 ? h.e64.e_phentsize : h.e32.e_phentsize) != phdr_size)
		return;
	phoff = is64 ? h.e64.e_phoff : h.e32.e_phoff;
	n = is64 ? h.e64.e_phnum : h.e32.e_phnum;
	if (!in_file(file, phoff, n * phdr_size))
		return;
	n = min(n, PHDRS_MAX);
	buf = kmalloc(NOTES_MAX, GFP_KERNEL);
	if (!buf)
		return;
	for (i = 0; i < n && !done; i++) {
		if (is64) {
			if (!read_cached(file, phoff + i * sizeof(p.p64),
					 &p.p64, sizeof(p.p64)))
				break;
			if (p.p64.p_type == PT_NOTE)
				done = note_segment(c, file, buf, p.p64.p_offset,
						    p.p64.p_filesz,
						    p.p64.p_align);
		} else {
			if (!read_cached(file, phoff + i * sizeof(p.p32),
					 &p.p32, sizeof(p.p32)))
				break;
			if (p.p32.p_type == PT_NOTE)
				done = note_segment(c, file, buf, p.p32.p_offset,
						    p.p32.p_filesz,
						    p.p32.p_align);
		}
	}
	kfree(buf);
}

/* ---- cookies ---------------------------------------------------------- */

static struct version file_version(struct file *file)
{
	struct inode *inode = op_file_data_inode(file);

	return (struct version) {
		.size = i_size_read(inode),
		.mtime = op_inode_mtime(inode),
		.ctime = op_inode_ctime(inode),
	};
}

static bool same_version(const struct version *a, const struct version *b)
{
	return a->size == b->size && timespec64_equal(&a->mtime, &b->mtime) &&
	       timespec64_equal(&a->ctime, &b->ctime);
}

static struct cookie *cookie_new(struct file *file, const struct identity *id)
{
	struct cookie *c;
	size_t size, len;
	char *path;

	if (nr_cookies >= COOKIES_MAX)
		return NULL;
	path = d_path(op_file_path(file), path_buffer, PATH_BUFFER);
	if (IS_ERR(path))
		path = "?";
	len = strlen(path) + 1;
	size = struct_size(c, path, len);
	if (cookie_bytes + size > COOKIES_MAX_BYTES)
		return NULL;
	c = kzalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!c)
		return NULL;
	c->id = *id;
	c->number = next_number;
	memcpy(c->path, path, len);
	c->version = file_version(file);
	read_build_id(c, file);
	if (xa_err(xa_store(&by_number, c->number, c, GFP_KERNEL)))
		goto free;
	if (rhashtable_insert_fast(&by_identity, &c->node, cookie_params))
		goto erase;
	next_number++;
	nr_cookies++;
	cookie_bytes += size;
	return c;

erase:
	xa_erase(&by_number, c->number);
free:
	kfree_rcu(c, rcu);
	return NULL;
}

/*
 * The file was written to since its build-id was looked for. With another
 * build-id it is another file, for all who look symbols up; so it is where one
 * can't tell.
 */
static struct cookie *cookie_again(struct cookie *c, struct file *file,
				   const struct version *version)
{
	struct cookie now = {};

	read_build_id(&now, file);
	if (now.build_id_len == c->build_id_len &&
	    !memcmp(now.build_id, c->build_id, now.build_id_len)) {
		c->version = *version;
		return c;
	}
	rhashtable_remove_fast(&by_identity, &c->node, cookie_params);
	return cookie_new(file, &c->id);
}

/**
 * op_cookie() - the cookie of a file
 * @file: a counted file
 *
 * Context: op_sync_mutex held, may sleep for memory only.
 * Return: the cookie, or 0 where the table is full or memory is short.
 */
unsigned long op_cookie(struct file *file)
{
	struct inode *inode = op_file_inode(file);
	struct version version;
	struct identity id;
	struct cookie *c;

	/* padding is compared, too */
	memset(&id, 0, sizeof(id));
	id.sb = inode->i_sb;
	id.sb_age = atomic_read(sb_age(id.sb));
	id.uuid = inode->i_sb->s_uuid;
	id.dev = new_encode_dev(inode->i_sb->s_dev);
	id.ino = inode->i_ino;
	id.generation = inode->i_generation;
	if (inode->i_sb->s_magic == OVERLAYFS_SUPER_MAGIC) {
		inode = op_file_data_inode(file);
		id.real_sb = inode->i_sb;
		id.real_sb_age = atomic_read(sb_age(id.real_sb));
		id.real_ino = inode->i_ino;
		id.real_generation = inode->i_generation;
	}

	c = rhashtable_lookup_fast(&by_identity, &id, cookie_params);
	if (!c) {
		c = cookie_new(file, &id);
	} else {
		version = file_version(file);
		if (!same_version(&c->version, &version))
			c = cookie_again(c, file, &version);
		else if (!c->build_id_len)
			read_build_id(c, file);
	}
	return c ? c->number : 0;
}

/* What parts words and lines, and what a terminal would obey. */
static bool must_escape(char ch)
{
	return (unsigned char)ch <= ' ' || ch == 0x7f || ch == '\\';
}

/**
 * op_cookie_path() - the path of a cookie, escaped
 * @cookie: its number
 * @buf: takes the path, with a NUL
 * @size: bytes in @buf
 *
 * Return: the length; -ENOENT where there is no such cookie. What does not fit
 *	is cut off.
 */
int op_cookie_path(unsigned long cookie, char *buf, size_t size)
{
	const struct cookie *c;
	const char *s;
	size_t n = 0;

	rcu_read_lock();
	c = xa_load(&by_number, cookie);
	if (!c) {
		rcu_read_unlock();
		return -ENOENT;
	}
	for (s = c->path; *s && n + 5 <= size; s++) {
		if (must_escape(*s)) {
			buf[n++] = '\\';
			buf[n++] = '0' + ((*s >> 6) & 3);
			buf[n++] = '0' + ((*s >> 3) & 7);
			buf[n++] = '0' + (*s & 7);
		} else {
			buf[n++] = *s;
		}
	}
	buf[n] = '\0';
	rcu_read_unlock();
	return n;
}

static void free_all(void)
{
	unsigned long index;
	struct cookie *c;

	xa_for_each(&by_number, index, c) {
		rhashtable_remove_fast(&by_identity, &c->node, cookie_params);
		xa_erase(&by_number, index);
		kfree_rcu(c, rcu);
		cond_resched();
	}
	nr_cookies = 0;
	cookie_bytes = 0;
}

/**
 * op_cookies_init() - set up, once
 *
 * Return: 0, or -ENOMEM.
 */
int op_cookies_init(void)
{
	int err;

	path_buffer = kmalloc(PATH_BUFFER, GFP_KERNEL);
	if (!path_buffer)
		return -ENOMEM;
	err = rhashtable_init(&by_identity, &cookie_params);
	if (err) {
		kfree(path_buffer);
		return err;
	}
	sb_probe_there = !register_kprobe(&sb_probe);
	if (!sb_probe_there)
		pr_notice("unmounts are not seen, as %s can't be probed: a file system may pass for the one before it\n",
			  sb_probe.symbol_name);
	ready = true;
	return 0;
}

/**
 * op_cookies_start() - a new run begins
 *
 * Cookies stay, with their numbers, so that a stream that was saved can still
 * be decoded; only a table that has no room for more is emptied.
 *
 * Context: op_sync_mutex held.
 */
void op_cookies_start(void)
{
	if (nr_cookies >= COOKIES_MAX ||
	    cookie_bytes > COOKIES_MAX_BYTES - PATH_BUFFER)
		free_all();
}

/**
 * op_cookies_exit() - undo op_cookies_init()
 */
void op_cookies_exit(void)
{
	if (!ready)
		return;
	ready = false;
	if (sb_probe_there)
		unregister_kprobe(&sb_probe);
	/* of no use to the next register_kprobe() */
	sb_probe.addr = NULL;
	free_all();
	rhashtable_destroy(&by_identity);
	xa_destroy(&by_number);
	kfree(path_buffer);
	/* kfree_rcu() needs nothing of the module, but be tidy */
	rcu_barrier();
}

/* ---- the file dcookies ------------------------------------------------ */

static void *dcookies_start(struct seq_file *m, loff_t *pos)
	__acquires(RCU)
{
	unsigned long index = *pos;
	struct cookie *c;

	rcu_read_lock();
	c = xa_find(&by_number, &index, ULONG_MAX, XA_PRESENT);
	*pos = index;
	return c;
}

static void *dcookies_next(struct seq_file *m, void *v, loff_t *pos)
{
	unsigned long index = *pos;
	struct cookie *c;

	c = xa_find_after(&by_number, &index, ULONG_MAX, XA_PRESENT);
	*pos = c ? index : *pos + 1;
	return c;
}

static void dcookies_stop(struct seq_file *m, void *v)
	__releases(RCU)
{
	rcu_read_unlock();
}

static int dcookies_show(struct seq_file *m, void *v)
{
	const struct cookie *c = v;
	dev_t dev = new_decode_dev(c->id.dev);
	/* pairs with the release in find_build_id() */
	unsigned int len = smp_load_acquire(&c->build_id_len);
	const char *s;

	seq_printf(m, "%lu %u:%u %llu %u ", c->number, MAJOR(dev), MINOR(dev),
		   c->id.ino, c->id.generation);
	if (len)
		seq_printf(m, "%*phN ", len, c->build_id);
	else
		seq_puts(m, "- ");
	for (s = c->path; *s; s++) {
		if (must_escape(*s))
			seq_printf(m, "\\%03o", (unsigned char)*s);
		else
			seq_putc(m, *s);
	}
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations dcookies_ops = {
	.start = dcookies_start,
	.next = dcookies_next,
	.stop = dcookies_stop,
	.show = dcookies_show,
};

static int dcookies_open(struct inode *inode, struct file *file)
{
	int err = op_may_open();

	if (err)
		return err;
	if (!perfmon_capable())
		return -EPERM;
	return seq_open(file, &dcookies_ops);
}

const struct file_operations op_dcookies_fops = {
	.owner = THIS_MODULE,
	.open = dcookies_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release,
};
