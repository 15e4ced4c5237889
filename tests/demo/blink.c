// SPDX-License-Identifier: GPL-2.0
/*
 * blink ROUNDS: a process that is gone again after about a millisecond. Writes
 * the nanoseconds it spent in flash() to its standard output.
 */
#include "demo.h"

static volatile unsigned long sink;

__attribute__((noinline))
static unsigned long flash(unsigned long rounds)
{
	unsigned long x = rounds;

	while (rounds--)
		x = x * 2862933555777941757ul + 3037000493ul;
	return x;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	uint64_t start, ns;

	/* The page faults come first: they are not time in flash(). */
	sink += flash(1);
	cpu_ns();
	start = cpu_ns();
	sink += flash(rounds);
	ns = cpu_ns() - start;
	return write(STDOUT_FILENO, &ns, sizeof(ns)) != sizeof(ns);
}
