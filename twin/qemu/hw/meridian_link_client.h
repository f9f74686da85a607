/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host machine's end of the link to the card process: registers, DMA,
 * interrupts, resets of every function of one card.
 *
 * All of it runs under the big QEMU lock. A call that waits for the card goes
 * on serving the card's DMA and interrupts. A card that leaves, says what
 * makes no sense, or does not answer for MERIDIAN_LINK_PATIENCE_MS, is lost:
 * reads are all ones from then on and writes go nowhere, as from a card that
 * was pulled out of its slot. Once a card of the same kind answers at the path,
 * it takes its place, in the state after a reset.
 */
#ifndef HW_NET_MERIDIAN_LINK_CLIENT_H
#define HW_NET_MERIDIAN_LINK_CLIENT_H

#include "meridian_link.h"

typedef struct MeridianLink MeridianLink;

/* What the card asks of the machine. */
typedef struct MeridianLinkOps {
    /* False if no memory is there or the function may not access it. */
    bool (*dma_read)(void *opaque, unsigned function, uint64_t address,
                     void *data, uint32_t bytes);
    bool (*dma_write)(void *opaque, unsigned function, uint64_t address,
                      const void *data, uint32_t bytes);
    void (*msix)(void *opaque, unsigned function, uint64_t vector);
    /* There is a card again, which has to be told who may access memory. */
    void (*back)(void *opaque);
} MeridianLinkOps;

MeridianLink *meridian_link_open(const char *path, const MeridianLinkOps *ops,
                                 void *opaque, Error **errp);
void meridian_link_close(MeridianLink *link);

/* In the host's byte order. */
const struct meridian_link_welcome *meridian_link_welcome(MeridianLink *link);

/* width: 1, 2, 4 or 8 bytes. All ones where nothing answers. */
uint64_t meridian_link_read(MeridianLink *link, unsigned function,
                            unsigned bar, uint64_t offset, unsigned width);
void meridian_link_write(MeridianLink *link, unsigned function, unsigned bar,
                         uint64_t offset, unsigned width, uint64_t value);

/* Lets a function access memory, as bus mastering does. */
void meridian_link_enable(MeridianLink *link, unsigned function,
                          unsigned parent, bool enabled);

/* Function level reset; returns when it is done. */
void meridian_link_reset_function(MeridianLink *link, unsigned function);

/* The slot's reset: the whole card. */
void meridian_link_reset(MeridianLink *link);

#endif
