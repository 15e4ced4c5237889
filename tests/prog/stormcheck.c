// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * stormcheck: holds a recorded stream of a storm against the table that the
 * storm has written (storm.h), and says how many samples of each kind there
 * were, what was lost, and what is wrong.
 *
 *	-f FILE	the stream
 *	-d FILE	what "dcookies" said, if another run has begun since
 *	-i	swap two cookies of the stream: the images that most samples of
 *		storms lie in
 *	-a	the same, in contexts only: the programs that most samples of
 *		storms belong to
 *	-x	swap them everywhere: images and contexts
 *	-e PID	processes with lower numbers are exempt: their samples are counted
 *		("exempt") and not judged
 *	-c	samples bring the code that stood at their address (a module
 *		built with OP_TEST_CODE, src/test_code.h)
 *
 * Of each user sample it judges:
 *	outside		the offset lies in an executable segment of the file, and
 *			in the code itself where storm-make made the file: then
 *			no other such file has code there
 *	foreign		its process has mapped that file; no process has that is
 *			not in the table and the file is a storm's
 *	anon		without a file it lies in [vdso], or where its process
 *			has code without a file
 *	code		the code that the sample brings is the file's at the offset
 * and of each sample, those in the kernel included:
 *	app		the program is one that its process has run
 *	noapp		the program of a storm's process is known
 * and of each cookie:
 *	identity	device and inode are those of the file of that path
 *
 * One thing the offset can't tell: where two files take each other's place
 * under a running thread, the thread's first instruction in the new file is one
 * of its jumps, at an address at which it has run the old one's loop. Such
 * samples, and those at the address at which threads enter either file, are
 * counted ("jumps", "doors") and not judged; of the former there can be one a
 * thread and change, no more. The truth there is the code, which differs between
 * the two at every address: with it no sample is exempt.
 *
 * The exit status is 0 if nothing is wrong and each cookie is listed.
 */

#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <getopt.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <uapi/oprofile.h>

#include "opdecode.h"
#include "optool.h"
#include "storm.h"

#define MAX_SEGMENTS	8
#define MAX_SHOWN	20	/* wrong samples shown in full */
#define MANY_RUNS	20	/* of a file, so that samples must have come */

enum wrong { OUTSIDE, FOREIGN, ANON, CODE, APP, NOAPP, IDENTITY, NR_WRONG };

static const char * const wrong_names[NR_WRONG] = {
	"outside", "foreign", "anon", "code", "app", "noapp", "identity"
};

/**
 * struct image - what a cookie stands for
 * @cookie: the number
 * @path: the file's
 * @file: the file in the table, or NULL
 * @nr_segments: executable segments of an ELF file
 * @start: offset of each
 * @end: of what is behind it
 * @bytes: its content, once that was needed
 * @size: how many there are
 * @users: samples that lie in it, if a storm's
 * @apps: samples that belong to it, if a storm's
 */
struct image {
	unsigned long cookie;
	char *path;
	struct storm_file *file;
	unsigned int nr_segments;
	unsigned long start[MAX_SEGMENTS];
	unsigned long end[MAX_SEGMENTS];
	unsigned char *bytes;
	size_t size;
	unsigned long users;
	unsigned long apps;
};

/* Of src/test_code.h. */
#define CODE_BYTES	7
#define CODE_MAX	(2 * CODE_BYTES)
#define CODE_TELLS	0x100ul

/* A user sample that brings code. */
struct code {
	struct op_sample sample;
	unsigned char size;
	unsigned char seen;
	unsigned char bytes[CODE_MAX];
};

static struct image *images;
static size_t nr_images;

static struct storm_table *table;
static const struct storm_entry **by_tgid;
static size_t nr_by_tgid;

static struct op_counts counts;
static unsigned long wrong[NR_WRONG], shown;
/* of each storm, and of what belongs to none */
static unsigned long users[STORM_NR + 1], kernels[STORM_NR + 1];
static unsigned long jumps, doors, anons, processes[STORM_NR + 1];
static unsigned long judged, exempt, first_judged;
static bool with_code;
static struct code *codes;
static size_t nr_codes, max_codes;
static unsigned long codes_judged, codes_of_pairs;

/* ---- the table -------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const struct storm_entry *x = *(const struct storm_entry **)a;
	const struct storm_entry *y = *(const struct storm_entry **)b;

	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static void open_table(void)
{
	int fd = open(STORM_TABLE, O_RDWR | O_CLOEXEC);
	size_t i;

	if (fd < 0)
		die("%s: %s", STORM_TABLE, strerror(errno));
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (table == MAP_FAILED)
		die("%s: %s", STORM_TABLE, strerror(errno));
	nr_by_tgid = table->nr_entries;
	if (!nr_by_tgid || nr_by_tgid > STORM_ENTRIES)
		die("stormcheck: %zu processes in the table", nr_by_tgid);
	by_tgid = calloc(nr_by_tgid, sizeof(*by_tgid));
	if (!by_tgid)
		die("out of memory");
	for (i = 0; i < nr_by_tgid; i++) {
		by_tgid[i] = &table->entries[i];
		processes[by_tgid[i]->storm]++;
	}
	qsort(by_tgid, nr_by_tgid, sizeof(*by_tgid), by_number);
	for (i = 1; i < nr_by_tgid; i++) {
		if (by_tgid[i]->tgid == by_tgid[i - 1]->tgid)
			die("stormcheck: process %d was there twice",
			    by_tgid[i]->tgid);
	}
}

static const struct storm_entry *find_entry(unsigned long tgid)
{
	struct storm_entry key = { .tgid = tgid }, *keyp = &key;
	const struct storm_entry **found;

	found = bsearch(&keyp, by_tgid, nr_by_tgid, sizeof(*by_tgid), by_number);
	return found ? *found : NULL;
}

static uint64_t bit(const struct storm_file *file)
{
	return 1ull << (file - table->files);
}

/* ---- the files -------------------------------------------------------- */

static void complain(enum wrong what, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(enum wrong what, const char *format, ...)
{
	va_list args;

	if (shown++ == MAX_SHOWN)
		printf("# more of that\n");
	if (shown > MAX_SHOWN)
		return;
	printf("# %s: ", wrong_names[what]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void add_segment(struct image *image, unsigned long start,
			unsigned long end)
{
	if (image->nr_segments == MAX_SEGMENTS)
		die("stormcheck: %s: too many segments", image->path);
	image->start[image->nr_segments] = start;
	image->end[image->nr_segments++] = end;
}

static void read_segments(struct image *image)
{
	ElfW(Ehdr) e;
	ElfW(Phdr) p;
	unsigned int i;
	int fd;

	if (image->file && image->file->generated) {
		add_segment(image, image->file->start, image->file->end);
		return;
	}
	fd = open(image->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", image->path, strerror(errno));
	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != (sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32))
		die("stormcheck: %s is no ELF file", image->path);
	for (i = 0; i < e.e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)) !=
		    sizeof(p))
			die("stormcheck: %s is no ELF file", image->path);
		if (p.p_type == PT_LOAD && (p.p_flags & PF_X))
			add_segment(image, p.p_offset,
				    p.p_offset + p.p_filesz);
	}
	close(fd);
}

static void identify(struct image *image, unsigned int major_number,
		     unsigned int minor_number, unsigned long inode)
{
	struct stat s;
	unsigned int i;

	for (i = 0; i < table->nr_files; i++) {
		if (!strcmp(table->files[i].path, image->path))
			image->file = &table->files[i];
	}
	if (stat(image->path, &s) || major(s.st_dev) != major_number ||
	    minor(s.st_dev) != minor_number || s.st_ino != inode) {
		wrong[IDENTITY]++;
		complain(IDENTITY, "cookie %lu: %s", image->cookie, image->path);
		return;
	}
	read_segments(image);
}

static int by_cookie(const void *a, const void *b)
{
	const struct image *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

static void read_images(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int major_number, minor_number;
	unsigned long cookie, inode;
	char *line = NULL;
	size_t size = 0;
	int at;

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = 0;
		at = 0;
		/* cookie, dev, inode, generation, build-id, path */
		if (sscanf(line, "%lu %u:%u %lu %*u %*s %n", &cookie,
			   &major_number, &minor_number, &inode, &at) != 4 ||
		    !at || !line[at])
			die("dcookies: not a line of it: %s", line);
		images = reallocarray(images, nr_images + 1, sizeof(*images));
		if (!images)
			die("out of memory");
		images[nr_images] = (struct image){
			.cookie = cookie,
			.path = strdup(line + at),
		};
		identify(&images[nr_images++], major_number, minor_number,
			 inode);
	}
	free(line);
	fclose(file);
	qsort(images, nr_images, sizeof(*images), by_cookie);
}

static struct image *find_image(unsigned long cookie)
{
	struct image key = { .cookie = cookie }, *found;

	if (cookie == OP_NO_COOKIE)
		return NULL;
	found = bsearch(&key, images, nr_images, sizeof(key), by_cookie);
	if (!found)
		die("stormcheck: cookie %lu is not in dcookies", cookie);
	return found;
}

/* ---- the samples ------------------------------------------------------ */

static void add_code(const struct op_sample *s)
{
	if (nr_codes == max_codes) {
		max_codes = max_codes ? 2 * max_codes : 4096;
		codes = reallocarray(codes, max_codes, sizeof(*codes));
		if (!codes)
			die("out of memory");
	}
	codes[nr_codes++] = (struct code){ .sample = *s };
}

/* What follows a sample: how much code, then that. */
static void take_code(unsigned long word)
{
	struct code *c = &codes[nr_codes - 1];
	unsigned int i;

	if (!c->sample.caller) {
		c->sample.caller = true;
		c->size = word & CODE_TELLS ? word & 0xff : 0;
		if (c->size > CODE_MAX)
			die("stormcheck: %u bytes of code", c->size);
		return;
	}
	for (i = 0; i < CODE_BYTES && c->seen < c->size; i++)
		c->bytes[c->seen++] = word >> (8 * i);
}

/* Those that differ in CPU and thread only are judged alike. */
static void take_sample(void *arg, const struct op_sample *sample)
{
	struct op_sample s = *sample;

	(void)arg;
	if (s.caller) {
		take_code(s.offset);
		return;
	}
	if (with_code)
		add_code(&s);
	s.cpu = 0;
	s.tid = s.tgid;
	op_counts_add(&counts, &s);
}

static void bad(enum wrong what, const struct op_sample *s, unsigned long count)
{
	const struct storm_entry *e = find_entry(s->tgid);
	const struct image *app = find_image(s->app);
	const struct image *image = s->user ? find_image(s->cookie) : NULL;

	wrong[what] += count;
	complain(what, "%lu times: tgid %lu (%s), app %s, %s %s %#lx", count,
		 s->tgid, !e ? "none of them" :
		 e->storm == STORM_NR ? "storm" : storm_needs[e->storm].name,
		 app ? app->path : "-", s->user ? "user" : "kernel",
		 image ? image->path : "-", s->offset);
}

static void judge_app(const struct op_sample *s, unsigned long count,
		      const struct storm_entry *e)
{
	const struct image *app = find_image(s->app);

	if (!e) {
		if (app && app->file && app->file->generated)
			bad(APP, s, count);
	} else if (!app) {
		bad(NOAPP, s, count);
	} else if (!app->file || !(e->apps & bit(app->file))) {
		bad(APP, s, count);
	}
}

static bool inside(const struct image *image, unsigned long offset)
{
	unsigned int i;

	for (i = 0; i < image->nr_segments; i++) {
		if (offset >= image->start[i] && offset < image->end[i])
			return true;
	}
	return false;
}

static void judge_anon(const struct op_sample *s, unsigned long count,
		       const struct storm_entry *e)
{
	unsigned long slot = s->offset % STORM_PAGE / STORM_SLOT;

	/* Of others nothing is known but that they can have [vdso]. */
	anons += count;
	if (!e || (s->offset >= e->vdso && s->offset < e->vdso_end))
		return;
	if (e->storm == STORM_NR && s->offset >= table->vdso &&
	    s->offset < table->vdso_end)
		return;
	if (e->anon && s->offset >= STORM_ANON && s->offset < STORM_ANON_END &&
	    slot == STORM_ANON_SLOT)
		return;
	bad(ANON, s, count);
}

static void judge_user(const struct op_sample *s, unsigned long count,
		       const struct storm_entry *e)
{
	const struct image *image = find_image(s->cookie);
	const struct storm_file *file = image ? image->file : NULL;

	judged += count;
	if (!image) {
		judge_anon(s, count, e);
		return;
	}
	if (file && s->offset >= file->jumps && s->offset < file->jumps_end)
		jumps += count;
	else if (file && s->offset >= file->door && s->offset < file->door_end)
		doors += count;
	else if (!inside(image, s->offset))
		bad(OUTSIDE, s, count);
	if (e ? !file || !(e->files & bit(file)) : file && file->generated)
		bad(FOREIGN, s, count);
}

static void judge(const struct op_sample *s, unsigned long count)
{
	const struct storm_entry *e = find_entry(s->tgid);
	unsigned int storm = e ? e->storm : STORM_NR;

	if (s->tgid < first_judged) {
		exempt += count;
		return;
	}
	if (s->user)
		users[storm] += count;
	else
		kernels[storm] += count;
	judge_app(s, count, e);
	if (s->user)
		judge_user(s, count, e);
}

static void read_bytes(struct image *image)
{
	struct stat s;
	int fd;

	fd = open(image->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &s))
		die("%s: %s", image->path, strerror(errno));
	image->size = s.st_size;
	image->bytes = mmap(NULL, s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image->bytes == MAP_FAILED)
		die("%s: %s", image->path, strerror(errno));
	close(fd);
}

static void judge_code(const struct code *c)
{
	const struct op_sample *s = &c->sample;
	struct image *image = s->user ? find_image(s->cookie) : NULL;

	if (!image || !c->size || s->tgid < first_judged)
		return;
	if (c->seen != c->size)
		die("stormcheck: %u of %u bytes of code", c->seen, c->size);
	if (!image->bytes)
		read_bytes(image);
	codes_judged++;
	codes_of_pairs += image->file && image->file->jumps;
	if (s->offset + c->size > image->size ||
	    memcmp(image->bytes + s->offset, c->bytes, c->size))
		bad(CODE, s, 1);
}

/* Those with the most samples first. */
static unsigned long (*weight)(const struct image *image);

static unsigned long weight_users(const struct image *image)
{
	return image->users;
}

static unsigned long weight_apps(const struct image *image)
{
	return image->apps;
}

static void find_two(unsigned long two[2])
{
	unsigned long most[2] = {}, n;
	size_t i;

	for (i = 0; i < nr_images; i++) {
		n = weight(&images[i]);
		if (n > most[0]) {
			most[1] = most[0];
			two[1] = two[0];
			most[0] = n;
			two[0] = images[i].cookie;
		} else if (n > most[1]) {
			most[1] = n;
			two[1] = images[i].cookie;
		}
	}
	if (!most[1])
		die("stormcheck: there are no two to swap");
	printf("swapped %s %s\n", find_image(two[0])->path,
	       find_image(two[1])->path);
}

static void swap(unsigned long *cookie, const unsigned long two[2])
{
	if (*cookie == two[0])
		*cookie = two[1];
	else if (*cookie == two[1])
		*cookie = two[0];
}

static void count_images(void)
{
	const struct op_count *c;
	struct image *image;
	size_t i;

	for (i = 0; i < counts.size; i++) {
		c = &counts.table[i];
		if (!c->count)
			continue;
		image = find_image(c->sample.app);
		if (image && image->file && image->file->generated)
			image->apps += c->count;
		image = c->sample.user ? find_image(c->sample.cookie) : NULL;
		if (image && image->file && image->file->generated)
			image->users += c->count;
	}
}

static void swap_cookies(bool in_images, bool in_apps)
{
	unsigned long two[2] = {};
	struct op_sample *s;
	size_t i;

	weight = in_images ? weight_users : weight_apps;
	find_two(two);
	/* The table's order is of no more use, but nothing is looked up there. */
	for (i = 0; i < counts.size; i++) {
		s = &counts.table[i].sample;
		if (in_images && s->user)
			swap(&s->cookie, two);
		if (in_apps)
			swap(&s->app, two);
	}
	for (i = 0; i < nr_codes && in_images; i++) {
		if (codes[i].sample.user)
			swap(&codes[i].sample.cookie, two);
	}
}

/* ---- what it says ----------------------------------------------------- */

static void print_number(const char *name, unsigned long number)
{
	printf("%s %lu\n", name, number);
}

static void print_stats(const char *dir)
{
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned long n;
	DIR *d;

	d = opendir(op_path("%s", dir));
	if (!d)
		die("%s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (entry->d_type == DT_DIR) {
			print_stats(path);
			continue;
		}
		n = read_number(op_path("%s", path));
		if (n)
			print_number(path, n);
	}
	closedir(d);
}

static void print_result(const struct op_decoder *d)
{
	unsigned long all_users = 0, all_wrong = 0, seen = 0, ran = 0;
	unsigned int i;

	for (i = 0; i <= STORM_NR; i++)
		all_users += users[i];
	for (i = 0; i < NR_WRONG; i++)
		all_wrong += wrong[i];
	for (i = 0; i < table->nr_files; i++)
		ran += table->files[i].runs >= MANY_RUNS;
	for (i = 0; i < nr_images; i++)
		seen += images[i].users && images[i].file->runs >= MANY_RUNS;
	print_number("samples", d->samples);
	print_number("user", all_users);
	print_number("kernel", d->samples - all_users - exempt);
	print_number("stormuser", all_users - users[STORM_NR]);
	print_number("judged", judged);
	print_number("exempt", exempt);
	print_number("nofile", anons);
	print_number("codes", codes_judged);
	print_number("paircodes", codes_of_pairs);
	print_number("jumps", jumps);
	print_number("doors", doors);
	print_number("changes", table->changes);
	print_number("filesrun", ran);
	print_number("filesseen", seen);
	print_number("processes", nr_by_tgid);
	for (i = 0; i < NR_WRONG; i++)
		print_number(wrong_names[i], wrong[i]);
	print_number("wrong", all_wrong);
	for (i = 0; i <= STORM_NR; i++) {
		if (users[i] + kernels[i])
			printf("storm %s: %lu user, %lu kernel, %lu processes\n",
			       i == STORM_NR ? "(none)" : storm_needs[i].name,
			       users[i], kernels[i], processes[i]);
	}
	print_stats("stats");
}

static void read_stream(struct op_decoder *d, const char *path)
{
	static char bytes[1 << 16];
	FILE *file = fopen(path, "re");
	size_t n;

	if (!file)
		die("%s: %s", path, strerror(errno));
	op_decoder_init(d);
	d->sample = take_sample;
	d->chains = with_code;
	d->cpus = sysconf(_SC_NPROCESSORS_CONF);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		if (op_decoder_feed(d, bytes, n))
			die("stormcheck: %s", d->error);
	}
	if (ferror(file) || op_decoder_end(d))
		die("stormcheck: %s: %s", path,
		    d->error[0] ? d->error : strerror(errno));
	fclose(file);
}

int main(int argc, char **argv)
{
	bool in_images = false, in_apps = false;
	const char *path = NULL, *cookies = OP_DIR "/dcookies";
	struct op_decoder decoder;
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "f:d:e:iaxc")) >= 0) {
		switch (c) {
		case 'f':
			path = optarg;
			break;
		case 'd':
			cookies = optarg;
			break;
		case 'e':
			first_judged = strtoul(optarg, NULL, 10);
			break;
		case 'i':
			in_images = true;
			break;
		case 'a':
			in_apps = true;
			break;
		case 'x':
			in_images = true;
			in_apps = true;
			break;
		case 'c':
			with_code = true;
			break;
		default:
			die("stormcheck: see the options in its source");
		}
	}
	if (!path || optind != argc)
		die("stormcheck: see the options in its source");
	open_table();
	read_stream(&decoder, path);
	read_images(cookies);
	count_images();
	if (in_images || in_apps)
		swap_cookies(in_images, in_apps);
	for (i = 0; i < counts.size; i++) {
		if (counts.table[i].count)
			judge(&counts.table[i].sample, counts.table[i].count);
	}
	for (i = 0; i < nr_codes; i++)
		judge_code(&codes[i]);
	print_result(&decoder);
	for (i = 0; i < NR_WRONG; i++) {
		if (wrong[i])
			return 1;
	}
	return 0;
}
