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

/* Messages that come while one is carried out, by what a guest has made of it. */
#define MERIDIAN_LINK_MAX_DEPTH 8

/* A request on its way; it stands on the stack of who waits. */
typedef struct MeridianLinkWait {
    uint32_t tag;
    bool done;
    struct meridian_link_header reply;
    uint8_t payload[256]; /* cut if longer */
    uint32_t bytes;       /* before the cut */
    QLIST_ENTRY(MeridianLinkWait) next;
} MeridianLinkWait;

typedef enum MeridianLinkState {
    MERIDIAN_LINK_LOST,     /* the socket stays open for who is still using it */
    MERIDIAN_LINK_GREETING, /* HELLO is sent */
    MERIDIAN_LINK_UP,
    MERIDIAN_LINK_CLOSED,   /* for good: the device is gone */
} MeridianLinkState;

struct MeridianLink {
    unsigned references; /* the functions', and those of calls under way */
    MeridianLinkState state;
    MeridianLinkSocket socket;
    char *path;
    enum meridian_link_role role;
    const MeridianLinkOps *ops;
    void *opaque;
    uint32_t tag;
    unsigned depth; /* of messages being carried out */
    char *why;      /* it is lost; the first reason counts */
    QEMUTimer *timer; /* to greet the card again, or to give its welcome up */
    QLIST_HEAD(, MeridianLinkWait) waits;
    struct meridian_link_welcome welcome; /* its magic is 0 before the first */
};

/* Nothing more is sent or taken; begins again after a while. */
void G_GNUC_PRINTF(2, 3)
meridian_link_lose(MeridianLink *link, const char *format, ...);

/* Sends the card a message, if the link is up. */
void meridian_link_send(MeridianLink *link,
                        struct meridian_link_header *header,
                        const void *payload, uint32_t bytes);

/* Carries out a message of the card, or takes its answer, while the link is up. */
void meridian_link_serve(MeridianLink *link,
                         const struct meridian_link_header *header,
                         const uint8_t *payload, uint32_t bytes);

/* Takes what has come within timeout_ms. */
void meridian_link_receive(MeridianLink *link, int timeout_ms);

#endif
