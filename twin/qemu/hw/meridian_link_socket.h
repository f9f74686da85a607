/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the Meridian link over a UNIX socket: sending without ever
 * blocking for good, cutting what comes into messages. Every call is bounded
 * by MERIDIAN_LINK_PATIENCE_MS.
 */
#ifndef HW_NET_MERIDIAN_LINK_SOCKET_H
#define HW_NET_MERIDIAN_LINK_SOCKET_H

#include "meridian_link.h"

/*
 * The card gives a client 10 s for an answer; we give the card longer, but not
 * so long that a guest takes its own processor for stuck (20 s in Linux).
 */
#define MERIDIAN_LINK_PATIENCE_MS 15000

/* What may wait for a card that does not read: all it may ask for, and more. */
#define MERIDIAN_LINK_MAX_WAITING (2 * MERIDIAN_LINK_MAX_READ_BYTES)

/*
 * One message. It may send, and may come to be called again while it does; so
 * the payload is its own copy.
 */
typedef void MeridianLinkTake(void *opaque,
                              const struct meridian_link_header *header,
                              const uint8_t *payload, uint32_t bytes);

typedef struct MeridianLinkSocket {
    int fd; /* -1: not connected */
    MeridianLinkTake *take;
    void *opaque;
    GByteArray *in;
    GByteArray *out;
    bool flushing;
    int pass; /* a file descriptor that goes with the next message; -1: none */
} MeridianLinkSocket;

/* Without waiting. An error names the path. */
bool meridian_link_socket_connect(MeridianLinkSocket *s, const char *path,
                                  MeridianLinkTake *take, void *opaque,
                                  Error **errp);
void meridian_link_socket_close(MeridianLinkSocket *s);

/*
 * Sends header and payload; header->size is set here. While the card takes
 * nothing, what it sends is taken. False if the card is gone, or lets more than
 * MERIDIAN_LINK_MAX_WAITING wait for it.
 */
bool meridian_link_socket_send(MeridianLinkSocket *s,
                               struct meridian_link_header *header,
                               const void *payload, uint32_t bytes);

/*
 * Waits up to timeout_ms for something to come, and takes all that is there.
 * False if the card is gone or has sent what no message can be.
 */
bool meridian_link_socket_receive(MeridianLinkSocket *s, int timeout_ms);

#endif
