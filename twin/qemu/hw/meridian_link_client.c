/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine's end of the link to the card process: what it asks of the card.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "hw/net/trace.h"
#include "meridian_link_internal.h"

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
