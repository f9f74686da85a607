/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in what ethtool asks for. */
#ifndef MERIDIAN_COMPAT_ETHTOOL_H
#define MERIDIAN_COMPAT_ETHTOOL_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define MERIDIAN_RING_MORE , struct kernel_ethtool_ringparam *kernel, struct netlink_ext_ack *extack
#else
#define MERIDIAN_RING_MORE
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
#define MERIDIAN_COALESCE_MORE \
	, struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack
#else
#define MERIDIAN_COALESCE_MORE
#endif

int meridian_get_coalesce(struct net_device *netdev,
			  struct ethtool_coalesce *coalesce MERIDIAN_COALESCE_MORE);
int meridian_set_coalesce(struct net_device *netdev,
			  struct ethtool_coalesce *coalesce MERIDIAN_COALESCE_MORE);

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
#define MERIDIAN_HAS_STANDARD_STATS
void meridian_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats);
void meridian_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			 const struct ethtool_rmon_hist_range **ranges);
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define MERIDIAN_RXFH_OPS(get, set) .get_rxfh = get, .set_rxfh = set
#define MERIDIAN_DEFINE_RXFH(get, set)
/* Some older ones have got it, too. */
#ifdef RXH_XFRM_SYM_OR_XOR
#define MERIDIAN_RXFH_TRANSFORMS \
	.supported_input_xfrm = RXH_XFRM_SYM_XOR | RXH_XFRM_SYM_OR_XOR,
#else
#define RXH_XFRM_SYM_OR_XOR		2
#define MERIDIAN_RXFH_TRANSFORMS	.cap_rss_sym_xor_supported = 1,
#endif
#else
#define MERIDIAN_RXFH_TRANSFORMS
#define RXH_XFRM_SYM_OR_XOR		2
struct ethtool_rxfh_param {
	u8 hfunc;
	u32 *indir;
	u8 *key;
	u8 input_xfrm;
};

#define RXH_XFRM_SYM_XOR	1
#define RXH_XFRM_NO_CHANGE	0xff

#define MERIDIAN_RXFH_OPS(get, set) .get_rxfh = get##_old, .set_rxfh = set##_old
#define MERIDIAN_DEFINE_RXFH(get, set) \
static int get##_old(struct net_device *netdev, u32 *indir, u8 *key, u8 *hfunc) \
{ \
	struct ethtool_rxfh_param rxfh = { .indir = indir, .key = key }; \
	int error = get(netdev, &rxfh); \
\
	if (hfunc) \
		*hfunc = rxfh.hfunc; \
	return error; \
} \
\
static int set##_old(struct net_device *netdev, const u32 *indir, const u8 *key, const u8 hfunc) \
{ \
	struct ethtool_rxfh_param rxfh = { \
		.hfunc = hfunc, .indir = (u32 *)indir, .key = (u8 *)key, \
		.input_xfrm = RXH_XFRM_NO_CHANGE, \
	}; \
\
	return set(netdev, &rxfh, NULL); \
}
#endif

/*
 * What is hashed and how many rings there are was one question, then two. A fields() that is not
 * negative is the answer. Before 6.17 who sets it gets no sentence.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define MERIDIAN_RXNFC_OPS(fields, set, rings) \
	.get_rxfh_fields = fields##_new, .set_rxfh_fields = set##_new, .get_rx_ring_count = rings
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define MERIDIAN_RXNFC_OPS(fields, set, rings) \
	.get_rxfh_fields = fields##_new, .set_rxfh_fields = set##_new, .get_rxnfc = rings##_old
#else
#define MERIDIAN_RXNFC_OPS(fields, set, rings) \
	.get_rxnfc = rings##_old, .set_rxnfc = set##_old
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define MERIDIAN_DEFINE_FIELDS(fields, set) \
static int fields##_new(struct net_device *netdev, struct ethtool_rxfh_fields *info) \
{ \
	int hashed = fields(netdev, info->flow_type); \
\
	if (hashed < 0) \
		return hashed; \
	info->data = hashed; \
	return 0; \
} \
\
static int set##_new(struct net_device *netdev, const struct ethtool_rxfh_fields *info, \
		     struct netlink_ext_ack *extack) \
{ \
	return set(netdev, info->flow_type, info->data, extack); \
}
#else
#define MERIDIAN_DEFINE_FIELDS(fields, set) \
static int set##_old(struct net_device *netdev, struct ethtool_rxnfc *info) \
{ \
	if (info->cmd != ETHTOOL_SRXFH) \
		return -EOPNOTSUPP; \
	return set(netdev, info->flow_type, info->data, NULL); \
}
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define MERIDIAN_DEFINE_RXNFC(fields, rings)
#else
#define MERIDIAN_DEFINE_RXNFC(fields, rings) \
static int rings##_old(struct net_device *netdev, struct ethtool_rxnfc *info, u32 *rules) \
{ \
	int hashed; \
\
	switch (info->cmd) { \
	case ETHTOOL_GRXRINGS: \
		info->data = rings(netdev); \
		return 0; \
	case ETHTOOL_GRXFH: \
		hashed = fields(netdev, info->flow_type); \
		if (hashed < 0) \
			return hashed; \
		info->data = hashed; \
		return 0; \
	default: \
		return -EOPNOTSUPP; \
	} \
}
#endif

/* What ethtool asks of a device with a lock of its own, and what needs RTNL beside that lock. */
#ifdef ETHTOOL_OP_NEEDS_RTNL_SCHANNELS
#define MERIDIAN_NEEDS_RTNL \
	.op_needs_rtnl = ETHTOOL_OP_NEEDS_RTNL_SRINGPARAM | ETHTOOL_OP_NEEDS_RTNL_SCHANNELS | \
			 ETHTOOL_OP_NEEDS_RTNL_GLINK,
#else
#define MERIDIAN_NEEDS_RTNL
#endif

#endif
