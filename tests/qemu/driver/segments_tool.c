// SPDX-License-Identifier: Apache-2.0
/*
 * Hands large frames to Linux, which are to go out as segments.
 * segments_tool udp ADDRESS PORT SEGMENT BYTES...: a datagram of each length, to be cut into such of SEGMENT bytes.
 * segments_tool tcp ADDRESS PORT BYTES PIECE: a stream; with a PIECE that is not 0, it lies in pieces of so many bytes.
 * segments_tool raw INTERFACE TYPE SEGMENT START FIELD FIRST HEADER BYTES: a frame with headers of ours, in hexadecimal
 *   digits. TYPE is VIRTIO_NET_HDR_GSO_*; the checksum begins at START and is put FIELD bytes behind it. The frame's first
 *   piece of memory is to have FIRST bytes; Linux chooses the others, and may move the headers to the first one.
 * Byte i of a payload is (7 * i + i / 256) % 256.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/udp.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE	4096
#define PIECES	16	/* of a message */
#define USAGE	"usage: segments_tool udp|tcp|raw ..., as the source says"

static unsigned char *payload(unsigned int bytes)
{
	unsigned char *data = malloc(bytes + 1);
	unsigned int i;

	if (!data)
		err(1, "memory");
	for (i = 0; i < bytes; i++)
		data[i] = 7 * i + i / 256;
	return data;
}

static int reach(const char *address, const char *port, int type)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(atoi(port)) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int is_v6 = strchr(address, ':') != NULL;
	int fd = socket(is_v6 ? AF_INET6 : AF_INET, type, 0);

	if (fd < 0 || inet_pton(is_v6 ? AF_INET6 : AF_INET, address,
				is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr) != 1)
		errx(1, "%s is no address", address);
	if (connect(fd, is_v6 ? (void *)&v6 : (void *)&v4, is_v6 ? sizeof(v6) : sizeof(v4)))
		err(1, "%s", address);
	return fd;
}

static void send_datagrams(char **argv)
{
	int segment = atoi(argv[2]), fd = reach(argv[0], argv[1], SOCK_DGRAM);

	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		err(1, "UDP_SEGMENT");
	for (argv += 3; *argv; argv++) {
		unsigned int bytes = atoi(*argv);

		if (send(fd, payload(bytes), bytes, 0) != (ssize_t)bytes)
			err(1, "%u bytes", bytes);
	}
}

/* Pieces of memory that are no neighbours, which Linux neither copies nor joins. */
static void send_pieces(int fd, const unsigned char *data, unsigned int bytes, unsigned int piece)
{
	unsigned int count = (bytes + piece - 1) / piece, i, n, on = 1;
	unsigned char *memory = mmap(NULL, 2ul * PAGE * count, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct iovec *each = calloc(count, sizeof(*each));

	if (memory == MAP_FAILED || !each || setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		err(1, "pieces");
	for (i = 0; i < count; i++) {
		each[i].iov_base = memory + 2ul * PAGE * i;
		each[i].iov_len = i + 1 == count ? bytes - piece * i : piece;
		memcpy(each[i].iov_base, data + piece * i, each[i].iov_len);
	}
	for (i = 0; i < count; i += n) {
		struct msghdr message = { .msg_iov = each + i };
		ssize_t wanted = 0, j;

		n = count - i < PIECES ? count - i : PIECES;
		message.msg_iovlen = n;
		for (j = 0; j < n; j++)
			wanted += each[i + j].iov_len;
		if (sendmsg(fd, &message, MSG_ZEROCOPY) != wanted)
			err(1, "piece %u", i);
	}
}

static void send_stream(char **argv)
{
	unsigned int bytes = atoi(argv[2]), piece = atoi(argv[3]), at = 0;
	int fd = reach(argv[0], argv[1], SOCK_STREAM);
	unsigned char *data = payload(bytes);
	char nothing;

	if (piece) {
		send_pieces(fd, data, bytes, piece);
	} else {
		while (at < bytes) {
			ssize_t sent = send(fd, data + at, bytes - at, 0);

			if (sent <= 0)
				err(1, "stream");
			at += sent;
		}
	}
	/* The other end closes when it has all. */
	if (shutdown(fd, SHUT_WR) || read(fd, &nothing, 1) != 0)
		err(1, "end of the stream");
}

static void send_frame(char **argv)
{
	unsigned int i, length = strlen(argv[6]) / 2, bytes = atoi(argv[7]);
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct virtio_net_hdr head = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = atoi(argv[1]), .hdr_len = atoi(argv[5]),
		.gso_size = atoi(argv[2]), .csum_start = atoi(argv[3]), .csum_offset = atoi(argv[4]),
	};
	unsigned char header[256];
	struct iovec parts[] = {
		{ &head, sizeof(head) }, { header, length }, { payload(bytes), bytes },
	};
	int on = 1, fd = socket(AF_PACKET, SOCK_RAW, 0);
	ssize_t all = sizeof(head) + length + bytes;

	to.sll_ifindex = if_nametoindex(argv[0]);
	for (i = 0; i < length && length <= sizeof(header); i++)
		if (sscanf(argv[6] + 2 * i, "%2hhx", &header[i]) != 1)
			errx(1, "%s is no header", argv[6]);
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&to, sizeof(to)) || writev(fd, parts, 3) != all)
		err(1, "frame");
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "udp"))
		send_datagrams(argv + 2);
	else if (argc == 6 && !strcmp(argv[1], "tcp"))
		send_stream(argv + 2);
	else if (argc == 10 && !strcmp(argv[1], "raw"))
		send_frame(argv + 2);
	else
		errx(1, USAGE);
	return 0;
}
