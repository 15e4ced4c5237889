// SPDX-License-Identifier: GPL-2.0
/*
 * badinput files: with the module loaded and off, writes what no one should to
 * every file; each write has to fail with its errno and change nothing.
 * badinput parameters FILE: the same for the parameters of the module in FILE,
 * which is not loaded, and must not be afterwards.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "optool.h"
#include "tap.h"

#define MIB		(1u << 20)
#define MAX_FILES	256

/* What a number, of whatever file, can't be. */
static const struct bad {
	const char *text;
	int error;
} not_numbers[] = {
	{ "", EINVAL },
	{ "\n", EINVAL },
	{ " ", EINVAL },
	{ "x", EINVAL },
	{ "one", EINVAL },
	{ "-1", EINVAL },
	{ "-9223372036854775808", EINVAL },
	{ "1x", EINVAL },
	{ "1 1", EINVAL },
	{ "1\n1", EINVAL },
	{ "0x", EINVAL },
	{ "1.0", EINVAL },
	{ "1,", EINVAL },
	{ "\x80", EINVAL },
	{ "18446744073709551616", ERANGE },
	{ "99999999999999999999999999999999", ERANGE },
}, not_names[] = {
	{ "", EINVAL },
	{ "\n", EINVAL },
	{ " ", EINVAL },
	{ "bogus", EINVAL },
	{ "cpu-cloc", EINVAL },
	{ "cpu-clockk", EINVAL },
	{ "cpu-clock junk", EINVAL },
	{ "cpu-clock\npage-faults", EINVAL },
	{ "-1", EINVAL },
	{ "r", EINVAL },
	{ "rg", EINVAL },
	{ "r12x", EINVAL },
	{ "r-1", EINVAL },
	{ "%s%s%s%n", EINVAL },
};

/* What this file can't be, beside that. */
static const struct {
	const char *file;
	const char *text;
	int error;
} out_of_range[] = {
	{ "enable", "2", ERANGE },
	{ "buffer_size", "0", ERANGE },
	{ "buffer_size", "1", ERANGE },
	{ "cpu_buffer_size", "0", ERANGE },
	{ "backtrace_depth", "1", ERANGE },
	{ "backtrace_depth", "18446744073709551615", ERANGE },
	{ "enabled", "2", ERANGE },
	{ "count", "0", ERANGE },
	{ "freq", "0", ERANGE },
	{ "kernel", "2", ERANGE },
	{ "user", "2", ERANGE },
	{ "idle", "2", ERANGE },
};

#define N(array) (sizeof(array) / sizeof(array[0]))

static char *megabyte;

static const char *megabyte_of(char c)
{
	if (!megabyte)
		megabyte = malloc(MIB + 1);
	if (!megabyte)
		die("out of memory");
	memset(megabyte, c, MIB);
	megabyte[MIB] = 0;
	return megabyte;
}

static const char *shown(const char *text)
{
	static char out[256];
	char *to = out;

	if (strlen(text) > 40) {
		snprintf(out, sizeof(out), "%zu bytes of %c", strlen(text), *text);
		return out;
	}
	*to++ = '\'';
	for (; *text; text++) {
		if (*text >= ' ' && *text != '#' && *text != '\\')
			*to++ = *text;
		else
			to += sprintf(to, "\\%03o", (unsigned char)*text);
	}
	*to++ = '\'';
	*to = 0;
	return out;
}

/* The files */

struct file {
	char *path;		/* in OP_DIR */
	const char *name;	/* last part of path */
	mode_t mode;
};

static struct file files[MAX_FILES];
static unsigned int n_files;

static void find_files(const char *dir)
{
	DIR *d = opendir(op_path("%s", dir));
	struct dirent *entry;
	struct file *f;
	struct stat st;

	if (!d)
		die("%s: %s", dir, strerror(errno));
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		f = &files[n_files];
		if (n_files == MAX_FILES)
			die("more files than expected");
		if (asprintf(&f->path, "%s%s%s", dir, *dir ? "/" : "",
			     entry->d_name) < 0)
			die("out of memory");
		if (stat(op_path("%s", f->path), &st))
			die("%s: %s", f->path, strerror(errno));
		if (S_ISDIR(st.st_mode)) {
			find_files(f->path);
			continue;
		}
		f->name = strrchr(f->path, '/');
		f->name = f->name ? f->name + 1 : f->path;
		f->mode = st.st_mode & 07777;
		n_files++;
	}
	closedir(d);
}

static unsigned int wrong, tried;

/* One write that has to fail. */
static void must_fail(const struct file *f, const char *text, int error,
		      int or_error)
{
	char before[256], after[256];
	int got;

	read_text(op_path("%s", f->path), before, sizeof(before));
	got = write_text(op_path("%s", f->path), text);
	read_text(op_path("%s", f->path), after, sizeof(after));
	tried++;
	if (got != error && got != or_error) {
		wrong++;
		diag("%s > %s: %s, not %s", shown(text), f->path,
		     error_name(got), error_name(error));
	}
	if (strcmp(before, after)) {
		wrong++;
		diag("%s > %s: was '%s', is '%s'", shown(text), f->path, before,
		     after);
		write_text(op_path("%s", f->path), before);
	}
}

static bool is_text(const struct file *f)
{
	return !strcmp(f->name, "name");
}

static void test_junk(const struct file *f)
{
	const struct bad *bad = is_text(f) ? not_names : not_numbers;
	size_t n = is_text(f) ? N(not_names) : N(not_numbers), i;

	wrong = 0;
	tried = 0;
	for (i = 0; i < n; i++)
		must_fail(f, bad[i].text, bad[i].error, bad[i].error);
	must_fail(f, megabyte_of('x'), EINVAL, EINVAL);
	must_fail(f, megabyte_of('1'), EINVAL, EINVAL);
	must_fail(f, megabyte_of('\n'), EINVAL, EINVAL);
	for (i = 0; i < N(out_of_range); i++) {
		if (!strcmp(f->name, out_of_range[i].file))
			must_fail(f, out_of_range[i].text, out_of_range[i].error,
				  out_of_range[i].error);
	}
	ok(!wrong, "%s refuses %u bad writes", f->path, tried);
}

static const struct file *file(const char *path)
{
	unsigned int i;

	for (i = 0; i < n_files; i++) {
		if (!strcmp(files[i].path, path))
			return &files[i];
	}
	die("no file %s", path);
}

static void must_fail_number(const char *path, unsigned long number, int error,
			     int or_error)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	must_fail(file(path), text, error, or_error);
}

static void test_sizes(void)
{
	unsigned long size = read_number(op_path("buffer_size"));
	unsigned long shed = read_number(op_path("buffer_watershed"));

	wrong = 0;
	must_fail_number("buffer_watershed", size, ERANGE, ERANGE);
	must_fail_number("buffer_watershed", size + 1, ERANGE, ERANGE);
	must_fail_number("buffer_watershed", ~0ul, ERANGE, ERANGE);
	must_fail_number("buffer_size", shed, ERANGE, ERANGE);
	must_fail_number("buffer_size", shed - 1, ERANGE, ERANGE);
	ok(!wrong, "a watershed of the size, or more, is refused either way");
}

static unsigned long memory_free(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kib = 0;
	char line[128];

	if (!f)
		die("meminfo: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		sscanf(line, "MemAvailable: %lu", &kib);
	fclose(f);
	return kib;
}

/* Sizes that this machine's memory can't hold: what is left must come back. */
static void test_memory(void)
{
	unsigned long memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	unsigned long words = memory / sizeof(long), before = memory_free();
	unsigned long size;
	unsigned int tries;

	wrong = 0;
	must_fail_number("buffer_size", words - words / 20, ENOMEM, ENOMEM);
	/* the largest power of two that there is memory for, and little besides */
	for (size = 1; size * 2 * sizeof(long) <= before * 1024; size *= 2)
		;
	must_fail_number("buffer_size", size, ENOMEM, ENOMEM);
	must_fail_number("buffer_size", words * 10, ENOMEM, ENOMEM);
#if ULONG_MAX > UINT_MAX
	must_fail_number("buffer_size", 1ul << 40, ENOMEM, ENOMEM);
	must_fail_number("buffer_size", 1ul << 50, ENOMEM, ERANGE);
	must_fail_number("buffer_size", (1ul << 61) + 70000, ENOMEM, ERANGE);
#else
	must_fail_number("buffer_size", (1ul << 29) + 70000, ENOMEM, ERANGE);
#endif
	must_fail_number("buffer_size", ~0ul, ENOMEM, ERANGE);
	ok(!wrong, "buffer_size refuses what memory can't hold");
	wrong = 0;
	must_fail_number("cpu_buffer_size", words / 2, ENOMEM, ENOMEM);
	must_fail_number("cpu_buffer_size", words * 10, ENOMEM, ENOMEM);
#if ULONG_MAX > UINT_MAX
	must_fail_number("cpu_buffer_size", 1ul << 40, ENOMEM, ENOMEM);
	must_fail_number("cpu_buffer_size", 1ul << 50, ENOMEM, ERANGE);
	must_fail_number("cpu_buffer_size", (1ul << 61) + 70000, ENOMEM, ERANGE);
#else
	must_fail_number("cpu_buffer_size", (1ul << 29) + 70000, ENOMEM, ERANGE);
#endif
	must_fail_number("cpu_buffer_size", ~0ul, ENOMEM, ERANGE);
	ok(!wrong, "cpu_buffer_size refuses what memory can't hold");
	for (tries = 0; tries < 100; tries++) {
		if (memory_free() + 16384 > before)
			break;
		nap(100);
	}
	if (!ok(tries < 100, "and the memory is free again"))
		diag("%lu KiB before, %lu after", before, memory_free());
}

/* Good values, at a bad time. */
static void test_busy(void)
{
	static const struct {
		const char *file;
		const char *text;
	} values[] = {
		{ "buffer_size", "262144" },
		{ "buffer_watershed", "1000" },
		{ "cpu_buffer_size", "1000" },
		{ "0/enabled", "0" },
		{ "0/name", "page-faults" },
		{ "0/event", "1" },
		{ "0/unit_mask", "1" },
		{ "0/count", "100000" },
		{ "0/freq", "100" },
		{ "0/kernel", "0" },
		{ "0/user", "0" },
		{ "0/idle", "1" },
		{ "7/enabled", "1" },
	};
	size_t i;

	wrong = 0;
	if (write_text(op_path("enable"), "1"))
		die("enable: %s", strerror(errno));
	for (i = 0; i < N(values); i++)
		must_fail(file(values[i].file), values[i].text, EBUSY, EBUSY);
	must_fail(file("enable"), "2", ERANGE, ERANGE);
	must_fail(file("enable"), "x", EINVAL, EINVAL);
	ok(!wrong, "sizes and events can't be changed in a run");
	if (write_text(op_path("enable"), "0"))
		die("enable: %s", strerror(errno));
	wrong = 0;
	for (i = 0; i < N(values); i++) {
		char text[64];

		read_text(op_path("%s", values[i].file), text, sizeof(text));
		/* 0: not chosen */
		if (text[0] && strcmp(text, "0") &&
		    write_text(op_path("%s", values[i].file), text)) {
			wrong++;
			diag("%s: not after it either", values[i].file);
		}
	}
	ok(!wrong, "and can after it");
}

/* What may only be read must not even take a good value. */
static void test_read_only(const struct file *f)
{
	char before[256] = "", after[256] = "";
	bool stream = !strcmp(f->path, "buffer") || !strcmp(f->path, "samples");
	int got;

	if (!stream)
		read_text(op_path("%s", f->path), before, sizeof(before));
	got = write_text(op_path("%s", f->path), "0");
	if (!stream)
		read_text(op_path("%s", f->path), after, sizeof(after));
	if (!ok(f->mode == 0400 && got && !strcmp(before, after),
		"%s is only to be read", f->path))
		diag("mode %o, write: %s, '%s', '%s'", f->mode, error_name(got),
		     before, after);
}

static void test_dump(void)
{
	char text[8];

	ok(file("dump")->mode == 0200 &&
	   read_text(op_path("dump"), text, sizeof(text)),
	   "dump is only to be written");
	ok(!write_text(op_path("dump"), "x") && !write_text(op_path("dump"), "\n") &&
	   !write_text(op_path("dump"), megabyte_of('y')), "and takes anything");
}

static int test_files(void)
{
	unsigned int i;

	find_files("");
	for (i = 0; i < n_files; i++) {
		if (!strcmp(files[i].path, "dump"))
			test_dump();
		else if (files[i].mode == 0600)
			test_junk(&files[i]);
		else
			test_read_only(&files[i]);
	}
	test_sizes();
	test_memory();
	test_busy();
	return tap_end();
}

/* The parameter in /sys that can be written. */
static int test_sysfs(void)
{
	static const char path[] = "/sys/module/oprofile/parameters/enable";
	char text[8];
	size_t i;
	int got;

	for (i = 0; i < N(not_numbers); i++) {
		/* sysfs itself takes care of a write of nothing */
		if (!not_numbers[i].text[0])
			continue;
		got = write_text(path, not_numbers[i].text);
		if (got != not_numbers[i].error) {
			wrong++;
			diag("%s: %s", shown(not_numbers[i].text),
			     error_name(got));
		}
	}
	got = write_text(path, "2");
	if (got != ERANGE) {
		wrong++;
		diag("'2': %s", error_name(got));
	}
	/* One page is what sysfs passes on. */
	got = write_text(path, megabyte_of('1'));
	if (!got || got == EMSGSIZE) {
		wrong++;
		diag("1 MiB: %s", error_name(got));
	}
	read_text(path, text, sizeof(text));
	ok(!wrong && !strcmp(text, "0"), "the parameter enable refuses the same");
	ok(!write_text(path, "1") && !read_text(path, text, sizeof(text)) &&
	   !strcmp(text, "1") && read_number(op_path("enable")) == 1,
	   "and starts a run");
	ok(!write_text(path, "0") && !read_text(path, text, sizeof(text)) &&
	   !strcmp(text, "0") && read_number(op_path("enable")) == 0,
	   "and stops it");
	return tap_end();
}

/* The parameters of a load */

static char *parameters[32];
static unsigned int n_parameters;
static const char *module_path;

static int load(const char *text)
{
	int fd = open(module_path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		die("%s: %s", module_path, strerror(errno));
	error = syscall(SYS_finit_module, fd, text, 0) ? errno : 0;
	close(fd);
	return error;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "oprofile", O_NONBLOCK) ? errno : 0;
}

static void find_parameters(void)
{
	struct dirent *entry;
	DIR *dir;

	if (load(""))
		die("the module doesn't load: %s", strerror(errno));
	dir = opendir("/sys/module/oprofile/parameters");
	if (!dir)
		die("no parameters: %s", strerror(errno));
	while ((entry = readdir(dir)) && n_parameters < N(parameters)) {
		if (entry->d_name[0] != '.')
			parameters[n_parameters++] = strdup(entry->d_name);
	}
	closedir(dir);
	unload();
}

static void must_not_load(const char *name, const char *value, int error)
{
	char *text;
	int got;

	if (asprintf(&text, "%s=\"%s\"", name, value) < 0)
		die("out of memory");
	got = load(text);
	tried++;
	if (got != error) {
		wrong++;
		diag("%s=%s: %s, not %s", name, shown(value), error_name(got),
		     error_name(error));
	}
	if (!got)
		unload();
	if (!access("/sys/module/oprofile", F_OK) || !access(OP_DIR, F_OK)) {
		wrong++;
		diag("%s=%s: something stays", name, shown(value));
	}
	free(text);
}

static void test_parameter(const char *name)
{
	bool text = !strcmp(name, "event");
	const struct bad *bad = text ? not_names : not_numbers;
	size_t n = text ? N(not_names) : N(not_numbers), i;
	int got;

	wrong = 0;
	tried = 0;
	for (i = 0; i < n; i++)
		must_not_load(name, bad[i].text, bad[i].error);
	must_not_load(name, megabyte_of('x'), EINVAL);
	must_not_load(name, megabyte_of('1'), text ? EINVAL : ERANGE);
	for (i = 0; i < N(out_of_range); i++) {
		if (!strcmp(name, out_of_range[i].file))
			must_not_load(name, out_of_range[i].text,
				      out_of_range[i].error);
	}
	got = load(name);
	if (got != EINVAL) {
		wrong++;
		diag("%s without a value: %s", name, error_name(got));
		unload();
	}
	ok(!wrong, "the parameter %s refuses %u bad values", name, tried);
}

static void test_together(const char *text, int error)
{
	int got = load(text);

	ok(got == error, "%s: %s", text, error_name(got));
	if (!got)
		unload();
}

static int test_parameters(void)
{
	unsigned int i;

	find_parameters();
	ok(n_parameters >= 6, "%u parameters", n_parameters);
	for (i = 0; i < n_parameters; i++)
		test_parameter(parameters[i]);
	test_together("buffer_size=1000 buffer_watershed=1000", ERANGE);
	test_together("buffer_watershed=2000 buffer_size=1000", ERANGE);
	test_together("buffer_size=1000", 0);
	test_together("buffer_watershed=131072", ERANGE);
	test_together("buffer_size=1099511627776", ENOMEM);
	test_together("cpu_buffer_size=1099511627776", ENOMEM);
	test_together("event=bogus enable=1", EINVAL);
	test_together("event=page-faults count=0 enable=1", ERANGE);
	test_together("buffer_size=1000 buffer_watershed=999", 0);
	test_together("buffer_watershed=200000 buffer_size=200001", 0);
	test_together("", 0);
	return tap_end();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "files"))
		return test_files();
	if (argc == 2 && !strcmp(argv[1], "sysfs"))
		return test_sysfs();
	if (argc == 3 && !strcmp(argv[1], "parameters")) {
		module_path = argv[2];
		return test_parameters();
	}
	return 2;
}
