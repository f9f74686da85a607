/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "meridian_pmu_registers.h"

enum { PMU_GLOBAL, CSU, CRL_APB, IOU_SLCR, IOU_SCNTRS };

const hwaddr meridian_bank_base[MERIDIAN_BANKS] = {
    [PMU_GLOBAL] = 0xffd80000,
    [CSU] = 0xffca0000,
    [CRL_APB] = 0xff5e0000,
    [IOU_SLCR] = 0xff180000,
    [IOU_SCNTRS] = 0xff260000,
};

/* UG1087; names are its. */
#define PMU_GLOBAL_CNTRL 0x0
#define FW_IS_PRESENT (1 << 4)
#define PMU_GLOBAL_STORAGE6 0x48
#define CSU_IDCODE 0x40
#define CRL_BOOT_MODE 0x200
#define BOOT_MODE_SD1 5
#define CRL_RESET_REASON 0x220
#define RESET_EXTERNAL 1
#define COUNTER_BASE_FREQUENCY 0x20

static uint64_t meridian_bank_read(void *opaque, hwaddr offset, unsigned size)
{
    MeridianBank *bank = opaque;

    return bank->words[offset / 4];
}

static void meridian_bank_write(void *opaque, hwaddr offset, uint64_t value,
                                unsigned size)
{
    MeridianBank *bank = opaque;

    if (!bank->fixed) {
        bank->words[offset / 4] = value;
    }
}

static const MemoryRegionOps meridian_bank_ops = {
    .read = meridian_bank_read,
    .write = meridian_bank_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

void meridian_registers_init(MeridianRegisters *registers, SysBusDevice *owner)
{
    for (int i = 0; i < MERIDIAN_BANKS; i++) {
        MeridianBank *bank = &registers->banks[i];

        memory_region_init_io(&bank->region, OBJECT(owner), &meridian_bank_ops,
                              bank, "meridian-registers", MERIDIAN_BANK_BYTES);
        sysbus_init_mmio(owner, &bank->region);
    }
    registers->banks[CSU].fixed = true;
}

void meridian_registers_reset(MeridianRegisters *registers,
                              uint32_t counter_hertz, uint32_t handoff)
{
    MeridianBank *banks = registers->banks;

    for (int i = 0; i < MERIDIAN_BANKS; i++) {
        memset(banks[i].words, 0, sizeof(banks[i].words));
    }
    banks[PMU_GLOBAL].words[PMU_GLOBAL_CNTRL / 4] = FW_IS_PRESENT;
    banks[PMU_GLOBAL].words[PMU_GLOBAL_STORAGE6 / 4] = handoff;
    banks[CSU].words[CSU_IDCODE / 4] = MERIDIAN_IDCODE;
    banks[CRL_APB].words[CRL_BOOT_MODE / 4] = BOOT_MODE_SD1;
    banks[CRL_APB].words[CRL_RESET_REASON / 4] = RESET_EXTERNAL;
    banks[IOU_SCNTRS].words[COUNTER_BASE_FREQUENCY / 4] = counter_hertz;
}

uint32_t *meridian_register(MeridianRegisters *registers, uint64_t address,
                            bool to_write)
{
    for (int i = 0; i < MERIDIAN_BANKS; i++) {
        MeridianBank *bank = &registers->banks[i];
        uint64_t offset = address - meridian_bank_base[i];

        if (offset < MERIDIAN_BANK_BYTES && offset % 4 == 0 &&
            !(to_write && bank->fixed)) {
            return &bank->words[offset / 4];
        }
    }
    return NULL;
}
