/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames can be sent, for the functions that send and for the one that looks before. */
#ifndef MERIDIAN_TX_H
#define MERIDIAN_TX_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "include/meridian_regs.h"
#include "meridian_queue.h"

/* Frames that the card is to cut into segments of TCP or UDP. */
#define MERIDIAN_TX_CUT		(RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_UDP_SEG)

#define MERIDIAN_TX_UNSUPPORTED	(RTE_MBUF_F_TX_OFFLOAD_MASK & \
				 ~(RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IP_CKSUM | \
				   RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IPV4 | \
				   RTE_MBUF_F_TX_IPV6 | MERIDIAN_TX_CUT))

/* Of payload in a segment; the card makes no smaller ones, and its field takes no larger number. */
#define MERIDIAN_SEGMENT_LEAST	256
#define MERIDIAN_SEGMENT_MOST	(MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK >> \
				 MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_SHIFT)

/* Of a frame that is cut: lengths in descriptors and in headers of IP have 16 bits. */
#define MERIDIAN_CUT_MOST	UINT16_MAX

/* Segments of a frame that are not empty: none if they are not as long as the frame says. */
static inline uint32_t
meridian_pieces_of(const struct rte_mbuf *mbuf)
{
	uint32_t left = mbuf->pkt_len, pieces = 0;

	for (; mbuf != NULL; mbuf = mbuf->next) {
		if (mbuf->data_len > left)
			return 0;
		left -= mbuf->data_len;
		pieces += mbuf->data_len != 0;
	}
	return left ? 0 : pieces;
}

/* Of several segments, some may be empty or all of them too long. */
static inline bool
meridian_can_send(const struct meridian_tx *tx, const struct rte_mbuf *mbuf)
{
	return mbuf->pkt_len <= tx->max_length && mbuf->pkt_len >= RTE_ETHER_HDR_LEN &&
	       (mbuf->nb_segs == 1 || (tx->linear != NULL && meridian_pieces_of(mbuf)));
}

/* Headers of TCP or UDP behind those of Ethernet and IP, which each segment gets. */
static inline uint32_t
meridian_headers_of(const struct rte_mbuf *mbuf)
{
	return mbuf->l2_len + mbuf->l3_len + mbuf->l4_len;
}

/*
 * How many pieces a frame has that the card is to cut; 0: it cannot. It would take outer headers of
 * a tunnel for those that are meant. Nobody copies such a frame, for it is longer than a buffer.
 */
static inline uint32_t
meridian_pieces_to_cut(const struct meridian_tx *tx, const struct rte_mbuf *mbuf)
{
	uint32_t headers = meridian_headers_of(mbuf), length = mbuf->pkt_len, longest, pieces;
	uint64_t flags = mbuf->ol_flags;

	if (!tx->cuts || flags & MERIDIAN_TX_UNSUPPORTED ||
	    (flags & MERIDIAN_TX_CUT) == MERIDIAN_TX_CUT ||
	    mbuf->tso_segsz < MERIDIAN_SEGMENT_LEAST || mbuf->tso_segsz > MERIDIAN_SEGMENT_MOST ||
	    length <= headers || length > MERIDIAN_CUT_MOST)
		return 0;
	longest = RTE_MIN(headers + mbuf->tso_segsz, length);
	if (flags & RTE_MBUF_F_TX_VLAN)
		longest += RTE_VLAN_HLEN;
	if (longest > tx->max_length)
		return 0;
	pieces = meridian_pieces_of(mbuf);
	return pieces <= 1u << tx->pieces_log2 ? pieces : 0;
}

#endif
