/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of the null card: what a card makes of a large frame whose descriptor asks for it. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "meridian_null.h"

#define LEAST_PAYLOAD	256
#define HEADERS_MOST	(18 + 60 + 60)	/* a tag, IPv4 and TCP with all options */
#define LAST_ALONE	(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG)

/**
 * struct cut - a large frame
 * @frame: its bytes
 * @l3, @l4, @payload: where these begin
 * @end: where the packet ends, as its header says
 * @is_v4: IPv4, not IPv6
 * @is_tcp: TCP, not UDP
 */
struct cut {
	const uint8_t *frame;
	uint32_t l3;
	uint32_t l4;
	uint32_t payload;
	uint32_t end;
	bool is_v4;
	bool is_tcp;
};

static uint32_t
word_at(const uint8_t *byte)
{
	return byte[0] << 8 | byte[1];
}

static bool
parse_ip(struct cut *cut, const uint8_t *ip, uint32_t type, uint8_t *protocol)
{
	uint32_t size;

	cut->is_v4 = type == RTE_ETHER_TYPE_IPV4;
	size = cut->is_v4 ? (ip[0] & 0xf) * 4 : sizeof(struct rte_ipv6_hdr);
	cut->l4 = cut->l3 + size;
	cut->end = cut->is_v4 ? cut->l3 + word_at(&ip[2]) : cut->l4 + word_at(&ip[4]);
	*protocol = ip[cut->is_v4 ? 9 : 6];
	if (cut->is_v4)
		return ip[0] >> 4 == 4 && size >= sizeof(struct rte_ipv4_hdr) &&
		       !(word_at(&ip[6]) & 0x3fff);
	return type == RTE_ETHER_TYPE_IPV6 && ip[0] >> 4 == 6;
}

/* Returns false for a frame that the card does not cut. */
static bool
parse(struct cut *cut, uint32_t length)
{
	uint8_t head[HEADERS_MOST] = { 0 }, protocol;
	uint32_t type;

	memcpy(head, cut->frame, RTE_MIN(length, sizeof(head)));
	cut->l3 = RTE_ETHER_HDR_LEN;
	if (word_at(&head[cut->l3 - 2]) == RTE_ETHER_TYPE_VLAN)
		cut->l3 += RTE_VLAN_HLEN;
	type = word_at(&head[cut->l3 - 2]);
	if (!parse_ip(cut, &head[cut->l3], type, &protocol) ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return false;
	cut->is_tcp = protocol == IPPROTO_TCP;
	cut->payload = cut->l4 + (cut->is_tcp ? (uint32_t)head[cut->l4 + 12] >> 4 << 2 :
						(uint32_t)sizeof(struct rte_udp_hdr));
	return (!cut->is_tcp || cut->payload >= cut->l4 + sizeof(struct rte_tcp_hdr)) &&
	       cut->payload < cut->end && cut->end <= length;
}

static void
fill_l4(const struct cut *cut, uint8_t *segment, uint32_t at, uint32_t bytes)
{
	struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)&segment[cut->l3];
	struct rte_ipv6_hdr *v6 = (struct rte_ipv6_hdr *)v4;
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)&segment[cut->l4];
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)tcp;

	if (cut->is_tcp) {
		tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) +
						 at - cut->payload);
		if (at + bytes < cut->end)
			tcp->tcp_flags &= ~LAST_ALONE;
		if (at > cut->payload)
			tcp->tcp_flags &= ~RTE_TCP_CWR_FLAG;
		tcp->cksum = 0;
		tcp->cksum = cut->is_v4 ? rte_ipv4_udptcp_cksum(v4, tcp) :
					  rte_ipv6_udptcp_cksum(v6, tcp);
	} else {
		udp->dgram_len = rte_cpu_to_be_16(sizeof(*udp) + bytes);
		udp->dgram_cksum = 0;
		udp->dgram_cksum = cut->is_v4 ? rte_ipv4_udptcp_cksum(v4, udp) :
						rte_ipv6_udptcp_cksum(v6, udp);
	}
}

/* The segment of so many bytes of payload from a place in the frame. */
static uint32_t
make(const struct cut *cut, uint8_t *segment, uint32_t at, uint32_t bytes, uint32_t number)
{
	struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)&segment[cut->l3];
	struct rte_ipv6_hdr *v6 = (struct rte_ipv6_hdr *)v4;

	memcpy(segment, cut->frame, cut->payload);
	memcpy(&segment[cut->payload], &cut->frame[at], bytes);
	if (cut->is_v4) {
		v4->total_length = rte_cpu_to_be_16(cut->payload - cut->l3 + bytes);
		v4->packet_id = rte_cpu_to_be_16(rte_be_to_cpu_16(v4->packet_id) + number);
		v4->hdr_checksum = 0;
		v4->hdr_checksum = rte_ipv4_cksum(v4);
	} else {
		v6->payload_len = rte_cpu_to_be_16(cut->payload - cut->l4 + bytes);
	}
	fill_l4(cut, segment, at, bytes);
	return cut->payload + bytes;
}

/**
 * meridian_null_cut() - make segments of a large frame
 * @card: gets them
 * @queue: whose frame it is
 * @frame: the frame
 * @length: its bytes
 * @most: bytes of payload in a segment; the last one has what is left
 *
 * A frame that a card does not cut is a miss.
 */
void
meridian_null_cut(struct meridian_null_card *card, struct meridian_null_queue *queue,
		  const uint8_t *frame, uint32_t length, uint32_t most)
{
	uint8_t segment[MERIDIAN_NULL_MAX_FRAME];
	struct cut cut = { .frame = frame };
	uint32_t number = 0, at;

	if (most < LEAST_PAYLOAD || !parse(&cut, length)) {
		card->misses++;
		return;
	}
	for (at = cut.payload; at < cut.end; at += most) {
		uint32_t bytes = RTE_MIN(most, cut.end - at);

		meridian_null_take(card, queue, segment, make(&cut, segment, at, bytes, number++));
	}
}
