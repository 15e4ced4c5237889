/* SPDX-License-Identifier: GPL-2.0 */
/*
 * decode.h - a strict decoder of the event stream, for the suites
 *
 * It knows the rules of uapi/oprofile.h and nothing of what wrote the words.
 */
#ifndef _OPROFILE_KUNIT_DECODE_H
#define _OPROFILE_KUNIT_DECODE_H

#include <linux/string.h>
#include <linux/types.h>

#include "uapi/oprofile.h"

struct decoded {
	unsigned long cpu;
	unsigned long tid;
	unsigned long tgid;
	unsigned long app;
	unsigned long cookie;
	unsigned long offset;
	unsigned long event;
	bool kernel;
	bool caller;
	bool chain;
};

struct decoder {
	void (*sample)(struct decoder *d, const struct decoded *sample);
	struct decoded now;
	bool cpu;
	bool context;
	bool mode;
	bool cookie;
	enum { IN_NO_CHAIN, AT_LEAF, IN_CALLERS } chain;
	unsigned int have;	/* words of a record so far */
	unsigned long word[8];
	unsigned long samples;	/* leaves */
	unsigned long callers;
	unsigned long modules;
	unsigned long batches;
	const char *error;
	/* the user's own */
	const struct decoded *expect;
	unsigned long nr_expect;
	unsigned long at;
};

/* How long is the record that begins so? 0: more must be known. */
static inline unsigned int record_len(struct decoder *d)
{
	if (d->word[0] != OP_ESCAPE_CODE)
		return 2;
	if (d->have < 2)
		return 0;
	switch (d->word[1]) {
	case OP_CTX_SWITCH_CODE:
		return 7;
	case OP_CPU_SWITCH_CODE:
	case OP_COOKIE_SWITCH_CODE:
		return 3;
	case OP_KERNEL_ENTER_CODE:
	case OP_USER_ENTER_CODE:
	case OP_MODULE_LOADED_CODE:
	case OP_TRACE_BEGIN_CODE:
		return 2;
	}
	d->error = "unknown escape";
	return 2;
}

static inline void decode_sample(struct decoder *d)
{
	if (!d->cpu || !d->context || !d->mode ||
	    (!d->now.kernel && !d->cookie))
		d->error = "a sample before its context";
	if (d->word[1] >= 8)
		d->error = "no such event";
	d->now.offset = d->word[0];
	d->now.event = d->word[1];
	d->now.chain = d->chain != IN_NO_CHAIN;
	d->now.caller = d->chain == IN_CALLERS;
	if (d->now.caller)
		d->callers++;
	else
		d->samples++;
	if (d->chain == AT_LEAF)
		d->chain = IN_CALLERS;
	if (d->sample)
		d->sample(d, &d->now);
}

static inline void decode_record(struct decoder *d)
{
	if (d->word[0] != OP_ESCAPE_CODE) {
		decode_sample(d);
		return;
	}
	if (d->chain == AT_LEAF && (d->word[1] == OP_CPU_SWITCH_CODE ||
				    d->word[1] == OP_CTX_SWITCH_CODE ||
				    d->word[1] == OP_TRACE_BEGIN_CODE))
		d->error = "a chain without a leaf";
	if (d->word[1] != OP_CPU_SWITCH_CODE &&
	    d->word[1] != OP_MODULE_LOADED_CODE && !d->cpu)
		d->error = "an escape before the batch";
	switch (d->word[1]) {
	case OP_CPU_SWITCH_CODE:
		d->batches++;
		d->cpu = true;
		d->context = false;
		d->mode = false;
		d->cookie = false;
		d->chain = IN_NO_CHAIN;
		d->now.cpu = d->word[2];
		break;
	case OP_CTX_SWITCH_CODE:
		if (d->word[4] != OP_ESCAPE_CODE ||
		    d->word[5] != OP_CTX_TGID_CODE)
			d->error = "a context without its tgid";
		d->context = true;
		d->cookie = false;
		d->chain = IN_NO_CHAIN;
		d->now.tid = d->word[2];
		d->now.app = d->word[3];
		d->now.tgid = d->word[6];
		break;
	case OP_COOKIE_SWITCH_CODE:
		d->cookie = true;
		d->now.cookie = d->word[2];
		break;
	case OP_KERNEL_ENTER_CODE:
	case OP_USER_ENTER_CODE:
		d->mode = true;
		d->now.kernel = d->word[1] == OP_KERNEL_ENTER_CODE;
		break;
	case OP_MODULE_LOADED_CODE:
		d->modules++;
		d->cpu = false;
		break;
	case OP_TRACE_BEGIN_CODE:
		d->chain = AT_LEAF;
		break;
	}
}

static inline void decode(struct decoder *d, const unsigned long *words,
			  size_t n)
{
	for (; n-- > 0 && !d->error; words++) {
		unsigned int len;

		d->word[d->have++] = *words;
		len = record_len(d);
		if (d->have == len) {
			decode_record(d);
			d->have = 0;
		}
	}
}

/* Nothing is half there. */
static inline bool decode_ends(const struct decoder *d)
{
	return !d->error && !d->have && d->chain != AT_LEAF;
}

static inline bool decoded_is(const struct decoded *a, const struct decoded *b)
{
	return a->cpu == b->cpu && a->tid == b->tid && a->tgid == b->tgid &&
	       a->app == b->app && a->kernel == b->kernel &&
	       (a->kernel || a->cookie == b->cookie) &&
	       a->offset == b->offset && a->event == b->event &&
	       a->caller == b->caller && a->chain == b->chain;
}

#endif /* _OPROFILE_KUNIT_DECODE_H */
