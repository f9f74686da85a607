/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PF 0 of a Meridian card: owner of the link to the card process, which is all
 * functions' way to the card.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "migration/vmstate.h"
#include "meridian.h"

#define MERIDIAN_CAP_SRIOV 0x160
#define MERIDIAN_VF_OFFSET 4
#define MERIDIAN_VF_STRIDE 1

/* NULL if the card means a function that the guest has not enabled. */
static MeridianFunction *meridian_find(MeridianFunction *pf, unsigned number)
{
    PCIDevice *dev = PCI_DEVICE(pf);
    unsigned vf = number - MERIDIAN_FIRST_VF;

    if (number == pf->number) {
        return pf;
    }
    if (number < MERIDIAN_FIRST_VF || !dev->exp.sriov_cap ||
        vf >= pcie_sriov_num_vfs(dev)) {
        return NULL;
    }
    return MERIDIAN_FUNCTION(pcie_sriov_get_vf_at_index(dev, vf));
}

/*
 * To memory only: an access of another device could come back to the card,
 * which stands still until its DMA read is answered.
 */
static bool meridian_dma(void *opaque, unsigned function, uint64_t address,
                         void *data, uint32_t bytes, DMADirection direction)
{
    MeridianFunction *f = meridian_find(opaque, function);
    MemTxAttrs attributes = { .memory = 1 };

    return f && pci_dma_rw(PCI_DEVICE(f), address, data, bytes, direction,
                           attributes) == MEMTX_OK;
}

static bool meridian_dma_read(void *opaque, unsigned function,
                              uint64_t address, void *data, uint32_t bytes)
{
    return meridian_dma(opaque, function, address, data, bytes,
                        DMA_DIRECTION_TO_DEVICE);
}

static bool meridian_dma_write(void *opaque, unsigned function,
                               uint64_t address, const void *data,
                               uint32_t bytes)
{
    return meridian_dma(opaque, function, address, (void *)data, bytes,
                        DMA_DIRECTION_FROM_DEVICE);
}

static void meridian_msix(void *opaque, unsigned function, uint64_t vector)
{
    MeridianFunction *f = meridian_find(opaque, function);

    if (f && vector < PCI_DEVICE(f)->msix_entries_nr) {
        msix_notify(PCI_DEVICE(f), vector);
    }
}

static void meridian_back(void *opaque)
{
    MeridianFunction *pf = opaque;
    unsigned vfs = pcie_sriov_num_vfs(PCI_DEVICE(pf));

    for (unsigned number = 0; number < MERIDIAN_FIRST_VF + vfs; number++) {
        MeridianFunction *f = meridian_find(pf, number);

        if (f && f->enabled) {
            meridian_link_enable(f->link, number, f->parent, true);
        }
    }
}

static const MeridianLinkOps meridian_ops = {
    .dma_read = meridian_dma_read,
    .dma_write = meridian_dma_write,
    .msix = meridian_msix,
    .back = meridian_back,
};

static void meridian_write_config(PCIDevice *dev, uint32_t address,
                                  uint32_t value, int bytes)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    unsigned had = pcie_sriov_num_vfs(dev);
    bool reset;

    reset = ranges_overlap(address, bytes, dev->exp.exp_cap + PCI_EXP_DEVCTL,
                           2);
    meridian_function_write_config(dev, address, value, bytes);
    /* VFs that are gone are reset; with the PF's reset they already are. */
    for (unsigned vf = pcie_sriov_num_vfs(dev); vf < had && !reset; vf++) {
        meridian_link_reset_function(f->link, MERIDIAN_FIRST_VF + vf);
    }
}

static void meridian_realize(PCIDevice *dev, Error **errp)
{
    MeridianPf *s = MERIDIAN(dev);
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    const struct meridian_link_welcome *card;
    MeridianLayout layout = {
        .msix_table = 0x30000, .msix_pba = 0x34000, .vectors = s->vectors,
    };
    unsigned vfs;

    if (!s->path) {
        error_setg(errp, "socket=PATH of a running meridian_card is needed");
        return;
    }
    f->link = meridian_link_open(s->path, &meridian_ops, f, errp);
    if (!f->link) {
        return;
    }
    card = meridian_link_welcome(f->link);
    layout.bar0_bytes = card->bar0_bytes;
    layout.bar2_bytes = card->bar2_bytes;
    pci_config_set_device_id(dev->config, card->device_id);
    if (!meridian_function_init(f, &layout, errp)) {
        goto fail;
    }
    dev->config_write = meridian_write_config;
    vfs = MIN(s->vfs, MAX(card->functions, MERIDIAN_FIRST_VF) -
                      MERIDIAN_FIRST_VF);
    if (vfs) {
        if (!pcie_sriov_pf_init(dev, MERIDIAN_CAP_SRIOV, TYPE_MERIDIAN_VF,
                                card->vf_device_id, vfs, vfs,
                                MERIDIAN_VF_OFFSET, MERIDIAN_VF_STRIDE,
                                errp)) {
            meridian_function_exit(f);
            goto fail;
        }
        pcie_sriov_pf_init_vf_bar(dev, 0, PCI_BASE_ADDRESS_MEM_TYPE_64,
                                  card->vf_bar0_bytes);
        pcie_sriov_pf_init_vf_bar(dev, 2, PCI_BASE_ADDRESS_MEM_TYPE_64,
                                  card->vf_bar2_bytes);
    }
    return;

fail:
    meridian_link_close(f->link);
    f->link = NULL;
}

static void meridian_exit(PCIDevice *dev)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);

    pcie_sriov_pf_exit(dev);
    meridian_function_exit(f);
    meridian_link_close(f->link);
}

static void meridian_reset_hold(Object *obj, ResetType type)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(obj);

    f->enabled = false;
    if (meridian_function_in_flr(f)) {
        meridian_link_reset_function(f->link, f->number);
    } else {
        meridian_link_reset(f->link);
    }
}

/* The card's state is in another process. */
static const VMStateDescription meridian_vmstate = {
    .name = "meridian",
    .unmigratable = 1,
};

static const Property meridian_properties[] = {
    DEFINE_PROP_STRING("socket", MeridianPf, path),
    DEFINE_PROP_UINT16("vectors", MeridianPf, vectors, 10),
    DEFINE_PROP_UINT16("vfs", MeridianPf, vfs, 8),
};

static void meridian_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);
    ResettableClass *rc = RESETTABLE_CLASS(class);

    k->realize = meridian_realize;
    k->exit = meridian_exit;
    rc->phases.hold = meridian_reset_hold;
    dc->desc = "Meridian SmartNIC, played by a card process";
    dc->vmsd = &meridian_vmstate;
    device_class_set_props(dc, meridian_properties);
}

static const TypeInfo meridian_info = {
    .name = TYPE_MERIDIAN,
    .parent = TYPE_MERIDIAN_FUNCTION,
    .instance_size = sizeof(MeridianPf),
    .class_init = meridian_class_init,
};

static void meridian_register(void)
{
    type_register_static(&meridian_info);
}

type_init(meridian_register)
