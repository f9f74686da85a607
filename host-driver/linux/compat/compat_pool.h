/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in page pools, and in an skb of their pages. */
#ifndef MERIDIAN_COMPAT_POOL_H
#define MERIDIAN_COMPAT_POOL_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define napi_build_skb build_skb
#endif

/* Whose the pages of a pool are. */
static inline void meridian_pool_owner(struct page_pool_params *params, struct net_device *netdev,
				       unsigned int queue)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	params->netdev = netdev;
	params->queue_idx = queue;
#endif
}

/*
 * Linux 6.12 keeps the NAPI that it tells users of a pool in a field of its own, and sets it only
 * when the pool is created. Linux 6.14 asks the NAPI itself, and so does a later 6.13.
 */
static inline void meridian_tell_pool_napi(struct page_pool *pool, unsigned int napi_id)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	WRITE_ONCE(pool->user.napi_id, napi_id);
#endif
}

/*
 * A pool may have one NAPI, in whose turn pages go back to it without a lock. It gets it, and is
 * parted from it, while that NAPI is disabled; so pools that wait for their turn, or for their end,
 * have none. Kernels without a function for it know the same field.
 */
static inline void meridian_pool_joins_napi(struct page_pool *pool, struct napi_struct *napi)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	page_pool_enable_direct_recycling(pool, napi);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	WRITE_ONCE(pool->p.napi, napi);
#endif
	meridian_tell_pool_napi(pool, napi->napi_id);
}

static inline void meridian_pool_leaves_napi(struct page_pool *pool)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	page_pool_disable_direct_recycling(pool);
#endif
	meridian_tell_pool_napi(pool, 0);
}

/*
 * The skb gives its pages back to the pool, or from here on the pool has nothing to do with them.
 */
static inline void meridian_recycle(struct sk_buff *skb, struct page_pool *pool,
				    struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	skb_mark_for_recycle(skb);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	skb_mark_for_recycle(skb, page, pool);
#else
	page_pool_release_page(pool, page);
#endif
}

/* The same for a further page of such an skb. */
static inline void meridian_recycle_more(struct page_pool *pool, struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	/* Each page knows its pool. */
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	page_pool_store_mem_info(page, pool);
#else
	page_pool_release_page(pool, page);
#endif
}

/* What page pools count, where the kernel is built to have it counted. */
#ifdef CONFIG_PAGE_POOL_STATS
#define meridian_pool_stats page_pool_stats

static inline int meridian_pool_stats_count(void)
{
	return page_pool_ethtool_stats_get_count();
}

static inline u8 *meridian_pool_stats_strings(u8 *data)
{
	return page_pool_ethtool_stats_get_strings(data);
}

static inline void meridian_add_pool_stats(struct page_pool *pool,
					   struct meridian_pool_stats *stats)
{
	page_pool_get_stats(pool, stats);
}

static inline u64 *meridian_pool_stats_values(u64 *data, struct meridian_pool_stats *stats)
{
	return page_pool_ethtool_stats_get(data, stats);
}
#else
struct meridian_pool_stats {
};

static inline int meridian_pool_stats_count(void)
{
	return 0;
}

static inline u8 *meridian_pool_stats_strings(u8 *data)
{
	return data;
}

static inline void meridian_add_pool_stats(struct page_pool *pool,
					   struct meridian_pool_stats *stats)
{
}

static inline u64 *meridian_pool_stats_values(u64 *data, struct meridian_pool_stats *stats)
{
	return data;
}
#endif

#endif
