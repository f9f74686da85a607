/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine's end of the link to the card process: requests, and what the card
 * asks for.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "hw/net/trace.h"
#include "meridian_link_internal.h"

MeridianLink *meridian_link_ref(MeridianLink *link)
{
    link->references++;
    return link;
}

void meridian_link_unref(MeridianLink *link)
{
    if (--link->references) {
        return;
    }
    assert(link->state == MERIDIAN_LINK_CLOSED);
    meridian_link_socket_close(&link->socket);
    timer_free(link->timer);
    g_free(link->why);
    g_free(link->path);
    g_free(link);
}

void meridian_link_lose(MeridianLink *link, const char *format, ...)
{
    MeridianLinkState was = link->state;
    va_list arguments;

    if (was == MERIDIAN_LINK_LOST || was == MERIDIAN_LINK_CLOSED) {
        return;
    }
    g_free(link->why);
    va_start(arguments, format);
    link->why = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    link->state = MERIDIAN_LINK_LOST;
    qemu_set_fd_handler(link->socket.fd, NULL, NULL, NULL);
    shutdown(link->socket.fd, SHUT_RDWR); /* the card need not wait for us */
    trace_meridian_lost(link->path, link->why);
    timer_mod(link->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                           MERIDIAN_LINK_RETRY_MS);
    if (was == MERIDIAN_LINK_UP) {
        error_report("meridian: the card at %s is lost: %s", link->path,
                     link->why);
        if (link->role == MERIDIAN_LINK_AXI) {
            link->ops->interrupt(link->opaque, false);
        }
    }
}

static void meridian_link_send(MeridianLink *link,
                               struct meridian_link_header *header,
                               const void *payload, uint32_t bytes)
{
    if (link->state == MERIDIAN_LINK_UP &&
        !meridian_link_socket_send(&link->socket, header, payload, bytes)) {
        meridian_link_lose(link, "it has gone or takes nothing more");
    }
}

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

void meridian_link_take(void *opaque,
                        const struct meridian_link_header *header,
                        const uint8_t *payload, uint32_t bytes)
{
    MeridianLink *link = opaque;

    if (link->state == MERIDIAN_LINK_GREETING) {
        meridian_link_greeted(link, header, payload, bytes);
    } else if (link->state != MERIDIAN_LINK_UP) {
        return;
    } else if (link->depth == MERIDIAN_LINK_MAX_DEPTH) {
        meridian_link_lose(link, "its interrupts cause one another");
    } else if (header->type & MERIDIAN_LINK_REPLY) {
        meridian_link_take_reply(link, header, payload, bytes);
    } else {
        link->depth++;
        meridian_link_carry_out(link, header, payload, bytes);
        link->depth--;
    }
}

void meridian_link_receive(MeridianLink *link, int timeout_ms)
{
    if (!meridian_link_socket_receive(&link->socket, timeout_ms)) {
        meridian_link_lose(link, "it has gone");
    }
}

/* False, with a sentence in the log, if there is no good answer. */
static bool meridian_link_ask(MeridianLink *link,
                              struct meridian_link_header *header,
                              const void *payload, uint32_t bytes,
                              MeridianLinkWait *wait)
{
    int64_t now = qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
    int64_t deadline = now + MERIDIAN_LINK_PATIENCE_MS;

    if (link->state != MERIDIAN_LINK_UP) {
        return false;
    }
    meridian_link_ref(link);
    wait->tag = header->tag = ++link->tag;
    QLIST_INSERT_HEAD(&link->waits, wait, next);
    meridian_link_send(link, header, payload, bytes);
    while (!wait->done && link->state == MERIDIAN_LINK_UP) {
        now = qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
        if (now >= deadline) {
            meridian_link_lose(link, "no answer for %d s",
                               MERIDIAN_LINK_PATIENCE_MS / 1000);
            break;
        }
        meridian_link_receive(link, deadline - now);
    }
    QLIST_REMOVE(wait, next);
    if (wait->done && (wait->reply.status == MERIDIAN_LINK_INVALID ||
                       wait->reply.status == MERIDIAN_LINK_BUSY)) {
        error_report("meridian: the card at %s refused: %.*s", link->path,
                     (int)MIN(wait->bytes, sizeof(wait->payload)),
                     wait->payload);
        wait->done = false;
    }
    meridian_link_unref(link);
    return wait->done;
}

const struct meridian_link_welcome *meridian_link_welcome(MeridianLink *link)
{
    return &link->welcome;
}

uint64_t meridian_link_read(MeridianLink *link, unsigned function,
                            unsigned bar, uint64_t offset, unsigned width)
{
    struct meridian_link_header header = {
        .type = MERIDIAN_LINK_BAR_READ, .function = function, .bar = bar,
        .width = width, .address = offset,
    };
    uint64_t value = MAKE_64BIT_MASK(0, 8 * width);
    MeridianLinkWait wait = {};

    if (meridian_link_ask(link, &header, NULL, 0, &wait) &&
        wait.reply.status == MERIDIAN_LINK_OK) {
        value &= wait.reply.value;
    }
    trace_meridian_bar_read(function, bar, offset, width, value);
    return value;
}

void meridian_link_write(MeridianLink *link, unsigned function, unsigned bar,
                         uint64_t offset, unsigned width, uint64_t value)
{
    struct meridian_link_header header = {
        .type = MERIDIAN_LINK_BAR_WRITE, .function = function, .bar = bar,
        .width = width, .address = offset, .value = value,
    };

    trace_meridian_bar_write(function, bar, offset, width, value);
    meridian_link_ref(link);
    meridian_link_send(link, &header, NULL, 0);
    meridian_link_unref(link);
}

bool meridian_link_share(MeridianLink *link, uint64_t address, uint64_t bytes,
                         int fd)
{
    struct meridian_link_header header = { .type = MERIDIAN_LINK_MEMORY };
    struct meridian_link_region region = {
        .address = cpu_to_le64(address), .bytes = cpu_to_le64(bytes),
        .function = cpu_to_le16(MERIDIAN_LINK_ALL_FUNCTIONS), .writable = 1,
    };
    MeridianLinkWait wait = {};
    bool ok;

    if (link->state != MERIDIAN_LINK_UP) {
        return false;
    }
    link->socket.pass = fd;
    ok = meridian_link_ask(link, &header, &region, sizeof(region), &wait);
    trace_meridian_memory(address, bytes, ok);
    return ok;
}

void meridian_link_enable(MeridianLink *link, unsigned function,
                          unsigned parent, bool enabled)
{
    struct meridian_link_header header = {
        .type = MERIDIAN_LINK_FUNCTION, .function = function, .bar = parent,
        .value = enabled,
    };
    MeridianLinkWait wait = {};

    trace_meridian_function(function, enabled);
    meridian_link_ask(link, &header, NULL, 0, &wait);
}

void meridian_link_reset_function(MeridianLink *link, unsigned function)
{
    struct meridian_link_header header = {
        .type = MERIDIAN_LINK_RESET_FUNCTION, .function = function,
    };
    MeridianLinkWait wait = {};

    trace_meridian_reset_function(function);
    meridian_link_ask(link, &header, NULL, 0, &wait);
}

void meridian_link_reset(MeridianLink *link)
{
    struct meridian_link_header header = { .type = MERIDIAN_LINK_RESET };
    MeridianLinkWait wait = {};

    trace_meridian_reset();
    meridian_link_ask(link, &header, NULL, 0, &wait);
}
