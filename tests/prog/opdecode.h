/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A strict decoder of the event stream, built on include/uapi/oprofile.h and
 * libc only. It takes the stream in pieces of any size and gives one call a
 * sample; a word that breaks a rule of the stream ends it with an error.
 */
#ifndef OPDECODE_H
#define OPDECODE_H

#include <stdbool.h>
#include <stddef.h>

struct op_sample {
	unsigned long cpu;
	unsigned long tgid;
	unsigned long tid;
	unsigned long event;	/* number of its folder */
	unsigned long app;	/* cookie of the program */
	unsigned long cookie;	/* of the file; OP_NO_COOKIE for kernel samples */
	unsigned long offset;	/* or the address, without a file */
	bool user;
	bool caller;		/* a frame of the chain, not its leaf */
};

struct op_decoder {
	/* Set by the user after op_decoder_init(). */
	void (*sample)(void *arg, const struct op_sample *sample);
	void *arg;
	unsigned long cpus;	/* numbers of CPUs are below this */
	unsigned long events;	/* numbers of event folders are below this */
	bool chains;		/* call chains are on: escape 8 before each leaf */

	/* For the user to read. */
	unsigned long samples;	/* leaves */
	unsigned long callers;
	unsigned long batches;
	unsigned long contexts;
	unsigned long cookies;	/* cookie escapes */
	unsigned long modules;	/* module notices */
	unsigned long words;
	char error[160];

	/* The decoder's own. */
	unsigned int known;
	unsigned int next;
	unsigned long code;
	unsigned int operand;
	bool leaf;
	bool chain;
	struct op_sample now;
	unsigned char part[sizeof(unsigned long)];
	size_t part_len;
};

void op_decoder_init(struct op_decoder *d);

/* Both return 0, or -1 with d->error filled. An error stays. */
int op_decoder_feed(struct op_decoder *d, const void *bytes, size_t len);
/* The stream ends here: nothing may be half there. */
int op_decoder_end(struct op_decoder *d);
/* What comes next has to begin with a batch. */
void op_decoder_forget(struct op_decoder *d);

/* How often each distinct sample came. */
struct op_count {
	struct op_sample sample;
	unsigned long count;	/* 0: the place is free */
};

struct op_counts {
	struct op_count *table;
	size_t size;		/* a power of two */
	size_t used;
};

void op_counts_add(struct op_counts *c, const struct op_sample *sample);
void op_counts_free(struct op_counts *c);

#endif /* OPDECODE_H */
