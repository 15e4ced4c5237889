// SPDX-License-Identifier: GPL-2.0
/*
 * The shared library of the demo's workload.
 */
#include "libwork.h"

__attribute__((noinline))
unsigned long library(unsigned long rounds)
{
	unsigned long x = rounds | 1;

	while (rounds--)
		x = (x << 5) + (x >> 3) + rounds;
	return x;
}
