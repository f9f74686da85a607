// SPDX-License-Identifier: GPL-2.0-only
/* Receive side scaling: which queue a frame's hash takes it to, and what ethtool changes in it. */
#include <linux/ethtool.h>

#include "compat.h"
#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_rss.h"

/**
 * meridian_default_indirection() - spread over all queues
 * @m: the function
 */
void meridian_default_indirection(struct meridian *m)
{
	qdma_spread(&m->rss, m->config.queues);
}

/**
 * meridian_default_hash() - the kernel's key, and the order that hashes IPv6, too
 * @m: the function, whose capabilities are known
 */
void meridian_default_hash(struct meridian *m)
{
	netdev_rss_key_fill(m->rss.key, sizeof(m->rss.key));
	m->rss.is_microsoft = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK);
}

/**
 * meridian_read_rss() - see what the card has
 * @m: a PF
 */
void meridian_read_rss(struct meridian *m)
{
	struct qdma_rss *found = &m->found_rss;
	unsigned int i;

	for (i = 0; i < QDMA_RSS_WORDS; i++)
		found->key[i] = meridian_read_function(m, MERIDIAN_FUNCTION_HASH_KEY(i));
	for (i = 0; i < QDMA_RSS_ENTRIES; i++)
		found->entry[i] = meridian_read_function(m, MERIDIAN_FUNCTION_INDIRECTION(i));
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		found->is_microsoft = meridian_read_function(m, MERIDIAN_FUNCTION_HASH_ORDER);
}

/**
 * meridian_write_function_rss() - how the frames of a function are spread
 * @m: a PF
 * @function: itself or a VF of its
 * @rss: to be in force on return
 */
void meridian_write_function_rss(struct meridian *m, u32 function, const struct qdma_rss *rss)
{
	u32 base = MERIDIAN_FUNCTION_BASE(function);
	unsigned int i;

	for (i = 0; i < QDMA_RSS_WORDS; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_KEY(i), rss->key[i]);
	for (i = 0; i < QDMA_RSS_ENTRIES; i++)
		meridian_write(m, base + MERIDIAN_FUNCTION_INDIRECTION(i), rss->entry[i]);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_ORDER, rss->is_microsoft);
	meridian_flush(m);
}

/**
 * meridian_write_rss() - key, indirection and order, as they are to be
 * @m: a PF
 *
 * Return: 0.
 */
int meridian_write_rss(struct meridian *m)
{
	meridian_write_function_rss(m, m->function, &m->rss);
	return 0;
}

u32 meridian_rxfh_key_size(struct net_device *netdev)
{
	return 4 * QDMA_RSS_WORDS;
}

u32 meridian_rxfh_indir_size(struct net_device *netdev)
{
	return QDMA_RSS_ENTRIES;
}

/* Takes it if the card does, or its PF. */
static int change(struct meridian *m, const struct qdma_rss *rss)
{
	struct qdma_rss before = m->rss;
	int error = 0;

	m->rss = *rss;
	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		error = m->ops->write_rss(m);
	if (error)
		m->rss = before;
	return error;
}

int meridian_get_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh)
{
	struct meridian *m = netdev_priv(netdev);
	unsigned int i;

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	for (i = 0; rxfh->indir && i < QDMA_RSS_ENTRIES; i++)
		rxfh->indir[i] = m->rss.entry[i];
	for (i = 0; rxfh->key && i < QDMA_RSS_WORDS; i++)
		put_unaligned_le32(m->rss.key[i], &rxfh->key[4 * i]);
	return 0;
}

int meridian_set_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh,
		      struct netlink_ext_ack *extack)
{
	struct meridian *m = netdev_priv(netdev);
	struct qdma_rss rss = m->rss;
	unsigned int i;

	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE && rxfh->hfunc != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	/* The PF of a VF may be too old to be asked. */
	if (meridian_is_vf(m->pdev) && m->pf_version < 2)
		return -EOPNOTSUPP;
	for (i = 0; rxfh->indir && i < QDMA_RSS_ENTRIES; i++)
		rss.entry[i] = rxfh->indir[i];
	for (i = 0; rxfh->key && i < QDMA_RSS_WORDS; i++)
		rss.key[i] = get_unaligned_le32(&rxfh->key[4 * i]);
	return change(m, &rss);
}

u32 meridian_ring_count(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	return m->config.queues;
}

#define RXH_ADDRESSES	(RXH_IP_SRC | RXH_IP_DST)
#define RXH_PORTS	(RXH_L4_B_0_1 | RXH_L4_B_2_3)

/**
 * meridian_hash_fields() - what the card hashes of such packets
 * @netdev: the function's
 * @flow: of ethtool
 *
 * OpenNIC's order takes four bits of an 802.1Q tag, the four bytes behind any IPv4 header, and of
 * IPv6 nothing; Microsoft's takes ports of TCP and UDP.
 *
 * Return: RXH_*; -EOPNOTSUPP for packets that the card does not tell from others.
 */
int meridian_hash_fields(struct net_device *netdev, u32 flow)
{
	struct meridian *m = netdev_priv(netdev);
	bool is_microsoft = m->rss.is_microsoft;

	switch (flow) {
	case TCP_V4_FLOW:
	case UDP_V4_FLOW:
		if (is_microsoft)
			return RXH_ADDRESSES | RXH_PORTS;
		fallthrough;
	case SCTP_V4_FLOW:
	case AH_V4_FLOW:
	case ESP_V4_FLOW:
	case AH_ESP_V4_FLOW:
	case IPV4_FLOW:
		if (is_microsoft)
			return RXH_ADDRESSES;
		return RXH_ADDRESSES | RXH_PORTS | RXH_L3_PROTO | RXH_VLAN;
	case TCP_V6_FLOW:
	case UDP_V6_FLOW:
		if (is_microsoft)
			return RXH_ADDRESSES | RXH_PORTS;
		fallthrough;
	case SCTP_V6_FLOW:
	case AH_V6_FLOW:
	case ESP_V6_FLOW:
	case AH_ESP_V6_FLOW:
	case IPV6_FLOW:
		return is_microsoft ? RXH_ADDRESSES : RXH_VLAN;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * meridian_set_hash_fields() - hash other parts of such packets
 * @netdev: the function's
 * @flow: of ethtool
 * @fields: RXH_*
 * @extack: gets a sentence
 *
 * Return: 0 if these are hashed anyway, or -EOPNOTSUPP.
 */
int meridian_set_hash_fields(struct net_device *netdev, u32 flow, u64 fields,
			     struct netlink_ext_ack *extack)
{
	int hashed = meridian_hash_fields(netdev, flow);

	if (hashed >= 0 && fields == hashed)
		return 0;
	NL_SET_ERR_MSG_MOD(extack,
			   "the card lets nobody choose what it hashes of a kind of packets");
	return -EOPNOTSUPP;
}

#define PRIV_MICROSOFT	BIT(0)

int meridian_priv_flag_count(struct meridian *m)
{
	return meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK) ? 1 : 0;
}

void meridian_priv_flag_strings(u8 *data)
{
	strscpy(data, "microsoft-hash", ETH_GSTRING_LEN);
}

u32 meridian_priv_flags(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	return m->rss.is_microsoft ? PRIV_MICROSOFT : 0;
}

int meridian_set_priv_flags(struct net_device *netdev, u32 flags)
{
	struct meridian *m = netdev_priv(netdev);
	struct qdma_rss rss = m->rss;

	if (flags & ~PRIV_MICROSOFT || (flags && !meridian_priv_flag_count(m)))
		return -EOPNOTSUPP;
	rss.is_microsoft = flags;
	return change(m, &rss);
}
