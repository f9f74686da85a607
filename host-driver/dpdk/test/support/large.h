/* SPDX-License-Identifier: BSD-3-Clause */
/* Large frames of TCP and UDP that a card is to cut into segments. */
#ifndef MERIDIAN_TEST_LARGE_H
#define MERIDIAN_TEST_LARGE_H

#include "port.h"

/**
 * struct large - such a frame
 * @is_v6: IPv6, not IPv4
 * @is_udp: UDP, not TCP
 * @is_tagged: it has an 802.1Q tag
 * @ip_words: of options of IPv4
 * @tcp_words: of options of TCP
 * @payload: bytes
 * @segment: bytes of payload that a segment is to have
 * @pieces: segments of memory that have bytes
 * @empty: others, which come first
 */
struct large {
	bool is_v6;
	bool is_udp;
	bool is_tagged;
	uint8_t ip_words;
	uint8_t tcp_words;
	uint32_t payload;
	uint16_t segment;
	uint16_t pieces;
	uint16_t empty;
};

struct rte_mbuf *make_large(struct rte_mempool *from, const struct large *large);
uint32_t headers_of(const struct large *large);
uint8_t payload_byte(uint32_t at);

#endif
