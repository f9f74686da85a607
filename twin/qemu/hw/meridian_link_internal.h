/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the link's client share.
 */
#ifndef HW_NET_MERIDIAN_LINK_INTERNAL_H
#define HW_NET_MERIDIAN_LINK_INTERNAL_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "meridian_link_client.h"
#include "meridian_link_socket.h"

#define MERIDIAN_LINK_RETRY_MS 500

/* A request on its way; it stands on the stack of who waits. */
typedef struct MeridianLinkWait {
    uint32_t tag;
    bool done;
    struct meridian_link_header reply;
    uint8_t payload[256]; /* cut if longer */
    uint32_t bytes;       /* before the cut */
    QLIST_ENTRY(MeridianLinkWait) next;
} MeridianLinkWait;

struct MeridianLink {
    MeridianLinkSocket socket;
    char *path;
    enum meridian_link_role role;
    const MeridianLinkOps *ops;
    void *opaque;
    uint32_t tag;
    /* What is wrong. The socket stays open for who is still using it. */
    char *lost;
    QEMUTimer *retry; /* set once there has been a card */
    QLIST_HEAD(, MeridianLinkWait) waits;
    struct meridian_link_welcome welcome;
};

/* One message of the card. */
MeridianLinkTake meridian_link_take;

/* What has come, without waiting; for the main loop. */
void meridian_link_readable(void *opaque);

/* False, with a sentence in the log, if there is no good answer. */
bool meridian_link_ask(MeridianLink *link, struct meridian_link_header *header,
                       const void *payload, uint32_t bytes,
                       MeridianLinkWait *wait);

#endif
