/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of the Meridian link over a UNIX socket.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/sockets.h"
#include "qemu/timer.h"
#include "meridian_link_socket.h"

#define MERIDIAN_LINK_CHUNK 65536

/* The link is little endian; both ways are the same exchange. */
static void meridian_link_header_swap(struct meridian_link_header *header)
{
    le32_to_cpus(&header->size);
    le16_to_cpus(&header->type);
    le16_to_cpus(&header->status);
    le32_to_cpus(&header->tag);
    le16_to_cpus(&header->function);
    le64_to_cpus(&header->address);
    le64_to_cpus(&header->value);
}

bool meridian_link_socket_connect(MeridianLinkSocket *s, const char *path,
                                  MeridianLinkTake *take, void *opaque,
                                  Error **errp)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof(address.sun_path)) {
        error_setg(errp, "no card answers at %s: the path is longer than %zu "
                   "bytes", path, sizeof(address.sun_path) - 1);
        return false;
    }
    strcpy(address.sun_path, path);
    s->fd = qemu_socket(AF_UNIX, SOCK_STREAM, 0);
    if (s->fd < 0) {
        error_setg_errno(errp, errno, "no socket for the card at %s", path);
        return false;
    }
    /* A card that accepts nobody any more must not make us wait. */
    qemu_socket_set_nonblock(s->fd);
    if (RETRY_ON_EINTR(connect(s->fd, (struct sockaddr *)&address,
                               sizeof(address))) < 0) {
        error_setg_errno(errp, errno, "no card answers at %s", path);
        close(s->fd);
        s->fd = -1;
        return false;
    }
    s->take = take;
    s->opaque = opaque;
    s->in = g_byte_array_new();
    s->out = g_byte_array_new();
    s->pass = -1;
    return true;
}

void meridian_link_socket_close(MeridianLinkSocket *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
        g_byte_array_unref(s->in);
        g_byte_array_unref(s->out);
    }
}

/* False if the stream cannot be cut into messages any more. */
static bool meridian_link_socket_take_all(MeridianLinkSocket *s)
{
    while (s->in->len >= sizeof(struct meridian_link_header)) {
        struct meridian_link_header header;
        g_autofree uint8_t *payload = NULL;
        uint32_t bytes;

        memcpy(&header, s->in->data, sizeof(header));
        meridian_link_header_swap(&header);
        if (header.size < sizeof(header) ||
            header.size > sizeof(header) + MERIDIAN_LINK_MAX_PAYLOAD) {
            return false;
        }
        if (s->in->len < header.size) {
            break;
        }
        bytes = header.size - sizeof(header);
        payload = g_memdup2(s->in->data + sizeof(header), bytes);
        g_byte_array_remove_range(s->in, 0, header.size);
        s->take(s->opaque, &header, payload, bytes);
    }
    return true;
}

bool meridian_link_socket_receive(MeridianLinkSocket *s, int timeout_ms)
{
    GPollFD poll = { .fd = s->fd, .events = G_IO_IN };
    guint had = s->in->len;
    ssize_t got;

    if (g_poll(&poll, 1, timeout_ms) <= 0) {
        return true;
    }
    g_byte_array_set_size(s->in, had + MERIDIAN_LINK_CHUNK);
    got = RETRY_ON_EINTR(recv(s->fd, s->in->data + had, MERIDIAN_LINK_CHUNK,
                              0));
    g_byte_array_set_size(s->in, had + MAX(got, 0));
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        return false;
    }
    return meridian_link_socket_take_all(s);
}

static ssize_t meridian_link_socket_write(MeridianLinkSocket *s)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {};
    struct iovec part = { s->out->data, s->out->len };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    ssize_t sent;

    if (s->pass >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &s->pass, sizeof(int));
    }
    sent = RETRY_ON_EINTR(sendmsg(s->fd, &message, MSG_NOSIGNAL));
    if (sent >= 0) {
        s->pass = -1;
    }
    return sent;
}

static bool meridian_link_socket_flush(MeridianLinkSocket *s)
{
    int64_t deadline = qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                       MERIDIAN_LINK_PATIENCE_MS;

    while (s->out->len) {
        GPollFD poll = { .fd = s->fd, .events = G_IO_IN | G_IO_OUT };
        int64_t rest = deadline - qemu_clock_get_ms(QEMU_CLOCK_REALTIME);
        ssize_t sent = meridian_link_socket_write(s);

        if (sent >= 0) {
            g_byte_array_remove_range(s->out, 0, sent);
            continue;
        }
        if (errno != EAGAIN || rest <= 0) {
            return false;
        }
        /* The card may wait for an answer before it takes more. */
        g_poll(&poll, 1, rest);
        if ((poll.revents & ~G_IO_OUT) &&
            !meridian_link_socket_receive(s, 0)) {
            return false;
        }
    }
    return true;
}

bool meridian_link_socket_send(MeridianLinkSocket *s,
                               struct meridian_link_header *header,
                               const void *payload, uint32_t bytes)
{
    struct meridian_link_header wire = *header;
    bool ok;

    if (s->out->len > MERIDIAN_LINK_MAX_WAITING) {
        return false;
    }
    wire.size = sizeof(wire) + bytes;
    meridian_link_header_swap(&wire);
    g_byte_array_append(s->out, (uint8_t *)&wire, sizeof(wire));
    if (bytes) {
        g_byte_array_append(s->out, payload, bytes);
    }
    if (s->flushing) { /* the call further up sends what was added */
        return true;
    }
    s->flushing = true;
    ok = meridian_link_socket_flush(s);
    s->flushing = false;
    return ok;
}
