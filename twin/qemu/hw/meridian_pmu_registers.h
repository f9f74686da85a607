/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a ZynqMP that QEMU's own has not got and that its boot reads: they
 * keep what is written to them and do nothing else.
 */
#ifndef HW_NET_MERIDIAN_PMU_REGISTERS_H
#define HW_NET_MERIDIAN_PMU_REGISTERS_H

#include "hw/sysbus.h"

#define MERIDIAN_BANKS 5
#define MERIDIAN_BANK_BYTES 0x1000

typedef struct MeridianBank {
    MemoryRegion region;
    bool fixed; /* software cannot write it */
    uint32_t words[MERIDIAN_BANK_BYTES / 4];
} MeridianBank;

typedef struct MeridianRegisters {
    MeridianBank banks[MERIDIAN_BANKS];
} MeridianRegisters;

/* Adds a region to the device for each bank of meridian_bank_base. */
extern const hwaddr meridian_bank_base[MERIDIAN_BANKS];
void meridian_registers_init(MeridianRegisters *registers, SysBusDevice *owner);

/* As after power-on, with what the first stage's boot loader leaves. */
void meridian_registers_reset(MeridianRegisters *registers,
                              uint32_t counter_hertz, uint32_t handoff);

/* NULL: there is no such register. */
uint32_t *meridian_register(MeridianRegisters *registers, uint64_t address,
                            bool to_write);

/* Of the chip, as PM_GET_CHIPID has it. */
#define MERIDIAN_IDCODE 0x147e1093 /* XCZU21DR, the reference card's */

#endif
