// SPDX-License-Identifier: Apache-2.0
/*
 * Sends UDP datagrams whose payload lies in pieces of memory, which Linux hands on as they are:
 * pieces_tool ADDRESS PORT LAYOUT...
 * A LAYOUT is that of a datagram: LENGTH@OFFSET of each piece in a page of its own, with commas.
 * Byte i of datagram n is (37 * n + 7 * i + i / 256) % 256.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define PIECES	17	/* that Linux has in a frame, MAX_SKB_FRAGS */
#define PAGE	4096
#define EACH	(2ul * PAGE * PIECES)
#define MS	20000

/* The kernel tells of datagrams whose memory it needs no more, or has copied. Returns how many. */
static unsigned int await_end(int fd)
{
	char control[256], byte;
	struct iovec nothing = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &nothing, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct pollfd wait = { .fd = fd };
	struct cmsghdr *header;
	struct sock_extended_err *error;

	if (poll(&wait, 1, MS) != 1)
		errx(1, "the kernel does not give the memory back");
	if (recvmsg(fd, &message, MSG_ERRQUEUE) < 0)
		err(1, "error queue");
	header = CMSG_FIRSTHDR(&message);
	error = header ? (void *)CMSG_DATA(header) : NULL;
	if (!error || error->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
		errx(1, "an answer about something else");
	return error->ee_data - error->ee_info + 1;
}

/* The pages are not neighbours, so that no piece joins the one before. */
static void send_one(int fd, unsigned char *memory, unsigned int number, char *layout)
{
	struct iovec pieces[PIECES];
	struct msghdr message = { .msg_iov = pieces };
	unsigned int i, at = 0;
	char *piece;

	for (piece = strtok(layout, ","); piece; piece = strtok(NULL, ",")) {
		unsigned char *page = memory + 2 * PAGE * message.msg_iovlen;
		unsigned int length, offset;

		if (message.msg_iovlen == PIECES || sscanf(piece, "%u@%u", &length, &offset) != 2 ||
		    !length || offset + length > PAGE)
			errx(1, "%s is no piece", piece);
		for (i = 0; i < length; i++, at++)
			page[offset + i] = 37 * number + 7 * at + at / 256;
		pieces[message.msg_iovlen++] = (struct iovec){ page + offset, length };
	}
	if (sendmsg(fd, &message, MSG_ZEROCOPY) != (ssize_t)at)
		err(1, "datagram %u", number);
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int i, on = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);
	unsigned char *memory;
	unsigned int left;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(1, "usage: pieces_tool ADDRESS PORT LAYOUT...");
	to.sin_port = htons(atoi(argv[2]));
	memory = mmap(NULL, (argc - 3) * EACH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (fd < 0 || memory == MAP_FAILED)
		err(1, "begin");
	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)))
		err(1, "socket");
	for (i = 3; i < argc; i++)
		send_one(fd, memory + (i - 3) * EACH, i - 3, argv[i]);
	for (left = argc - 3; left; left -= await_end(fd))
		;
	return 0;
}
