/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that a card's PS is: a ZynqMP as xlnx-zcu102 has it, with the shell
 * in its PL, and slots for virtio devices, which no card has: by them a test
 * gives the machine a disk and takes its output. I2C buses for the ports' modules
 * hang on pins of a controller that QEMU has. With secure=on it starts with
 * firmware, for which a management unit is there.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-types-audio.h"
#include "audio/audio.h"
#include "hw/boards.h"
#include "hw/i2c/bitbang_i2c.h"
#include "hw/loader.h"
#include "hw/qdev-properties.h"
#include "hw/sysbus.h"
#include "hw/virtio/virtio-mmio.h"
#include "meridian_pl.h"
#include "meridian_pmu.h"
#include "meridian_pmu_registers.h"

#define TYPE_MERIDIAN_PS_MACHINE MACHINE_TYPE_NAME("meridian-ps")
#define MERIDIAN_PL_CHILD "meridian-pl"

/* Interrupts by their numbers among the GIC's shared ones, as in device trees. */
#define MERIDIAN_PL_BASE 0xa0000000 /* M_AXI_HPM0_FPD */
#define MERIDIAN_PL_SPI 89          /* pl_ps_irq0[0] */
#define MERIDIAN_SLOTS 4
#define MERIDIAN_SLOT_BASE 0x80000000 /* M_AXI_HPM0_LPD */
#define MERIDIAN_SLOT_BYTES 0x200
#define MERIDIAN_SLOT_SPI 104 /* pl_ps_irq1 */
#define MERIDIAN_PINS_BASE 0x80001000
#define MERIDIAN_PINS_SPI 108
#define MERIDIAN_CAGES 4 /* two pins each: data and clock */
#define MERIDIAN_UBOOT_BASE 0x8000000

static void meridian_ps_place(SysBusDevice *device, hwaddr base,
                              DeviceState *gic, int spi)
{
    sysbus_realize(device, &error_fatal);
    sysbus_mmio_map(device, 0, base);
    sysbus_connect_irq(device, 0, qdev_get_gpio_in(gic, spi));
}

/* The SoC's display controller does not come up without a way out for sound. */
static void meridian_ps_mute(void)
{
    Audiodev *none = g_new0(Audiodev, 1);

    none->id = g_strdup("mute");
    none->driver = AUDIODEV_DRIVER_NONE;
    audio_define_default(none, &error_abort);
}

/*
 * An I2C bus for each cage, on pins that the guest moves: /module0/i2c and so on
 * in -device. No module is in a cage unless a user puts one there.
 */
static void meridian_ps_cages(DeviceState *gic)
{
    DeviceState *pins = qdev_new("pl061");

    meridian_ps_place(SYS_BUS_DEVICE(pins), MERIDIAN_PINS_BASE, gic,
                      MERIDIAN_PINS_SPI);
    for (int i = 0; i < MERIDIAN_CAGES; i++) {
        DeviceState *cage = qdev_new(TYPE_GPIO_I2C);
        int data = 2 * i + BITBANG_I2C_SDA, clock = 2 * i + BITBANG_I2C_SCL;

        cage->id = g_strdup_printf("module%d", i);
        sysbus_realize(SYS_BUS_DEVICE(cage), &error_fatal);
        qdev_connect_gpio_out(pins, data,
                              qdev_get_gpio_in(cage, BITBANG_I2C_SDA));
        qdev_connect_gpio_out(pins, clock,
                              qdev_get_gpio_in(cage, BITBANG_I2C_SCL));
        qdev_connect_gpio_out(cage, 0, qdev_get_gpio_in(pins, data));
        object_unref(cage);
    }
    object_unref(pins);
}

/* What TF-A starts, as the first stage's boot loader tells it. */
static void meridian_ps_hand_off(void)
{
    struct {
        char magic[4];
        uint32_t entries;
        uint64_t entry_point, flags;
    } handoff = {
        .magic = "XLNX",
        .entries = cpu_to_le32(1),
        .entry_point = cpu_to_le64(MERIDIAN_UBOOT_BASE),
        .flags = cpu_to_le64(2 << 3), /* EL2; all else is the usual */
    };

    rom_add_blob_fixed("meridian.handoff", &handoff, sizeof(handoff),
                       MERIDIAN_HANDOFF);
}

/* What the firmware of a machine that starts at EL3 needs. */
static void meridian_ps_manage(MachineState *machine)
{
    DeviceState *pmu = qdev_new(TYPE_MERIDIAN_PMU);
    DeviceState *ipi = DEVICE(object_resolve_path("/machine/soc/ipi", NULL));

    object_property_add_child(OBJECT(machine), TYPE_MERIDIAN_PMU, OBJECT(pmu));
    sysbus_realize(SYS_BUS_DEVICE(pmu), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(pmu), 0, MERIDIAN_PMU_BUFFERS);
    for (int i = 0; i < MERIDIAN_BANKS; i++) {
        sysbus_mmio_map(SYS_BUS_DEVICE(pmu), 1 + i, meridian_bank_base[i]);
    }
    qdev_connect_gpio_out_named(ipi, "PMU_0", 0, qdev_get_gpio_in(pmu, 0));
    object_unref(pmu);
    meridian_ps_hand_off();
}

static void meridian_ps_init(MachineState *machine)
{
    ObjectClass *zcu102 = object_class_by_name(
        MACHINE_TYPE_NAME("xlnx-zcu102"));
    Object *pl = object_resolve_path_component(OBJECT(machine),
                                               MERIDIAN_PL_CHILD);
    g_autofree char *card = object_property_get_str(pl, "socket", &error_abort);
    DeviceState *gic;

    if (!machine->audiodev) {
        meridian_ps_mute();
    }
    MACHINE_CLASS(zcu102)->init(machine);
    gic = DEVICE(object_resolve_path("/machine/soc/gic", NULL));
    for (int i = 0; i < MERIDIAN_SLOTS; i++) {
        DeviceState *slot = qdev_new(TYPE_VIRTIO_MMIO);

        qdev_prop_set_bit(slot, "force-legacy", false);
        meridian_ps_place(SYS_BUS_DEVICE(slot),
                          MERIDIAN_SLOT_BASE + i * MERIDIAN_SLOT_BYTES, gic,
                          MERIDIAN_SLOT_SPI + i);
        object_unref(slot);
    }
    meridian_ps_cages(gic);
    if (object_property_get_bool(OBJECT(machine), "secure", &error_abort)) {
        meridian_ps_manage(machine);
    }
    if (card && *card) {
        meridian_ps_place(SYS_BUS_DEVICE(pl), MERIDIAN_PL_BASE, gic,
                          MERIDIAN_PL_SPI);
    } else {
        object_property_del(OBJECT(machine), "card");
        object_unparent(pl);
    }
}

static void meridian_ps_instance_init(Object *obj)
{
    Object *pl = object_new(TYPE_MERIDIAN_PL);

    object_property_add_child(obj, MERIDIAN_PL_CHILD, pl);
    object_property_add_alias(obj, "card", pl, "socket");
    object_property_set_description(obj, "card", "Socket of a running "
                                    "meridian_card; an empty PL without it");
    object_unref(pl);
}

static void meridian_ps_class_init(ObjectClass *class, void *data)
{
    MachineClass *mc = MACHINE_CLASS(class);

    mc->desc = "PS of a card with Meridian's shell in its PL (ZynqMP)";
    mc->init = meridian_ps_init;
}

static const TypeInfo meridian_ps_info = {
    .name = TYPE_MERIDIAN_PS_MACHINE,
    .parent = MACHINE_TYPE_NAME("xlnx-zcu102"),
    .class_init = meridian_ps_class_init,
    .instance_init = meridian_ps_instance_init,
};

static void meridian_ps_register(void)
{
    type_register_static(&meridian_ps_info);
}

type_init(meridian_ps_register)
