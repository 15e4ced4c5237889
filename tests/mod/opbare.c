// SPDX-License-Identifier: GPL-2.0
/*
 * What the benchmark compares with: the same counter with a handler that does
 * nothing (period=, config=), kprobes on the same functions that do nothing
 * (symbols=).
 */

#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>

#define MAX_PROBES	16

static unsigned long period;
module_param(period, ulong, 0400);
MODULE_PARM_DESC(period, "of a software counter, in its unit; 0: none");

static unsigned int config = PERF_COUNT_SW_CPU_CLOCK;
module_param(config, uint, 0400);
MODULE_PARM_DESC(config, "which one: PERF_COUNT_SW_*");

static char *symbols[MAX_PROBES];
static unsigned int nr_symbols;
module_param_array(symbols, charp, &nr_symbols, 0400);
MODULE_PARM_DESC(symbols, "functions to probe");

static struct kprobe probes[MAX_PROBES];
static unsigned int nr_probes;
static DEFINE_PER_CPU(struct perf_event *, counters);

static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
}

static int probe_hit(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static void end(void)
{
	int cpu;

	while (nr_probes > 0)
		unregister_kprobe(&probes[--nr_probes]);
	for_each_possible_cpu(cpu) {
		if (per_cpu(counters, cpu))
			perf_event_release_kernel(per_cpu(counters, cpu));
	}
}

static int __init opbare_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.size = sizeof(attr),
		.sample_period = period,
		.pinned = 1,
		.exclude_idle = 1,
	};
	struct perf_event *event;
	int cpu, err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (!period)
			break;
		event = perf_event_create_kernel_counter(&attr, cpu, NULL,
							 overflow, NULL);
		if (IS_ERR(event)) {
			err = PTR_ERR(event);
			break;
		}
		per_cpu(counters, cpu) = event;
	}
	cpus_read_unlock();
	while (!err && nr_probes < nr_symbols) {
		probes[nr_probes].symbol_name = symbols[nr_probes];
		probes[nr_probes].pre_handler = probe_hit;
		err = register_kprobe(&probes[nr_probes]);
		if (!err)
			nr_probes++;
	}
	if (err)
		end();
	return err;
}

static void __exit opbare_exit(void)
{
	end();
}

module_init(opbare_init);
module_exit(opbare_exit);

MODULE_DESCRIPTION("A counter and kprobes that do nothing");
MODULE_LICENSE("GPL");
