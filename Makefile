# SPDX-License-Identifier: Apache-2.0
# Meridian's commands. `make help` lists them.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long test-kernel test-mutants coverage lint format rtl registers bench-shell bench-resources bench-boards bench-card bench-dma bench-host bench-ptp bench-pmd library twin-host twin-ps twin-ps-sd twin-run bitstream probe program flash-card image petalinux flash deb release check-vivado docs clean

# Options of `make demo`: a capture of your own through the card alone; the short one (of `make bench-host` and `make
# test-kernel`, too).
PCAP ?=
QUICK ?=
# FULL=1: `make bench-dma` measures all sizes on all links. OWN=1: it measures only the engine of our own. TUNING=1: only the
# rows of docs/tuning.md.
FULL ?=
OWN ?=
# One suite of `make test` or `make test-long`, a wrong name lists all of them; one fault of `make test-mutants`.
ONLY ?=
# Faults of one part of the sources: rtl, card, linux, dpdk or python. RESUME=1 leaves out what an earlier run has killed.
KIND ?=
RESUME ?=
# Options of the shell that `make rtl` writes; see `make rtl RTL_ARGS=--help`.
RTL_ARGS ?=
# BOX=FILE: `make rtl` and `make bitstream` put your own module into the shell; see docs/user-logic.md. BOX_MODULE names it, if
# that is not the name of the file. HOST_BOX and HOST_BOX_MODULE are the same for a module at the host.
BOX ?=
BOX_MODULE ?=
HOST_BOX ?=
HOST_BOX_MODULE ?=
$(foreach box,BOX HOST_BOX,$(if $($(box)_MODULE),$(if $($(box)),,$(error $(box)_MODULE names a module of no file: give $(box), too))))
# Board of `make bitstream`, a file with what is not public of it, and what `make flash-card` writes. DEBUG=1 builds it with
# logic analysers, SELF_TEST=1 with the self-test block and pins to the transceivers, DMA=meridian with the DMA engine of our own,
# with EXTENDED_TAGS=1 for hosts that enable them, and with MEMORY=1 with memory-mapped queues.
BOARD ?=
SETTINGS ?=
DEBUG ?=
SELF_TEST ?=
DMA ?=
EXTENDED_TAGS ?=
MEMORY ?=
BOOT ?=
FSBL ?=
HW_SERVER ?= localhost:3121
# Of `make program`: the card's place on the bus, 0000:3b:00.0, where it is not clear; FORCE=1 although a program uses it;
# ABSENT=1 where no host has it on its bus.
CARD ?=
FORCE ?=
ABSENT ?=
# Of `make image` and `make petalinux`: hand-off, and the bitstream with its register map, if not those of make bitstream;
# who may log in, who signs updates, the update's version. Of `make image`: a kas file of your own.
XSA ?=
BITSTREAM ?=
MAP ?=
KEYS ?=
UPDATE_KEYS ?=
UPDATE_VERSION ?=
image_options = $(if $(XSA),--xsa "$(XSA)") $(if $(BITSTREAM),--bitstream "$(BITSTREAM)") $(if $(MAP),--map "$(MAP)") \
  $(if $(KEYS),--keys "$(KEYS)") $(if $(UPDATE_KEYS),--update-keys "$(UPDATE_KEYS)") \
  $(if $(UPDATE_VERSION),--update-version "$(UPDATE_VERSION)")
KAS ?=
# Device and image of `make flash`; YES=1 asks nothing.
SD ?=
IMAGE ?=
YES ?=
# Command for `make twin-run`, and options of scripts/twin.
CMD ?= lspci -nn
TWIN_ARGS ?=

help: ## list the targets
	@echo "Meridian: an open SmartNIC for Zynq UltraScale+ MPSoC. Targets:"
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Options: make demo PCAP=file.pcap | make rtl RTL_ARGS='--ports 4 --host-bytes 64' | make twin-run CMD='ip link'"

setup: ## install the tools (the other targets do it themselves)
	@scripts/setup

demo: setup ## boot a host and the card's PS, load the wire, write a report; QUICK=1: only replay a capture through the card
	@scripts/demo $(if $(PCAP),--pcap "$(PCAP)") $(if $(QUICK),--quick)

test: setup ## run the tests that must always pass
	@scripts/run-tests $(if $(ONLY),--only "$(ONLY)")

test-long: setup ## run more seeds and sizes, and all tests on QEMU machines (hours); ONLY=NAME: one suite
	@scripts/run-tests --long $(if $(ONLY),--only "$(ONLY)")

test-kernel: setup ## run the kernel's own network driver tests on PF and VF → build/kernel-selftests.json; QUICK=1: a few
	@scripts/test-kernel $(if $(QUICK),--quick)

coverage: setup ## measure what the tests run in each language (an hour) → build/coverage/index.html; PART=driver: one part
	@scripts/coverage $(PART)

test-mutants: setup ## put faults into a copy of the sources, and see the tests fail for each (hours); ONLY=NAME, KIND=rtl, RESUME=1
	@scripts/test-mutants $(if $(ONLY),--only "$(ONLY)") $(if $(KIND),--kind "$(KIND)") $(if $(RESUME),--resume)

lint: setup ## check shell scripts, formats, licence lines, links, and the shell's Verilog
	@scripts/lint

format: setup ## format Scala, C++ and Python as lint expects it
	@scripts/format

rtl: setup ## write the Verilog to build/rtl; BOX=FILE puts your own module at each port, HOST_BOX=FILE one at the host
	@scripts/sbt "runMain meridian.shell.GenerateShell --output ../build/rtl $(if $(BOX),--box $(BOX) $(if $(BOX_MODULE),--box-module $(BOX_MODULE))) $(if $(HOST_BOX),--host-box $(HOST_BOX) $(if $(HOST_BOX_MODULE),--host-box-module $(HOST_BOX_MODULE))) $(RTL_ARGS)"

registers: setup ## write the C header and the reference of the register map
	@scripts/sbt "runMain meridian.regs.reference.GenerateRegisters .."

bench-shell: setup ## measure the shell: line rate, latency, priority, PTP error, storm → build/bench/shell.json
	@scripts/bench/bench-shell

bench-resources: setup ## estimate LUT, FF, BRAM, URAM and logic depth with Yosys → build/bench/resources.json
	@scripts/bench/bench-resources

bench-boards: setup ## estimate with Yosys whether each board's shell fits its device → build/bench/boards.json
	@scripts/bench/bench-boards

bench-card: setup ## measure the card process and the throughput of its QDMA model → build/bench/card.json
	@scripts/bench/bench-card

bench-dma: setup ## measure DMA through the model of the QDMA IP and through our own engine → build/bench/dma.json, dma.html
	@scripts/bench/bench-dma $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(OWN),--own) $(if $(TUNING),--tuning)

bench-host: setup ## compare the Linux driver with virtio-net and igb: instructions a packet → build/bench/host.json
	@scripts/bench/bench-host $(if $(QUICK),--quick)

bench-ptp: setup ## measure ptp4l on the card's PS: offset and path delay, idle and under bursts → build/bench/ptp.json, ptp.png
	@scripts/bench/bench-ptp $(if $(QUICK),--quick)

bench-pmd: setup ## measure the DPDK driver without a card, and other drivers: cycles and instructions a packet → build/bench/pmd.json
	@scripts/bench/bench-pmd

twin-host: ## boot a Debian host with the card in QEMU and open its console
	@scripts/setup >&2
	@scripts/twin host $(TWIN_ARGS)

twin-ps: ## boot the card's own PS, a ZynqMP in QEMU, and open its console
	@scripts/setup >&2
	@scripts/twin ps $(TWIN_ARGS)

twin-ps-sd: ## boot the PS from its SD card with a grandmaster on the wire, and wait until its clock is locked
	@scripts/setup >&2
	@scripts/twin ps --image --wire 0=ptp:transport=udp4,log_sync=-3,log_delay_req=-3 $(TWIN_ARGS) -- \
	  'for i in $$(seq 180); do meridian-ptp-health /usr/share/meridian/ptp/default.conf && exit; sleep 1; done; exit 1'

library: export LIBRARY_CMD = $(if $(filter-out default undefined,$(origin CMD)),$(if $(filter file,$(origin CMD)),,$(value CMD)))
library: ## run libmeridian's programs on the simulated card, or CMD='latency --count 100'
	@scripts/setup >&2
	@scripts/library $$LIBRARY_CMD

twin-run: export TWIN_CMD = $(value CMD)
twin-run: ## boot a Debian host with the card, run CMD in it as root, and print its output
	@scripts/setup >&2
	@scripts/twin run $(TWIN_ARGS) -- "$$TWIN_CMD"

bitstream: ## BOARD=...: build bitstream, .bin and XSA with Vivado → build/vivado/BOARD; DEBUG=1: with logic analysers; SELF_TEST=1: with the self-test; DMA=meridian: with our DMA engine (needs Vivado; never run here)
	@scripts/bitstream build $(if $(DEBUG),--debug )$(if $(SELF_TEST),--self-test )$(if $(DMA),--dma "$(DMA)" )$(if $(EXTENDED_TAGS),--extended-tags )$(if $(MEMORY),--memory )$(if $(BOX),--box "$(BOX)" $(if $(BOX_MODULE),--box-module "$(BOX_MODULE)" ))$(if $(HOST_BOX),--host-box "$(HOST_BOX)" $(if $(HOST_BOX_MODULE),--host-box-module "$(HOST_BOX_MODULE)" ))"$(BOARD)" $(if $(SETTINGS),"$(SETTINGS)")

probe: ## BOARD=...: compare with Vivado what the scripts only infer (ten minutes; needs Vivado, never run here)
	@scripts/bitstream probe "$(BOARD)" $(if $(SETTINGS),"$(SETTINGS)")

program: ## BOARD=...: take the card off the bus, load the bitstream by JTAG, find the card again; ABSENT=1: no host has it (needs Vivado or Vivado Lab; never run here)
	@scripts/bitstream program "$(BOARD)" $(if $(CARD),--card "$(CARD)") $(if $(FORCE),--force) $(if $(ABSENT),--absent) \
	  "$(HW_SERVER)"

flash-card: ## BOARD=... BOOT=boot.bin FSBL=fsbl.elf: write the card's flash memory by JTAG (needs program_flash; never run here)
	@scripts/bitstream flash "$(BOARD)" "$(BOOT)" "$(FSBL)"

image: ## BOARD=... KEYS=file.pub: build the SD card image with Yocto, from the results of make bitstream (hours, network; never run here)
	@scripts/yocto-image $(image_options) "$(BOARD)" $(if $(KAS),"$(KAS)")

petalinux: ## BOARD=... KEYS=file.pub: build the SD card image with PetaLinux (needs PetaLinux; never run here)
	@scripts/petalinux $(image_options) "$(BOARD)"

flash: ## SD=/dev/...: write an SD card, IMAGE=file.wic[.gz|.xz|.zst] or what make image built, and read it back
	@scripts/flash-sd $(if $(YES),--yes) "$(SD)" $(if $(IMAGE),"$(IMAGE)")

deb: ## build Debian packages of the last commit, and check them with lintian → build/deb
	@scripts/build/build-deb

release: setup ## put source, packages, registers, Verilog, notes and bill of materials of the last commit → build/release
	@scripts/build/build-release

check-vivado: setup ## check the Vivado build without Vivado, for every board and release, with a stand-in for Vivado
	@scripts/check/check-vivado

docs: setup ## build all documents as a site and check their links → build/site
	@scripts/build/build-docs

clean: ## remove build results from the tree (the cache stays)
	rm -rf build spinal/target spinal/project/target spinal/project/project spinal/simWorkspace spinal/tmp
