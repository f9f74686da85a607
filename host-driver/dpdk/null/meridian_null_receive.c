/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that the null card makes, keeps, and brings back. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "qdma/qdma_regs.h"
#include "meridian_null.h"

#define CAPTURE_MAGIC	0xa1b2c3d4
#define TARGET		0xc0000201u	/* 192.0.2.1, of documentation */
#define HEADERS		(sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr) + \
			 sizeof(struct rte_udp_hdr))

/* The second half of an entry: an UDP packet of IPv4 that is as it should be, with a hash. */
static inline uint64_t
more_of(uint32_t hash)
{
	return hash | (uint64_t)(MERIDIAN_HASH_TYPE_IPV4_UDP <<
				 MERIDIAN_COMPLETION_HASH_TYPE_SHIFT |
				 MERIDIAN_CHECKSUM_GOOD << MERIDIAN_COMPLETION_IP_CHECKSUM_SHIFT |
				 MERIDIAN_CHECKSUM_GOOD << MERIDIAN_COMPLETION_L4_CHECKSUM_SHIFT |
				 MERIDIAN_L4_KIND_UDP << MERIDIAN_COMPLETION_L4_KIND_SHIFT) << 32;
}

static inline void
complete(struct meridian_null_queue *queue, uint32_t length, uint64_t more)
{
	uint64_t *entry = &queue->completions[queue->pidx << queue->entry_log2];
	uint64_t word = (uint64_t)queue->packet << 48 | (uint64_t)length << 32 | length << 4 |
			MERIDIAN_COMPLETION_USED_MASK | MERIDIAN_COMPLETION_END_OF_FRAME_MASK |
			queue->color << MERIDIAN_COMPLETION_COLOR_SHIFT;

	if (queue->entry_log2)
		entry[1] = rte_cpu_to_le_64(more);
	entry[0] = rte_cpu_to_le_64(word);
	queue->packet++;
	queue->pidx = meridian_null_next(queue->pidx, queue->completion_slots);
	if (queue->pidx == 0)
		queue->color ^= 1;
}

/* One slot of a ring stays free. */
static inline uint32_t
completion_room(const struct meridian_null_queue *queue)
{
	return queue->completion_slots - 1 -
	       meridian_null_between(queue->cidx, queue->pidx, queue->completion_slots);
}

static inline bool
can_receive(const struct meridian_null_queue *queue, uint32_t length)
{
	return queue->c2h != NULL && queue->completions != NULL && completion_room(queue) &&
	       meridian_null_between(queue->c2h_cidx, queue->c2h_pidx, queue->c2h_slots) * queue->buffer >=
	       length;
}

static uint8_t *
take_buffer(struct meridian_null_queue *queue)
{
	uint64_t address = rte_le_to_cpu_64(queue->c2h[queue->c2h_cidx]);

	queue->c2h_cidx = meridian_null_next(queue->c2h_cidx, queue->c2h_slots);
	return (uint8_t *)(uintptr_t)address;
}

/* A frame into as many buffers as it takes. */
static void
receive(struct meridian_null_queue *queue, const uint8_t *frame, uint32_t length, uint64_t more)
{
	uint32_t left = length;

	while (left) {
		uint32_t bytes = RTE_MIN(left, queue->buffer);

		memcpy(take_buffer(queue), frame, bytes);
		frame += bytes;
		left -= bytes;
	}
	complete(queue, length, more);
}

/* Number and queue are in the frame's addresses and ports, so that each can be told. */
static void
make_frame(uint8_t *frame, uint32_t length, uint32_t queue, uint32_t number)
{
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	uint32_t i;

	memset(frame, 0, HEADERS);
	memset(&ether->dst_addr, 0x02, RTE_ETHER_ADDR_LEN);
	memset(&ether->src_addr, 0x06, RTE_ETHER_ADDR_LEN);
	ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(length - sizeof(*ether));
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(number);
	ip->dst_addr = rte_cpu_to_be_32(TARGET);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(queue);
	udp->dst_port = rte_cpu_to_be_16(9);
	udp->dgram_len = rte_cpu_to_be_16(length - sizeof(*ether) - sizeof(*ip));
	for (i = HEADERS; i < length; i++)
		frame[i] = number + i;
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
}

static void
receive_made(struct meridian_null_card *card, struct meridian_null_queue *queue)
{
	uint8_t frame[MERIDIAN_NULL_MAX_FRAME];

	while (can_receive(queue, card->length)) {
		make_frame(frame, card->length, queue - card->queue, queue->packet);
		receive(queue, frame, card->length, more_of(queue->packet));
	}
}

/* Frames of one buffer whose contents are what the buffers have in them. */
static void
receive_empty(struct meridian_null_card *card, struct meridian_null_queue *queue)
{
	uint32_t count = RTE_MIN(meridian_null_between(queue->c2h_cidx, queue->c2h_pidx, queue->c2h_slots),
				 completion_room(queue));

	queue->c2h_cidx += count;
	if (queue->c2h_cidx >= queue->c2h_slots)
		queue->c2h_cidx -= queue->c2h_slots;
	while (count--)
		complete(queue, card->length, more_of(queue->packet));
}

/**
 * meridian_null_make() - make frames as long as the host has room for them
 * @card: how long they are, if they are made
 * @queue: gets them
 */
void
meridian_null_make(struct meridian_null_card *card, struct meridian_null_queue *queue)
{
	if (!card->length || queue->c2h == NULL || queue->completions == NULL)
		return;
	if (card->fill || card->length > queue->buffer)
		receive_made(card, queue);
	else
		receive_empty(card, queue);
}

/**
 * meridian_null_open_capture() - keep what is sent
 * @card: the card
 * @path: of a file in libpcap's format
 *
 * Return: 0 or a negative errno.
 */
int
meridian_null_open_capture(struct meridian_null_card *card, const char *path)
{
	const uint32_t header[6] = { CAPTURE_MAGIC, 2 | 4 << 16, 0, 0, UINT16_MAX, 1 };

	card->capture = fopen(path, "wb");
	if (card->capture == NULL)
		return -errno;
	return fwrite(header, sizeof(header), 1, card->capture) == 1 ? 0 : -EIO;
}

static void
keep(struct meridian_null_card *card, const uint8_t *frame, uint32_t length)
{
	const uint32_t header[4] = { 0, 0, length, length };

	fwrite(header, sizeof(header), 1, card->capture);
	fwrite(frame, length, 1, card->capture);
}

/* A frame as it goes out, or comes back. */
void
meridian_null_take(struct meridian_null_card *card, struct meridian_null_queue *queue,
		   const uint8_t *frame, uint32_t length)
{
	if (length > MERIDIAN_NULL_MAX_FRAME) {
		card->misses++;
		return;
	}
	if (card->capture != NULL)
		keep(card, frame, length);
	if (!card->loop)
		return;
	if (can_receive(queue, length))
		receive(queue, frame, length, 0);
	else
		card->misses++;
}
