/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "large.h"

#define HEADERS_MOST	138
#define SEQUENCE	0xfffffc00u	/* wraps within the frame */
#define ID		0xfffe

static uint32_t
l2_of(const struct large *large)
{
	return RTE_ETHER_HDR_LEN + (large->is_tagged ? RTE_VLAN_HLEN : 0);
}

static uint32_t
l3_of(const struct large *large)
{
	return large->is_v6 ? sizeof(struct rte_ipv6_hdr) :
			      sizeof(struct rte_ipv4_hdr) + 4u * large->ip_words;
}

static uint32_t
l4_of(const struct large *large)
{
	return large->is_udp ? sizeof(struct rte_udp_hdr) :
			       sizeof(struct rte_tcp_hdr) + 4u * large->tcp_words;
}

/* All headers together. */
uint32_t
headers_of(const struct large *large)
{
	return l2_of(large) + l3_of(large) + l4_of(large);
}

uint8_t
payload_byte(uint32_t at)
{
	return at * 7 + (at >> 8);
}

static void
make_l3(const struct large *large, uint8_t *at)
{
	uint8_t protocol = large->is_udp ? IPPROTO_UDP : IPPROTO_TCP;
	struct rte_ipv4_hdr *v4 = (struct rte_ipv4_hdr *)at;
	struct rte_ipv6_hdr *v6 = (struct rte_ipv6_hdr *)at;

	/* The length is for the driver to write. */
	if (large->is_v6) {
		v6->vtc_flow = rte_cpu_to_be_32(0x60012345);
		v6->proto = protocol;
		v6->hop_limits = 64;
		at[8 + 15] = 1;
		at[24 + 15] = 2;
		return;
	}
	v4->version_ihl = IPVERSION << 4 | l3_of(large) / 4;
	v4->packet_id = rte_cpu_to_be_16(ID);
	v4->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	v4->time_to_live = 64;
	v4->next_proto_id = protocol;
	v4->src_addr = rte_cpu_to_be_32(0xc0000201);	/* of documentation */
	v4->dst_addr = rte_cpu_to_be_32(0xc0000202);
	memset(v4 + 1, 1, 4 * large->ip_words);
}

static void
make_l4(const struct large *large, uint8_t *at)
{
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)at;
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)at;

	if (large->is_udp) {
		udp->src_port = rte_cpu_to_be_16(1000);
		udp->dst_port = rte_cpu_to_be_16(9);
		return;
	}
	tcp->src_port = rte_cpu_to_be_16(1000);
	tcp->dst_port = rte_cpu_to_be_16(9);
	tcp->sent_seq = rte_cpu_to_be_32(SEQUENCE);
	tcp->data_off = l4_of(large) / 4 << 4;
	tcp->tcp_flags = RTE_TCP_CWR_FLAG | RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG;
	memset(tcp + 1, 1, 4 * large->tcp_words);
}

static void
make_headers(const struct large *large, uint8_t *at)
{
	uint16_t type = large->is_v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4;
	struct rte_ether_hdr *ether = (struct rte_ether_hdr *)at;

	memset(at, 0, HEADERS_MOST);
	memset(at, 2, 2 * RTE_ETHER_ADDR_LEN);
	ether->ether_type = rte_cpu_to_be_16(type);
	if (large->is_tagged) {
		ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
		*(rte_be16_t *)&at[16] = rte_cpu_to_be_16(type);
	}
	make_l3(large, &at[l2_of(large)]);
	make_l4(large, &at[l2_of(large) + l3_of(large)]);
}

/* All headers are in the first piece. NULL: there are no mbufs. */
struct rte_mbuf *
make_large(struct rte_mempool *from, const struct large *large)
{
	uint32_t headers = headers_of(large), done = 0, i, j;
	struct rte_mbuf *frame = NULL, *piece;
	uint8_t head[HEADERS_MOST];

	make_headers(large, head);
	for (i = 0; i < (uint32_t)large->pieces + large->empty; i++) {
		bool is_first = i == large->empty, is_empty = i < large->empty;
		uint32_t share = (large->payload - done) / (large->pieces + large->empty - i);
		uint8_t *at;

		piece = rte_pktmbuf_alloc(from);
		if (piece == NULL) {
			rte_pktmbuf_free(frame);
			return NULL;
		}
		if (!is_empty) {
			at = (uint8_t *)rte_pktmbuf_append(piece, share + (is_first ? headers : 0));
			must(at != NULL, "no room");
			if (is_first)
				memcpy(at, head, headers);
			for (j = is_first ? headers : 0; j < piece->data_len; j++)
				at[j] = payload_byte(done++);
		}
		if (frame == NULL)
			frame = piece;
		else
			is(rte_pktmbuf_chain(frame, piece), 0);
	}
	frame->l2_len = l2_of(large);
	frame->l3_len = l3_of(large);
	frame->l4_len = l4_of(large);
	frame->tso_segsz = large->segment;
	frame->ol_flags = large->is_udp ? RTE_MBUF_F_TX_UDP_SEG : RTE_MBUF_F_TX_TCP_SEG;
	frame->ol_flags |= large->is_v6 ? RTE_MBUF_F_TX_IPV6 :
					  RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	return frame;
}
