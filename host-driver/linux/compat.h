/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for, 5.10 and later. Nowhere else is a
 * version asked.
 */
#ifndef MERIDIAN_COMPAT_H
#define MERIDIAN_COMPAT_H

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/xdp.h>

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

static inline int meridian_xdp_rxq_reg(struct xdp_rxq_info *rxq, struct net_device *netdev,
				       u32 queue, unsigned int napi_id)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return xdp_rxq_info_reg(rxq, netdev, queue, napi_id);
#else
	return xdp_rxq_info_reg(rxq, netdev, queue);
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
