/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the link to the card process is up, what it carries, and who has it.
 */
#include "qemu/osdep.h"
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

void meridian_link_send(MeridianLink *link,
                        struct meridian_link_header *header,
                        const void *payload, uint32_t bytes)
{
    if (link->state == MERIDIAN_LINK_UP &&
        !meridian_link_socket_send(&link->socket, header, payload, bytes)) {
        meridian_link_lose(link, "it has gone or takes nothing more");
    }
}

void meridian_link_receive(MeridianLink *link, int timeout_ms)
{
    if (!meridian_link_socket_receive(&link->socket, timeout_ms)) {
        meridian_link_lose(link, "it has gone");
    }
}
