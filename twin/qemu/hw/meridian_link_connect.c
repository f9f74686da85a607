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
           one->functions == other->functions && one->ports == other->ports &&
           one->device_id == other->device_id &&
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
    le16_to_cpus(&w->device_id);
    le16_to_cpus(&w->vf_device_id);
    le64_to_cpus(&w->time_ps);
}

static bool meridian_link_hello(MeridianLink *link, Error **errp)
{
    struct meridian_link_welcome w;
    struct meridian_link_header header = { .type = MERIDIAN_LINK_HELLO };
    struct meridian_link_hello hello = {
        .magic = cpu_to_le32(MERIDIAN_LINK_MAGIC),
        .version = cpu_to_le16(MERIDIAN_LINK_VERSION),
        .role = cpu_to_le16(link->role),
        .name = "qemu",
    };
    MeridianLinkWait wait = {};

    if (!meridian_link_ask(link, &header, &hello, sizeof(hello), &wait)) {
        error_setg(errp, "the card at %s does not welcome us%s%s", link->path,
                   link->lost ? ": " : "", link->lost ? link->lost : "");
        return false;
    }
    if (wait.bytes != sizeof(w)) {
        error_setg(errp, "the card at %s welcomes with %u bytes, not %zu",
                   link->path, wait.bytes, sizeof(w));
        return false;
    }
    memcpy(&w, wait.payload, sizeof(w));
    meridian_link_welcome_swap(&w);
    if (w.magic != MERIDIAN_LINK_MAGIC || w.version != MERIDIAN_LINK_VERSION) {
        error_setg(errp, "the card at %s speaks version %u of the link, "
                   "this QEMU version %u", link->path, w.version,
                   MERIDIAN_LINK_VERSION);
        return false;
    }
    if (link->welcome.magic && !meridian_link_same(&w, &link->welcome)) {
        error_setg(errp, "the card at %s is not like the one before",
                   link->path);
        return false;
    }
    link->welcome = w;
    trace_meridian_connected(link->path, w.ports, w.pfs, w.build_hash);
    return true;
}

static bool meridian_link_connect(MeridianLink *link, Error **errp)
{
    if (!meridian_link_socket_connect(&link->socket, link->path,
                                      meridian_link_take, link, errp) ||
        !meridian_link_hello(link, errp)) {
        return false;
    }
    qemu_set_fd_handler(link->socket.fd, meridian_link_readable, NULL, link);
    return true;
}

/* From the main loop, so nobody waits for an answer meanwhile. */
static void meridian_link_retry(void *opaque)
{
    MeridianLink *link = opaque;
    Error *err = NULL;

    meridian_link_socket_close(&link->socket);
    g_clear_pointer(&link->lost, g_free);
    if (meridian_link_connect(link, &err)) {
        info_report("meridian: the card at %s is back", link->path);
        link->ops->back(link->opaque);
        return;
    }
    if (!link->lost) {
        link->lost = g_strdup(error_get_pretty(err));
    }
    error_free(err);
    timer_mod(link->retry, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                           MERIDIAN_LINK_RETRY_MS);
}

MeridianLink *meridian_link_open(const char *path,
                                 enum meridian_link_role role,
                                 const MeridianLinkOps *ops, void *opaque,
                                 Error **errp)
{
    MeridianLink *link = g_new0(MeridianLink, 1);

    link->socket.fd = -1;
    link->role = role;
    link->ops = ops;
    link->opaque = opaque;
    link->path = g_strdup(path);
    QLIST_INIT(&link->waits);
    if (!meridian_link_connect(link, errp)) {
        meridian_link_close(link);
        return NULL;
    }
    link->retry = timer_new_ms(QEMU_CLOCK_REALTIME, meridian_link_retry, link);
    return link;
}

void meridian_link_close(MeridianLink *link)
{
    if (link->socket.fd >= 0) {
        qemu_set_fd_handler(link->socket.fd, NULL, NULL, NULL);
    }
    meridian_link_socket_close(&link->socket);
    if (link->retry) {
        timer_free(link->retry);
    }
    g_free(link->lost);
    g_free(link->path);
    g_free(link);
}
