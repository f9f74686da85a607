/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine's end of the link to the card process: registers, DMA, interrupts,
 * resets, of the host machine for every function of one card, or of the
 * processing system (PS).
 *
 * All of it runs under the big QEMU lock. A call that waits for the card goes
 * on serving the card's DMA and interrupts. A card that leaves, says what
 * makes no sense, lets more wait than it may ask for, or does not answer for
 * MERIDIAN_LINK_PATIENCE_MS, is lost: reads are all ones from then on and writes
 * go nowhere, as from a card that was pulled out of its slot; the PS's interrupt
 * line is low. Once a card of the same kind welcomes us at the path, which nobody
 * waits for, it takes its place, in the state after a reset.
 */
#ifndef HW_NET_MERIDIAN_LINK_CLIENT_H
#define HW_NET_MERIDIAN_LINK_CLIENT_H

#include "meridian_link.h"

typedef struct MeridianLink MeridianLink;

/* What the card asks of the machine. On the PS every function is 0. */
typedef struct MeridianLinkOps {
    /* False if no memory is there or the function may not access it. */
    bool (*dma_read)(void *opaque, unsigned function, uint64_t address,
                     void *data, uint32_t bytes);
    bool (*dma_write)(void *opaque, unsigned function, uint64_t address,
                      const void *data, uint32_t bytes);
    /* Of the host machine. */
    void (*msix)(void *opaque, unsigned function, uint64_t vector);
    /* Of the PS. */
    void (*interrupt)(void *opaque, bool level);
    /* There is a card again, which knows nothing of the machine's memory. */
    void (*back)(void *opaque);
} MeridianLinkOps;

/* Waits for the card's welcome. The caller has a reference. */
MeridianLink *meridian_link_open(const char *path,
                                 enum meridian_link_role role,
                                 const MeridianLinkOps *ops, void *opaque,
                                 Error **errp);

/*
 * The device is gone: from now on no op is called, and the link is as a lost
 * one. May come while the link's own calls are under way, as a guest can make
 * an interrupt's message unplug the card.
 */
void meridian_link_close(MeridianLink *link);

/* Whoever calls has a reference. The last one frees, after the close. */
MeridianLink *meridian_link_ref(MeridianLink *link);
void meridian_link_unref(MeridianLink *link);

/* In the host's byte order. */
const struct meridian_link_welcome *meridian_link_welcome(MeridianLink *link);

/* width: 1, 2, 4 or 8 bytes. All ones where nothing answers. */
uint64_t meridian_link_read(MeridianLink *link, unsigned function,
                            unsigned bar, uint64_t offset, unsigned width);
void meridian_link_write(MeridianLink *link, unsigned function, unsigned bar,
                         uint64_t offset, unsigned width, uint64_t value);

/*
 * Lets the card access memory by itself, for all functions: bytes of the file,
 * from its start on, stand at address. False if the card does not want that, as
 * when the file may shrink; all goes by messages then. Not while anybody waits
 * for the card.
 */
bool meridian_link_share(MeridianLink *link, uint64_t address, uint64_t bytes,
                         int fd);

/* Lets a function access memory, as bus mastering does. */
void meridian_link_enable(MeridianLink *link, unsigned function,
                          unsigned parent, bool enabled);

/* Function level reset; returns when it is done. */
void meridian_link_reset_function(MeridianLink *link, unsigned function);

/* The slot's reset: the whole card; or the PS's. */
void meridian_link_reset(MeridianLink *link);

#endif
