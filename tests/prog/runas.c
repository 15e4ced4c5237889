// SPDX-License-Identifier: GPL-2.0
/*
 * runas WHO COMMAND...: runs a command with less power than root has.
 *
 *	user	uid 1000
 *	userns	root of a new user namespace, which is this root outside
 *	nocaps	uid 0 without a capability
 *	perfmon	uid 0 with CAP_PERFMON only
 */

#define _GNU_SOURCE
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "optool.h"

static void become_user(void)
{
	if (setgroups(0, NULL) || setgid(1000) || setuid(1000))
		die("uid 1000: %s", strerror(errno));
}

static void become_userns_root(void)
{
	if (unshare(CLONE_NEWUSER))
		die("user namespace: %s", strerror(errno));
	if (write_text("/proc/self/setgroups", "deny") ||
	    write_text("/proc/self/uid_map", "0 0 1") ||
	    write_text("/proc/self/gid_map", "0 0 1"))
		die("user namespace's maps: %s", strerror(errno));
}

/* Keeps these capabilities, over exec too: uid 0 shall mean nothing. */
static void keep_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {};
	int cap;

	if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED))
		die("securebits: %s", strerror(errno));
	for (cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++) {
		if (!(keep >> cap & 1) && prctl(PR_CAPBSET_DROP, cap))
			die("bounding set: %s", strerror(errno));
	}
	for (cap = 0; cap < 64; cap++) {
		if (!(keep >> cap & 1))
			continue;
		data[cap / 32].effective |= 1u << cap % 32;
		data[cap / 32].permitted |= 1u << cap % 32;
		data[cap / 32].inheritable |= 1u << cap % 32;
	}
	if (syscall(SYS_capset, &header, data))
		die("capset: %s", strerror(errno));
	for (cap = 0; cap < 64; cap++) {
		if (keep >> cap & 1 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			die("ambient set: %s", strerror(errno));
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "user"))
		become_user();
	else if (!strcmp(argv[1], "userns"))
		become_userns_root();
	else if (!strcmp(argv[1], "nocaps"))
		keep_caps(0);
	else if (!strcmp(argv[1], "perfmon"))
		keep_caps(1ull << CAP_PERFMON);
	else
		return 2;
	execvp(argv[2], argv + 2);
	die("%s: %s", argv[2], strerror(errno));
}
