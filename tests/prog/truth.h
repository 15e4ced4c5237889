/* SPDX-License-Identifier: GPL-2.0 */
/* What truth.c and its libraries share: functions whose place is known. */
#ifndef TRUTH_H
#define TRUTH_H

/**
 * struct truth_code - a function that only takes time
 * @run: the function
 * @start: its first byte
 * @end: behind its last one
 */
struct truth_code {
	void (*run)(unsigned long rounds);
	const char *start;
	const char *end;
};

/* It has a section to itself, of which the linker tells where that lies. */
#define TRUTH_CODE(name)						\
extern const char __start_truth_##name[], __stop_truth_##name[];	\
									\
__attribute__((noinline, section("truth_" #name)))			\
static void run_##name(unsigned long rounds)				\
{									\
	for (; rounds; rounds--)					\
		__asm__ volatile("" : "+r"(rounds));			\
}									\
									\
const struct truth_code code_##name = {					\
	run_##name, __start_truth_##name, __stop_truth_##name		\
}

#endif /* TRUTH_H */
