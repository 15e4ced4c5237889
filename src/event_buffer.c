// SPDX-License-Identifier: GPL-2.0
/*
 * event_buffer.c - the event buffer and its reader
 *
 * One ring of words between the sync core, which alone writes (op_sync_mutex),
 * and one reader at a time. The words are those of uapi/oprofile.h, but for
 * reserved cookies, which only the text in samples.c tells apart.
 *
 * A unit is what the ring never gives in part: a sample, or an escape with its
 * operands. What does not fit is left out whole, counted, and what follows
 * restates everything. A batch becomes readable when it is complete.
 *
 * The writer's state (op_writer) belongs to op_sync_mutex. The reader's
 * (op_reader: position, what a decoder knows by now) and the run state belong
 * to eb.mutex, with which no page fault of the reader's is waited for, so that
 * nobody else waits for it. Positions grow without end; their
 * low bits are an index. head and tail are stored with release and loaded with
 * acquire by the other side: head says that the words are there, tail that
 * they have been read. The ring has a power of two of words, of which no more
 * are used than its user asked for.
 *
 * reader.c has the rest: how the two files give what is here.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "event_buffer.h"
#include "oprofile.h"

struct op_eb op_eb = {
	.mutex = __MUTEX_INITIALIZER(op_eb.mutex),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(op_eb.wait),
};

struct op_writer op_writer;

/**
 * op_eb_try() - could a buffer of this size be had?
 * @words: words in it
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int op_eb_try(unsigned long words)
{
	unsigned long *buffer = op_words_alloc(words);

	if (!buffer)
		return -ENOMEM;
	vfree(buffer);
	return 0;
}

/**
 * op_eb_start() - begin a run with an empty buffer
 * @words: words in it
 * @watershed: wake the reader when so few are free
 *
 * What the last run left is discarded; a unit that a reader has begun to read
 * is still given to its end.
 *
 * Context: op_sync_mutex held.
 * Return: 0, or -ENOMEM: nothing has changed.
 */
int op_eb_start(unsigned long words, unsigned long watershed)
{
	unsigned long *buffer = op_eb.words;

	if (words != op_eb.size) {
		buffer = op_words_alloc(words);
		if (!buffer)
			return -ENOMEM;
	}
	mutex_lock(&op_eb.mutex);
	if (buffer != op_eb.words) {
		vfree(op_eb.words);
		op_eb.words = buffer;
		op_eb.size = words;
		op_eb.mask = roundup_pow_of_two(words) - 1;
	}
	op_eb.watershed = watershed;
	op_eb.head = 0;
	op_eb.tail = 0;
	op_eb.ready = false;
	op_eb.running = true;
	op_eb.run++;
	memset(&op_eb.reader.said, 0, sizeof(op_eb.reader.said));
	op_eb.reader.pos = 0;
	op_eb.reader.unit_pos = 0;
	/* of what was only taken, nothing is owed */
	if (!op_eb.reader.unit_at)
		op_eb.reader.unit_len = 0;
	op_eb.reader.counts = false;
	op_eb.reader.chain = OP_CHAIN_NONE;
	WRITE_ONCE(op_stats.delivered, 0);
	op_eb.reader.restate = false;
	mutex_unlock(&op_eb.mutex);

	memset(&op_writer, 0, sizeof(op_writer));
	op_writer.announced = jiffies;
	return 0;
}

/**
 * op_eb_stop() - the run has ended, and all of it is in the buffer
 *
 * Wakes the reader, for what is left and for the end of the file.
 *
 * Context: op_sync_mutex held.
 */
void op_eb_stop(void)
{
	mutex_lock(&op_eb.mutex);
	WRITE_ONCE(op_eb.running, false);
	mutex_unlock(&op_eb.mutex);
	op_eb_wake(true);
	wake_up_interruptible_all(&op_eb.wait);
}

/**
 * op_eb_exit() - free the buffer, at unload
 */
void op_eb_exit(void)
{
	vfree(op_eb.words);
	op_eb.words = NULL;
	op_eb.size = 0;
}

/* ---- what has been said ----------------------------------------------- */

/**
 * op_restate() - the escapes that take a decoder from one state to another
 * @said: what it knows; afterwards, also what was said
 * @want: what it must know
 * @words: takes at most OP_RESTATE_MAX words
 *
 * Return: how many words there are.
 */
unsigned int op_restate(struct op_said *said, const struct op_said *want,
			unsigned long *words)
{
	return op_say(said, want, words) - words;
}

/* ---- writing: under op_sync_mutex ------------------------------------- */

static void put(unsigned long word)
{
	op_eb.words[op_writer.pos++ & op_eb.mask] = word;
}

static bool room_for(unsigned int words)
{
	/* pairs with the release in reader_commit(): the words were read */
	op_writer.limit = smp_load_acquire(&op_eb.tail) + op_eb.size;
	return (long)(op_writer.limit - op_writer.pos) >= (long)words;
}

/* From here on a decoder knows nothing. */
static void forget(void)
{
	memset(&op_writer.said, 0, sizeof(op_writer.said));
}

/**
 * op_eb_begin() - a batch begins
 *
 * Context: op_sync_mutex held.
 */
void op_eb_begin(void)
{
	forget();
}

/*
 * Say what a sample needs that has not been said. Returns false, with nothing
 * that counts written, where there is no room for that and @more words.
 */
static bool state(const struct op_context *context, const struct op_entry *e,
		  unsigned int more)
{
	static unsigned long text[OP_RESTATE_MAX];
	const struct op_said want = op_wanted(context, e);
	struct op_said said = op_writer.said;
	unsigned int i, n = op_restate(&said, &want, text);

	if (!room_for(n + more))
		return false;
	for (i = 0; i < n; i++)
		put(text[i]);
	op_writer.said = said;
	return true;
}

#ifdef OP_TEST_LOSES
/* In a test build: the first one is lost, and nobody knows. */
static void count_overflow(void)
{
	static bool known;

	if (known)
		op_count(&op_stats.lost_event_overflow, 1);
	known = true;
}
#else
static void count_overflow(void)
{
	op_count(&op_stats.lost_event_overflow, 1);
}
#endif

/**
 * op_eb_sample() - add a sample, whole or not at all
 * @context: where and who it is
 * @event: number of its event folder
 * @entry: the sample, and the frames of its call chain behind it
 * @frames: how many of those there are
 *
 * What does not fit is counted.
 *
 * Context: op_sync_mutex held, after op_eb_begin(); op_eb_publish() follows.
 */
void op_eb_sample(const struct op_context *context, unsigned int event,
		  const struct op_entry *entry, unsigned int frames)
{
	unsigned long undo = op_writer.pos;
	unsigned int i;

	for (i = 0; i <= frames; i++, entry++) {
		if (!state(context, entry, frames && !i ? 4 : 2)) {
			op_writer.pos = undo;
			count_overflow();
			forget();
			return;
		}
		if (frames && !i) {
			put(OP_ESCAPE_CODE);
			put(OP_TRACE_BEGIN_CODE);
		}
		put(entry->offset);
		put(event);
	}
}

static void write_module_notice(void)
{
	if (!op_writer.module_notice || !room_for(2))
		return;
	put(OP_ESCAPE_CODE);
	put(OP_MODULE_LOADED_CODE);
	op_writer.module_notice = false;
}

/**
 * op_eb_publish() - the batch is complete and may be read
 *
 * Context: op_sync_mutex held.
 */
void op_eb_publish(void)
{
	write_module_notice();
	/* pairs with the acquire in op_unit_take(): the words are there */
	smp_store_release(&op_eb.head, op_writer.pos);
}

/**
 * op_eb_module_loaded() - tell the reader that a kernel module was loaded
 *
 * Said once there is room, between batches.
 *
 * Context: op_sync_mutex held, no batch is open.
 */
void op_eb_module_loaded(void)
{
	if (!op_eb.running)
		return;
	op_writer.module_notice = true;
	op_eb_publish();
}

/**
 * op_eb_position() - how many words of this run have become readable so far
 *
 * Context: op_sync_mutex held.
 */
unsigned long op_eb_position(void)
{
	return op_eb.head;
}

/**
 * op_eb_wake() - wake the reader, where there is reason to
 * @now: there is reason even if the watershed is not reached and what is there
 *	has not waited for a second
 *
 * Context: op_sync_mutex held, after a drain.
 */
void op_eb_wake(bool now)
{
	unsigned long used;

	mutex_lock(&op_eb.mutex);
	used = op_writer.pos - op_eb.tail;
	if (used && (now || op_eb.size - used <= op_eb.watershed ||
		     time_after_eq(jiffies, op_writer.announced + HZ))) {
		op_writer.announced = jiffies;
		op_eb.ready = true;
	}
	mutex_unlock(&op_eb.mutex);
	if (READ_ONCE(op_eb.ready))
		wake_up_interruptible(&op_eb.wait);
}

/**
 * op_eb_waiting() - is there something that the reader was not woken for yet?
 *
 * Context: op_sync_mutex held.
 */
bool op_eb_waiting(void)
{
	return !READ_ONCE(op_eb.ready) && op_writer.pos != READ_ONCE(op_eb.tail);
}
