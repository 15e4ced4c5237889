// SPDX-License-Identifier: GPL-2.0
/*
 * fuseserve DIR FILE...: mounts a FUSE file system there that shows copies of
 * these files, and serves it until it is killed, or hangs: with SIGUSR1 it says
 * "hung" and answers no more.
 *
 * It speaks to /dev/fuse itself. What is read of a file is what was asked for,
 * page by page, and the kernel may keep all it knows for ever.
 */

#define _GNU_SOURCE
#include <linux/fuse.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "optool.h"

#define FILES_MAX	8
#define READ_MAX	131072
#define FOR_EVER	1000000000

static struct {
	const char *name;
	char *bytes;
	size_t size;
} files[FILES_MAX];
static unsigned int nr_files;
static int fuse;

static void reply(uint64_t unique, int error, const void *data, size_t size)
{
	static char bytes[sizeof(struct fuse_out_header) + READ_MAX];
	struct fuse_out_header *out = (void *)bytes;

	out->len = sizeof(*out) + size;
	out->error = -error;
	out->unique = unique;
	if (size)
		memcpy(out + 1, data, size);
	/* ENOENT: whoever asked has been killed */
	if (write(fuse, bytes, out->len) != (ssize_t)out->len && errno != ENOENT)
		die("fuseserve: write: %s", strerror(errno));
}

/* Node 1 is the root, and then come the files. */
static bool attributes(uint64_t node, struct fuse_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->ino = node;
	attr->nlink = 1;
	attr->blksize = 4096;
	if (node == FUSE_ROOT_ID) {
		attr->mode = S_IFDIR | 0755;
		return true;
	}
	if (node >= 2 + nr_files)
		return false;
	attr->mode = S_IFREG | 0755;
	attr->size = files[node - 2].size;
	return true;
}

static void answer_init(const struct fuse_in_header *in)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 0,
		.max_write = 4096,
	};

	reply(in->unique, 0, &out, sizeof(out));
}

static void answer_lookup(const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out out = {
		.entry_valid = FOR_EVER,
		.attr_valid = FOR_EVER,
	};
	unsigned int i;

	for (i = 0; i < nr_files; i++) {
		if (strcmp(files[i].name, name))
			continue;
		out.nodeid = 2 + i;
		attributes(out.nodeid, &out.attr);
		reply(in->unique, 0, &out, sizeof(out));
		return;
	}
	reply(in->unique, ENOENT, NULL, 0);
}

static void answer_getattr(const struct fuse_in_header *in)
{
	struct fuse_attr_out out = { .attr_valid = FOR_EVER };

	if (attributes(in->nodeid, &out.attr))
		reply(in->unique, 0, &out, sizeof(out));
	else
		reply(in->unique, ENOENT, NULL, 0);
}

static void answer_open(const struct fuse_in_header *in)
{
	struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE };

	reply(in->unique, 0, &out, sizeof(out));
}

static void answer_read(const struct fuse_in_header *in,
			const struct fuse_read_in *ask)
{
	uint64_t node = in->nodeid - 2, offset = ask->offset;
	uint32_t size = ask->size;

	if (node >= nr_files) {
		reply(in->unique, EISDIR, NULL, 0);
		return;
	}
	if (offset > files[node].size)
		offset = files[node].size;
	if (size > files[node].size - offset)
		size = files[node].size - offset;
	if (size > READ_MAX)
		size = READ_MAX;
	reply(in->unique, 0, files[node].bytes + offset, size);
}

static void answer(const struct fuse_in_header *in, const void *operand)
{
	switch (in->opcode) {
	case FUSE_INIT:
		answer_init(in);
		break;
	case FUSE_LOOKUP:
		answer_lookup(in, operand);
		break;
	case FUSE_GETATTR:
		answer_getattr(in);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer_open(in);
		break;
	case FUSE_READ:
		answer_read(in, operand);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		reply(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;	/* these want no answer */
	default:
		reply(in->unique, ENOSYS, NULL, 0);
		break;
	}
}

static void hang(int signal)
{
	(void)signal;
	if (write(STDOUT_FILENO, "hung\n", 5) != 5)
		_exit(1);
	for (;;)
		pause();
}

static void load(const char *path)
{
	FILE *file = fopen(path, "re");
	struct stat st;

	if (!file || fstat(fileno(file), &st))
		die("%s: %s", path, strerror(errno));
	if (nr_files == FILES_MAX)
		die("too many files");
	files[nr_files].name = basename(path);
	files[nr_files].size = st.st_size;
	files[nr_files].bytes = malloc(st.st_size);
	if (!files[nr_files].bytes ||
	    fread(files[nr_files].bytes, 1, st.st_size, file) != (size_t)st.st_size)
		die("%s: can't read it", path);
	fclose(file);
	nr_files++;
}

int main(int argc, char **argv)
{
	static union {
		struct fuse_in_header in;
		char bytes[READ_MAX + 4096];
	} request;
	char options[128];
	ssize_t n;
	int i;

	if (argc < 3)
		return 2;
	for (i = 2; i < argc; i++)
		load(argv[i]);
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		die("/dev/fuse: %s", strerror(errno));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=%o,user_id=0,group_id=0", fuse, S_IFDIR);
	if (mount("fuse", argv[1], "fuse", MS_NOSUID | MS_NODEV, options))
		die("%s: %s", argv[1], strerror(errno));
	signal(SIGUSR1, hang);
	for (;;) {
		n = read(fuse, &request, sizeof(request));
		if (n >= (ssize_t)sizeof(request.in))
			answer(&request.in, request.bytes + sizeof(request.in));
		else if (n >= 0 || errno == ENODEV)
			return 0;	/* unmounted */
		else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
			die("fuseserve: read: %s", strerror(errno));
	}
}
