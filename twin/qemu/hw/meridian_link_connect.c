/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the link to the card process begins, and begins again.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "hw/net/trace.h"
#include "meridian_link_internal.h"

/* A guest has found the one before; another one would surprise it. */
static bool meridian_link_same(const struct meridian_link_welcome *one,
                               const struct meridian_link_welcome *other)
{
    return one->bar0_bytes == other->bar0_bytes &&
           one->bar2_bytes == other->bar2_bytes &&
           one->vf_bar0_bytes == other->vf_bar0_bytes &&
           one->vf_bar2_bytes == other->vf_bar2_bytes &&
           one->bar4_bytes == other->bar4_bytes &&
           one->vf_bar4_bytes == other->vf_bar4_bytes &&
           one->functions == other->functions && one->ports == other->ports &&
           one->device_id == other->device_id &&
           !memcmp(one->vfs, other->vfs, sizeof(one->vfs)) &&
           one->vf_device_id == other->vf_device_id;
}

static void meridian_link_welcome_swap(struct meridian_link_welcome *w)
{
    le32_to_cpus(&w->magic);
    le16_to_cpus(&w->version);
    le16_to_cpus(&w->functions);
    le16_to_cpus(&w->queues);
    le32_to_cpus(&w->build_hash);
    le32_to_cpus(&w->build_date);
    le32_to_cpus(&w->bar0_bytes);
    le32_to_cpus(&w->bar2_bytes);
    le32_to_cpus(&w->vf_bar0_bytes);
    le32_to_cpus(&w->vf_bar2_bytes);
    le32_to_cpus(&w->bar4_bytes);
    le32_to_cpus(&w->vf_bar4_bytes);
    le16_to_cpus(&w->device_id);
    le16_to_cpus(&w->vf_device_id);
    le64_to_cpus(&w->time_ps);
}

static void meridian_link_arm(MeridianLink *link, int ms)
{
    timer_mod(link->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + ms);
}

/* Why this welcome will not do; NULL if it will. */
static char *meridian_link_refuse(MeridianLink *link,
                                  const struct meridian_link_header *header,
                                  const uint8_t *payload, uint32_t bytes,
                                  struct meridian_link_welcome *w)
{
    if (header->type == MERIDIAN_LINK_ERROR ||
        (header->type == (MERIDIAN_LINK_HELLO | MERIDIAN_LINK_REPLY) &&
         header->status != MERIDIAN_LINK_OK)) {
        return g_strdup_printf("it does not welcome us: %.*s", (int)bytes,
                               (const char *)payload);
    }
    if (header->type != (MERIDIAN_LINK_HELLO | MERIDIAN_LINK_REPLY)) {
        return g_strdup_printf("it sent a message of type %u for a welcome",
                               header->type);
    }
    if (bytes != sizeof(*w)) {
        return g_strdup_printf("it welcomes with %u bytes, not %zu", bytes,
                               sizeof(*w));
    }
    memcpy(w, payload, sizeof(*w));
    meridian_link_welcome_swap(w);
    if (w->magic != MERIDIAN_LINK_MAGIC ||
        w->version != MERIDIAN_LINK_VERSION) {
        return g_strdup_printf("it speaks version %u of the link, this QEMU "
                               "version %u", w->version,
                               MERIDIAN_LINK_VERSION);
    }
    if (link->welcome.magic && !meridian_link_same(w, &link->welcome)) {
        return g_strdup("it is not like the one before");
    }
    return NULL;
}

/* Takes the answer to HELLO. */
static void meridian_link_greeted(MeridianLink *link,
                                  const struct meridian_link_header *header,
                                  const uint8_t *payload, uint32_t bytes)
{
    bool first = !link->welcome.magic;
    struct meridian_link_welcome w;
    g_autofree char *refused = meridian_link_refuse(link, header, payload,
                                                    bytes, &w);

    if (refused) {
        meridian_link_lose(link, "%s", refused);
        return;
    }
    timer_del(link->timer);
    link->welcome = w;
    link->state = MERIDIAN_LINK_UP;
    trace_meridian_connected(link->path, w.ports, w.pfs, w.build_hash);
    if (!first) {
        info_report("meridian: the card at %s is back", link->path);
        link->ops->back(link->opaque);
    }
}

/* Takes one message of the card. */
static void meridian_link_take(void *opaque,
                               const struct meridian_link_header *header,
                               const uint8_t *payload, uint32_t bytes)
{
    MeridianLink *link = opaque;

    if (link->state == MERIDIAN_LINK_GREETING) {
        meridian_link_greeted(link, header, payload, bytes);
    } else if (link->state == MERIDIAN_LINK_UP) {
        meridian_link_serve(link, header, payload, bytes);
    }
}

static void meridian_link_readable(void *opaque)
{
    MeridianLink *link = meridian_link_ref(opaque);

    meridian_link_receive(link, 0);
    meridian_link_unref(link);
}

/* Sends HELLO; the answer comes by itself, or the timer. */
static bool meridian_link_begin(MeridianLink *link, Error **errp)
{
    struct meridian_link_header header = { .type = MERIDIAN_LINK_HELLO };
    struct meridian_link_hello hello = {
        .magic = cpu_to_le32(MERIDIAN_LINK_MAGIC),
        .version = cpu_to_le16(MERIDIAN_LINK_VERSION),
        .role = cpu_to_le16(link->role),
        .name = "qemu",
    };

    if (!meridian_link_socket_connect(&link->socket, link->path,
                                      meridian_link_take, link, errp)) {
        return false;
    }
    link->state = MERIDIAN_LINK_GREETING;
    qemu_set_fd_handler(link->socket.fd, meridian_link_readable, NULL, link);
    meridian_link_arm(link, MERIDIAN_LINK_PATIENCE_MS);
    if (!meridian_link_socket_send(&link->socket, &header, &hello,
                                   sizeof(hello))) {
        meridian_link_lose(link, "it has gone");
    }
    return true;
}

/* From the main loop, so nobody waits for an answer meanwhile. */
static void meridian_link_timer(void *opaque)
{
    MeridianLink *link = opaque;

    if (link->state == MERIDIAN_LINK_GREETING) {
        meridian_link_lose(link, "no welcome for %d s",
                           MERIDIAN_LINK_PATIENCE_MS / 1000);
        return;
    }
    meridian_link_socket_close(&link->socket);
    if (!meridian_link_begin(link, NULL)) {
        meridian_link_arm(link, MERIDIAN_LINK_RETRY_MS);
    }
}

MeridianLink *meridian_link_open(const char *path,
                                 enum meridian_link_role role,
                                 const MeridianLinkOps *ops, void *opaque,
                                 Error **errp)
{
    MeridianLink *link = g_new0(MeridianLink, 1);
    int64_t deadline = qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                       MERIDIAN_LINK_PATIENCE_MS;

    link->references = 1;
    link->state = MERIDIAN_LINK_LOST;
    link->socket.fd = -1;
    link->role = role;
    link->ops = ops;
    link->opaque = opaque;
    link->path = g_strdup(path);
    link->timer = timer_new_ms(QEMU_CLOCK_REALTIME, meridian_link_timer, link);
    QLIST_INIT(&link->waits);
    if (meridian_link_begin(link, errp)) {
        while (link->state == MERIDIAN_LINK_GREETING) {
            int64_t now = qemu_clock_get_ms(QEMU_CLOCK_REALTIME);

            if (now < deadline) {
                meridian_link_receive(link, deadline - now);
            } else {
                meridian_link_lose(link, "no welcome for %d s",
                                   MERIDIAN_LINK_PATIENCE_MS / 1000);
            }
        }
        if (link->state == MERIDIAN_LINK_UP) {
            return link;
        }
        error_setg(errp, "the card at %s: %s", link->path, link->why);
    }
    meridian_link_close(link);
    meridian_link_unref(link);
    return NULL;
}

void meridian_link_close(MeridianLink *link)
{
    link->state = MERIDIAN_LINK_CLOSED;
    timer_del(link->timer);
    if (link->socket.fd >= 0) {
        qemu_set_fd_handler(link->socket.fd, NULL, NULL, NULL);
        shutdown(link->socket.fd, SHUT_RDWR);
    }
}
