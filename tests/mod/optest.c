// SPDX-License-Identifier: GPL-2.0
/*
 * A module to be profiled: a write to its parameter spin keeps the CPU busy in
 * optest_spin() for that many milliseconds.
 */

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

static noinline void optest_spin(unsigned int ms)
{
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;
	unsigned int i;

	while (ktime_get_ns() < end) {
		for (i = 0; i < 100000; i++)
			barrier();
		cond_resched();
	}
}

static int spin_set(const char *text, const struct kernel_param *kp)
{
	unsigned int ms;
	int ret = kstrtouint(text, 0, &ms);

	if (!ret)
		optest_spin(ms);
	return ret;
}

static const struct kernel_param_ops spin_ops = {
	.set = spin_set,
};

module_param_cb(spin, &spin_ops, NULL, 0200);
MODULE_PARM_DESC(spin, "milliseconds to spin");

MODULE_DESCRIPTION("Something in a module to profile");
MODULE_LICENSE("GPL");
