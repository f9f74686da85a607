# SPDX-License-Identifier: BSD-3-Clause
# Out of DPDK's tree: where DPDK is, and how a driver is compiled and linked. Its Makefile includes this,
# names its sources' folders by vpath and those of its headers by own_headers, and says what all makes.
#   DPDK_SOURCE=FOLDER    DPDK's source of the version that pkg-config finds, for the headers of
#                         drivers, which packages do not have
#   DPDK_ROOT=FOLDER      where packages of another DPDK are unpacked, in place of pkg-config
# OUTPUT is where the library and its objects go; EAL takes none of a path that everybody may write.
OUTPUT ?= build
PKG_CONFIG ?= pkg-config
DPDK_SOURCE ?= $(error DPDK_SOURCE names no folder of DPDK's source)
EXTRA_CFLAGS ?=
EXTRA_LDFLAGS ?=

machine := $(shell $(CC) -dumpmachine)
CFLAGS ?= -O3 -g
ifdef DPDK_ROOT
multiarch := $(shell $(CC) -print-multiarch)
dpdk_cflags := -I$(DPDK_ROOT)/usr/include/dpdk -I$(DPDK_ROOT)/usr/include/$(multiarch)/dpdk \
	-include rte_config.h $(if $(filter x86_64%, $(machine)), -march=corei7)
libdir := $(DPDK_ROOT)/usr/lib/$(multiarch)
else
dpdk_cflags := $(shell $(PKG_CONFIG) --cflags libdpdk)
libdir := $(shell $(PKG_CONFIG) --variable=libdir libdpdk)
endif
all_cflags = $(CFLAGS) -std=gnu11 -fPIC -Wall -Wextra -Werror -Wno-missing-field-initializers \
	-Wno-unused-parameter -DALLOW_INTERNAL_API -DALLOW_EXPERIMENTAL_API \
	-DRTE_LOG_DEFAULT_LOGTYPE=pmd.net.meridian \
	$(foreach folder, lib/ethdev lib/eal/include lib/eal/common drivers/bus/pci \
		drivers/bus/vdev lib/mbuf, -idirafter $(DPDK_SOURCE)/$(folder)) \
	$(dpdk_cflags) $(addprefix -iquote, $(own_headers)) $(machine_cflags) $(EXTRA_CFLAGS)
libraries = -L$(libdir) $(addprefix -lrte_, eal ethdev mbuf mempool ring net kvargs pci bus_pci \
	bus_vdev $(if $(wildcard $(libdir)/librte_log.so), log))
# The name is what a plug-in's library asks the loader for.
link = $(CC) -shared -Wl,--no-undefined -Wl,-soname,$(@F) $(CFLAGS) $(LDFLAGS) -o $@

.DEFAULT_GOAL := all

$(OUTPUT)/%.o: %.c $(MAKEFILE_LIST) | $(OUTPUT)
	@echo "  CC $<"
	@$(CC) $(all_cflags) -MMD -c -o $@ $<

$(OUTPUT):
	mkdir -p $@

clean:
	rm -rf $(OUTPUT)

.PHONY: all clean
