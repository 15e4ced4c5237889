// SPDX-License-Identifier: GPL-2.0
/*
 * crowd: runs one blink after the other until it gets a SIGTERM, then prints
 * the truth about them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "demo.h"

#define FLASH_MIN_NS	500000
#define FLASH_MAX_NS	1500000

static volatile sig_atomic_t done;

static void stop(int signal)
{
	(void)signal;
	done = 1;
}

/* Runs a blink and returns the nanoseconds it reports. */
static uint64_t run(char *blink, uint64_t rounds, int in,
		    const posix_spawn_file_actions_t *actions)
{
	char argument[24];
	char *argv[] = { blink, argument, NULL };
	char *envp[] = { NULL };
	uint64_t ns;
	pid_t pid;
	int status;

	snprintf(argument, sizeof(argument), "%llu",
		 (unsigned long long)rounds);
	if (posix_spawn(&pid, blink, actions, NULL, argv, envp))
		die(blink);
	while (waitpid(pid, &status, 0) != pid)
		;
	if (status) {
		fprintf(stderr, "crowd: blink ended with %#x\n", status);
		exit(1);
	}
	if (read(in, &ns, sizeof(ns)) != sizeof(ns))
		die("pipe");
	return ns;
}

int main(void)
{
	uint64_t rounds = 1000, all_rounds = 0, all_ns = 0;
	struct sigaction action = { .sa_handler = stop };
	posix_spawn_file_actions_t actions;
	unsigned long processes = 0;
	char blink[PATH_MAX];
	int fds[2];

	own_path(blink);
	strcpy(strrchr(blink, '/'), "/blink");
	if (pipe2(fds, O_CLOEXEC))
		die("pipe");
	if (posix_spawn_file_actions_init(&actions) ||
	    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO))
		die("posix_spawn");
	sigaction(SIGTERM, &action, NULL);

	while (!done) {
		all_ns += run(blink, rounds, fds[0], &actions);
		all_rounds += rounds;
		processes++;
		rounds = random_between(FLASH_MIN_NS, FLASH_MAX_NS) *
			 (double)all_rounds / all_ns;
	}
	put_truth("children", all_ns, processes, 'u', blink, blink, "flash");
	return 0;
}
