// SPDX-License-Identifier: GPL-2.0-only
/* What the card does to frames that are sent: checksums, and segments of large frames. */
#include <linux/bitfield.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"

/* Bytes of payload that the card puts into a segment, of a packet in a tunnel, too. */
#define SEGMENT_LEAST	256
#define TUNNEL_LEAST	512
#define SEGMENT_MOST	FIELD_MAX(MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK)
/* Where the packet in a tunnel may begin. */
#define INNER_LEAST	34
#define INNER_MOST	128

/**
 * struct packet - what the headers of a frame say
 * @inner: where it begins, if it is in a tunnel; else 0
 * @transport: where TCP or UDP begins
 * @end: where the packet ends by its own account
 * @protocol: IPPROTO_TCP or IPPROTO_UDP
 * @is_fragment: of IPv4
 * @is_atomic: nobody is to make fragments of it, so its identification means nothing (RFC 6864)
 */
struct packet {
	u32 inner;
	u32 transport;
	u32 end;
	u8 protocol;
	bool is_fragment;
	bool is_atomic;
};

static bool read_ip(const struct sk_buff *skb, u32 at, __be16 type, struct packet *packet)
{
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} copy;

	if (type == htons(ETH_P_IP)) {
		const struct iphdr *v4 = skb_header_pointer(skb, at, sizeof(copy.v4), &copy);

		if (!v4)
			return false;
		packet->transport = at + 4 * v4->ihl;
		packet->end = at + ntohs(v4->tot_len);
		packet->protocol = v4->protocol;
		packet->is_fragment = ip_is_fragment(v4);
		packet->is_atomic = v4->frag_off & htons(IP_DF);
		return true;
	}
	if (type == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *v6 = skb_header_pointer(skb, at, sizeof(copy.v6), &copy);

		if (!v6)
			return false;
		packet->transport = at + sizeof(*v6);
		packet->end = packet->transport + ntohs(v6->payload_len);
		packet->protocol = v6->nexthdr;
		packet->is_fragment = false;
		packet->is_atomic = true;
		return true;
	}
	return false;
}

/*
 * The card looks for IP behind one 802.1Q tag at most: beside one in the frame, Linux has none to
 * insert or to leave to the card. In a tunnel it counts identifications up there.
 */
static bool read_tags(const struct sk_buff *skb, u32 *at, __be16 *type)
{
	int tags = skb_vlan_tag_present(skb);
	__be16 copy, *found;

	if (tags && skb->vlan_proto != htons(ETH_P_8021Q))
		return false;
	*at = ETH_HLEN;
	found = skb_header_pointer(skb, offsetof(struct ethhdr, h_proto), sizeof(copy), &copy);
	if (found && *found == htons(ETH_P_8021Q)) {
		tags++;
		*at = VLAN_ETH_HLEN;
		found = skb_header_pointer(skb, offsetof(struct vlan_ethhdr,
							 h_vlan_encapsulated_proto),
					   sizeof(copy), &copy);
	}
	if (!found)
		return false;
	*type = *found;
	return tags <= 1 && *at == skb_network_offset(skb);
}

/*
 * Outside of tunnels the card looks for TCP and UDP right behind one header of IP. Linux's checksum
 * is to begin there.
 */
static bool read_plain(const struct sk_buff *skb, struct packet *packet)
{
	__be16 type;
	u32 at;

	return read_tags(skb, &at, &type) && read_ip(skb, at, type, packet) &&
	       packet->transport == skb_checksum_start_offset(skb) &&
	       (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);
}

/*
 * In a tunnel the card is told where the header of IP is, in the place that a tag to insert has
 * else. Linux puts such a tag into the frame itself, and the packet is behind it then.
 */
static bool read_inner(const struct meridian *m, const struct sk_buff *skb, struct packet *packet)
{
	u32 at = skb_inner_network_offset(skb), tag = skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
	u32 queue = skb_get_queue_mapping(skb), outer;
	u8 copy, *version;
	__be16 type;

	/* Linux also asks before it has chosen a queue: then it is that of where it is from. */
	if (queue >= m->channels || !m->channel[queue].tx.pieces_log2 ||
	    !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK) ||
	    at < INNER_LEAST || at + tag > INNER_MOST || at % 2 || !read_tags(skb, &outer, &type))
		return false;
	version = skb_header_pointer(skb, at, sizeof(copy), &copy);
	packet->inner = at;
	return version &&
	       read_ip(skb, at, htons(*version >> 4 == 4 ? ETH_P_IP : ETH_P_IPV6), packet) &&
	       packet->transport == skb_checksum_start_offset(skb) &&
	       (packet->protocol == IPPROTO_TCP || packet->protocol == IPPROTO_UDP);
}

/* Of a frame in a tunnel Linux may also want the checksum of the tunnel's own UDP. */
static bool read_headers(const struct meridian *m, const struct sk_buff *skb,
			 struct packet *packet)
{
	packet->inner = 0;
	return read_plain(skb, packet) || (skb->encapsulation && read_inner(m, skb, packet));
}

/**
 * meridian_inner_start() - where the packet begins whose checksum Linux wants
 * @skb: a frame that has passed meridian_features_check()
 *
 * Context: Does not sleep.
 * Return: the place in the frame, if the packet is in a tunnel; else 0.
 */
u32 meridian_inner_start(const struct sk_buff *skb)
{
	int at;

	if (likely(!skb->encapsulation))
		return 0;
	at = skb_inner_network_offset(skb);
	/* Who takes a tunnel's headers off may leave the mark; the packet is the frame's then. */
	if (at < INNER_LEAST || at > INNER_MOST || skb_checksum_start_offset(skb) < at)
		return 0;
	return at;
}

/**
 * meridian_complete_checksum() - fill in a checksum that the card has no place for
 * @m: the function
 * @skb: a frame that is not cut, of a tunnel with a checksum of its own (encap_hdr_csum)
 *
 * Linux asks meridian_features_check() about a large frame before it cuts that itself. The
 * tunnel's checksum in each segment, of GRE or UDP, it then leaves to any device with
 * NETIF_F_HW_CSUM, and does not ask again.
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_complete_checksum(const struct meridian *m, struct sk_buff *skb)
{
	struct packet packet;

	if (skb->ip_summed != CHECKSUM_PARTIAL || read_headers(m, skb, &packet))
		return 0;
	return skb_checksum_help(skb);
}

/**
 * meridian_tell_whole_length() - have the packet in a tunnel say how long it is before it is cut
 * @skb: a frame that Linux has prepared for it (GSO partial), so that it says what a segment has
 * @inner: where the packet begins
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_tell_whole_length(struct sk_buff *skb, u32 inner)
{
	u32 length = skb->len - inner;
	u8 *ip;
	int error;

	if (skb_headlen(skb) < inner + sizeof(struct ipv6hdr))
		return -EMSGSIZE;
	error = skb_cow_head(skb, 0);
	if (error)
		return error;
	ip = skb->data + inner;
	if (*ip >> 4 == 4)
		((struct iphdr *)ip)->tot_len = htons(length);
	else
		((struct ipv6hdr *)ip)->payload_len = htons(length - sizeof(struct ipv6hdr));
	return 0;
}

/* Of TCP or UDP; 0: it is not there. */
static u32 header_bytes(const struct sk_buff *skb, const struct packet *packet)
{
	struct tcphdr copy, *tcp;

	if (packet->protocol == IPPROTO_UDP)
		return sizeof(struct udphdr);
	tcp = skb_header_pointer(skb, packet->transport, sizeof(copy), &copy);
	return tcp ? 4 * tcp->doff : 0;
}

/**
 * meridian_plan_cut() - how the card is to cut a large frame into segments
 * @m: a function whose card cuts frames
 * @skb: the frame, which Linux would cut, too (GSO)
 * @cut: gets it
 *
 * TCP may have smaller segments than Linux has asked for, so they are as large as the card can make
 * them. They are more then than Linux has counted identifications for, which is for atomic packets
 * only. Datagrams are to have the length that was asked for, and so are packets of TCP in a tunnel,
 * whose outer headers tell of that length. The card takes the length of the whole packet from its
 * header of IP.
 *
 * Context: Does not sleep.
 * Return: false if the card cannot cut it.
 */
bool meridian_plan_cut(const struct meridian *m, const struct sk_buff *skb,
		       struct meridian_cut *cut)
{
	/* Linux may put it in only when it has been told that the card cuts the frame. */
	u32 tag = skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
	u32 transport, least, bytes = skb_shinfo(skb)->gso_size;
	struct packet packet;

	if (skb->ip_summed != CHECKSUM_PARTIAL || skb->len + tag > MERIDIAN_TX_LONGEST ||
	    !meridian_can_gather(skb) || !read_headers(m, skb, &packet) || packet.is_fragment)
		return false;
	if (packet.inner ? packet.protocol != IPPROTO_TCP : packet.end != skb->len)
		return false;
	cut->inner = packet.inner;
	if (packet.protocol == IPPROTO_TCP && packet.is_atomic && !packet.inner)
		bytes = min_t(u32, bytes, SEGMENT_MOST);
	transport = header_bytes(skb, &packet);
	cut->header = packet.transport + transport;
	least = packet.inner ? TUNNEL_LEAST : SEGMENT_LEAST;
	if (!transport || cut->header >= skb->len || bytes < least || bytes > SEGMENT_MOST ||
	    cut->header + tag + bytes > m->max_frame)
		return false;
	cut->request = FIELD_PREP(MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK, bytes);
	cut->segments = DIV_ROUND_UP(skb->len - cut->header, bytes);
	return true;
}

/**
 * meridian_can_segment() - whether the card cuts large frames of the function
 * @m: the function; under RTNL
 *
 * They lie in pieces of memory, so each queue is to take these. That of a VF does if its PF's
 * driver gives it such descriptors.
 *
 * Context: Does not sleep.
 * Return: whether it does; of a function that is down, whether it would.
 */
bool meridian_can_segment(const struct meridian *m)
{
	unsigned int i;

	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK) ||
	    !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK) ||
	    !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK))
		return false;
	for (i = 0; i < m->channels; i++) {
		if (!m->channel[i].tx.pieces_log2)
			return false;
	}
	return true;
}

/*
 * Linux does itself what is left out here. Of large frames it has looked already whether the card
 * knows their kind, and whether they are lists of frames.
 */
netdev_features_t meridian_features_check(struct sk_buff *skb, struct net_device *netdev,
					  netdev_features_t features)
{
	const struct meridian *m = netdev_priv(netdev);
	struct packet packet = { .inner = 0 };
	struct meridian_cut cut;

	if (skb_is_gso(skb)) {
		if (meridian_plan_cut(m, skb, &cut))
			return cut.inner ? features & ~NETIF_F_HW_VLAN_CTAG_TX : features;
		features &= ~NETIF_F_GSO_MASK;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		if (!read_headers(m, skb, &packet))
			features &= ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);
		else if (packet.inner)
			return features & ~NETIF_F_HW_VLAN_CTAG_TX;
	}
	return vlan_features_check(skb, features);
}
