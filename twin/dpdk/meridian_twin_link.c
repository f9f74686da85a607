/* SPDX-License-Identifier: BSD-3-Clause */
/* The link to a card process: its messages, one thread that reads them, requests that wait. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../../host-driver/dpdk/meridian_compat.h"
#include "meridian_twin.h"

#define PATIENCE_S	30	/* for a reply */

/**
 * meridian_twin_send() - send a message whole
 * @twin: of any thread
 * @header: its size is filled in
 * @payload: behind it
 * @bytes: of the payload
 * @file: a descriptor that goes with it, or -1
 *
 * Return: 0 or -EIO when the card is gone.
 */
int
meridian_twin_send(struct meridian_twin *twin, struct meridian_link_header *header,
		   const void *payload, size_t bytes, int file)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec parts[2] = {
		{ .iov_base = header, .iov_len = sizeof(*header) },
		{ .iov_base = (void *)(uintptr_t)payload, .iov_len = bytes },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t left = sizeof(*header) + bytes;
	ssize_t sent;

	header->size = left;
	if (file >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &file, sizeof(int));
	}
	pthread_mutex_lock(&twin->send_lock);
	while (left) {
		sent = sendmsg(twin->socket, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			break;
		left -= sent;
		message.msg_control = NULL;
		message.msg_controllen = 0;
		while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
			sent -= message.msg_iov->iov_len;
			message.msg_iov++;
			message.msg_iovlen--;
		}
		if (message.msg_iovlen) {
			message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
			message.msg_iov->iov_len -= sent;
		}
	}
	pthread_mutex_unlock(&twin->send_lock);
	return left ? -EIO : 0;
}

/**
 * meridian_twin_ask() - send a request and wait for its reply
 * @twin: of any thread; requests take turns
 * @header: becomes that of the reply
 * @payload: behind it
 * @bytes: of the payload
 * @file: a descriptor that goes with it, or -1
 *
 * Return: 0, -EIO when the card is gone or silent, -EINVAL when it refuses; the log says why.
 */
int
meridian_twin_ask(struct meridian_twin *twin, struct meridian_link_header *header,
		  const void *payload, size_t bytes, int file)
{
	struct timespec limit;
	int error = 0;

	pthread_mutex_lock(&twin->ask_lock);
	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&twin->reply_lock);
	header->tag = ++twin->tag;
	twin->is_waiting = !twin->is_gone;
	pthread_mutex_unlock(&twin->reply_lock);

	if (meridian_twin_send(twin, header, payload, bytes, file))
		error = -EIO;
	pthread_mutex_lock(&twin->reply_lock);
	while (!error && twin->is_waiting && !twin->is_gone)
		error = -pthread_cond_timedwait(&twin->replied, &twin->reply_lock, &limit);
	if (error == -ETIMEDOUT)
		TWIN_LOG(ERR, "%s: no answer to a request for %u s", twin->bus.card,
			 PATIENCE_S);
	if (error || twin->is_waiting || twin->is_gone)
		error = -EIO;
	else
		*header = twin->reply;
	twin->is_waiting = false;
	if (!error && header->status != MERIDIAN_LINK_OK &&
	    header->status != MERIDIAN_LINK_UNSUPPORTED) {
		TWIN_LOG(ERR, "%s: %s", twin->bus.card, twin->payload);
		error = -EINVAL;
	}
	pthread_mutex_unlock(&twin->reply_lock);
	pthread_mutex_unlock(&twin->ask_lock);
	return error;
}

/* Return: whether all of it came. */
static bool
receive(struct meridian_twin *twin, void *to, size_t bytes)
{
	char *next = to;
	ssize_t got;

	while (bytes) {
		got = recv(twin->socket, next, bytes, MSG_WAITALL);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		next += got;
		bytes -= got;
	}
	return true;
}

/* DMA to what is not shared. What is no memory of EAL's is not read, and not written. */
static void
serve_dma(struct meridian_twin *twin, struct meridian_link_header *header, const void *data,
	  size_t bytes)
{
	bool is_read = header->type == MERIDIAN_LINK_DMA_READ;
	size_t count = is_read ? header->value : bytes;
	void *place = count ? meridian_twin_find(header->address, count) : NULL;

	twin->dma_messages += count != 0;
	if (count && place == NULL)
		TWIN_LOG(WARNING, "%s: DMA of %zu bytes at %#" PRIx64 ", which is no memory of EAL's",
			 twin->bus.card, count, header->address);
	if (!is_read) {
		if (place != NULL)
			memcpy(place, data, count);
		return;
	}
	header->type |= MERIDIAN_LINK_REPLY;
	header->value = 0;
	if (count && place == NULL)
		header->status = MERIDIAN_LINK_UNSUPPORTED;
	meridian_twin_send(twin, header, place, place != NULL ? count : 0, -1);
}

static void
take_reply(struct meridian_twin *twin, const struct meridian_link_header *header,
	   const char *payload, size_t bytes)
{
	pthread_mutex_lock(&twin->reply_lock);
	if (twin->is_waiting && header->tag == twin->tag) {
		bytes = bytes < sizeof(twin->payload) ? bytes : sizeof(twin->payload) - 1;
		twin->reply = *header;
		memcpy(twin->payload, payload, bytes);
		twin->payload[bytes] = '\0';
		twin->is_waiting = false;
		pthread_cond_signal(&twin->replied);
	}
	pthread_mutex_unlock(&twin->reply_lock);
}

static void
take(struct meridian_twin *twin, struct meridian_link_header *header, char *payload, size_t bytes)
{
	payload[bytes] = '\0';
	if (header->type & MERIDIAN_LINK_REPLY)
		take_reply(twin, header, payload, bytes);
	else if (header->type == MERIDIAN_LINK_DMA_READ || header->type == MERIDIAN_LINK_DMA_WRITE)
		serve_dma(twin, header, payload, bytes);
	else if (header->type == MERIDIAN_LINK_ERROR)
		TWIN_LOG(ERR, "%s: %s", twin->bus.card, payload);
}

static MERIDIAN_THREAD_RESULT
serve(void *argument)
{
	struct meridian_twin *twin = argument;
	struct meridian_link_header header;
	char *payload = malloc(MERIDIAN_LINK_MAX_PAYLOAD + 1);

	while (payload != NULL && receive(twin, &header, sizeof(header)) &&
	       header.size >= sizeof(header) &&
	       header.size - sizeof(header) <= MERIDIAN_LINK_MAX_PAYLOAD &&
	       receive(twin, payload, header.size - sizeof(header)))
		take(twin, &header, payload, header.size - sizeof(header));
	free(payload);
	pthread_mutex_lock(&twin->reply_lock);
	twin->is_gone = true;
	pthread_cond_broadcast(&twin->replied);
	pthread_mutex_unlock(&twin->reply_lock);
	return 0;
}

static int
greet(struct meridian_twin *twin)
{
	struct meridian_link_header header = { .type = MERIDIAN_LINK_HELLO };
	struct meridian_link_hello hello = {
		.magic = MERIDIAN_LINK_MAGIC,
		.version = MERIDIAN_LINK_VERSION,
		.role = MERIDIAN_LINK_PCIE_FUNCTION,
		.function = twin->function,
	};
	int error;

	snprintf(hello.name, sizeof(hello.name), "DPDK, process %d", getpid());
	error = meridian_twin_ask(twin, &header, &hello, sizeof(hello), -1);
	if (error)
		return error;
	memcpy(&twin->welcome, twin->payload, sizeof(twin->welcome));
	if (twin->welcome.magic == MERIDIAN_LINK_MAGIC &&
	    twin->welcome.version == MERIDIAN_LINK_VERSION)
		return 0;
	TWIN_LOG(ERR, "%s: this is no card, or speaks another version of the link than %u",
		 twin->bus.card, MERIDIAN_LINK_VERSION);
	return -EPROTO;
}

/**
 * meridian_twin_connect() - join a card process as the twin's function
 * @twin: all zero but for its bus's card and its function
 * @path: of the card's socket
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_twin_connect(struct meridian_twin *twin, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_condattr_t monotonic;
	int error;

	if (strlen(path) >= sizeof(address.sun_path)) {
		TWIN_LOG(ERR, "socket=%s: the path is too long", path);
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	twin->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (twin->socket < 0 ||
	    connect(twin->socket, (struct sockaddr *)&address, sizeof(address))) {
		error = -errno;
		TWIN_LOG(ERR, "no card answers at %s: %s", path, strerror(errno));
		if (twin->socket >= 0)
			close(twin->socket);
		return error;
	}
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&twin->replied, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&twin->ask_lock, NULL);
	pthread_mutex_init(&twin->send_lock, NULL);
	pthread_mutex_init(&twin->reply_lock, NULL);
	error = meridian_start_thread(&twin->server, "mrd-twin", serve, twin);
	if (error) {
		close(twin->socket);
		return error;
	}
	error = greet(twin);
	if (error)
		meridian_twin_disconnect(twin);
	return error;
}

/* Leaves: the card resets the function. */
void
meridian_twin_disconnect(struct meridian_twin *twin)
{
	shutdown(twin->socket, SHUT_RDWR);
	pthread_join(twin->server, NULL);
	close(twin->socket);
	pthread_cond_destroy(&twin->replied);
	pthread_mutex_destroy(&twin->ask_lock);
	pthread_mutex_destroy(&twin->send_lock);
	pthread_mutex_destroy(&twin->reply_lock);
}
