/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VF of a Meridian card; its PF makes it.
 */
#include "qemu/osdep.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/resettable.h"
#include "meridian.h"

static void meridian_vf_realize(PCIDevice *dev, Error **errp)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    MeridianFunction *pf = MERIDIAN_FUNCTION(pcie_sriov_get_pf(dev));
    const char *id = DEVICE(pf)->id;
    const struct meridian_link_welcome *card = meridian_link_welcome(pf->link);
    MeridianLayout layout = {
        .bar0_bytes = card->vf_bar0_bytes, .bar2_bytes = card->vf_bar2_bytes,
        .bar4_bytes = card->vf_bar4_bytes,
        .msix_table = 0x4000, .msix_pba = 0x4800, .vectors = 8,
    };

    f->link = meridian_link_ref(pf->link);
    f->number = MERIDIAN_PF(pf)->first_vf + pcie_sriov_vf_number(dev);
    f->parent = pf->number;
    /* For the monitor, which injects errors of PCIe by it. */
    if (id) {
        DEVICE(dev)->id = g_strdup_printf("%s.vf%u", id,
                                          pcie_sriov_vf_number(dev));
    }
    meridian_function_init(f, &layout, errp);
}

static void meridian_vf_exit(PCIDevice *dev)
{
    meridian_function_exit(MERIDIAN_FUNCTION(dev));
}

static void meridian_vf_reset_hold(Object *obj, ResetType type)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(obj);

    f->enabled = false;
    /* Every other reset of a VF is part of what its PF tells the card. */
    if (meridian_function_in_flr(f)) {
        meridian_link_reset_function(f->link, f->number);
    }
}

static void meridian_vf_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);
    ResettableClass *rc = RESETTABLE_CLASS(class);

    k->realize = meridian_vf_realize;
    k->exit = meridian_vf_exit;
    rc->phases.hold = meridian_vf_reset_hold;
    dc->desc = "Virtual function of a Meridian card";
    dc->user_creatable = false;
}

static const TypeInfo meridian_vf_info = {
    .name = TYPE_MERIDIAN_VF,
    .parent = TYPE_MERIDIAN_FUNCTION,
    .class_init = meridian_vf_class_init,
};

static void meridian_vf_register(void)
{
    type_register_static(&meridian_vf_info);
}

type_init(meridian_vf_register)
