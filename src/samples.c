// SPDX-License-Identifier: GPL-2.0
/*
 * samples.c - a sample as a line of text
 *
 * cpu, tgid, tid, event, mode, app, image and offset, with tabs between; see
 * README.md. Runs under op_eb.mutex, on behalf of the reader.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "event_buffer.h"
#include "oprofile.h"

/* Names of the events of the current run; written while no run goes on. */
static char event_names[OP_MAX_EVENTS][OP_EVENT_NAME_LEN];

/**
 * op_samples_name_event() - set the name that an event's samples show
 * @event: number of its folder
 * @name: the name
 */
void op_samples_name_event(unsigned int event, const char *name)
{
	strscpy(event_names[event], name, OP_EVENT_NAME_LEN);
}

/**
 * op_samples_header() - the first line of a reader's stream
 * @line: takes it
 * @size: bytes in @line
 *
 * Return: its length.
 */
size_t op_samples_header(char *line, size_t size)
{
	return scnprintf(line, size,
			 "# cpu\ttgid\ttid\tevent\tmode\tapp\timage\toffset\n");
}

static size_t put_file(char *buf, size_t size, unsigned long cookie,
		       const char *none)
{
	int n;

	if (cookie >= OP_COOKIE_FIRST) {
		n = op_cookie_path(cookie, buf, size);
		if (n >= 0)
			return n;
	}
	if (cookie == OP_COOKIE_KTHREAD)
		none = "[kthread]";
	else if (cookie == OP_COOKIE_VDSO)
		none = "[vdso]";
	return scnprintf(buf, size, "%s", none);
}

/**
 * op_samples_begin() - how the line of a sample begins
 * @line: takes it
 * @size: bytes in @line
 * @said: its context
 * @event: its second word
 *
 * That is all but what the sample's first word says.
 *
 * Context: op_eb.mutex held.
 * Return: its length.
 */
size_t op_samples_begin(char *line, size_t size, const struct op_said *said,
			unsigned long event)
{
	const char *name = "?";
	size_t n;

	if (event < OP_MAX_EVENTS)
		name = event_names[event];
	n = scnprintf(line, size, "%lu\t%lu\t%lu\t%s\t%c\t", said->context.cpu,
		      said->context.tgid, said->context.tid, name,
		      said->kernel ? 'k' : 'u');
	n += put_file(line + n, min_t(size_t, OP_PATH_MAX, size - n),
		      said->context.app, "-");
	n += scnprintf(line + n, size - n, "\t");
	if (!said->kernel) {
		n += put_file(line + n, min_t(size_t, OP_PATH_MAX, size - n),
			      said->cookie, "[anon]");
		n += scnprintf(line + n, size - n, "\t");
	}
	return n;
}

/**
 * op_samples_end() - how it ends
 * @line: takes it
 * @size: bytes in @line
 * @said: its context
 * @offset: its first word
 * @pos: where it stood in the stream
 *
 * Context: op_eb.mutex held.
 * Return: its length, at most OP_SAMPLES_END.
 */
size_t op_samples_end(char *line, size_t size, const struct op_said *said,
		      unsigned long offset, unsigned long pos)
{
	char image[MODULE_NAME_LEN + 2], symbol[KSYM_SYMBOL_LEN];

	if (!said->kernel)
		return scnprintf(line, size, "0x%lx\n", offset);
	op_kernel_symbol(offset, pos, image, sizeof(image), symbol,
			 sizeof(symbol));
	return scnprintf(line, size, "%s\t%s\n", image, symbol);
}
