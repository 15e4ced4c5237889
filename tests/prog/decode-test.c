// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * Tests of the decoder itself: streams that are right, in pieces of every
 * size, and one stream for each way to be wrong, which it has to notice.
 */

#include <stdlib.h>
#include <string.h>

#include <uapi/oprofile.h>

#include "opdecode.h"
#include "tap.h"

#define ESC		OP_ESCAPE_CODE
#define KERNEL		(~0ul << (sizeof(long) * 8 - 8))

#define CPU(n)		ESC, OP_CPU_SWITCH_CODE, (n)
#define CONTEXT(tid, app, tgid) \
			ESC, OP_CTX_SWITCH_CODE, (tid), (app), \
			ESC, OP_CTX_TGID_CODE, (tgid)
#define COOKIE(c)	ESC, OP_COOKIE_SWITCH_CODE, (c)
#define IN_KERNEL	ESC, OP_KERNEL_ENTER_CODE
#define IN_USER		ESC, OP_USER_ENTER_CODE
#define MODULE		ESC, OP_MODULE_LOADED_CODE
#define TRACE		ESC, OP_TRACE_BEGIN_CODE
#define BATCH		CPU(1), IN_USER, CONTEXT(7, 40, 6), COOKIE(41)
#define SAMPLE		0x1234, 0
#define KSAMPLE		KERNEL + 0x1234, 0

struct stream {
	const char *what;
	const char *error;	/* NULL: none */
	bool chains;
	size_t len;
	const unsigned long *words;
};

#define WORDS(...) \
	.len = sizeof((unsigned long[]){ __VA_ARGS__ }) / sizeof(long), \
	.words = (const unsigned long[]){ __VA_ARGS__ }

static const struct stream streams[] = {
	{ "nothing at all", .len = 0 },
	{ "a batch", WORDS(BATCH, SAMPLE, SAMPLE) },
	{ "two batches", WORDS(BATCH, SAMPLE, BATCH, SAMPLE) },
	{ "a kernel sample without a cookie",
	  WORDS(CPU(0), IN_KERNEL, CONTEXT(0, 0, 0), KSAMPLE) },
	{ "kernel, then user", WORDS(CPU(0), IN_KERNEL, CONTEXT(9, 2, 9),
				     KSAMPLE, COOKIE(3), IN_USER, SAMPLE) },
	{ "back from the kernel", WORDS(BATCH, SAMPLE, IN_KERNEL, KSAMPLE,
					IN_USER, SAMPLE) },
	{ "another context", WORDS(BATCH, SAMPLE, CONTEXT(8, 0, 8), COOKIE(0),
				   SAMPLE) },
	{ "module notices", WORDS(MODULE, MODULE, BATCH, SAMPLE, MODULE,
				  BATCH, SAMPLE, MODULE) },
	{ "call chains", .chains = true,
	  WORDS(BATCH, TRACE, SAMPLE, SAMPLE, IN_USER, SAMPLE, TRACE, SAMPLE) },

	{ "a sample first", "sample before its CPU", WORDS(SAMPLE) },
	{ "no mode", "sample before its mode",
	  WORDS(CPU(0), CONTEXT(7, 40, 6), COOKIE(41), SAMPLE) },
	{ "no context", "sample before its context",
	  WORDS(CPU(0), IN_USER, COOKIE(41), SAMPLE) },
	{ "no cookie", "sample before its cookie",
	  WORDS(CPU(0), IN_USER, CONTEXT(7, 40, 6), SAMPLE) },
	{ "mode first", "mode before its CPU", WORDS(IN_USER) },
	{ "context first", "context before its CPU", WORDS(CONTEXT(7, 40, 6)) },
	{ "cookie first", "cookie before its CPU", WORDS(COOKIE(1)) },
	{ "a cookie that a new context has outdated",
	  "sample before its cookie",
	  WORDS(BATCH, SAMPLE, CONTEXT(8, 0, 8), SAMPLE) },
	{ "a cookie from before its context", "sample before its cookie",
	  WORDS(CPU(0), IN_USER, COOKIE(41), CONTEXT(7, 40, 6), SAMPLE) },
	{ "a mode that a new batch has outdated", "sample before its mode",
	  WORDS(BATCH, SAMPLE, CPU(1), CONTEXT(7, 40, 6), COOKIE(41), SAMPLE) },
	{ "a context that a new batch has outdated",
	  "sample before its context",
	  WORDS(BATCH, SAMPLE, CPU(1), IN_USER, COOKIE(41), SAMPLE) },
	{ "a cookie that a new batch has outdated",
	  "sample before its cookie",
	  WORDS(BATCH, SAMPLE, CPU(1), IN_USER, CONTEXT(7, 40, 6), SAMPLE) },
	{ "a sample right after a module notice", "sample before its CPU",
	  WORDS(BATCH, SAMPLE, MODULE, SAMPLE) },
	{ "a context right after a module notice", "context before its CPU",
	  WORDS(BATCH, SAMPLE, MODULE, CONTEXT(7, 40, 6)) },
	{ "a context without tgid", "a context without its tgid",
	  WORDS(CPU(0), IN_USER, ESC, OP_CTX_SWITCH_CODE, 7, 40, SAMPLE) },
	{ "a mode between context and tgid", "a context, then escape 5",
	  WORDS(CPU(0), ESC, OP_CTX_SWITCH_CODE, 7, 40, IN_USER) },
	{ "a tgid alone", "a tgid without its context",
	  WORDS(BATCH, ESC, OP_CTX_TGID_CODE, 6) },
	{ "a tgid twice", "a tgid without its context",
	  WORDS(CPU(0), CONTEXT(7, 40, 6), ESC, OP_CTX_TGID_CODE, 6) },
	{ "escape 0", "unknown escape 0", WORDS(BATCH, ESC, 0) },
	{ "escape 9", "unknown escape 9", WORDS(BATCH, ESC, 9) },
	{ "an escape's escape", "unknown escape", WORDS(BATCH, ESC, ESC) },
	{ "a CPU that isn't there", "no such CPU: 4", WORDS(CPU(4)) },
	{ "a tid beyond all pids", "no such tid",
	  WORDS(CPU(0), CONTEXT(4194305, 0, 1)) },
	{ "a tgid beyond all pids", "no such tgid",
	  WORDS(CPU(0), CONTEXT(1, 0, 4194305)) },
	{ "the idle task in a process", "tgid 6 of tid 0",
	  WORDS(CPU(0), CONTEXT(0, 0, 6)) },
	{ "a thread of the idle task", "tgid 0 of tid 6",
	  WORDS(CPU(0), CONTEXT(6, 0, 0)) },
	{ "an escape as a cookie", "no such cookie", WORDS(BATCH, COOKIE(ESC)) },
	{ "an escape as the program", "no such program's cookie",
	  WORDS(CPU(0), CONTEXT(7, ESC, 6)) },
	{ "an event that isn't there", "no such event: 8",
	  WORDS(BATCH, 0x1234, 8) },
	{ "an escape in mid-sample", "no such event",
	  WORDS(BATCH, 0x1234, CPU(1)) },
	{ "a user sample in the kernel", "user sample at", WORDS(BATCH, KSAMPLE) },
	{ "a kernel sample below it", "kernel sample at",
	  WORDS(BATCH, IN_KERNEL, SAMPLE) },
	{ "a chain that nobody wants", "none were asked for",
	  WORDS(BATCH, TRACE, SAMPLE) },
	{ "a missing chain", "without a call chain", .chains = true,
	  WORDS(BATCH, SAMPLE) },
	{ "a chain that a new context has ended", "without a call chain",
	  .chains = true,
	  WORDS(BATCH, TRACE, SAMPLE, CONTEXT(8, 0, 8), COOKIE(0), SAMPLE) },
	{ "an empty chain", "an empty call chain", .chains = true,
	  WORDS(BATCH, TRACE, TRACE, SAMPLE) },
	{ "a batch in a chain", "a batch inside a call chain", .chains = true,
	  WORDS(BATCH, TRACE, BATCH, SAMPLE) },
	{ "a context in a chain", "a context inside a call chain",
	  .chains = true, WORDS(BATCH, TRACE, CONTEXT(8, 0, 8)) },
	{ "an end in mid-sample", "ends inside a record",
	  WORDS(BATCH, 0x1234) },
	{ "an end in an escape", "ends inside a record", WORDS(BATCH, ESC) },
	{ "an end before an operand", "ends inside a record",
	  WORDS(BATCH, ESC, OP_COOKIE_SWITCH_CODE) },
	{ "an end before a tgid", "ends inside a record",
	  WORDS(CPU(0), ESC, OP_CTX_SWITCH_CODE, 7, 40) },
	{ "an end in a chain", "ends inside a record", .chains = true,
	  WORDS(BATCH, TRACE) },
};

#define N_STREAMS (sizeof(streams) / sizeof(streams[0]))

static void add_count(void *arg, const struct op_sample *sample)
{
	op_counts_add(arg, sample);
}

static void decode(struct op_decoder *d, const void *bytes, size_t len,
		   size_t piece, struct op_counts *counts)
{
	const char *at = bytes;
	size_t n;

	if (counts) {
		d->sample = add_count;
		d->arg = counts;
	}
	for (; len; at += n, len -= n) {
		n = piece < len ? piece : len;
		if (op_decoder_feed(d, at, n))
			return;
	}
	op_decoder_end(d);
}

static void test_table(void)
{
	struct op_decoder d;
	bool good;
	size_t i;

	for (i = 0; i < N_STREAMS; i++) {
		op_decoder_init(&d);
		d.cpus = 4;
		d.chains = streams[i].chains;
		decode(&d, streams[i].words, streams[i].len * sizeof(long),
		       4096, NULL);
		if (streams[i].error)
			good = strstr(d.error, streams[i].error);
		else
			good = !d.error[0];
		if (!ok(good, "%s %s", streams[i].error ? "caught:" : "taken:",
			streams[i].what))
			diag("error '%s', wanted '%s'", d.error,
			     streams[i].error ? streams[i].error : "");
	}
}

/* A long stream of every kind of record, and where each one begins. */
struct made {
	unsigned long words[20000];
	bool begins[20001];
	size_t len;
	unsigned long samples;
};

#define ADD(made, ...) \
	add(made, (unsigned long[]){ __VA_ARGS__ }, \
	    sizeof((unsigned long[]){ __VA_ARGS__ }) / sizeof(long))

static void add(struct made *m, const unsigned long *words, size_t n)
{
	m->begins[m->len] = true;
	memcpy(m->words + m->len, words, n * sizeof(*words));
	m->len += n;
}

static void make(struct made *m)
{
	unsigned int left;

	memset(m, 0, sizeof(*m));
	while (m->len < 19000) {
		if (rand() % 8 == 0)
			ADD(m, MODULE);
		ADD(m, CPU(rand() % 4));
		ADD(m, IN_USER);
		ADD(m, CONTEXT(7, rand() % 5, 6));
		ADD(m, COOKIE(40 + rand() % 5));
		for (left = rand() % 30; left; left--) {
			switch (rand() % 8) {
			case 0:
				ADD(m, IN_KERNEL);
				ADD(m, KERNEL + rand() % 9, rand() % 8);
				ADD(m, IN_USER);
				m->samples++;
				break;
			case 1:
				ADD(m, CONTEXT(9, 1, 9));
				ADD(m, COOKIE(40 + rand() % 5));
				break;
			default:
				ADD(m, 0x1000 + rand() % 9, rand() % 8);
				m->samples++;
			}
		}
	}
	m->begins[m->len] = true;
}

static void test_pieces(const struct made *m)
{
	static const size_t pieces[] = { 1, 3, 7, 8, 13, 24, 4096, 1 << 20 };
	size_t bytes = m->len * sizeof(long), i, j;
	struct op_counts counts = {};
	struct op_decoder d;
	unsigned long sum;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		op_decoder_init(&d);
		decode(&d, m->words, bytes, pieces[i], &counts);
		sum = 0;
		for (j = 0; j < counts.size; j++)
			sum += counts.table[j].count;
		if (!ok(!d.error[0] && d.samples == m->samples &&
			sum == m->samples && d.words == m->len,
			"a long stream in pieces of %zu bytes", pieces[i]))
			diag("%lu samples, %lu counted, %lu made; %s",
			     d.samples, sum, m->samples, d.error);
		op_counts_free(&counts);
	}
}

static void test_ends(const struct made *m)
{
	unsigned int wrong = 0, torn = 0;
	struct op_decoder d;
	size_t i;

	for (i = 0; i <= 2000; i++) {
		op_decoder_init(&d);
		decode(&d, m->words, i * sizeof(long), 4096, NULL);
		torn += !m->begins[i];
		wrong += !d.error[0] != m->begins[i];
	}
	ok(!wrong && torn, "the end after each word (%u of them torn)", torn);

	for (wrong = 0, i = 1; i < sizeof(long); i++) {
		op_decoder_init(&d);
		decode(&d, m->words, 3 * sizeof(long) + i, 4096, NULL);
		wrong += !d.error[0];
	}
	ok(!wrong, "an end inside a word");
}

/* Whatever the words are, the decoder stays within its bounds. */
static void test_noise(struct made *m)
{
	unsigned int round, caught = 0;
	struct op_decoder d;
	size_t i;

	for (round = 0; round < 3000; round++) {
		for (i = 0; i < 64; i++) {
			switch (rand() % 3) {
			case 0:
				m->words[i] = ESC;
				break;
			case 1:
				m->words[i] = rand() % 12;
				break;
			default:
				m->words[i] = rand() * 0x100000001ul;
			}
		}
		op_decoder_init(&d);
		decode(&d, m->words, 64 * sizeof(long), 4096, NULL);
		caught += d.error[0] != 0;
	}
	ok(caught > 2900, "noise is no stream (%u of 3000 caught)", caught);
}

/*
 * One word lost, which is what a torn record looks like. A batch without its
 * first word is the one case that no grammar can notice: it reads as a sample.
 */
static void test_losses(const struct made *m)
{
	unsigned int caught = 0, lost = 0;
	struct op_decoder d;
	size_t at;

	for (at = 0; at < 2000; at++) {
		if (m->words[at] == ESC && m->words[at + 1] == OP_CPU_SWITCH_CODE)
			continue;
		op_decoder_init(&d);
		op_decoder_feed(&d, m->words, at * sizeof(long));
		op_decoder_feed(&d, m->words + at + 1,
				(m->len - at - 1) * sizeof(long));
		op_decoder_end(&d);
		caught += d.error[0] != 0;
		lost++;
	}
	ok(caught == lost, "a lost word is noticed (%u of %u)", caught, lost);
}

int main(void)
{
	static struct made made;

	srand(1);
	test_table();
	make(&made);
	test_pieces(&made);
	test_ends(&made);
	test_losses(&made);
	test_noise(&made);
	return tap_end();
}
