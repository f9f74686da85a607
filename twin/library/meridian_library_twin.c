// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lets programs of libmeridian have the simulated card. Preloaded, meridian_open("twin:SOCKET") joins the card process that
 * listens there, as its host, and takes PF 0. With "twin:SOCKET,function=N" it joins as that function alone, beside others
 * that do. Every other name is libmeridian's own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* memfd_create, RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../host-driver/library/meridian_bus.h"
#include "../card/include/meridian_link.h"

#define PATIENCE_MS	30000
#define PAGE		4096u
#define FIRST_ADDRESS	(1ull << 32)
#define FIRST_VF	4u
#define ALL_FUNCTIONS	0xffffu

/**
 * struct twin - a card process
 * @bus: what the library sees
 * @socket: the link
 * @tag: of the last request
 * @function: that it is
 * @next: address for memory
 * @gone: nothing answers any more
 * @text: what a reply said
 */
struct twin {
	struct meridian_bus bus;
	int socket;
	uint32_t tag;
	uint16_t function;
	uint64_t next;
	bool gone;
	char text[MERIDIAN_LINK_MAX_PAYLOAD + 1];
};

static bool send_all(struct twin *twin, struct meridian_link_header *header, const void *payload, size_t bytes, int file)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char message[sizeof(*header) + 512];
	ssize_t sent;
	struct iovec part = { message, sizeof(*header) + bytes };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1 };

	header->size = (uint32_t)part.iov_len;
	memcpy(message, header, sizeof(*header));
	memcpy(message + sizeof(*header), payload, bytes);
	if (file >= 0) {
		all.msg_control = &control;
		all.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &file, sizeof(int));
	}
	/* Messages are small, and the card takes them as they come. A signal of the program is nothing to the link. */
	do
		sent = sendmsg(twin->socket, &all, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)part.iov_len;
}

static bool receive(struct twin *twin, void *to, size_t bytes)
{
	struct pollfd waiting = { .fd = twin->socket, .events = POLLIN };
	char *next = to;

	while (bytes) {
		int ready = poll(&waiting, 1, PATIENCE_MS);
		ssize_t got = ready == 1 ? recv(twin->socket, next, bytes, 0) : -1;

		if (ready && got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		next += got;
		bytes -= (size_t)got;
	}
	return true;
}

/* Sends a request and takes messages until its reply has come, which is then in header. All memory is shared, so the card
 * asks for none of it by messages, but for reads of no bytes. */
static bool ask(struct twin *twin, struct meridian_link_header *header, const void *payload, size_t bytes, int file)
{
	struct meridian_link_header it;

	header->tag = ++twin->tag;
	header->function = twin->function;
	if (twin->gone || !send_all(twin, header, payload, bytes, file))
		goto gone;
	for (;;) {
		size_t size;

		if (!receive(twin, &it, sizeof(it)) || it.size < sizeof(it) ||
		    it.size - sizeof(it) > MERIDIAN_LINK_MAX_PAYLOAD)
			goto gone;
		size = it.size - sizeof(it);
		if (!receive(twin, twin->text, size))
			goto gone;
		twin->text[size] = '\0';
		if (it.type == MERIDIAN_LINK_DMA_READ) {
			it.type |= MERIDIAN_LINK_REPLY;
			it.status = it.value ? MERIDIAN_LINK_UNSUPPORTED : MERIDIAN_LINK_OK;
			it.value = 0;
			if (!send_all(twin, &it, NULL, 0, -1))
				goto gone;
		} else if (it.type & MERIDIAN_LINK_REPLY && it.tag == header->tag) {
			*header = it;
			return true;
		}
	}
gone:
	twin->gone = true;
	return false;
}

static uint32_t read_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	struct meridian_link_header it = { .type = MERIDIAN_LINK_BAR_READ, .bar = (uint8_t)bar, .width = 4, .address = offset };

	return ask((struct twin *)bus, &it, NULL, 0, -1) ? (uint32_t)it.value : UINT32_MAX;
}

static void write_bar(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	struct meridian_link_header it = { .type = MERIDIAN_LINK_BAR_WRITE, .bar = (uint8_t)bar, .width = 4,
		.address = offset, .value = value };
	struct twin *twin = (struct twin *)bus;

	it.function = twin->function;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!twin->gone && !send_all(twin, &it, NULL, 0, -1))
		twin->gone = true;
}

static int allocate(struct meridian_bus *bus, size_t bytes, struct meridian_memory *memory)
{
	struct meridian_link_header it = { .type = MERIDIAN_LINK_MEMORY };
	struct twin *twin = (struct twin *)bus;
	struct meridian_link_region region = { .writable = 1, .address = twin->next,
		.function = twin->function };
	int file = memfd_create("libmeridian", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	memory->huge = false;
	memory->address = twin->next;
	memory->size = (bytes + PAGE - 1) / PAGE * PAGE;
	memory->bytes = MAP_FAILED;
	region.bytes = memory->size;
	if (bytes <= SIZE_MAX / 2 && file >= 0 && !ftruncate(file, (off_t)memory->size) &&
	    !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
		memory->bytes = mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory->bytes != MAP_FAILED &&
	    (!ask(twin, &it, &region, sizeof(region), file) || it.status != MERIDIAN_LINK_OK)) {
		munmap(memory->bytes, memory->size);
		memory->bytes = MAP_FAILED;
	}
	if (file >= 0)
		close(file);
	if (memory->bytes == MAP_FAILED) {
		snprintf(bus->text, sizeof(bus->text), "the system, or the simulated card, has no %zu bytes more (%.100s)",
			 bytes, twin->text);
		return -ENOMEM;
	}
	twin->next += memory->size;
	return 0;
}

static void release(struct meridian_bus *bus, struct meridian_memory *memory)
{
	struct meridian_link_header it = { .type = MERIDIAN_LINK_FORGET, .address = memory->address };

	ask((struct twin *)bus, &it, NULL, 0, -1);
	munmap(memory->bytes, memory->size);
}

static void close_twin(struct meridian_bus *bus)
{
	struct twin *twin = (struct twin *)bus;

	if (twin->socket >= 0)
		close(twin->socket);
	free(twin);
}

/* Return: 0 or an errno. */
static int join(struct twin *twin, const char *path)
{
	struct meridian_link_header hello = { .type = MERIDIAN_LINK_HELLO }, enable = { .type = MERIDIAN_LINK_FUNCTION, .value = 1 };
	const char *function = strstr(path, ",function=");
	size_t length = function ? (size_t)(function - path) : strlen(path);
	struct meridian_link_hello words = { .magic = MERIDIAN_LINK_MAGIC, .version = MERIDIAN_LINK_VERSION,
		.role = MERIDIAN_LINK_PCIE, .name = "libmeridian" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct meridian_link_welcome welcome;

	if (length >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	memcpy(address.sun_path, path, length);
	if (function) {
		char *end;
		unsigned long number = strtoul(function + strlen(",function="), &end, 10);

		if (*end || number >= ALL_FUNCTIONS)
			return EINVAL;
		twin->function = (uint16_t)number;
		words.role = MERIDIAN_LINK_PCIE_FUNCTION;
		words.function = twin->function;
		/* Of a VF its parent, which is PF 0 in what is simulated. */
		enable.bar = twin->function < FIRST_VF ? (uint8_t)twin->function : 0;
	}
	twin->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (twin->socket < 0)
		return errno;
	while (connect(twin->socket, (struct sockaddr *)&address, sizeof(address)))
		if (errno != EINTR)
			return errno;
	if (!ask(twin, &hello, &words, sizeof(words), -1) || hello.status != MERIDIAN_LINK_OK)
		return EPROTO;
	memcpy(&welcome, twin->text, sizeof(welcome));
	twin->bus.bar2_bytes = twin->function < FIRST_VF ? welcome.bar2_bytes : welcome.vf_bar2_bytes;
	return ask(twin, &enable, NULL, 0, -1) && enable.status == MERIDIAN_LINK_OK ? 0 : EPROTO;
}

int meridian_open(const char *name, struct meridian **card)
{
	int (*own)(const char *name, struct meridian **card);
	struct twin *twin;
	int error;

	if (strncmp(name, "twin:", 5)) {
		*(void **)&own = dlsym(RTLD_NEXT, "meridian_open");
		return own ? own(name, card) : -ENOSYS;
	}
	twin = calloc(1, sizeof(*twin));
	if (!twin)
		return -ENOMEM;
	twin->next = FIRST_ADDRESS;
	twin->bus = (struct meridian_bus){ .read = read_bar, .write = write_bar, .allocate = allocate, .release = release,
		.close = close_twin };
	error = join(twin, name + 5);
	if (error) {
		snprintf(twin->bus.text, sizeof(twin->bus.text), "%.150s: no simulated card answers: %s", name, strerror(error));
		meridian_no_card(-error, twin->bus.text);
		close_twin(&twin->bus);
		return -error;
	}
	return meridian_attach(&twin->bus, name, card);
}
