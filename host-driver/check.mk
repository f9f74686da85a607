# SPDX-License-Identifier: GPL-2.0-only
# For the Makefiles of the Linux drivers of both sides. check: everything that compiler (W=1), sparse, checkpatch and
# kernel-doc have to say is an error. CHECKPATCH is a file of the kernel's source, which headers lack. check-build:
# compiler and sparse alone, as the rest is the same for every kernel; scripts/check-driver has it done for the kernels
# of several Debian suites. A quiet make does not say what it runs.
# A Makefile says: KDIR; module; sources; compat, those that differ between kernels, and compat_passes, what more checkpatch
# lets pass there; named, those with names of Linux's in capital letters; cross, variables of the build of the kernel.
CHECKPATCH ?= $(firstword $(wildcard $(KDIR)/scripts/checkpatch.pl $(KDIR)/source/scripts/checkpatch.pl))
KERNEL_DOC ?= $(firstword $(wildcard $(KDIR)/scripts/kernel-doc $(KDIR)/source/scripts/kernel-doc))
checkpatch := perl $(CHECKPATCH) --no-tree --terse --no-summary --show-types

.PHONY: check check-build check-style
check: check-build check-style

check-build:
	@$(MAKE) -s -C $(KDIR) M=$(CURDIR) clean
	@! MAKEFLAGS= $(MAKE) -j$$(nproc) -C $(KDIR) M=$(CURDIR) $(cross) W=1 C=2 modules 2>&1 | tee check.log | grep -iE '(warning|error):|\*\*\* '
	@test -e $(module).ko || { cat check.log && exit 1; }
	@if ! grep -q CHECK check.log; then echo "sparse was not run: it does not know these headers, or is not there"; fi

check-style:
	@test -n "$(CHECKPATCH)" || { echo "no checkpatch.pl: name one by CHECKPATCH=" && exit 1; }
	@$(checkpatch) --strict -f $(filter-out $(compat) $(named),$(sources))
	@$(checkpatch) --strict --ignore SPACING,LINUX_VERSION_CODE,CONSTANT_COMPARISON$(compat_passes) -f $(filter $(compat),$(sources))
	@$(if $(named),$(checkpatch) -f $(filter $(named),$(sources)))
	@$(if $(KERNEL_DOC),perl $(KERNEL_DOC) -none -Werror $(sources))
	@echo "no warning in $(words $(sources)) files"
