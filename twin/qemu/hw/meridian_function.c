/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What PF and VF of a Meridian card have in common: BARs that are the card
 * process's, capabilities, bus mastering.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "meridian.h"

#define MERIDIAN_CAP_PM 0x40
#define MERIDIAN_CAP_MSIX 0x60
#define MERIDIAN_CAP_EXPRESS 0x70
#define MERIDIAN_CAP_AER 0x100
#define MERIDIAN_CAP_ARI 0x150

static uint64_t meridian_bar_read(void *opaque, hwaddr address, unsigned size)
{
    MeridianBar *bar = opaque;

    return meridian_link_read(bar->function->link, bar->function->number,
                              bar->number, address, size);
}

static void meridian_bar_write(void *opaque, hwaddr address, uint64_t value,
                               unsigned size)
{
    MeridianBar *bar = opaque;

    meridian_link_write(bar->function->link, bar->function->number,
                        bar->number, address, size, value);
}

static const MemoryRegionOps meridian_bar_ops = {
    .read = meridian_bar_read,
    .write = meridian_bar_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static bool meridian_bar_init(MeridianFunction *f, MeridianBar *bar,
                              unsigned number, uint8_t type, uint64_t bytes,
                              Error **errp)
{
    g_autofree char *name = g_strdup_printf("meridian-bar%u", number);

    if (!is_power_of_2(bytes)) {
        error_setg(errp, "the card's BAR%u has %" PRIu64 " bytes", number,
                   bytes);
        return false;
    }
    bar->function = f;
    bar->number = number;
    memory_region_init_io(&bar->region, OBJECT(f), &meridian_bar_ops, bar,
                          name, bytes);
    pci_register_bar(PCI_DEVICE(f), number, type, &bar->region);
    return true;
}

static bool meridian_pm_init(PCIDevice *dev, Error **errp)
{
    int pm = pci_pm_init(dev, MERIDIAN_CAP_PM, errp);

    if (pm < 0) {
        return false;
    }
    pci_set_word(dev->config + pm + PCI_PM_PMC, 3);
    /* Coming back from D3hot is no reset. */
    pci_set_word(dev->config + pm + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(dev->wmask + pm + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    return true;
}

bool meridian_function_init(MeridianFunction *f, const MeridianLayout *layout,
                            Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(f);

    dev->config_write = meridian_function_write_config;
    if (!meridian_bar_init(f, &f->config, 0, PCI_BASE_ADDRESS_MEM_TYPE_64,
                           layout->bar0_bytes, errp) ||
        !meridian_bar_init(f, &f->user, 2, PCI_BASE_ADDRESS_MEM_TYPE_64,
                           layout->bar2_bytes, errp) ||
        (layout->bar4_bytes &&
         !meridian_bar_init(f, &f->window, 4, MERIDIAN_WINDOW,
                            layout->bar4_bytes, errp)) ||
        !meridian_pm_init(dev, errp)) {
        return false;
    }
    /* Not the card's: QEMU keeps the table, the card names a vector. */
    if (msix_init(dev, layout->vectors, &f->config.region, 0,
                  layout->msix_table, &f->config.region, 0, layout->msix_pba,
                  MERIDIAN_CAP_MSIX, errp)) {
        return false;
    }
    for (unsigned vector = 0; vector < layout->vectors; vector++) {
        msix_vector_use(dev, vector);
    }
    if (pcie_endpoint_cap_init(dev, MERIDIAN_CAP_EXPRESS) < 0) {
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    pcie_cap_fill_link_ep_usp(dev, QEMU_PCI_EXP_LNK_X16, QEMU_PCI_EXP_LNK_8GT);
    pcie_cap_deverr_init(dev);
    pcie_cap_flr_init(dev);
    if (pcie_aer_init(dev, PCI_ERR_VER, MERIDIAN_CAP_AER, PCI_ERR_SIZEOF,
                      errp) < 0) {
        return false;
    }
    pcie_ari_init(dev, MERIDIAN_CAP_ARI);
    return true;
}

void meridian_function_exit(MeridianFunction *f)
{
    PCIDevice *dev = PCI_DEVICE(f);

    pcie_aer_exit(dev);
    pcie_cap_exit(dev);
    msix_unuse_all_vectors(dev);
    msix_uninit(dev, &f->config.region, &f->config.region);
}

void meridian_function_set_next(MeridianFunction *f, unsigned number)
{
    pci_set_byte(PCI_DEVICE(f)->config + MERIDIAN_CAP_ARI + PCI_ARI_CAP + 1,
                 number);
}

bool meridian_function_in_flr(MeridianFunction *f)
{
    PCIDevice *dev = PCI_DEVICE(f);
    uint8_t *control = dev->config + dev->exp.exp_cap + PCI_EXP_DEVCTL;

    return pci_get_word(control) & PCI_EXP_DEVCTL_BCR_FLR;
}

void meridian_function_write_config(PCIDevice *dev, uint32_t address,
                                    uint32_t value, int bytes)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);
    bool master;

    pci_default_write_config(dev, address, value, bytes);
    pcie_cap_flr_write_config(dev, address, value, bytes);
    pcie_aer_write_config(dev, address, value, bytes);
    master = pci_get_word(dev->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
    if (master != f->enabled) {
        f->enabled = master;
        meridian_link_enable(f->link, f->number, f->parent, master);
    }
}

/* Its own calls may be under way until here. */
static void meridian_function_finalize(Object *obj)
{
    MeridianFunction *f = MERIDIAN_FUNCTION(obj);

    if (f->link) {
        meridian_link_unref(f->link);
    }
}

static void meridian_function_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);

    k->vendor_id = MERIDIAN_VENDOR_ID;
    k->subsystem_vendor_id = MERIDIAN_VENDOR_ID;
    k->subsystem_id = MERIDIAN_SUBSYSTEM_ID;
    k->class_id = PCI_CLASS_NETWORK_ETHERNET;
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo meridian_function_info = {
    .name = TYPE_MERIDIAN_FUNCTION,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(MeridianFunction),
    .instance_finalize = meridian_function_finalize,
    .abstract = true,
    .class_init = meridian_function_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { }
    },
};

static void meridian_function_register(void)
{
    type_register_static(&meridian_function_info);
}

type_init(meridian_function_register)
