# SPDX-License-Identifier: GPL-2.0

KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
DEPMOD = depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KERNELRELEASE)

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	$(DEPMOD)

uninstall:
	rm -f $(INSTALL_MOD_PATH)/lib/modules/$(KERNELRELEASE)/*/oprofile.ko*
	$(DEPMOD)

clean:
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean

demo:
	tests/demo/run $(if $(HOST),--host)

check check-all:
	tests/run $@

bench:
	tests/bench/run $(BENCH)

help:
	@echo 'modules (default)  build oprofile.ko for the running kernel, or KDIR=...'
	@echo 'install, uninstall put it under /lib/modules, or take it away'
	@echo 'clean              remove what was built'
	@echo 'demo               profile a known workload in a throw-away machine,'
	@echo '                   or on this one with HOST=1'
	@echo 'check              the tests that every change must pass'
	@echo 'check-all          the same on every kernel, and the long ones'
	@echo 'bench              what a sample and an exit cost; BENCH=quick: the least'

.PHONY: modules install uninstall clean demo check check-all bench help
