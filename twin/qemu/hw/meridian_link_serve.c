/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The card's messages while the link is up: what it asks of the machine, and its
 * answers.
 */
#include "qemu/osdep.h"
#include "hw/net/trace.h"
#include "meridian_link_internal.h"

static void meridian_link_serve_read(MeridianLink *link,
                                     const struct meridian_link_header *asked)
{
    struct meridian_link_header reply = *asked;
    g_autofree uint8_t *data = NULL;
    uint64_t bytes = asked->value;
    bool ok = true;

    if (bytes > MERIDIAN_LINK_MAX_PAYLOAD) {
        meridian_link_lose(link, "it reads %" PRIu64 " bytes at once", bytes);
        return;
    }
    if (bytes) {
        data = g_malloc(bytes);
        ok = link->ops->dma_read(link->opaque, asked->function, asked->address,
                                 data, bytes);
        trace_meridian_dma_read(asked->function, asked->address, bytes, ok);
    }
    reply.type |= MERIDIAN_LINK_REPLY;
    reply.status = ok ? MERIDIAN_LINK_OK : MERIDIAN_LINK_UNSUPPORTED;
    reply.value = 0;
    meridian_link_send(link, &reply, data, ok ? bytes : 0);
}

static void meridian_link_take_reply(MeridianLink *link,
                                     const struct meridian_link_header *header,
                                     const uint8_t *payload, uint32_t bytes)
{
    MeridianLinkWait *wait;

    QLIST_FOREACH(wait, &link->waits, next) {
        if (wait->tag == header->tag && !wait->done) {
            wait->done = true;
            wait->reply = *header;
            wait->bytes = bytes;
            memcpy(wait->payload, payload, MIN(bytes, sizeof(wait->payload)));
            return;
        }
    }
    meridian_link_lose(link, "it answers what nobody asked");
}

/* The host has vectors, the PS a line. */
static void meridian_link_interrupt(MeridianLink *link,
                                    const struct meridian_link_header *header)
{
    bool line = header->type == MERIDIAN_LINK_INTERRUPT;

    if (line != (link->role == MERIDIAN_LINK_AXI)) {
        meridian_link_lose(link, "it interrupts another kind of machine");
    } else if (line) {
        trace_meridian_interrupt(header->value);
        link->ops->interrupt(link->opaque, header->value);
    } else {
        trace_meridian_msix(header->function, header->value);
        link->ops->msix(link->opaque, header->function, header->value);
    }
}

static void meridian_link_carry_out(MeridianLink *link,
                                    const struct meridian_link_header *header,
                                    const uint8_t *payload, uint32_t bytes)
{
    bool ok;

    switch (header->type) {
    case MERIDIAN_LINK_DMA_READ:
        meridian_link_serve_read(link, header);
        break;
    case MERIDIAN_LINK_DMA_WRITE:
        ok = link->ops->dma_write(link->opaque, header->function,
                                  header->address, payload, bytes);
        trace_meridian_dma_write(header->function, header->address, bytes, ok);
        break;
    case MERIDIAN_LINK_MSIX:
    case MERIDIAN_LINK_INTERRUPT:
        meridian_link_interrupt(link, header);
        break;
    case MERIDIAN_LINK_ERROR:
        meridian_link_lose(link, "%.*s", (int)bytes, payload);
        break;
    default:
        meridian_link_lose(link, "it sent a message of type %u", header->type);
    }
}

void meridian_link_serve(MeridianLink *link,
                         const struct meridian_link_header *header,
                         const uint8_t *payload, uint32_t bytes)
{
    if (link->depth == MERIDIAN_LINK_MAX_DEPTH) {
        meridian_link_lose(link, "its interrupts cause one another");
    } else if (header->type & MERIDIAN_LINK_REPLY) {
        meridian_link_take_reply(link, header, payload, bytes);
    } else {
        link->depth++;
        meridian_link_carry_out(link, header, payload, bytes);
        link->depth--;
    }
}
