/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Meridian card as the user puts it into a slot: PF 0, which owns the link to
 * the card process for all functions, and makes the other PFs.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie_sriov.h"
#include "hw/qdev-properties.h"
#include "meridian.h"

/* NULL if the card means a function that the guest has not enabled. */
static MeridianFunction *meridian_find(MeridianCard *card, unsigned number)
{
    if (number < MERIDIAN_MAX_PFS) {
        return card->pf[number] ? MERIDIAN_FUNCTION(card->pf[number]) : NULL;
    }
    for (unsigned i = 0; i < card->pfs; i++) {
        MeridianPf *pf = card->pf[i];
        unsigned vf;

        if (!pf || number < pf->first_vf) {
            continue;
        }
        vf = number - pf->first_vf;
        if (vf < meridian_pf_vfs(pf)) {
            PCIDevice *dev = pcie_sriov_get_vf_at_index(PCI_DEVICE(pf), vf);

            /* A guest may have ejected it from under its PF. */
            return DEVICE(dev)->realized ? MERIDIAN_FUNCTION(dev) : NULL;
        }
    }
    return NULL;
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
    MeridianCard *card = opaque;

    for (unsigned number = 0; number < PCI_DEVFN_MAX; number++) {
        MeridianFunction *f = meridian_find(card, number);

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

/* A PF's VFs: the card's, if it was made with so many for each PF, or a share. */
static void meridian_share_vfs(MeridianCard *s, MeridianPf *pf, unsigned number)
{
    const struct meridian_link_welcome *card =
        meridian_link_welcome(MERIDIAN_FUNCTION(s)->link);
    unsigned rest = MIN(MAX(card->functions, MERIDIAN_FIRST_VF),
                        MERIDIAN_MAX_FUNCTIONS) - MERIDIAN_FIRST_VF;
    unsigned made = 0;

    pf->first_vf = MERIDIAN_FIRST_VF;
    for (unsigned i = 0; i < MERIDIAN_MAX_PFS; i++) {
        made += card->vfs[i];
        pf->first_vf += i < number ? card->vfs[i] : 0;
    }
    if (made) {
        pf->vfs = made <= rest ? MIN(s->most_vfs, card->vfs[number]) : 0;
        return;
    }
    pf->vfs = MIN(s->most_vfs, rest / s->pfs);
    pf->first_vf += number * pf->vfs;
}

/* What the user asks for, cut to what the card has. */
static bool meridian_share(MeridianCard *s, Error **errp)
{
    const struct meridian_link_welcome *card =
        meridian_link_welcome(MERIDIAN_FUNCTION(s)->link);

    if (s->pfs < 1 || s->pfs > MIN(card->pfs, MERIDIAN_MAX_PFS)) {
        error_setg(errp, "pfs=%u: this card has %u PFs", s->pfs, card->pfs);
        return false;
    }
    s->most_vfs = MERIDIAN_PF(s)->vfs;
    meridian_share_vfs(s, MERIDIAN_PF(s), 0);
    return true;
}

/*
 * QEMU reads 0 where nothing is. A root complex answers for a function that does
 * not: its BARs are off, it is being reset, or it is not there. All ones then.
 */
static uint64_t meridian_nobody_read(void *opaque, hwaddr address,
                                     unsigned size)
{
    return UINT64_MAX;
}

static void meridian_nobody_write(void *opaque, hwaddr address, uint64_t value,
                                  unsigned size)
{
}

static const MemoryRegionOps meridian_nobody_ops = {
    .read = meridian_nobody_read,
    .write = meridian_nobody_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* The windows of a root port show the memory of the bus behind it. */
static void meridian_answer_for_nobody(MeridianCard *s)
{
    PCIBus *bus = pci_get_bus(PCI_DEVICE(s));

    if (pci_bus_is_root(bus)) {
        return; /* its memory has more in it than PCIe */
    }
    memory_region_init_io(&s->nobody, OBJECT(s), &meridian_nobody_ops, s,
                          "meridian-nobody", UINT64_MAX);
    memory_region_add_subregion_overlap(bus->address_space_mem, 0, &s->nobody,
                                        -1);
}

static void meridian_take_out(MeridianCard *s)
{
    for (unsigned i = 1; i < MERIDIAN_MAX_PFS; i++) {
        if (s->pf[i]) {
            object_unparent(OBJECT(s->pf[i])); /* which clears it */
        }
    }
}

static bool meridian_add_pf(MeridianCard *s, unsigned number, Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(s);
    MeridianPf *own = MERIDIAN_PF(s);
    PCIDevice *other = pci_new_multifunction(dev->devfn + number,
                                             TYPE_MERIDIAN_PF);
    MeridianPf *pf = MERIDIAN_PF(other);

    MERIDIAN_FUNCTION(pf)->link = meridian_link_ref(MERIDIAN_FUNCTION(s)->link);
    MERIDIAN_FUNCTION(pf)->number = number;
    pf->card = s;
    pf->vectors = own->vectors;
    meridian_share_vfs(s, pf, number);
    if (!qdev_realize_and_unref(DEVICE(other), BUS(pci_get_bus(dev)), errp)) {
        return false;
    }
    s->pf[number] = pf;
    return true;
}

static void meridian_realize(PCIDevice *dev, Error **errp)
{
    MeridianCard *s = MERIDIAN(dev);
    MeridianFunction *f = MERIDIAN_FUNCTION(dev);

    if (!s->path) {
        error_setg(errp, "socket=PATH of a running meridian_card is needed");
        return;
    }
    f->link = meridian_link_open(s->path, MERIDIAN_LINK_PCIE, &meridian_ops, s,
                                 errp);
    if (!f->link) {
        return;
    }
    MERIDIAN_PF(s)->card = s;
    if (!meridian_share(s, errp) || !meridian_pf_init(MERIDIAN_PF(s), errp)) {
        goto fail;
    }
    s->pf[0] = MERIDIAN_PF(s);
    if (s->pfs > 1) {
        dev->cap_present |= QEMU_PCI_CAP_MULTIFUNCTION;
        dev->config[PCI_HEADER_TYPE] |= PCI_HEADER_TYPE_MULTI_FUNCTION;
    }
    for (unsigned i = 1; i < s->pfs; i++) {
        if (!meridian_add_pf(s, i, errp)) {
            meridian_take_out(s);
            meridian_pf_exit(dev);
            goto fail;
        }
    }
    for (unsigned i = 0; i < s->pfs; i++) {
        meridian_function_set_next(MERIDIAN_FUNCTION(s->pf[i]),
                                   i + 1 < s->pfs ? i + 1 : 0);
    }
    meridian_answer_for_nobody(s);
    return;

fail:
    meridian_link_close(f->link);
    s->pf[0] = NULL;
}

static void meridian_exit(PCIDevice *dev)
{
    MeridianCard *s = MERIDIAN(dev);

    meridian_link_close(MERIDIAN_FUNCTION(dev)->link);
    if (memory_region_is_mapped(&s->nobody)) {
        memory_region_del_subregion(pci_get_bus(dev)->address_space_mem,
                                    &s->nobody);
    }
    meridian_take_out(s);
    meridian_pf_exit(dev);
}

static const Property meridian_properties[] = {
    DEFINE_PROP_STRING("socket", MeridianCard, path),
    DEFINE_PROP_UINT8("pfs", MeridianCard, pfs, 1),
};

static void meridian_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);

    k->realize = meridian_realize;
    k->exit = meridian_exit;
    dc->desc = "Meridian SmartNIC, played by a card process";
    dc->user_creatable = true;
    device_class_set_props(dc, meridian_properties);
}

static const TypeInfo meridian_info = {
    .name = TYPE_MERIDIAN,
    .parent = TYPE_MERIDIAN_PF,
    .instance_size = sizeof(MeridianCard),
    .class_init = meridian_class_init,
};

static void meridian_register(void)
{
    type_register_static(&meridian_info);
}

type_init(meridian_register)
