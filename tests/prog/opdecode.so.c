// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder: one word after the other through a small state machine. What
 * a word may be depends on the record it is in (next), what a record may be on
 * what the stream has stated so far (known).
 */

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/oprofile.h>

#include "opdecode.h"

#define KNOW_CPU	1u
#define KNOW_MODE	2u
#define KNOW_CONTEXT	4u
#define KNOW_COOKIE	8u

/* Above every pid a kernel can be told to use (PID_MAX_LIMIT). */
#define PID_END		(4ul * 1024 * 1024 + 1)

#define TOP_BIT		(~(~0ul >> 1))

enum {
	NEXT_RECORD,		/* OP_ESCAPE_CODE, or a sample's first word */
	NEXT_EVENT,		/* a sample's second word */
	NEXT_CODE,
	NEXT_OPERAND,
	NEXT_TGID_ESCAPE,	/* what has to follow a context switch */
	NEXT_TGID_CODE,
};

void op_decoder_init(struct op_decoder *d)
{
	memset(d, 0, sizeof(*d));
	d->cpus = 8192;
	d->events = 8;
}

__attribute__((format(printf, 2, 3)))
static int broken(struct op_decoder *d, const char *format, ...)
{
	va_list args;
	int n;

	n = snprintf(d->error, sizeof(d->error), "word %lu: ", d->words);
	va_start(args, format);
	vsnprintf(d->error + n, sizeof(d->error) - n, format, args);
	va_end(args);
	return -1;
}

static int need(struct op_decoder *d, unsigned int what, const char *record)
{
	static const char * const names[] = {
		"CPU", "mode", "context", "cookie"
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (what & ~d->known & (1u << i))
			return broken(d, "%s before its %s", record, names[i]);
	}
	return 0;
}

static int begin_escape(struct op_decoder *d, unsigned long code)
{
	d->code = code;
	d->operand = 0;
	d->next = NEXT_RECORD;
	switch (code) {
	case OP_CPU_SWITCH_CODE:
		d->next = NEXT_OPERAND;
		return 0;
	case OP_CTX_SWITCH_CODE:
		d->next = NEXT_OPERAND;
		return need(d, KNOW_CPU, "context");
	case OP_COOKIE_SWITCH_CODE:
		d->next = NEXT_OPERAND;
		return need(d, KNOW_CPU, "cookie");
	case OP_KERNEL_ENTER_CODE:
	case OP_USER_ENTER_CODE:
		d->known |= KNOW_MODE;
		d->now.user = code == OP_USER_ENTER_CODE;
		return need(d, KNOW_CPU, "mode");
	case OP_MODULE_LOADED_CODE:
		/* Only a new batch may follow, or another of these. */
		d->known = 0;
		d->chain = false;
		d->modules++;
		return 0;
	case OP_CTX_TGID_CODE:
		return broken(d, "a tgid without its context");
	case OP_TRACE_BEGIN_CODE:
		if (!d->chains)
			return broken(d, "a call chain, but none were asked for");
		if (d->leaf)
			return broken(d, "an empty call chain");
		d->leaf = true;
		return need(d, KNOW_CPU | KNOW_CONTEXT, "call chain");
	default:
		return broken(d, "unknown escape %lu", code);
	}
}

static int take_operand(struct op_decoder *d, unsigned long word)
{
	d->next = NEXT_RECORD;
	switch (d->code) {
	case OP_CPU_SWITCH_CODE:
		if (word >= d->cpus)
			return broken(d, "no such CPU: %lu", word);
		if (d->leaf)
			return broken(d, "a batch inside a call chain");
		d->batches++;
		d->known = KNOW_CPU;
		d->chain = false;
		d->now.cpu = word;
		return 0;
	case OP_COOKIE_SWITCH_CODE:
		if (word == OP_ESCAPE_CODE)
			return broken(d, "no such cookie");
		d->cookies++;
		d->known |= KNOW_COOKIE;
		d->now.cookie = word;
		return 0;
	case OP_CTX_SWITCH_CODE:
		if (d->operand++ == 0) {
			if (word >= PID_END)
				return broken(d, "no such tid: %lu", word);
			if (d->leaf)
				return broken(d, "a context inside a call chain");
			d->now.tid = word;
			d->next = NEXT_OPERAND;
			return 0;
		}
		if (word == OP_ESCAPE_CODE)
			return broken(d, "no such program's cookie");
		d->contexts++;
		d->known &= ~(KNOW_CONTEXT | KNOW_COOKIE);
		d->chain = false;
		d->now.app = word;
		d->next = NEXT_TGID_ESCAPE;
		return 0;
	case OP_CTX_TGID_CODE:
		if (word >= PID_END)
			return broken(d, "no such tgid: %lu", word);
		/* The idle tasks are 0 and 0; no one else is either. */
		if (!word != !d->now.tid)
			return broken(d, "tgid %lu of tid %lu", word, d->now.tid);
		d->known |= KNOW_CONTEXT;
		d->now.tgid = word;
		return 0;
	}
	return broken(d, "escape %lu takes no operand", d->code);
}

static int begin_sample(struct op_decoder *d, unsigned long word)
{
	unsigned int what = KNOW_CPU | KNOW_MODE | KNOW_CONTEXT;

	if (d->now.user)
		what |= KNOW_COOKIE;
	d->next = NEXT_EVENT;
	d->now.offset = word;
	if (need(d, what, "sample"))
		return -1;
	if (d->chains && !d->leaf && !d->chain)
		return broken(d, "a sample without a call chain");
	/* On 64-bit machines the kernel's half is the upper one. */
	if (sizeof(long) == 8 && !(word & TOP_BIT) == !d->now.user)
		return broken(d, "%s sample at %#lx",
			      d->now.user ? "user" : "kernel", word);
	return 0;
}

static int end_sample(struct op_decoder *d, unsigned long word)
{
	struct op_sample sample;

	d->next = NEXT_RECORD;
	if (word >= d->events)
		return broken(d, "no such event: %lu", word);
	d->now.event = word;
	sample = d->now;
	sample.caller = d->chains && !d->leaf;
	if (!sample.user)
		sample.cookie = OP_NO_COOKIE;
	if (sample.caller)
		d->callers++;
	else
		d->samples++;
	d->chain = d->chains;
	d->leaf = false;
	if (d->sample)
		d->sample(d->arg, &sample);
	return 0;
}

static int take_word(struct op_decoder *d, unsigned long word)
{
	switch (d->next) {
	case NEXT_RECORD:
		if (word != OP_ESCAPE_CODE)
			return begin_sample(d, word);
		d->next = NEXT_CODE;
		return 0;
	case NEXT_EVENT:
		return end_sample(d, word);
	case NEXT_CODE:
		return begin_escape(d, word);
	case NEXT_OPERAND:
		return take_operand(d, word);
	case NEXT_TGID_ESCAPE:
		if (word != OP_ESCAPE_CODE)
			return broken(d, "a context without its tgid");
		d->next = NEXT_TGID_CODE;
		return 0;
	case NEXT_TGID_CODE:
		if (word != OP_CTX_TGID_CODE)
			return broken(d, "a context, then escape %lu", word);
		d->code = word;
		d->next = NEXT_OPERAND;
		return 0;
	}
	return broken(d, "decoder in state %u", d->next);
}

int op_decoder_feed(struct op_decoder *d, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	unsigned long word;
	size_t n;

	while (len && !d->error[0]) {
		n = sizeof(d->part) - d->part_len;
		if (n > len)
			n = len;
		memcpy(d->part + d->part_len, from, n);
		d->part_len += n;
		from += n;
		len -= n;
		if (d->part_len < sizeof(d->part))
			break;
		memcpy(&word, d->part, sizeof(word));
		d->part_len = 0;
		if (take_word(d, word))
			return -1;
		d->words++;
	}
	return d->error[0] ? -1 : 0;
}

void op_decoder_forget(struct op_decoder *d)
{
	d->known = 0;
	d->chain = false;
}

int op_decoder_end(struct op_decoder *d)
{
	if (d->error[0])
		return -1;
	if (d->next != NEXT_RECORD || d->part_len || d->leaf)
		return broken(d, "the stream ends inside a record");
	return 0;
}

static size_t hash(const struct op_sample *s)
{
	const unsigned long parts[] = {
		s->cpu, s->tgid, s->tid, s->event, s->app, s->cookie, s->offset,
		s->user + 2ul * s->caller
	};
	uint64_t h = 0xcbf29ce484222325u;
	unsigned int i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		h = (h ^ parts[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static bool same(const struct op_sample *a, const struct op_sample *b)
{
	return a->cpu == b->cpu && a->tgid == b->tgid && a->tid == b->tid &&
	       a->event == b->event && a->app == b->app &&
	       a->cookie == b->cookie && a->offset == b->offset &&
	       a->user == b->user && a->caller == b->caller;
}

static struct op_count *find(struct op_counts *c, const struct op_sample *s)
{
	size_t i = hash(s) & (c->size - 1);

	while (c->table[i].count && !same(&c->table[i].sample, s))
		i = (i + 1) & (c->size - 1);
	return &c->table[i];
}

static void grow(struct op_counts *c)
{
	struct op_counts bigger = { .size = c->size ? c->size * 2 : 1024 };
	size_t i;

	bigger.table = calloc(bigger.size, sizeof(*bigger.table));
	if (!bigger.table)
		abort();
	for (i = 0; i < c->size; i++) {
		if (c->table[i].count)
			*find(&bigger, &c->table[i].sample) = c->table[i];
	}
	bigger.used = c->used;
	free(c->table);
	*c = bigger;
}

void op_counts_add(struct op_counts *c, const struct op_sample *sample)
{
	struct op_count *count;

	if (c->used * 2 >= c->size)
		grow(c);
	count = find(c, sample);
	if (!count->count) {
		count->sample = *sample;
		c->used++;
	}
	count->count++;
}

void op_counts_free(struct op_counts *c)
{
	free(c->table);
	memset(c, 0, sizeof(*c));
}
