/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive, some frames of one buffer at a time: what the ways of all instruction sets share. A
 * completion of 16 bytes is nearly what an mbuf wants: one shuffle makes lengths, tag and hash of
 * it. Anything out of the ordinary is left to meridian_recv_simple().
 */
#ifndef MERIDIAN_RX_VECTOR_H
#define MERIDIAN_RX_VECTOR_H

#include <rte_mbuf.h>

#include "include/meridian_regs.h"
#include "meridian_queue.h"

/* Bits of the last word of a completion. */
#define HASH_TYPE_SHIFT	MERIDIAN_COMPLETION_HASH_TYPE_SHIFT
#define STRIPPED_SHIFT	MERIDIAN_COMPLETION_VLAN_STRIPPED_SHIFT
#define L4_SHIFT	MERIDIAN_COMPLETION_L4_CHECKSUM_SHIFT
#define HASH_TYPE_MASK	(MERIDIAN_COMPLETION_HASH_TYPE_MASK >> HASH_TYPE_SHIFT)
#define STRIPPED_MASK	((MERIDIAN_COMPLETION_VLAN_STRIPPED_MASK | \
			  MERIDIAN_COMPLETION_IP_CHECKSUM_MASK) >> STRIPPED_SHIFT)
#define L4_MASK		(MERIDIAN_COMPLETION_L4_CHECKSUM_MASK >> L4_SHIFT)
/* Left by this, the error bit of a completion's first word is its sign. */
#define ERROR_TO_SIGN	(31 - MERIDIAN_COMPLETION_ERROR_SHIFT)

static_assert(STRIPPED_MASK == 7, "tag and IP verdict are neighbours");
static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, rearm_data) + 8,
	      "flags are behind what rearms");
static_assert(offsetof(struct rte_mbuf, rx_descriptor_fields1) ==
	      offsetof(struct rte_mbuf, rearm_data) + 16, "what receive fills is behind flags");
static_assert(offsetof(struct rte_mbuf, pkt_len) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 4 &&
	      offsetof(struct rte_mbuf, data_len) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 8 &&
	      offsetof(struct rte_mbuf, vlan_tci) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 10 &&
	      offsetof(struct rte_mbuf, hash) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 12,
	      "an mbuf is as the shuffle makes it");

/* Of a completion, to where mbufs have it: length, length and tag, hash. Over 127 stands for 0. */
#define FIELDS_SHUFFLE { \
	255, 255, 255, 255, 4, 5, 255, 255, 4, 5, 12, 13, 8, 9, 10, 11 }

#define TAG		(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)
/* Flags by tag and IP verdict. */
#define TAG_AND_IP_FLAGS { \
	0, TAG, RTE_MBUF_F_RX_IP_CKSUM_GOOD, TAG | RTE_MBUF_F_RX_IP_CKSUM_GOOD, \
	RTE_MBUF_F_RX_IP_CKSUM_BAD, TAG | RTE_MBUF_F_RX_IP_CKSUM_BAD, 0, TAG, \
	0, 0, 0, 0, 0, 0, 0, 0 }
/* Flags by verdict of layer 4, halved, for they do not fit in a byte. */
#define L4_FLAGS { \
	0, RTE_MBUF_F_RX_L4_CKSUM_GOOD >> 1, RTE_MBUF_F_RX_L4_CKSUM_BAD >> 1, 0, \
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

#define IPV4		(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN)
#define IPV6		(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN)
/* Packet types by type of hash: low bytes and high ones. */
#define LOW_TYPES { \
	RTE_PTYPE_L2_ETHER, IPV4, IPV4, IPV4, IPV6, IPV6, IPV6, \
	RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, \
	RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, RTE_PTYPE_L2_ETHER, \
	RTE_PTYPE_L2_ETHER }
#define HIGH_TYPES { \
	0, 0, RTE_PTYPE_L4_TCP >> 8, RTE_PTYPE_L4_UDP >> 8, 0, RTE_PTYPE_L4_TCP >> 8, \
	RTE_PTYPE_L4_UDP >> 8, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * meridian_next_lanes() - find completions for a vector
 * @rx: the queue
 * @lanes: how many
 *
 * Return: the first of so many that the card has written, in one piece; or NULL.
 */
static __rte_always_inline const void *
meridian_next_lanes(const struct meridian_rx *rx, unsigned int lanes)
{
	const uint64_t *entries = rx->completions + 2 * (rx->completed & rx->completion_mask);
	const uint32_t color = ~(rx->completed >> rx->color_shift) & 1;
	uint64_t last = *(const volatile uint64_t *)&entries[2 * (lanes - 1)];

	/* The card writes in order, so the last one's colour is that of all. */
	if (qdma_completion_color(rte_le_to_cpu_64(last)) != color)
		return NULL;
	rte_io_rmb();
	return entries;
}

/* Whether this many are in one piece of both rings, with buffers for all. */
static __rte_always_inline bool
meridian_has_lanes(const struct meridian_rx *rx, unsigned int lanes)
{
	return rx->posted - rx->taken >= lanes && (rx->taken & rx->mask) <= rx->mask + 1 - lanes &&
	       (rx->completed & rx->completion_mask) <= rx->completion_mask + 1 - lanes;
}

/* Frames in a row, or false: then nothing has happened, and the other way is to be gone. */
typedef bool (*meridian_lanes_t)(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint64_t *bytes);

/**
 * meridian_recv_lanes() - receive a burst by a vector
 * @rx: the queue
 * @mbufs: where frames go
 * @count: how many at most
 * @lanes: of the vector
 * @receive: so many frames
 * @rest: for what is left: few frames, the end of a ring, or an exception
 *
 * Return: frames.
 */
static __rte_always_inline uint16_t
meridian_recv_lanes(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint16_t count,
		    unsigned int lanes, meridian_lanes_t receive, eth_rx_burst_t rest)
{
	uint16_t frames = 0;
	uint64_t bytes = 0;

	if (unlikely(rx->is_off))
		return 0;
	while (count - frames >= (int)lanes && meridian_has_lanes(rx, lanes)) {
		if (!receive(rx, &mbufs[frames], &bytes))
			break;
		rx->completed += lanes;
		rx->taken += lanes;
		frames += lanes;
	}
	rx->counts.packets += frames;
	rx->counts.bytes += bytes;
	if (frames == count) {
		meridian_fill_rx(rx);
		meridian_tell_completions(rx);
		return frames;
	}
	return frames + rest(rx, &mbufs[frames], count - frames);
}

#endif
