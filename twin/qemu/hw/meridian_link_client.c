/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host machine's end of the link to the card process.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/queue.h"
#include "qemu/timer.h"
#include "hw/net/trace.h"
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
    const MeridianLinkOps *ops;
    void *opaque;
    uint32_t tag;
    /* What is wrong. The socket stays open for who is still using it. */
    char *lost;
    QEMUTimer *retry; /* set once there has been a card */
    QLIST_HEAD(, MeridianLinkWait) waits;
    struct meridian_link_welcome welcome;
};

static void G_GNUC_PRINTF(2, 3)
meridian_link_lose(MeridianLink *link, const char *format, ...)
{
    va_list arguments;

    if (link->lost) {
        return;
    }
    va_start(arguments, format);
    link->lost = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    qemu_set_fd_handler(link->socket.fd, NULL, NULL, NULL);
    shutdown(link->socket.fd, SHUT_RDWR); /* the card need not wait for us */
    trace_meridian_lost(link->path, link->lost);
    if (link->retry) {
        error_report("meridian: the card at %s is lost: %s", link->path,
                     link->lost);
        timer_mod(link->retry, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                               MERIDIAN_LINK_RETRY_MS);
    }
}

static void meridian_link_send(MeridianLink *link,
                               struct meridian_link_header *header,
                               const void *payload, uint32_t bytes)
{
    if (!link->lost &&
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

static void meridian_link_take(void *opaque,
                               const struct meridian_link_header *header,
                               const uint8_t *payload, uint32_t bytes)
{
    MeridianLink *link = opaque;
    bool ok;

    if (link->lost) {
        return;
    }
    if (header->type & MERIDIAN_LINK_REPLY) {
        meridian_link_take_reply(link, header, payload, bytes);
        return;
    }
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
        trace_meridian_msix(header->function, header->value);
        link->ops->msix(link->opaque, header->function, header->value);
        break;
    case MERIDIAN_LINK_ERROR:
        meridian_link_lose(link, "%.*s", (int)bytes, payload);
        break;
    default:
        meridian_link_lose(link, "it sent a message of type %u", header->type);
    }
}

static void meridian_link_receive(MeridianLink *link, int timeout_ms)
{
    if (!meridian_link_socket_receive(&link->socket, timeout_ms)) {
        meridian_link_lose(link, "it has gone");
    }
}

static void meridian_link_readable(void *opaque)
{
    meridian_link_receive(opaque, 0);
}

/* False, with a sentence in the log, if there is no good answer. */
static bool meridian_link_ask(MeridianLink *link,
                              struct meridian_link_header *header,
                              const void *payload, uint32_t bytes,
                              MeridianLinkWait *wait)
{
    int64_t now = qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
    int64_t deadline = now + MERIDIAN_LINK_PATIENCE_MS;

    wait->tag = header->tag = ++link->tag;
    QLIST_INSERT_HEAD(&link->waits, wait, next);
    meridian_link_send(link, header, payload, bytes);
    while (!wait->done && !link->lost) {
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
        return false;
    }
    return wait->done;
}

/* A guest has found the one before; another one would surprise it. */
static bool meridian_link_same(const struct meridian_link_welcome *one,
                               const struct meridian_link_welcome *other)
{
    return one->bar0_bytes == other->bar0_bytes &&
           one->bar2_bytes == other->bar2_bytes &&
           one->vf_bar0_bytes == other->vf_bar0_bytes &&
           one->vf_bar2_bytes == other->vf_bar2_bytes &&
           one->functions == other->functions &&
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
        .role = cpu_to_le16(MERIDIAN_LINK_PCIE),
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

MeridianLink *meridian_link_open(const char *path, const MeridianLinkOps *ops,
                                 void *opaque, Error **errp)
{
    MeridianLink *link = g_new0(MeridianLink, 1);

    link->socket.fd = -1;
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
    meridian_link_send(link, &header, NULL, 0);
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
