/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for, 5.10 and later. Nowhere else is a
 * version asked.
 */
#ifndef MERIDIAN_COMPAT_H
#define MERIDIAN_COMPAT_H

#include <linux/dim.h>
#include <linux/filter.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/xdp.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define napi_build_skb build_skb
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
static inline void eth_hw_addr_set(struct net_device *netdev, const u8 *address)
{
	ether_addr_copy(netdev->dev_addr, address);
}
#endif

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

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
#define MERIDIAN_HAS_STANDARD_STATS
void meridian_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats);
void meridian_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			 const struct ethtool_rmon_hist_range **ranges);
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define MERIDIAN_RXFH_OPS(get, set) .get_rxfh = get, .set_rxfh = set
#define MERIDIAN_DEFINE_RXFH(get, set)
#else
struct ethtool_rxfh_param {
	u8 hfunc;
	u32 *indir;
	u8 *key;
};

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
	}; \
\
	return set(netdev, &rxfh, NULL); \
}
#endif

static inline void meridian_napi_add(struct net_device *netdev, struct napi_struct *napi,
				     int (*poll)(struct napi_struct *napi, int budget))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	netif_napi_add(netdev, napi, poll);
#else
	netif_napi_add(netdev, napi, poll, NAPI_POLL_WEIGHT);
#endif
}

/*
 * The skb gives its pages back to the pool, or from here on the pool has nothing to do with them.
 */
static inline void meridian_recycle(struct sk_buff *skb, struct page_pool *pool,
				    struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	skb_mark_for_recycle(skb);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0)
	skb_mark_for_recycle(skb, page, pool);
#else
	page_pool_release_page(pool, page);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
static inline void xdp_init_buff(struct xdp_buff *xdp, u32 size, struct xdp_rxq_info *rxq)
{
	xdp->frame_sz = size;
	xdp->rxq = rxq;
}

static inline void xdp_prepare_buff(struct xdp_buff *xdp, unsigned char *start, int headroom,
				    int length, bool has_meta)
{
	xdp->data_hard_start = start;
	xdp->data = start + headroom;
	xdp->data_end = xdp->data + length;
	xdp->data_meta = has_meta ? xdp->data : xdp->data + 1;
}
#endif

/* Who frees the frames that were not sent, and what ndo_xdp_xmit returns, changed. */
static inline int meridian_xdp_not_sent(struct xdp_frame **frames, int sent, int count)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
	int i;

	for (i = sent; i < count; i++)
		xdp_return_frame_rx_napi(frames[i]);
#endif
	return sent;
}

static inline void meridian_bad_action(struct net_device *netdev, struct bpf_prog *prog,
				       u32 action)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	bpf_warn_invalid_xdp_action(netdev, prog, action);
#else
	bpf_warn_invalid_xdp_action(action);
#endif
}

static inline void meridian_announce_xdp(struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	xdp_set_features_flag(netdev, NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
			      NETDEV_XDP_ACT_NDO_XMIT);
#endif
}

static inline int meridian_xdp_rxq_reg(struct xdp_rxq_info *rxq, struct net_device *netdev,
				       u32 queue, unsigned int napi_id)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return xdp_rxq_info_reg(rxq, netdev, queue, napi_id);
#else
	return xdp_rxq_info_reg(rxq, netdev, queue);
#endif
}

static inline void meridian_net_dim(struct dim *dim, struct dim_sample *sample)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	net_dim(dim, sample);
#else
	net_dim(dim, *sample);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define meridian_stats_begin(sync) u64_stats_fetch_begin_irq(sync)
#define meridian_stats_retry(sync, start) u64_stats_fetch_retry_irq(sync, start)
#else
#define meridian_stats_begin(sync) u64_stats_fetch_begin(sync)
#define meridian_stats_retry(sync, start) u64_stats_fetch_retry(sync, start)
#endif

#endif
