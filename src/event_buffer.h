/* SPDX-License-Identifier: GPL-2.0 */
/*
 * event_buffer.h - what event_buffer.c, reader.c and samples.c share
 */
#ifndef _OPROFILE_EVENT_BUFFER_H
#define _OPROFILE_EVENT_BUFFER_H

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

extern struct op_eb op_eb;

static inline unsigned long op_eb_word(unsigned long pos)
{
	return op_eb.words[pos & op_eb.mask];
}

unsigned int op_restate(const struct op_said *said, const struct op_said *want,
			unsigned long *words);

/* How much of the stream a file has been given; see reader.c. */
struct op_file {
	struct mutex mutex;	/* one read at a time */
	unsigned long eof_run;
	bool header_done;
	size_t line_len;
	size_t line_at;
	unsigned long *bounce;
	char *line;
};

/* Bytes of the longest line: two escaped paths and what stands around them. */
#define OP_PATH_MAX		(4 * 8192)
#define OP_LINE_MAX		(2 * OP_PATH_MAX + 1024)

unsigned int op_unit_take(struct op_reader *r);
size_t op_samples_header(char *line, size_t size);
size_t op_samples_line(char *line, size_t size, const struct op_said *said,
		       unsigned long offset, unsigned long event,
		       unsigned long pos);
void op_kernel_symbol(unsigned long addr, unsigned long pos,
		      char *image, size_t image_size,
		      char *symbol, size_t symbol_size);

#endif /* _OPROFILE_EVENT_BUFFER_H */
