/* SPDX-License-Identifier: BSD-3-Clause */
/* What an application may ask before it sends: whether the card can do what its frames ask for. */
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "meridian_tx.h"

#define ASKING		(RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK)
#define FRAGMENT	(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)

/* Type of what is behind the addresses, or behind one 802.1Q tag; 0: the mbuf says other things. */
static uint16_t
type_of(const struct rte_mbuf *mbuf)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(mbuf, const struct rte_ether_hdr *);
	const struct rte_vlan_hdr *tag = (const struct rte_vlan_hdr *)(ether + 1);
	uint16_t type = rte_be_to_cpu_16(ether->ether_type);

	if (mbuf->l2_len == RTE_ETHER_HDR_LEN)
		return type;
	if (mbuf->l2_len == RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN && type == RTE_ETHER_TYPE_VLAN)
		return rte_be_to_cpu_16(tag->eth_proto);
	return 0;
}

static bool
is_l4(const struct rte_mbuf *mbuf, uint8_t protocol)
{
	const struct rte_tcp_hdr *tcp = rte_pktmbuf_mtod_offset(mbuf, const struct rte_tcp_hdr *,
								mbuf->l2_len + mbuf->l3_len);

	if (mbuf->ol_flags & RTE_MBUF_F_TX_UDP_SEG)
		return protocol == IPPROTO_UDP && mbuf->l4_len == sizeof(struct rte_udp_hdr);
	return protocol == IPPROTO_TCP && mbuf->l4_len >= sizeof(*tcp) &&
	       mbuf->l4_len == tcp->data_off >> 4 << 2;
}

/* As prepare_cut(), of a frame of IPv4. */
static int
prepare_v4(struct rte_mbuf *mbuf)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(mbuf, struct rte_ipv4_hdr *,
							  mbuf->l2_len);
	rte_be16_t length = rte_cpu_to_be_16(mbuf->pkt_len - mbuf->l2_len);

	if (mbuf->l3_len < sizeof(*ip) || ip->version_ihl >> 4 != IPVERSION ||
	    mbuf->l3_len != (ip->version_ihl & 0xf) << 2 || !is_l4(mbuf, ip->next_proto_id))
		return -EINVAL;
	if (ip->fragment_offset & rte_cpu_to_be_16(FRAGMENT))
		return -ENOTSUP;
	if (ip->total_length != length)
		ip->total_length = length;
	return 0;
}

/* As prepare_cut(), of a frame of IPv6. */
static int
prepare_v6(struct rte_mbuf *mbuf)
{
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(mbuf, struct rte_ipv6_hdr *,
							  mbuf->l2_len);
	rte_be16_t length = rte_cpu_to_be_16(mbuf->pkt_len - mbuf->l2_len - sizeof(*ip));

	if (mbuf->l3_len < sizeof(*ip) || rte_be_to_cpu_32(ip->vtc_flow) >> 28 != 6)
		return -EINVAL;
	if (mbuf->l3_len > sizeof(*ip))
		return -ENOTSUP;
	if (!is_l4(mbuf, ip->proto))
		return -EINVAL;
	if (ip->payload_len != length)
		ip->payload_len = length;
	return 0;
}

/*
 * Looks at the headers of a frame that the card is to cut, and tells it there how long the packet
 * is, if they do not say so: others may read headers that several mbufs share. The card fills in
 * lengths and checksums of segments. Returns 0 or a negative errno.
 */
static int
prepare_cut(struct rte_mbuf *mbuf)
{
	uint16_t type;

	if (mbuf->l2_len < RTE_ETHER_HDR_LEN)
		return -EINVAL;
	if (mbuf->data_len < meridian_headers_of(mbuf) ||
	    mbuf->l2_len > RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)
		return -ENOTSUP;
	type = type_of(mbuf);
	if (mbuf->ol_flags & RTE_MBUF_F_TX_IPV4 && type == RTE_ETHER_TYPE_IPV4)
		return prepare_v4(mbuf);
	if (mbuf->ol_flags & RTE_MBUF_F_TX_IPV6 && type == RTE_ETHER_TYPE_IPV6)
		return prepare_v6(mbuf);
	return -EINVAL;
}

/* Returns 0 or a negative errno. */
static int
prepare(const struct meridian_tx *tx, struct rte_mbuf *mbuf)
{
	uint64_t flags = mbuf->ol_flags;

	if (flags & MERIDIAN_TX_UNSUPPORTED ||
	    (flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_SCTP_CKSUM ||
	    (!tx->asks && flags & ASKING) || (!tx->cuts && flags & MERIDIAN_TX_CUT))
		return -ENOTSUP;
	if (!(flags & MERIDIAN_TX_CUT))
		return meridian_can_send(tx, mbuf) ? 0 : -EINVAL;
	return meridian_pieces_to_cut(tx, mbuf) ? prepare_cut(mbuf) : -EINVAL;
}

/**
 * meridian_xmit_prepare() - look whether the card can do what frames ask for
 * @queue: struct meridian_tx
 * @mbufs: frames
 * @count: how many
 *
 * The card finds headers by itself and fills checksums in without what stands there. Only a frame
 * that it is to cut has to say in its header of IP how long it is, which is written here.
 *
 * Return: how many can be sent; if fewer than @count, rte_errno says why the next cannot: ENOTSUP
 * if the card never can do such a thing, EINVAL if lengths or flags of this frame are not as they
 * must be.
 */
uint16_t
meridian_xmit_prepare(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	uint16_t i;

	for (i = 0; i < count; i++) {
		int error = prepare(queue, mbufs[i]);

		if (error) {
			rte_errno = -error;
			break;
		}
	}
	return i;
}
