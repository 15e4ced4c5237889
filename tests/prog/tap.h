/* SPDX-License-Identifier: GPL-2.0 */
/* TAP for test programs: main() ends with "return tap_end();". */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused))
static bool ok(bool good, const char *format, ...)
{
	va_list args;

	tap_count++;
	if (!good)
		tap_failed++;
	printf("%sok %u - ", good ? "" : "not ", tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return good;
}

/* A line that says more about the test before it. */
__attribute__((format(printf, 1, 2), unused))
static void diag(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

__attribute__((unused))
static int tap_end(void)
{
	printf("1..%u\n", tap_count);
	fflush(stdout);
	return tap_failed || !tap_count;
}

#endif /* TAP_H */
