// SPDX-License-Identifier: GPL-2.0
/*
 * reader.c - the files buffer and samples
 *
 * One file at a time, of either kind. A read takes units under op_eb.mutex
 * from a copy of the reader's state, gives them to the user, and only then
 * makes the copy the state: what a fault kept from the user stays in the
 * buffer. The mutex is let go of where that may wait for a page. A unit (or a
 * line) that was given in part keeps its place in the buffer until all of it is
 * given; if the file is closed before, the next one gets it whole.
 *
 * A start may come between taking and committing: then the run has changed,
 * and of what was taken only the rest of a unit is kept.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "event_buffer.h"
#include "oprofile.h"

#define WORDS_AT_ONCE	4096
#define TEXT_AT_ONCE	4096	/* bytes of lines that begin alike */
#define UNIT_MAX	7	/* words of the longest unit */

/* Readers of the binary stream need not know the reserved cookies. */
static __always_inline unsigned long public_cookie(unsigned long cookie)
{
	return cookie < OP_COOKIE_FIRST ? OP_NO_COOKIE : cookie;
}

static bool unit_pending(const struct op_reader *r)
{
	return r->unit_at < r->unit_len;
}

static void take_word(struct op_reader *r, unsigned long word)
{
	r->unit[r->unit_len++] = word;
}

/* How many words an escape has; @cookie: which of them is one, or 0. */
static __always_inline unsigned int escape_len(unsigned long code,
					       unsigned int *cookie)
{
	*cookie = 0;
	switch (code) {
	case OP_CPU_SWITCH_CODE:
		return 3;
	case OP_CTX_SWITCH_CODE:
		*cookie = 3;
		return 7;
	case OP_COOKIE_SWITCH_CODE:
		*cookie = 2;
		return 3;
	default:
		return 2;
	}
}

/* What an escape says is known from here on. */
static __always_inline void note_context(struct op_reader *r,
					 const unsigned long *words)
{
	struct op_said *said = &r->said;

	said->context_known = true;
	said->cookie_known = false;
	said->context.tid = words[2];
	said->context.app = words[3];
	said->context.tgid = words[6];
	r->chain = OP_CHAIN_NONE;
}

static __always_inline void note_cookie(struct op_reader *r,
					const unsigned long *words)
{
	r->said.cookie_known = true;
	r->said.cookie = words[2];
}

static __always_inline void note_mode(struct op_reader *r,
				      const unsigned long *words)
{
	r->said.mode_known = true;
	r->said.kernel = words[1] == OP_KERNEL_ENTER_CODE;
}

static void note_escape(struct op_reader *r, const unsigned long *words)
{
	switch (words[1]) {
	case OP_CPU_SWITCH_CODE:
		memset(&r->said, 0, sizeof(r->said));
		r->said.cpu_known = true;
		r->said.context.cpu = words[2];
		r->chain = OP_CHAIN_NONE;
		break;
	case OP_CTX_SWITCH_CODE:
		note_context(r, words);
		break;
	case OP_COOKIE_SWITCH_CODE:
		note_cookie(r, words);
		break;
	case OP_KERNEL_ENTER_CODE:
	case OP_USER_ENTER_CODE:
		note_mode(r, words);
		break;
	case OP_TRACE_BEGIN_CODE:
		r->chain = OP_CHAIN_LEAF;
		break;
	}
}

/* An escape; what it says is taken over in @r->said. */
static void take_escape(struct op_reader *r)
{
	unsigned int i, cookie, len = escape_len(op_eb_word(r->pos + 1), &cookie);

	for (i = 0; i < len; i++)
		take_word(r, op_eb_word(r->pos + i));
	note_escape(r, r->unit);
	if (cookie)
		r->unit[cookie] = public_cookie(r->unit[cookie]);
	r->pos += len;
}

/* What counts is the sample itself, or the leaf of its call chain. */
static void take_sample_words(struct op_reader *r)
{
	take_word(r, op_eb_word(r->pos));
	take_word(r, op_eb_word(r->pos + 1));
	r->pos += 2;
	r->counts = r->chain != OP_CHAIN_CALLERS;
	if (r->chain == OP_CHAIN_LEAF)
		r->chain = OP_CHAIN_CALLERS;
}

/* No unit yet, and here the next one begins. */
static void begin_unit(struct op_reader *r)
{
	r->unit_at = 0;
	r->unit_len = 0;
	r->counts = false;
	r->unit_pos = r->pos;
	r->unit_chain = r->chain;
}

static void take_unit(struct op_reader *r)
{
	begin_unit(r);
	if (op_eb_word(r->pos) == OP_ESCAPE_CODE)
		take_escape(r);
	else
		take_sample_words(r);
}

static bool at_escape(const struct op_reader *r, unsigned long code)
{
	return op_eb_word(r->pos) == OP_ESCAPE_CODE &&
	       op_eb_word(r->pos + 1) == code;
}

static void take_restatement(struct op_reader *r)
{
	struct op_said said = {}, want = r->said;

	want.context.app = public_cookie(want.context.app);
	want.cookie = public_cookie(want.cookie);
	r->unit_len = op_restate(&said, &want, r->unit);
	if (r->chain == OP_CHAIN_LEAF) {
		take_word(r, OP_ESCAPE_CODE);
		take_word(r, OP_TRACE_BEGIN_CODE);
	}
}

/*
 * The last file got a leaf, and callers of it that this one can do nothing
 * with. Returns false where there is nothing but those.
 */
static bool skip_callers(struct op_reader *r, unsigned long head)
{
	while (r->pos != head && r->chain == OP_CHAIN_CALLERS &&
	       !at_escape(r, OP_TRACE_BEGIN_CODE) &&
	       !at_escape(r, OP_CTX_SWITCH_CODE) &&
	       !at_escape(r, OP_CPU_SWITCH_CODE))
		take_unit(r);
	begin_unit(r);
	return r->pos != head;
}

/**
 * op_unit_take() - take the next unit from the event buffer
 * @r: the state of the reader, with no unit pending
 *
 * A file that begins in the middle of a batch first gets a restatement.
 *
 * Context: op_eb.mutex held.
 * Return: its words, now in @r->unit; 0 where the buffer is empty.
 */
unsigned int op_unit_take(struct op_reader *r)
{
	/* pairs with the release in op_eb_publish(): the words are there */
	unsigned long head = smp_load_acquire(&op_eb.head);

	begin_unit(r);
	if (head == r->pos)
		return 0;
	if (r->restate) {
		if (!skip_callers(r, head))
			return 0;
		r->restate = false;
		if (!at_escape(r, OP_CPU_SWITCH_CODE)) {
			take_restatement(r);
			return r->unit_len;
		}
	}
	take_unit(r);
	return r->unit_len;
}

/* The copy becomes the state, and the writer gets its room back. */
static void reader_commit(const struct op_reader *r, unsigned long run,
			  unsigned long delivered)
{
	unsigned long pos = op_eb.reader.pos;

	if (run != op_eb.run) {
		/* The rest of a unit of the last run, which counts no more. */
		memcpy(op_eb.reader.unit, r->unit, sizeof(r->unit));
		op_eb.reader.unit_len = r->unit_len;
		op_eb.reader.unit_at = r->unit_at;
		op_eb.reader.unit_pos = pos;
		return;
	}
	op_eb.reader = *r;
	op_count(&op_stats.delivered, delivered);
	/* pairs with the acquire in room_for(): the words were read */
	smp_store_release(&op_eb.tail, unit_pending(r) ? r->unit_pos : r->pos);
	if (!unit_pending(r) && r->pos == op_eb.head)
		op_eb.ready = false;
}

/* ---- waiting ---------------------------------------------------------- */

/*
 * The conditions of a wait may not sleep, so they look without the mutex. They
 * may err by a moment: whoever changes something wakes us afterwards, and a
 * read that finds nothing waits again.
 */
static bool at_end(const struct op_file *f)
{
	return !READ_ONCE(op_eb.running) && READ_ONCE(op_eb.run) &&
	       f->eof_run != READ_ONCE(op_eb.run);
}

static bool half_given(const struct op_file *f)
{
	return READ_ONCE(f->line_at) < READ_ONCE(f->line_len) ||
	       READ_ONCE(op_eb.reader.unit_at) <
	       READ_ONCE(op_eb.reader.unit_len);
}

static bool all_read(void)
{
	return READ_ONCE(op_eb.head) == READ_ONCE(op_eb.reader.pos);
}

/* Is there anything to give? With @any: also what is not ready yet. */
static bool can_read(const struct op_file *f, bool any)
{
	if (half_given(f) || at_end(f))
		return true;
	return !all_read() &&
	       (any || READ_ONCE(op_eb.ready) || !READ_ONCE(op_eb.running));
}

/* Waits for something to give, or for the end. */
static int wait_for_data(struct file *file)
{
	struct op_file *f = file->private_data;

	if (can_read(f, file->f_flags & O_NONBLOCK))
		return 0;
	if (file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	if (wait_event_interruptible(op_eb.wait, can_read(f, false)))
		return -EINTR;
	return 0;
}

/* All is read and the run is over: say so, once. */
static bool take_end(struct op_file *f)
{
	bool end;

	mutex_lock(&op_eb.mutex);
	end = at_end(f) && !half_given(f) && all_read();
	if (end)
		f->eof_run = op_eb.run;
	mutex_unlock(&op_eb.mutex);
	return end;
}

/* ---- buffer ----------------------------------------------------------- */

/* Words to a place of the user's that is in memory. Returns how many were put. */
static unsigned int put_words(unsigned long __user *to,
			      const unsigned long *words, unsigned int n)
{
	unsigned int i = 0;

	if (!user_write_access_begin(to, n * sizeof(long)))
		return 0;
	for (; i < n; i++)
		unsafe_put_user(words[i], to + i, fault);
fault:
	user_write_access_end();
	return i;
}

/*
 * Likewise whole units, the usual ones, as long as they can't come to an end of
 * anything; there is none pending. Adds to @delivered. @fault: a page was
 * missing.
 */
static unsigned int put_units(struct op_reader *r, unsigned long __user *to,
			      unsigned int room, unsigned long *delivered,
			      bool *fault)
{
	/* pairs with the release in op_eb_publish(): the words are there */
	unsigned long left = smp_load_acquire(&op_eb.head) - r->pos;
	unsigned long at = r->pos & op_eb.mask;
	const unsigned long *from = op_eb.words + at, *begin = from;
	unsigned int samples = 0, len;

	*fault = true;
	if (!user_write_access_begin(to, room * sizeof(long)))
		return 0;
	left = min3(left, (unsigned long)room, op_eb.mask + 1 - at);
	for (; left >= UNIT_MAX; left -= len, from += len, to += len) {
		/* Each has two words; of what is unusual they don't count. */
		unsafe_put_user(from[0], to, faulted);
		unsafe_put_user(from[1], to + 1, faulted);
		len = 2;
		if (from[0] != OP_ESCAPE_CODE) {
			samples++;
			continue;
		}
		switch (from[1]) {
		case OP_CTX_SWITCH_CODE:
			unsafe_put_user(from[6], to + 6, faulted);
			unsafe_put_user(from[5], to + 5, faulted);
			unsafe_put_user(from[4], to + 4, faulted);
			unsafe_put_user(public_cookie(from[3]), to + 3, faulted);
			unsafe_put_user(from[2], to + 2, faulted);
			note_context(r, from);
			len = 7;
			break;
		case OP_COOKIE_SWITCH_CODE:
			unsafe_put_user(public_cookie(from[2]), to + 2, faulted);
			note_cookie(r, from);
			len = 3;
			break;
		case OP_KERNEL_ENTER_CODE:
		case OP_USER_ENTER_CODE:
			note_mode(r, from);
			break;
		default:
			goto unusual;
		}
	}
unusual:
	*fault = false;
faulted:
	user_write_access_end();
	r->pos += from - begin;
	*delivered += samples;
	return from - begin;
}

/* What of the unit has been given counts. */
static void give_of_unit(struct op_reader *r, unsigned int words,
			 unsigned long *delivered)
{
	r->unit_at += words;
	if (!unit_pending(r) && r->counts) {
		(*delivered)++;
		r->counts = false;
	}
}

/*
 * Give what is there, as far as that takes no page fault. Returns words given;
 * with @r->unit pending where a fault, or the end of @room, came in between.
 */
static unsigned int give_present(struct op_reader *r, unsigned long __user *to,
				 unsigned int room, unsigned long *delivered)
{
	unsigned int n = 0, done, len;
	bool fault = false;

	pagefault_disable();
	while (n < room) {
		if (!unit_pending(r) && !r->restate &&
		    r->chain == OP_CHAIN_NONE) {
			n += put_units(r, to + n, room - n, delivered, &fault);
			if (n == room || (fault && n))
				break;
		}
		if ((!unit_pending(r) && !op_unit_take(r)) || fault)
			break;
		len = min(r->unit_len - r->unit_at, room - n);
		done = put_words(to + n, r->unit + r->unit_at, len);
		give_of_unit(r, done, delivered);
		n += done;
		if (done < len)
			break;
	}
	pagefault_enable();
	return n;
}

/*
 * Some words. Where there is a page fault, the mutex is not held meanwhile, and
 * it is of one unit. Returns words given, 0 for none, or -EFAULT.
 */
static int give_words(unsigned long __user *to, size_t words)
{
	unsigned long delivered = 0, run;
	struct op_reader r;
	unsigned int n, room = min_t(size_t, words, WORDS_AT_ONCE);

	mutex_lock(&op_eb.mutex);
	r = op_eb.reader;
	run = op_eb.run;
	n = give_present(&r, to, room, &delivered);
	/* What is left of a chain may have been all there was. */
	if (n || !unit_pending(&r)) {
		reader_commit(&r, run, delivered);
		mutex_unlock(&op_eb.mutex);
		return n;
	}
	mutex_unlock(&op_eb.mutex);

	n = min(r.unit_len - r.unit_at, room);
	if (copy_to_user(to, r.unit + r.unit_at, n * sizeof(long)))
		return -EFAULT;
	give_of_unit(&r, n, &delivered);
	mutex_lock(&op_eb.mutex);
	reader_commit(&r, run, delivered);
	mutex_unlock(&op_eb.mutex);
	return n;
}

static ssize_t buffer_read(struct file *file, char __user *to, size_t count,
			   loff_t *pos)
{
	struct op_file *f = file->private_data;
	size_t words = count / sizeof(long), done = 0;
	int n;

	if (!words)
		return -EINVAL;
	if (mutex_lock_interruptible(&f->mutex))
		return -EINTR;
	do {
		n = wait_for_data(file);
		if (n)
			break;
		while (done < words) {
			n = give_words((unsigned long __user *)to + done,
				       words - done);
			if (n <= 0)
				break;
			done += n;
			if (signal_pending(current))
				break;
			cond_resched();
		}
	} while (!done && n == 0 && !take_end(f));
	mutex_unlock(&f->mutex);
	return done ? done * sizeof(long) : n;
}

static __poll_t buffer_poll(struct file *file, poll_table *wait)
{
	struct op_file *f = file->private_data;

	poll_wait(file, &op_eb.wait, wait);
	return can_read(f, false) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- samples ---------------------------------------------------------- */

/*
 * Take units up to a sample; text needs no restatement, as we know what was
 * said. Returns false where there is none.
 */
static bool take_sample(struct op_reader *r)
{
	do {
		if (!op_unit_take(r))
			return false;
	} while (!r->counts);
	return true;
}

/* Does a line begin as the last one did? */
static bool begins_alike(const struct op_file *f, const struct op_said *said,
			 unsigned long event)
{
	const struct op_said *last = &f->begin_said;

	return f->begin_len && f->begin_run == op_eb.run &&
	       f->begin_event == event && last->kernel == said->kernel &&
	       (said->kernel || last->cookie == said->cookie) &&
	       op_same_context(&last->context, &said->context);
}

/* Make the next sample a line. The header comes before the first one. */
static bool fill_line(struct op_file *f, struct op_reader *r)
{
	unsigned long event;
	size_t header = 0;

	f->line_at = 0;
	f->line_len = 0;
	if (!take_sample(r))
		return false;
	event = r->unit[1];
	if (!f->header_done || !begins_alike(f, &r->said, event)) {
		if (!f->header_done)
			header = op_samples_header(f->line, OP_LINE_MAX);
		f->header_done = true;
		f->begin_len = op_samples_begin(f->line + header,
						OP_LINE_MAX - header, &r->said,
						event);
		f->begin_said = r->said;
		f->begin_event = event;
		f->begin_run = op_eb.run;
	}
	f->line_len = header + f->begin_len;
	f->line_len += op_samples_end(f->line + f->line_len,
				      OP_LINE_MAX - f->line_len, &r->said,
				      r->unit[0], r->unit_pos);
	/* it does not stand where the next line begins */
	if (header)
		f->begin_len = 0;
	return true;
}

/*
 * Add lines that begin as this one does, as long as there is nothing but such
 * samples, and room for @count bytes. Returns how many.
 */
static unsigned int add_lines(struct op_file *f, struct op_reader *r,
			      size_t count)
{
	/* pairs with the release in op_eb_publish(): the words are there */
	unsigned long head = smp_load_acquire(&op_eb.head);
	unsigned int n = 0;

	count = min_t(size_t, count, TEXT_AT_ONCE);
	while (f->begin_len && r->pos != head && r->chain == OP_CHAIN_NONE &&
	       op_eb_word(r->pos) != OP_ESCAPE_CODE &&
	       op_eb_word(r->pos + 1) == f->begin_event &&
	       f->line_len + f->begin_len + OP_SAMPLES_END <= count) {
		memcpy(f->line + f->line_len, f->line, f->begin_len);
		f->line_len += f->begin_len;
		f->line_len += op_samples_end(f->line + f->line_len,
					      OP_SAMPLES_END, &r->said,
					      op_eb_word(r->pos), r->pos);
		r->pos += 2;
		n++;
	}
	return n;
}

/*
 * At most a line, or with @more as many as fit. Returns bytes given, 0 for none,
 * or -EFAULT: then nothing of more than a line has been given.
 */
static ssize_t give_text(struct op_file *f, char __user *to, size_t count,
			 bool more)
{
	struct op_reader r;
	unsigned long run, lines;
	bool header_done = f->header_done;
	size_t n;

	mutex_lock(&op_eb.mutex);
	r = op_eb.reader;
	run = op_eb.run;
	if (f->line_at == f->line_len && !fill_line(f, &r)) {
		/* Escapes may have been all there was. */
		r.unit_at = 0;
		r.unit_len = 0;
		reader_commit(&r, run, 0);
		mutex_unlock(&op_eb.mutex);
		return 0;
	}
	lines = r.counts;
	if (more && !f->line_at)
		lines += add_lines(f, &r, count);
	mutex_unlock(&op_eb.mutex);

	n = min(count, f->line_len - f->line_at);
	if (copy_to_user(to, f->line + f->line_at, n)) {
		if (!f->line_at) {
			/* It is still in the buffer. */
			f->line_len = 0;
			f->header_done = header_done;
		}
		return -EFAULT;
	}
	f->line_at += n;
	if (f->line_at == f->line_len) {
		f->line_at = 0;
		f->line_len = 0;
		/* the unit is given, as far as the buffer is concerned */
		r.unit_at = r.unit_len;
	} else {
		lines = 0;
	}
	mutex_lock(&op_eb.mutex);
	if (run == op_eb.run)
		reader_commit(&r, run, lines);
	mutex_unlock(&op_eb.mutex);
	return n;
}

static ssize_t samples_read(struct file *file, char __user *to, size_t count,
			    loff_t *pos)
{
	struct op_file *f = file->private_data;
	size_t done = 0;
	ssize_t n = 0;

	if (!count)
		return 0;
	if (mutex_lock_interruptible(&f->mutex))
		return -EINTR;
	do {
		n = wait_for_data(file);
		if (n)
			break;
		while (done < count) {
			n = give_text(f, to + done, count - done, true);
			if (n == -EFAULT)
				n = give_text(f, to + done, count - done, false);
			if (n <= 0)
				break;
			done += n;
			if (signal_pending(current))
				break;
			cond_resched();
		}
	} while (!done && n == 0 && !take_end(f));
	mutex_unlock(&f->mutex);
	return done ? done : n;
}

/* Escapes alone are no text: who is told that there is some must find some. */
static __poll_t samples_poll(struct file *file, poll_table *wait)
{
	struct op_file *f = file->private_data;
	struct op_reader r;

	poll_wait(file, &op_eb.wait, wait);
	mutex_lock(&op_eb.mutex);
	if (!half_given(f)) {
		r = op_eb.reader;
		if (!take_sample(&r)) {
			r.unit_len = 0;
			reader_commit(&r, op_eb.run, 0);
		}
	}
	mutex_unlock(&op_eb.mutex);
	return can_read(f, false) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ---- both ------------------------------------------------------------- */

static int reader_open(struct file *file, bool text)
{
	struct op_file *f;
	int err = op_may_open();

	if (err)
		return err;
	if (!perfmon_capable())
		return -EPERM;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	mutex_init(&f->mutex);
	if (text) {
		f->line = kvmalloc(OP_LINE_MAX, GFP_KERNEL);
		if (!f->line) {
			kfree(f);
			return -ENOMEM;
		}
	}
	if (test_and_set_bit(0, &op_eb.open)) {
		kvfree(f->line);
		kfree(f);
		return -EBUSY;
	}
	file->private_data = f;
	return stream_open(file_inode(file), file);
}

static int buffer_open(struct inode *inode, struct file *file)
{
	return reader_open(file, false);
}

static int samples_open(struct inode *inode, struct file *file)
{
	return reader_open(file, true);
}

static int reader_release(struct inode *inode, struct file *file)
{
	struct op_file *f = file->private_data;
	struct op_reader *r = &op_eb.reader;

	mutex_lock(&op_eb.mutex);
	/* The next file gets whole what this one got in part. */
	if (unit_pending(r)) {
		r->pos = r->unit_pos;
		r->chain = r->unit_chain;
	}
	r->unit_at = 0;
	r->unit_len = 0;
	r->counts = false;
	r->restate = r->said.cpu_known;
	mutex_unlock(&op_eb.mutex);
	clear_bit_unlock(0, &op_eb.open);
	kvfree(f->line);
	kfree(f);
	return 0;
}

const struct file_operations op_buffer_fops = {
	.owner = THIS_MODULE,
	.open = buffer_open,
	.read = buffer_read,
	.poll = buffer_poll,
	.release = reader_release,
};

const struct file_operations op_samples_fops = {
	.owner = THIS_MODULE,
	.open = samples_open,
	.read = samples_read,
	.poll = samples_poll,
	.release = reader_release,
};
