/* SPDX-License-Identifier: GPL-2.0 */
/*
 * event_buffer.h - what event_buffer.c, reader.c and samples.c share
 */
#ifndef _OPROFILE_EVENT_BUFFER_H
#define _OPROFILE_EVENT_BUFFER_H

#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include "oprofile.h"

/* Words of all escapes that state everything, and begin a call chain. */
#define OP_RESTATE_MAX		17

/**
 * struct op_said - what a decoder knows at some point of the stream
 * @cpu_known: @context.cpu counts
 * @context_known: the rest of @context counts
 * @mode_known: @kernel counts
 * @cookie_known: @cookie counts
 * @kernel: samples are kernel samples
 * @context: see there
 * @cookie: the file
 */
struct op_said {
	bool cpu_known;
	bool context_known;
	bool mode_known;
	bool cookie_known;
	bool kernel;
	struct op_context context;
	unsigned long cookie;
};

/* Where a reader is in a call chain, if in any. */
enum op_chain { OP_CHAIN_NONE, OP_CHAIN_LEAF, OP_CHAIN_CALLERS };

/**
 * struct op_reader - how far the reader is; survives its file
 * @pos: behind the last unit that was taken from the buffer
 * @unit_pos: where the unit in @unit began
 * @said: what the reader's decoder knows
 * @chain: what the next sample is
 * @unit_chain: what it was before the unit in @unit
 * @restate: a new file begins in the middle of a batch, maybe
 * @counts: @unit is a sample, and no caller of one
 * @unit: words of a unit that is being given, or of a restatement
 * @unit_len: words in @unit
 * @unit_at: words of these that the user has
 */
struct op_reader {
	unsigned long pos;
	unsigned long unit_pos;
	struct op_said said;
	enum op_chain chain;
	enum op_chain unit_chain;
	bool restate;
	bool counts;
	unsigned long unit[OP_RESTATE_MAX];
	unsigned int unit_len;
	unsigned int unit_at;
};

/**
 * struct op_eb - the event buffer
 * @words: the ring
 * @size: how many words it may hold
 * @mask: one less than how many it has, a power of two
 * @watershed: wake the reader when so few are free
 * @head: words that may be read (writer: release)
 * @tail: words that were read (reader: release)
 * @mutex: guards what follows, and changes of what stands above
 * @wait: the reader waits here
 * @running: a run goes on
 * @run: how many runs have begun
 * @ready: blocked reads may go on, until all is read
 * @reader: see there
 * @open: a file is open
 */
struct op_eb {
	unsigned long *words;
	unsigned long size;
	unsigned long mask;
	unsigned long watershed;
	unsigned long head;
	unsigned long tail;
	struct mutex mutex;	/* the reader's side and the run state */
	wait_queue_head_t wait;
	bool running;
	unsigned long run;
	bool ready;
	struct op_reader reader;
	unsigned long open;
};

/**
 * struct op_writer - how far the sync core is; its own
 * @pos: behind the last word written
 * @limit: there was room up to here when that was last looked at
 * @said: what a decoder knows at @pos
 * @module_notice: escape 6 is owed
 * @announced: jiffies of the last wake-up
 */
struct op_writer {
	unsigned long pos;
	unsigned long limit;
	struct op_said said;
	bool module_notice;
	unsigned long announced;
};

extern struct op_eb op_eb;
extern struct op_writer op_writer;

static __always_inline unsigned long op_eb_word(unsigned long pos)
{
	return op_eb.words[pos & op_eb.mask];
}

static inline bool op_same_context(const struct op_context *a,
				   const struct op_context *b)
{
	return a->tid == b->tid && a->app == b->app && a->tgid == b->tgid &&
	       a->cpu == b->cpu;
}

/**
 * op_eb_said() - has this context been said, as what holds now?
 * @context: the context
 *
 * Context: op_sync_mutex held, after op_eb_begin().
 */
static inline bool op_eb_said(const struct op_context *context)
{
	return op_writer.said.context_known && op_writer.said.mode_known &&
	       op_same_context(&op_writer.said.context, context);
}

/**
 * op_eb_said_place() - does where a sample lies need not be said?
 * @kernel: it is a kernel sample
 * @cookie: of its file; user only
 *
 * Context: op_sync_mutex held, where op_eb_said() is true for its context.
 */
static __always_inline bool op_eb_said_place(bool kernel, unsigned long cookie)
{
	const struct op_said *said = &op_writer.said;

	return said->kernel == kernel &&
	       (kernel || (said->cookie_known && said->cookie == cookie));
}

/**
 * op_eb_room() - where samples may be put for which nothing needs to be said
 * @words: set to how many words there are
 *
 * Context: op_sync_mutex held; op_eb_add() follows.
 */
static inline unsigned long *op_eb_room(unsigned long *words)
{
	const struct op_writer *w = &op_writer;
	unsigned long at = w->pos & op_eb.mask;

	*words = min(w->limit - w->pos, op_eb.mask + 1 - at);
	return op_eb.words + at;
}

/**
 * op_eb_add() - samples were put there
 * @words: how many words
 */
static inline void op_eb_add(unsigned long words)
{
	op_writer.pos += words;
}

/* op_restate() in place. */
static __always_inline unsigned long *op_say(struct op_said *said,
					     const struct op_said *want,
					     unsigned long *to)
{
	if (!said->cpu_known || said->context.cpu != want->context.cpu) {
		*to++ = OP_ESCAPE_CODE;
		*to++ = OP_CPU_SWITCH_CODE;
		*to++ = want->context.cpu;
		memset(said, 0, sizeof(*said));
		said->cpu_known = true;
		said->context.cpu = want->context.cpu;
	}
	if (want->context_known &&
	    !(said->context_known &&
	      op_same_context(&said->context, &want->context))) {
		*to++ = OP_ESCAPE_CODE;
		*to++ = OP_CTX_SWITCH_CODE;
		*to++ = want->context.tid;
		*to++ = want->context.app;
		*to++ = OP_ESCAPE_CODE;
		*to++ = OP_CTX_TGID_CODE;
		*to++ = want->context.tgid;
		said->context_known = true;
		said->context = want->context;
		/* it is said again in each context */
		said->cookie_known = false;
	}
	if (want->mode_known &&
	    !(said->mode_known && said->kernel == want->kernel)) {
		*to++ = OP_ESCAPE_CODE;
		*to++ = want->kernel ? OP_KERNEL_ENTER_CODE :
				       OP_USER_ENTER_CODE;
		said->mode_known = true;
		said->kernel = want->kernel;
	}
	/* also in the kernel: it holds for what follows */
	if (want->cookie_known &&
	    !(said->cookie_known && said->cookie == want->cookie)) {
		*to++ = OP_ESCAPE_CODE;
		*to++ = OP_COOKIE_SWITCH_CODE;
		*to++ = want->cookie;
		said->cookie_known = true;
		said->cookie = want->cookie;
	}
	return to;
}

/* What a decoder must know for a sample. */
static __always_inline struct op_said
op_wanted(const struct op_context *context, const struct op_entry *e)
{
	return (struct op_said) {
		.cpu_known = true,
		.context_known = true,
		.mode_known = true,
		.cookie_known = !e->kernel,
		.context = *context,
		.kernel = e->kernel,
		.cookie = e->cookie,
	};
}

/**
 * op_eb_put() - op_eb_sample() without frames, where that is no matter
 * @context: where and who it is
 * @event: number of its event folder
 * @e: the sample
 *
 * Context: op_sync_mutex held, after op_eb_begin(); op_eb_publish() follows.
 * Return: false, with nothing written, where there is not plenty of room, or the
 *	end of the ring is near.
 */
static __always_inline bool op_eb_put(const struct op_context *context,
				      unsigned int event,
				      const struct op_entry *e)
{
	const struct op_said want = op_wanted(context, e);
	unsigned long *out, *to, room;

	out = op_eb_room(&room);
	if (unlikely((long)room < OP_RESTATE_MAX + 2))
		return false;
	to = op_say(&op_writer.said, &want, out);
	*to++ = e->offset;
	*to++ = event;
	op_eb_add(to - out);
	return true;
}

unsigned int op_restate(struct op_said *said, const struct op_said *want,
			unsigned long *words);

/**
 * struct op_file - how much of the stream a file has been given; see reader.c
 * @mutex: one read at a time
 * @eof_run: the run whose end it has been told
 * @header_done: it has the header
 * @line: text to be given: a line, or some
 * @line_len: bytes of it
 * @line_at: bytes of these that the user has
 * @begin_len: so many bytes of @line are what op_samples_begin() says
 * @begin_said: of this
 * @begin_event: and this
 * @begin_run: in this run
 */
struct op_file {
	struct mutex mutex;	/* one read at a time */
	unsigned long eof_run;
	bool header_done;
	char *line;
	size_t line_len;
	size_t line_at;
	size_t begin_len;
	struct op_said begin_said;
	unsigned long begin_event;
	unsigned long begin_run;
};

/* Bytes of the longest line: two escaped paths and what stands around them. */
#define OP_PATH_MAX		(4 * 8192)
#define OP_LINE_MAX		(2 * OP_PATH_MAX + 1024)
/* Of what a line ends with: an image, and a symbol or an offset. */
#define OP_SAMPLES_END		(MODULE_NAME_LEN + KSYM_SYMBOL_LEN + 8)

unsigned int op_unit_take(struct op_reader *r);
size_t op_samples_header(char *line, size_t size);
size_t op_samples_begin(char *line, size_t size, const struct op_said *said,
			unsigned long event);
size_t op_samples_end(char *line, size_t size, const struct op_said *said,
		      unsigned long offset, unsigned long pos);
void op_kernel_symbol(unsigned long addr, unsigned long pos,
		      char *image, size_t image_size,
		      char *symbol, size_t symbol_size);

#endif /* _OPROFILE_EVENT_BUFFER_H */
