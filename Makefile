# SPDX-License-Identifier: GPL-2.0

# KDIR alone says which kernel it is: by what modules are built to match, which
# in Debian's headers is not what include/config/kernel.release says.
ifdef KDIR
KERNELRELEASE ?= $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
			'$(KDIR)/include/generated/utsrelease.h' \
			2>/dev/null),$(shell uname -r))
else
KERNELRELEASE ?= $(shell uname -r)
endif
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
# Before kernel/, where kernels up to 5.11 have a module of the same name.
INSTALL_MOD_DIR ?= updates
# INSTALL_MOD_PATH is the root of another system, which gets its modules.dep;
# DESTDIR is for packages, which have no such file.
ROOTDIR = $(DESTDIR)$(INSTALL_MOD_PATH)
DEPMOD = $(if $(DESTDIR),true,depmod $(if $(INSTALL_MOD_PATH),-b \
		'$(INSTALL_MOD_PATH)') '$(KERNELRELEASE)')
KBUILD = $(MAKE) -C '$(KDIR)' M='$(CURDIR)'

VERSION = $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_NAME = oprofile/$(VERSION)
DKMS_SOURCE = $(DESTDIR)/usr/src/oprofile-$(VERSION)
DKMS_FILES = dkms.conf Kbuild \
	     $(wildcard include/*.h include/uapi/*.h src/*.[ch] kunit/*)

modules:
	$(KBUILD) modules

install: modules
	$(KBUILD) INSTALL_MOD_PATH='$(ROOTDIR)' \
		INSTALL_MOD_DIR='$(INSTALL_MOD_DIR)' DEPMOD=true modules_install
	$(DEPMOD)

uninstall:
	rm -f '$(ROOTDIR)/lib/modules/$(KERNELRELEASE)/$(INSTALL_MOD_DIR)'/oprofile.ko*
	$(DEPMOD)

clean:
	$(KBUILD) clean

# What DKMS builds from; for packages too.
dkms-source:
	for file in $(DKMS_FILES); do \
		install -D -m 644 "$$file" '$(DKMS_SOURCE)'/"$$file" || exit; \
	done

dkms-install:
	$(MAKE) dkms-remove
	$(MAKE) dkms-source
	dkms add $(DKMS_NAME)
	dkms install $(DKMS_NAME) -k '$(KERNELRELEASE)'

dkms-remove:
	if dkms status $(DKMS_NAME) | grep -q .; then \
		dkms remove $(DKMS_NAME) --all; \
	fi
	rm -rf '$(DKMS_SOURCE)'

demo:
	tests/demo/run $(if $(HOST),--host)

check check-all:
	tests/run $@

kunit:
	tests/kunit

coverage:
	tests/coverage $(if $(V),-v)

soak:
	OPROFILE_SEED='$(SEED)' tests/run check-all \
		$(if $(KERNELS),$(KERNELS:%=%/soak),soak)

fuzz:
	tests/fuzz $(or $(N),50000) $(SEED)

bench:
	tests/bench/run $(BENCH)

help:
	@echo 'modules (default)  build oprofile.ko for the running kernel, or KDIR=...'
	@echo 'install, uninstall put it under /lib/modules, or take it away; DESTDIR=...'
	@echo 'dkms-install, dkms-remove'
	@echo '                   have DKMS build it for every kernel, or no longer'
	@echo 'dkms-source        put only what DKMS builds from under DESTDIR/usr/src'
	@echo 'clean              remove what was built'
	@echo 'demo               profile a known workload in a throw-away machine,'
	@echo '                   or on this one with HOST=1'
	@echo 'check              the tests that every change must pass'
	@echo 'check-all          the same on every kernel, and the long ones'
	@echo 'kunit              the unit tests of kunit/, in a debug kernel'
	@echo 'coverage           how much of src/ the tests run; V=1: and what they do not'
	@echo 'fuzz               N=50000 random operations on the files, in the debug'
	@echo '                   kernel; SEED=... repeats what a failure has printed'
	@echo 'soak               everything at once for ten minutes, in each debug kernel or'
	@echo '                   KERNELS="debug-6.12"; SEED=... repeats the order of it'
	@echo 'bench              what a sample and an exit cost; BENCH=quick: the least'

.PHONY: modules install uninstall clean dkms-source dkms-install dkms-remove \
	demo check check-all bench kunit coverage fuzz soak help
