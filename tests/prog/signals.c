// SPDX-License-Identifier: GPL-2.0
// link: -lopdecode
/*
 * signals FILE: interrupts all that waits.
 *
 * The module is loaded and off. One process starts and stops profiles, one reads
 * FILE (buffer or samples) as it comes, one does all else that may wait. A timer
 * of each sends it signals, which end waits. What was interrupted is done again,
 * and in the end every run must have been read whole.
 */

#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "oprun.h"

#define RUNS		20
#define RUNS_MAX	100	/* until something has come in a start's way */
#define TICK_MS		4
#define BUFFER		(1u << 20)
#define PATIENCE	300	/* seconds until a wait counts as endless */

enum { SWITCHER, READER, OTHERS, PROCESSES };

static const char * const names[PROCESSES] = {
	"starts and stops", "reads", "other calls"
};

/* What the processes tell each other. */
static volatile struct {
	unsigned long interrupted[PROCESSES];
	unsigned long decoded;		/* of this run */
	unsigned long ends;		/* ends of file */
	unsigned long whole;		/* runs */
	unsigned long runs;		/* that there were */
	bool reading;
	bool done;
} *shared;

static const char *file;
static char *buffer;

static void on_tick(int number)
{
	(void)number;
}

static void start_ticks(void)
{
	struct itimerval every = {
		{ 0, TICK_MS * 1000 }, { 0, TICK_MS * 1000 }
	};
	struct sigaction action = { .sa_handler = on_tick };

	/* no SA_RESTART: a wait ends */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* Is that what an interrupted call says? Then it is to be done again. */
static bool interrupted(int process, int error)
{
	if (error == EINTR)
		shared->interrupted[process]++;
	return error == EINTR;
}

static void wait_until(volatile unsigned long *value, unsigned long wanted)
{
	double end = now() + PATIENCE;

	while (*value < wanted) {
		if (now() > end)
			die("%lu of %lu ends of file", *value, wanted);
		nap(1);
	}
}

static void switch_to(const char *value)
{
	int error;

	do {
		error = write_text(op_path("enable"), value);
	} while (interrupted(SWITCHER, error));
	if (error)
		die("'%s' > enable: %s", value, error_name(error));
}

static void make_runs(void)
{
	unsigned int run;

	while (!shared->reading)
		nap(1);
	for (run = 1; run <= RUNS || (run <= RUNS_MAX &&
				      !shared->interrupted[SWITCHER]); run++) {
		shared->decoded = 0;
		switch_to("1");
		make_samples(500);
		switch_to("0");
		wait_until(&shared->ends, run);
		shared->whole += law_holds(shared->decoded);
		shared->runs = run;
	}
	shared->done = true;
}

static unsigned long count_newlines(const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len;
	unsigned long lines = 0;

	while ((at = memchr(at, '\n', end - at))) {
		at++;
		lines++;
	}
	return lines;
}

static void read_runs(void)
{
	bool text = !strcmp(file, "samples"), header = text;
	struct pollfd p = { .events = POLLIN };
	unsigned int turn = 0;
	struct op_decoder d;
	ssize_t n;

	p.fd = open(op_path("%s", file), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p.fd < 0)
		die("%s: %s", file, strerror(errno));
	/* the end of a run that was before us */
	while (read(p.fd, buffer, BUFFER) >= 0)
		;
	fcntl(p.fd, F_SETFL, 0);
	op_decoder_init(&d);
	shared->reading = true;
	while (!shared->done) {
		n = 1;
		if (turn++ % 2)
			n = poll(&p, 1, -1);
		if (n > 0)
			n = read(p.fd, buffer, BUFFER);
		if (n < 0 && !interrupted(READER, errno))
			die("read or poll: %s", strerror(errno));
		if (n < 0)
			continue;
		if (!n) {
			/* the next run begins anew */
			op_decoder_init(&d);
			shared->ends++;
		} else if (text) {
			shared->decoded += count_newlines(buffer, n) - header;
			header = false;
		} else if (op_decoder_feed(&d, buffer, n)) {
			die("%s", d.error);
		} else {
			shared->decoded = d.samples;
		}
	}
}

static void expect(const char *what, int error, int or_error)
{
	if (error && error != or_error && !interrupted(OTHERS, error))
		die("%s: %s", what, error_name(error));
}

static void wait_for_others(void)
{
	char text[64];
	int fd;

	while (!shared->reading)
		nap(1);
	while (!shared->done) {
		expect("dump", write_text(op_path("dump"), "1"), 0);
		expect("buffer_watershed",
		       write_text(op_path("buffer_watershed"), "1000"), EBUSY);
		expect("buffer_size",
		       write_text(op_path("buffer_size"), "65536"), EBUSY);
		expect("0/name", read_text(op_path("0/name"), text,
					   sizeof(text)), 0);
		expect("cpu_type", read_text(op_path("cpu_type"), text,
					     sizeof(text)), 0);
		fd = open(op_path("%s", file), O_RDONLY | O_CLOEXEC);
		expect("open", fd < 0 ? errno : 0, EBUSY);
		/* the reader goes only when all is done */
		if (fd >= 0 && !shared->done)
			die("%s can be opened twice", file);
		if (fd >= 0)
			close(fd);
	}
}

static void (*const roles[PROCESSES])(void) = {
	[SWITCHER] = make_runs,
	[READER] = read_runs,
	[OTHERS] = wait_for_others,
};

int main(int argc, char **argv)
{
	int status, bad = 0, i;

	if (argc != 2)
		return 2;
	file = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 4096);
	buffer = map_memory(BUFFER);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	set("0/name", "page-faults");
	set("0/count", "1");
	set("buffer_watershed", "1000");
	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			prepare_samples();
			start_ticks();
			roles[i]();
			fflush(stdout);
			_exit(0);
		}
	}
	for (i = 0; i < PROCESSES; i++) {
		if (wait(&status) < 0 || status) {
			bad++;
			shared->done = true;
		}
	}
	ok(!bad, "%s: nothing but an interrupt disturbs a call", file);
	ok(shared->whole == shared->runs, "%s: %lu of %lu runs are whole", file,
	   shared->whole, shared->runs);
	for (i = 0; i < PROCESSES; i++)
		ok(shared->interrupted[i], "%s: %lu %s were interrupted", file,
		   shared->interrupted[i], names[i]);
	return tap_end();
}
