/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function of a Meridian card as QEMU sees it: a thin PCI shell whose BARs
 * are the card process's.
 */
#ifndef HW_NET_MERIDIAN_H
#define HW_NET_MERIDIAN_H

#include "hw/pci/pci_device.h"
#include "qom/object.h"
#include "meridian_link_client.h"

#define TYPE_MERIDIAN_FUNCTION "meridian-function"
OBJECT_DECLARE_SIMPLE_TYPE(MeridianFunction, MERIDIAN_FUNCTION)

#define TYPE_MERIDIAN_PF "meridian-pf"
OBJECT_DECLARE_SIMPLE_TYPE(MeridianPf, MERIDIAN_PF)

#define TYPE_MERIDIAN "meridian"
OBJECT_DECLARE_SIMPLE_TYPE(MeridianCard, MERIDIAN)

#define TYPE_MERIDIAN_VF "meridian-vf"

#define MERIDIAN_VENDOR_ID 0x10ee
#define MERIDIAN_SUBSYSTEM_ID 0x4d52
#define MERIDIAN_MAX_PFS 4
#define MERIDIAN_MAX_FUNCTIONS 256
#define MERIDIAN_FIRST_VF 4 /* PFs are 0 to 3 in the card */
/* The type of BAR4: it may be written in lines. */
#define MERIDIAN_WINDOW \
    (PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH)
#define MERIDIAN_NEXT_PF 0x100 /* from one PF's device id to the next one's */

typedef struct MeridianBar {
    MemoryRegion region;
    MeridianFunction *function;
    unsigned number;
} MeridianBar;

struct MeridianFunction {
    PCIDevice parent_obj;

    MeridianLink *link; /* PF 0's, with a reference of this function's own */
    unsigned number;    /* in the card */
    unsigned parent;    /* the number of its PF, its own for a PF */
    bool enabled;       /* the card knows that it may access memory */
    MeridianBar config; /* BAR0: the QDMA IP */
    MeridianBar user;   /* BAR2: the shell */
    MeridianBar window; /* BAR4: frames that are pushed; not on every card */
};

struct MeridianPf {
    MeridianFunction parent_obj;

    MeridianCard *card; /* NULL: its slot has given it up */
    uint16_t vectors;
    uint16_t vfs;
    unsigned first_vf; /* its number in the card; the others follow */
};

/* PF 0. */
struct MeridianCard {
    MeridianPf parent_obj;

    char *path;
    uint8_t pfs;
    uint16_t most_vfs;   /* of each PF, as the user asks for them */
    MemoryRegion nobody; /* behind the card's port, where no BAR is */
    MeridianPf *pf[MERIDIAN_MAX_PFS]; /* NULL: not there */
};

/* What differs between PF and VF in their BARs and capabilities. */
typedef struct MeridianLayout {
    uint64_t bar0_bytes;
    uint64_t bar2_bytes;
    uint64_t bar4_bytes; /* 0: there is none */
    uint32_t msix_table; /* in BAR0 */
    uint32_t msix_pba;
    uint16_t vectors;
} MeridianLayout;

/* BARs and capabilities up to AER and ARI; f's link and numbers are set. */
bool meridian_function_init(MeridianFunction *f, const MeridianLayout *layout,
                            Error **errp);
void meridian_function_exit(MeridianFunction *f);

/* Where a guest that knows ARI looks for another function; 0: nowhere. */
void meridian_function_set_next(MeridianFunction *f, unsigned number);

/* True inside the reset of a function by itself. */
bool meridian_function_in_flr(MeridianFunction *f);

void meridian_function_write_config(PCIDevice *dev, uint32_t address,
                                    uint32_t value, int bytes);

/* card, link, number, vectors, vfs and first_vf are set. */
bool meridian_pf_init(MeridianPf *pf, Error **errp);
void meridian_pf_exit(PCIDevice *dev);

/* Those that the guest has enabled. */
unsigned meridian_pf_vfs(MeridianPf *pf);

#endif
