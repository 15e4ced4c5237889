/* SPDX-License-Identifier: GPL-2.0 */
/* What the test programs share: the module's files, small reads and writes. */
#ifndef OPTOOL_H
#define OPTOOL_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OP_DIR	"/sys/kernel/debug/oprofile"

#define OPTOOL	__attribute__((unused)) static

/* The path of one of the module's files; four of them live at a time. */
__attribute__((format(printf, 1, 2)))
OPTOOL const char *op_path(const char *format, ...)
{
	static char paths[4][PATH_MAX];
	static unsigned int turn;
	char *path = paths[turn++ % 4];
	va_list args;
	int n;

	n = snprintf(path, PATH_MAX, "%s/", OP_DIR);
	va_start(args, format);
	vsnprintf(path + n, PATH_MAX - n, format, args);
	va_end(args);
	return path;
}

__attribute__((format(printf, 1, 2), noreturn))
OPTOOL void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* 0, or the errno of the open or the write. One call of write. */
OPTOOL int write_bytes(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;
	ssize_t n;

	if (fd < 0)
		return errno;
	n = write(fd, bytes, len);
	if (n < 0)
		error = errno;
	else if ((size_t)n != len)
		error = EMSGSIZE;
	close(fd);
	return error;
}

OPTOOL int write_text(const char *path, const char *text)
{
	return write_bytes(path, text, strlen(text));
}

/* The first line of a file, without its end; "" if there is none. */
OPTOOL int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t n = 0;

	text[0] = 0;
	if (fd < 0)
		return errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		error = errno;
	text[n < 0 ? 0 : n] = 0;
	text[strcspn(text, "\n")] = 0;
	close(fd);
	return error;
}

OPTOOL unsigned long read_number(const char *path)
{
	char text[64];
	int error = read_text(path, text, sizeof(text));

	if (error)
		die("%s: %s", path, strerror(error));
	return strtoul(text, NULL, 10);
}

OPTOOL const char *error_name(int error)
{
	return error ? strerrorname_np(error) : "OK";
}

OPTOOL double clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

OPTOOL double now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

OPTOOL double cpu_time(void)
{
	return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

OPTOOL void nap(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

#endif /* OPTOOL_H */
