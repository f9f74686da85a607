/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PF of a Meridian card: SR-IOV, and the reset of its VFs.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "migration/vmstate.h"
#include "meridian.h"

#define MERIDIAN_CAP_SRIOV 0x160
#define MERIDIAN_VF_STRIDE 1

unsigned meridian_pf_vfs(MeridianPf *pf)
{
    PCIDevice *dev = PCI_DEVICE(pf);

    return dev->exp.sriov_cap ? pcie_sriov_num_vfs(dev) : 0;
}

static void meridian_pf_write_config(PCIDevice *dev, uint32_t address,
                                     uint32_t value, int bytes)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    MeridianPf *pf = MERIDIAN_PF(dev);
    unsigned had = meridian_pf_vfs(pf);
    bool reset;

    reset = ranges_overlap(address, bytes, dev->exp.exp_cap + PCI_EXP_DEVCTL,
                           2);
    meridian_function_write_config(dev, address, value, bytes);
    /* VFs that are gone are reset; with the PF's reset they already are. */
    for (unsigned vf = meridian_pf_vfs(pf); vf < had && !reset; vf++) {
        meridian_link_reset_function(f->link, pf->first_vf + vf);
    }
}

bool meridian_pf_init(MeridianPf *pf, Error **errp)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(pf);
    const struct meridian_link_welcome *card = meridian_link_welcome(f->link);
    PCIDevice *dev = PCI_DEVICE(pf);
    MeridianLayout layout = {
        .bar0_bytes = card->bar0_bytes, .bar2_bytes = card->bar2_bytes,
        .bar4_bytes = card->bar4_bytes,
        .msix_table = 0x30000, .msix_pba = 0x34000, .vectors = pf->vectors,
    };

    f->parent = f->number;
    pci_config_set_device_id(dev->config,
                             card->device_id + MERIDIAN_NEXT_PF * f->number);
    if (!meridian_function_init(f, &layout, errp)) {
        return false;
    }
    dev->config_write = meridian_pf_write_config;
    if (!pf->vfs) {
        return true;
    }
    if (!pcie_sriov_pf_init(dev, MERIDIAN_CAP_SRIOV, TYPE_MERIDIAN_VF,
                            card->vf_device_id + MERIDIAN_NEXT_PF * f->number,
                            pf->vfs, pf->vfs, pf->first_vf - f->number,
                            MERIDIAN_VF_STRIDE, errp)) {
        meridian_function_exit(f);
        return false;
    }
    pcie_sriov_pf_init_vf_bar(dev, 0, PCI_BASE_ADDRESS_MEM_TYPE_64,
                              card->vf_bar0_bytes);
    pcie_sriov_pf_init_vf_bar(dev, 2, PCI_BASE_ADDRESS_MEM_TYPE_64,
                              card->vf_bar2_bytes);
    if (card->vf_bar4_bytes) {
        pcie_sriov_pf_init_vf_bar(dev, 4, MERIDIAN_WINDOW,
                                  card->vf_bar4_bytes);
    }
    return true;
}

static void meridian_pf_realize(PCIDevice *dev, Error **errp)
{
    meridian_pf_init(MERIDIAN_PF(dev), errp);
}

void meridian_pf_exit(PCIDevice *dev)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    MeridianPf *pf = MERIDIAN_PF(dev);

    if (pf->card) {
        pf->card->pf[f->number] = NULL;
        pf->card = NULL;
    }
    pcie_sriov_pf_exit(dev);
    meridian_function_exit(f);
}

static void meridian_pf_reset_hold(Object *obj, ResetType type)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(obj);

    f->enabled = false;
    if (meridian_function_in_flr(f)) {
        meridian_link_reset_function(f->link, f->number);
    } else if (f->number == 0) {
        /* The slot's: every function's. */
        meridian_link_reset(f->link);
    }
}

/* The card's state is in another process. */
static const VMStateDescription meridian_vmstate = {
    .name = "meridian",
    .unmigratable = 1,
};

static const Property meridian_pf_properties[] = {
    DEFINE_PROP_UINT16("vectors", MeridianPf, vectors, 10),
    DEFINE_PROP_UINT16("vfs", MeridianPf, vfs, MERIDIAN_MAX_FUNCTIONS),
};

static void meridian_pf_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);
    ResettableClass *rc = RESETTABLE_CLASS(class);

    k->realize = meridian_pf_realize;
    k->exit = meridian_pf_exit;
    rc->phases.hold = meridian_pf_reset_hold;
    dc->desc = "Another physical function of a Meridian card";
    dc->vmsd = &meridian_vmstate;
    dc->user_creatable = false;
    device_class_set_props(dc, meridian_pf_properties);
}

static const TypeInfo meridian_pf_info = {
    .name = TYPE_MERIDIAN_PF,
    .parent = TYPE_MERIDIAN_FUNCTION,
    .instance_size = sizeof(MeridianPf),
    .class_init = meridian_pf_class_init,
};

static void meridian_pf_register(void)
{
    type_register_static(&meridian_pf_info);
}

type_init(meridian_pf_register)
