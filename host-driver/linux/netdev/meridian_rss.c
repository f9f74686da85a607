// SPDX-License-Identifier: GPL-2.0-only
/* Receive side scaling: which queue a frame's hash takes it to, and what ethtool changes in it. */
#include <linux/bitfield.h>
#include <linux/ethtool.h>

#include "compat.h"
#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_hw.h"
#include "meridian_rss.h"

#define ORDER_MICROSOFT		MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_MASK
#define ORDER_SYMMETRIC		MERIDIAN_FUNCTION_HASH_ORDER_SYMMETRIC_MASK
#define ORDER_LEFT_OUT		MERIDIAN_FUNCTION_HASH_ORDER_LEFT_OUT_MASK

/* OpenNIC's key and order; all frames to the first queue. */
static const struct qdma_rss reset_rss = {
	.key = { 0xd6e31417, 0x376cc87e, 0x011ba7a6, 0xdc1b91bb, 0x7872e224,
		 0xbfd0404b, 0x260374b8, 0xd9270f6f, 0x18dc4386, 0x7c9c37de },
};

/**
 * meridian_default_indirection() - spread over all queues
 * @m: the function
 *
 * Context: Does not sleep.
 */
void meridian_default_indirection(struct meridian *m)
{
	qdma_spread(&m->rss, m->config.queues);
}

/**
 * meridian_default_order() - the order that hashes IPv6, too, if the card has it, and all fields
 * @m: the function, whose capabilities are known
 *
 * Context: Does not sleep.
 */
void meridian_default_order(struct meridian *m)
{
	m->rss.order = 0;
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK))
		m->rss.order = ORDER_MICROSOFT;
}

/**
 * meridian_default_hash() - the kernel's key, and the order that hashes IPv6, too
 * @m: the function, whose capabilities are known
 *
 * Context: Does not sleep.
 */
void meridian_default_hash(struct meridian *m)
{
	netdev_rss_key_fill(m->rss.key, sizeof(m->rss.key));
	meridian_default_order(m);
}

/**
 * meridian_write_function_rss() - how the frames of a function are spread
 * @m: a PF
 * @function: itself or one of its VFs
 * @rss: to be in force on return
 *
 * Context: Does not sleep.
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
		meridian_write(m, base + MERIDIAN_FUNCTION_HASH_ORDER, rss->order);
	meridian_flush(m);
}

/**
 * meridian_reset_rss() - spread the frames of a function as after a reset of the card
 * @m: a PF
 * @function: itself or one of its VFs
 *
 * Whatever the driver found: the one before may have had no time to put it back.
 *
 * Context: Does not sleep.
 */
void meridian_reset_rss(struct meridian *m, u32 function)
{
	meridian_write_function_rss(m, function, &reset_rss);
}

/**
 * meridian_write_rss() - key, indirection and order, as they are to be
 * @m: a PF
 *
 * Context: Does not sleep.
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

/* By the register's field. */
static const u8 transforms[] = { 0, RXH_XFRM_SYM_XOR, RXH_XFRM_SYM_OR_XOR, RXH_XFRM_SYM_OR_XOR };

static int set_transform(struct qdma_rss *rss, u8 wanted, struct netlink_ext_ack *extack)
{
	unsigned int i;

	if (wanted && !(rss->order & ORDER_MICROSOFT)) {
		NL_SET_ERR_MSG_MOD(extack, "only Microsoft's order can be symmetric");
		return -EOPNOTSUPP;
	}
	for (i = 0; i <= QDMA_RSS_SYMMETRIC_OR_XOR; i++) {
		if (transforms[i] == wanted) {
			rss->order &= ~ORDER_SYMMETRIC;
			rss->order |= FIELD_PREP(ORDER_SYMMETRIC, i);
			return 0;
		}
	}
	return -EOPNOTSUPP;
}

static int take_order(struct meridian *m, const struct qdma_rss *rss,
		      struct netlink_ext_ack *extack)
{
	if (!qdma_rss_is_sound(rss)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "a symmetric hash includes source and destination, or neither");
		return -EINVAL;
	}
	if (qdma_rss_can(rss, m->capabilities))
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "the bitstream does not support this hash");
	return -EOPNOTSUPP;
}

int meridian_get_rxfh(struct net_device *netdev, struct ethtool_rxfh_param *rxfh)
{
	struct meridian *m = netdev_priv(netdev);
	unsigned int i;

	rxfh->hfunc = ETH_RSS_HASH_TOP;
	rxfh->input_xfrm = transforms[FIELD_GET(ORDER_SYMMETRIC, m->rss.order)];
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
	int error = 0;

	if (rxfh->hfunc != ETH_RSS_HASH_NO_CHANGE && rxfh->hfunc != ETH_RSS_HASH_TOP)
		return -EOPNOTSUPP;
	/* The PF of a VF may be too old to be asked. */
	if (meridian_is_vf(m->pdev) && m->pf_version < 2)
		return -EOPNOTSUPP;
	for (i = 0; rxfh->indir && i < QDMA_RSS_ENTRIES; i++)
		rss.entry[i] = rxfh->indir[i];
	for (i = 0; rxfh->key && i < QDMA_RSS_WORDS; i++)
		rss.key[i] = get_unaligned_le32(&rxfh->key[4 * i]);
	if (rxfh->input_xfrm != RXH_XFRM_NO_CHANGE)
		error = set_transform(&rss, rxfh->input_xfrm, extack);
	if (!error)
		error = take_order(m, &rss, extack);
	return error ? error : change(m, &rss);
}

u32 meridian_ring_count(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	return m->config.queues;
}

#define RXH_ADDRESSES	(RXH_IP_SRC | RXH_IP_DST)
#define RXH_PORTS	(RXH_L4_B_0_1 | RXH_L4_B_2_3)

/* What may be left out of packets with ports, the lowest bit first. */
static const u32 fields_left[] = { RXH_IP_SRC, RXH_IP_DST, RXH_L4_B_0_1, RXH_L4_B_2_3 };

/* Where the bits of such packets are; a negative number: these have no ports. */
static int left_out_at(u32 flow)
{
	switch (flow) {
	case TCP_V4_FLOW:
		return 0;
	case UDP_V4_FLOW:
		return 4;
	case TCP_V6_FLOW:
		return 8;
	case UDP_V6_FLOW:
		return 12;
	default:
		return -1;
	}
}

static bool is_v4(u32 flow)
{
	return flow == TCP_V4_FLOW || flow == UDP_V4_FLOW || flow == SCTP_V4_FLOW ||
	       flow == AH_V4_FLOW || flow == ESP_V4_FLOW || flow == AH_ESP_V4_FLOW ||
	       flow == IPV4_FLOW;
}

static bool is_v6(u32 flow)
{
	return flow == TCP_V6_FLOW || flow == UDP_V6_FLOW || flow == SCTP_V6_FLOW ||
	       flow == AH_V6_FLOW || flow == ESP_V6_FLOW || flow == AH_ESP_V6_FLOW ||
	       flow == IPV6_FLOW;
}

/**
 * meridian_hash_fields() - what the card hashes of such packets
 * @netdev: the function's
 * @flow: of ethtool
 *
 * OpenNIC's order takes four bits of an 802.1Q tag, the four bytes behind any IPv4 header, and of
 * IPv6 nothing; Microsoft's takes ports of TCP and UDP, and leaves out what it was told to.
 *
 * Context: Does not sleep.
 * Return: RXH_*; -EOPNOTSUPP for packets that the card does not tell from others.
 */
int meridian_hash_fields(struct net_device *netdev, u32 flow)
{
	struct meridian *m = netdev_priv(netdev);
	int at = left_out_at(flow), fields = 0;
	unsigned int i;

	if (!is_v4(flow) && !is_v6(flow))
		return -EOPNOTSUPP;
	if (!(m->rss.order & ORDER_MICROSOFT))
		return is_v4(flow) ? RXH_ADDRESSES | RXH_PORTS | RXH_L3_PROTO | RXH_VLAN : RXH_VLAN;
	if (at < 0)
		return RXH_ADDRESSES;
	for (i = 0; i < ARRAY_SIZE(fields_left); i++) {
		if (!(FIELD_GET(ORDER_LEFT_OUT, m->rss.order) & BIT(at + i)))
			fields |= fields_left[i];
	}
	return fields;
}

/**
 * meridian_set_hash_fields() - hash other parts of such packets
 * @netdev: the function's
 * @flow: of ethtool
 * @fields: RXH_*
 * @extack: gets a sentence; may be NULL
 *
 * Context: May sleep.
 * Return: 0; -EOPNOTSUPP if the card does not hash so, or another negative error if it, or the PF
 * of a VF, does not take it.
 */
int meridian_set_hash_fields(struct net_device *netdev, u32 flow, u64 fields,
			     struct netlink_ext_ack *extack)
{
	int hashed = meridian_hash_fields(netdev, flow), at = left_out_at(flow), error;
	struct meridian *m = netdev_priv(netdev);
	struct qdma_rss rss = m->rss;
	unsigned int i;
	u32 left;

	if (hashed >= 0 && fields == hashed)
		return 0;
	if (at < 0 || !(rss.order & ORDER_MICROSOFT) ||
	    fields & ~(u64)(RXH_ADDRESSES | RXH_PORTS)) {
		NL_SET_ERR_MSG_MOD(extack,
				   "only IP addresses and TCP/UDP ports, in Microsoft's order");
		return -EOPNOTSUPP;
	}
	left = FIELD_GET(ORDER_LEFT_OUT, rss.order) & ~(0xf << at);
	for (i = 0; i < ARRAY_SIZE(fields_left); i++) {
		if (!(fields & fields_left[i]))
			left |= BIT(at + i);
	}
	rss.order &= ~ORDER_LEFT_OUT;
	rss.order |= FIELD_PREP(ORDER_LEFT_OUT, left);
	error = take_order(m, &rss, extack);
	return error ? error : change(m, &rss);
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

	return m->rss.order & ORDER_MICROSOFT ? PRIV_MICROSOFT : 0;
}

int meridian_set_priv_flags(struct net_device *netdev, u32 flags)
{
	struct meridian *m = netdev_priv(netdev);
	struct qdma_rss rss = m->rss;

	if (flags & ~PRIV_MICROSOFT || (flags && !meridian_priv_flag_count(m)))
		return -EOPNOTSUPP;
	if (flags)
		rss.order |= ORDER_MICROSOFT;
	else
		rss.order = 0;
	return change(m, &rss);
}
