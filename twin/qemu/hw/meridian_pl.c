/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shell in the PL of a ZynqMP: registers, DMA to the PS's memory, one
 * interrupt line. All of it is the card process's.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "exec/address-spaces.h"
#include "hw/boards.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "system/dma.h"
#include "meridian_link_client.h"
#include "meridian_pl.h"

OBJECT_DECLARE_SIMPLE_TYPE(MeridianPl, MERIDIAN_PL)

struct MeridianPl {
    SysBusDevice parent_obj;

    char *path;
    MeridianLink *link;
    MemoryRegion registers;
    qemu_irq line;
};

static uint64_t meridian_pl_read(void *opaque, hwaddr offset, unsigned size)
{
    MeridianPl *s = opaque;

    return meridian_link_read(s->link, 0, 0, offset, size);
}

static void meridian_pl_write(void *opaque, hwaddr offset, uint64_t value,
                              unsigned size)
{
    MeridianPl *s = opaque;

    meridian_link_write(s->link, 0, 0, offset, size, value);
}

static const MemoryRegionOps meridian_pl_registers = {
    .read = meridian_pl_read,
    .write = meridian_pl_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* To memory only: an access of the shell itself would wait for itself. */
static bool meridian_pl_dma(uint64_t address, void *data, uint32_t bytes,
                            DMADirection direction)
{
    MemTxAttrs attributes = { .memory = 1 };

    return dma_memory_rw(&address_space_memory, address, data, bytes,
                         direction, attributes) == MEMTX_OK;
}

static bool meridian_pl_dma_read(void *opaque, unsigned function,
                                 uint64_t address, void *data, uint32_t bytes)
{
    return meridian_pl_dma(address, data, bytes, DMA_DIRECTION_TO_DEVICE);
}

static bool meridian_pl_dma_write(void *opaque, unsigned function,
                                  uint64_t address, const void *data,
                                  uint32_t bytes)
{
    return meridian_pl_dma(address, (void *)data, bytes,
                           DMA_DIRECTION_FROM_DEVICE);
}

static void meridian_pl_interrupt(void *opaque, bool level)
{
    MeridianPl *s = opaque;

    qemu_set_irq(s->line, level);
}

/* Memory of the machine that is a file begins at address 0. */
static void meridian_pl_share(void *opaque)
{
    MeridianPl *s = opaque;
    MemoryRegion *ram = current_machine->ram;
    int fd = memory_region_get_fd(ram);

    if (fd >= 0) {
        meridian_link_share(s->link, 0, memory_region_size(ram), fd);
    }
}

static const MeridianLinkOps meridian_pl_ops = {
    .dma_read = meridian_pl_dma_read,
    .dma_write = meridian_pl_dma_write,
    .interrupt = meridian_pl_interrupt,
    .back = meridian_pl_share,
};

static void meridian_pl_realize(DeviceState *dev, Error **errp)
{
    MeridianPl *s = MERIDIAN_PL(dev);
    SysBusDevice *bus = SYS_BUS_DEVICE(dev);

    memory_region_init_io(&s->registers, OBJECT(s), &meridian_pl_registers, s,
                          TYPE_MERIDIAN_PL, MERIDIAN_PL_BYTES);
    sysbus_init_mmio(bus, &s->registers);
    sysbus_init_irq(bus, &s->line);
    s->link = meridian_link_open(s->path, MERIDIAN_LINK_AXI, &meridian_pl_ops,
                                 s, errp);
    if (s->link) {
        meridian_pl_share(s);
    }
}

static void meridian_pl_unrealize(DeviceState *dev)
{
    MeridianPl *s = MERIDIAN_PL(dev);

    meridian_link_close(s->link);
    meridian_link_unref(s->link);
    s->link = NULL;
}

static void meridian_pl_reset_hold(Object *obj, ResetType type)
{
    meridian_link_reset(MERIDIAN_PL(obj)->link);
}

/* The card's state is in another process. */
static const VMStateDescription meridian_pl_vmstate = {
    .name = TYPE_MERIDIAN_PL,
    .unmigratable = 1,
};

static const Property meridian_pl_properties[] = {
    DEFINE_PROP_STRING("socket", MeridianPl, path),
};

static void meridian_pl_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);

    dc->realize = meridian_pl_realize;
    dc->unrealize = meridian_pl_unrealize;
    RESETTABLE_CLASS(class)->phases.hold = meridian_pl_reset_hold;
    dc->desc = "Meridian's shell in the PL, played by a card process";
    dc->vmsd = &meridian_pl_vmstate;
    dc->user_creatable = false; /* the machine wires it */
    device_class_set_props(dc, meridian_pl_properties);
}

static const TypeInfo meridian_pl_info = {
    .name = TYPE_MERIDIAN_PL,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(MeridianPl),
    .class_init = meridian_pl_class_init,
};

static void meridian_pl_register(void)
{
    type_register_static(&meridian_pl_info);
}

type_init(meridian_pl_register)
