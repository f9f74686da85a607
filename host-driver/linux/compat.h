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
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/version.h>
#include <net/devlink.h>
#include <net/xdp.h>
#include <net/xdp_sock_drv.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#include <linux/aer.h>
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

/* Statistics by queue; those of 6.9 and 6.10 lack fields. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#include <net/netdev_queues.h>
#define MERIDIAN_HAS_QUEUE_STATS
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define napi_build_skb build_skb
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
static inline int netif_set_real_num_queues(struct net_device *netdev, unsigned int tx,
					    unsigned int rx)
{
	int error = netif_set_real_num_tx_queues(netdev, tx);

	return error ? error : netif_set_real_num_rx_queues(netdev, rx);
}
#endif

/* Newer kernels have every device tell of its errors. */
static inline void meridian_tell_errors(struct pci_dev *pdev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
	pci_enable_pcie_error_reporting(pdev);
#endif
}

static inline void meridian_trans_update(struct netdev_queue *queue)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	txq_trans_cond_update(queue);
#else
	WRITE_ONCE(queue->trans_start, jiffies);
#endif
}

/* Late 5.10 kernels have a function for it, early ones do not. */
static inline void meridian_take_address(struct net_device *netdev, const u8 *address)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	eth_hw_addr_set(netdev, address);
#else
	ether_addr_copy(netdev->dev_addr, address);
#endif
}

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

/*
 * What is hashed and how many rings there are was one question, then two. A fields() that is not
 * negative is the answer. Before 6.17 who sets it gets no sentence: there is nothing to be set.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define MERIDIAN_RXNFC_OPS(fields, set, rings) \
	.get_rxfh_fields = fields##_new, .set_rxfh_fields = set##_new, .get_rx_ring_count = rings
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define MERIDIAN_RXNFC_OPS(fields, set, rings) \
	.get_rxfh_fields = fields##_new, .set_rxfh_fields = set##_new, .get_rxnfc = rings##_old
#else
#define MERIDIAN_RXNFC_OPS(fields, set, rings) .get_rxnfc = rings##_old
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
#define MERIDIAN_DEFINE_FIELDS(fields, set)
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

/* When a devlink is shown to users, and what brings its functions into being, changed. */
static inline struct devlink *meridian_devlink_new(const struct devlink_ops *ops, size_t bytes,
						   struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	return devlink_alloc(ops, bytes, dev);
#else
	return devlink_alloc(ops, bytes);
#endif
}

static inline int meridian_devlink_begin(struct devlink *devlink, struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	return 0;
#else
	return devlink_register(devlink, dev);
#endif
}

static inline void meridian_devlink_end(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	devlink_unregister(devlink);
#endif
}

static inline void meridian_devlink_publish(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	devlink_params_publish(devlink);
	devlink_reload_enable(devlink);
#else
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	devlink_reload_enable(devlink);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
	devlink_register(devlink);
#endif
}

static inline void meridian_devlink_withdraw(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	devlink_reload_disable(devlink);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	devlink_unregister(devlink);
#endif
}

/* Before there is such a lock, or before a reload has it, it is not needed. */
static inline void meridian_devl_lock(struct devlink *devlink)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_lock(devlink);
#endif
}

static inline void meridian_devl_unlock(struct devlink *devlink)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_unlock(devlink);
#endif
}

/*
 * A devlink's port and the interface that it has know each other: the port finds out about the
 * interface, or is told; the interface is made with the port, or is asked.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define MERIDIAN_PORT_OPS(get) .ndo_get_devlink_port = get,
#else
#define MERIDIAN_PORT_OPS(get)
#endif

static inline int meridian_port_begin(struct devlink *devlink, struct devlink_port *port,
				      unsigned int index)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	return devl_port_register(devlink, port, index);
#else
	return devlink_port_register(devlink, port, index);
#endif
}

static inline void meridian_port_end(struct devlink_port *port)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_port_unregister(port);
#else
	devlink_port_unregister(port);
#endif
}

/* Before the interface is registered. */
static inline void meridian_port_gets_netdev(struct devlink_port *port, struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	SET_NETDEV_DEVLINK_PORT(netdev, port);
#endif
}

/* While it is registered. */
static inline void meridian_port_has_netdev(struct devlink_port *port, struct net_device *netdev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	devlink_port_type_eth_set(port, netdev);
#endif
}

static inline void meridian_port_loses_netdev(struct devlink_port *port)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	devlink_port_type_clear(port);
#endif
}

static inline int meridian_devlink_driver_name(struct devlink_info_req *req, const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return 0;
#else
	return devlink_info_driver_name_put(req, name);
#endif
}

static inline int meridian_param_get(struct devlink *devlink, u32 id,
				     union devlink_param_value *value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return devl_param_driverinit_value_get(devlink, id, value);
#else
	return devlink_param_driverinit_value_get(devlink, id, value);
#endif
}

/* What a parameter's check is given. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MERIDIAN_PARAM_VALUE union devlink_param_value *
#define meridian_param_u32(name) ((name)->vu32)
#else
#define MERIDIAN_PARAM_VALUE union devlink_param_value
#define meridian_param_u32(name) ((name).vu32)
#endif

static inline void meridian_param_set(struct devlink *devlink, u32 id,
				      union devlink_param_value value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	devl_param_driverinit_value_set(devlink, id, &value);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	devl_param_driverinit_value_set(devlink, id, value);
#else
	devlink_param_driverinit_value_set(devlink, id, value);
#endif
}

/* Each fault is repaired, however soon it comes after the last. */
static inline struct devlink_health_reporter *
meridian_reporter(struct devlink *devlink, const struct devlink_health_reporter_ops *ops,
		  void *priv)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return devlink_health_reporter_create(devlink, ops, priv);
#else
	return devlink_health_reporter_create(devlink, ops, 0, priv);
#endif
}

/*
 * Newer kernels have a lock for each device, which whoever changes its queues holds; and a device
 * with queue management finds it held, beside RTNL or without, by whoever asks for something.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <net/netdev_lock.h>

#define meridian_lock(netdev) netdev_lock(netdev)
#define meridian_unlock(netdev) netdev_unlock(netdev)
#define meridian_close(netdev) netif_close(netdev)
#define meridian_napi_enable(napi) napi_enable_locked(napi)
#define meridian_napi_disable(napi) napi_disable_locked(napi)
#define meridian_napi_del(napi) netif_napi_del_locked(napi)
#else
#define meridian_lock(netdev) ((void)(netdev))
#define meridian_unlock(netdev) ((void)(netdev))
#define meridian_close(netdev) dev_close(netdev)
#define meridian_napi_enable(napi) napi_enable(napi)
#define meridian_napi_disable(napi) napi_disable(napi)
#define meridian_napi_del(napi) netif_napi_del(napi)
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define MERIDIAN_HAS_QUEUE_OPS
#include <net/netdev_queues.h>
#endif

/* What ethtool asks of a device with a lock of its own, and what needs RTNL beside that lock. */
#ifdef ETHTOOL_OP_NEEDS_RTNL_SCHANNELS
#define MERIDIAN_NEEDS_RTNL \
	.op_needs_rtnl = ETHTOOL_OP_NEEDS_RTNL_SRINGPARAM | ETHTOOL_OP_NEEDS_RTNL_SCHANNELS | \
			 ETHTOOL_OP_NEEDS_RTNL_GLINK,
#else
#define MERIDIAN_NEEDS_RTNL
#endif

/* Devices with a lock of their own are told where that can be taken. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
#define MERIDIAN_RX_MODE_OPS(mode) .ndo_set_rx_mode_async = mode##_new
#define MERIDIAN_DEFINE_RX_MODE(mode) \
static int mode##_new(struct net_device *netdev, struct netdev_hw_addr_list *unicast, \
		      struct netdev_hw_addr_list *multicast) \
{ \
	mode(netdev); \
	return 0; \
}
#else
#define MERIDIAN_RX_MODE_OPS(mode) .ndo_set_rx_mode = mode
#define MERIDIAN_DEFINE_RX_MODE(mode)
#endif

/* How a queue is to be, beside its memory. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MERIDIAN_QUEUE_CONFIG struct netdev_queue_config *config,
#else
#define MERIDIAN_QUEUE_CONFIG
#endif

/* Newer kernels keep by the index what users have set, and the identity, while there is no NAPI. */
static inline void meridian_napi_add(struct net_device *netdev, struct napi_struct *napi,
				     int (*poll)(struct napi_struct *napi, int budget), int index)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	netif_napi_add_config_locked(netdev, napi, poll, index);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	netif_napi_add_config(netdev, napi, poll, index);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	netif_napi_add(netdev, napi, poll);
#else
	netif_napi_add(netdev, napi, poll, NAPI_POLL_WEIGHT);
#endif
}

/* irq: -1 before it is given back. */
static inline void meridian_napi_set_irq(struct napi_struct *napi, int irq)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	netif_napi_set_irq_locked(napi, irq);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	netif_napi_set_irq(napi, irq);
#endif
}

/* Which NAPI polls a queue pair; NULL: none. */
static inline void meridian_queue_set_napi(struct net_device *netdev, unsigned int index,
					   struct napi_struct *napi)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	netif_queue_set_napi(netdev, index, NETDEV_QUEUE_TYPE_RX, napi);
	netif_queue_set_napi(netdev, index, NETDEV_QUEUE_TYPE_TX, napi);
#endif
}

/* Newer kernels spread the interrupts of NAPI, and keep what users say of them. */
static inline void meridian_spread_irqs(struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	netif_set_affinity_auto(netdev);
#endif
}

/* A driver says which processors are to have an interrupt that is shared; NULL before it is given back. */
static inline void meridian_hint_shared_irq(int irq, const struct cpumask *mask)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	irq_set_affinity_hint(irq, mask);
#else
	if (mask)
		irq_set_affinity_and_hint(irq, mask);
	else
		irq_update_affinity_hint(irq, NULL);
#endif
}

/* With older kernels it also says which has one that is a NAPI's own. */
static inline void meridian_hint_irq(int irq, const struct cpumask *mask)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	meridian_hint_shared_irq(irq, mask);
#endif
}

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
}

static inline void meridian_pool_leaves_napi(struct page_pool *pool)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	page_pool_disable_direct_recycling(pool);
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

/* A frame in parts, each in a page: the first one's end says where the others are. From 5.18 on. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
static inline bool meridian_takes_parts(const struct bpf_prog *prog)
{
	return prog->aux->xdp_has_frags;
}

static inline void meridian_fill_part(skb_frag_t *part, struct page *page, u32 offset, u32 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	skb_frag_fill_page_desc(part, page, offset, bytes);
#else
	__skb_frag_set_page(part, page);
	skb_frag_off_set(part, offset);
	skb_frag_size_set(part, bytes);
#endif
}

static inline void meridian_add_part(struct xdp_buff *xdp, struct page *page, u32 offset,
				     u32 bytes)
{
	struct skb_shared_info *shared = xdp_get_shared_info_from_buff(xdp);

	if (!xdp_buff_has_frags(xdp)) {
		xdp_buff_set_frags_flag(xdp);
		shared->nr_frags = 0;
		shared->xdp_frags_size = 0;
	}
	meridian_fill_part(&shared->frags[shared->nr_frags++], page, offset, bytes);
	shared->xdp_frags_size += bytes;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	shared->xdp_frags_truesize = shared->nr_frags * PAGE_SIZE;
#endif
	if (page_is_pfmemalloc(page))
		xdp_buff_set_frag_pfmemalloc(xdp);
}

static inline u32 meridian_parts_bytes(struct xdp_buff *xdp)
{
	return xdp_get_shared_info_from_buff(xdp)->xdp_frags_size;
}

static inline void meridian_keep_parts(struct sk_buff *skb, struct xdp_buff *xdp, u32 parts,
				       u32 bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	xdp_update_skb_frags_info(skb, parts, bytes, parts * PAGE_SIZE,
				  xdp_buff_get_skb_flags(xdp));
#else
	xdp_update_skb_shared_info(skb, parts, bytes, parts * PAGE_SIZE,
				   xdp_buff_is_frag_pfmemalloc(xdp));
#endif
}
#else
static inline bool meridian_takes_parts(const struct bpf_prog *prog)
{
	return false;
}

static inline void meridian_add_part(struct xdp_buff *xdp, struct page *page, u32 offset,
				     u32 bytes)
{
}

static inline u32 meridian_parts_bytes(struct xdp_buff *xdp)
{
	return 0;
}

static inline void meridian_keep_parts(struct sk_buff *skb, struct xdp_buff *xdp, u32 parts,
				       u32 bytes)
{
}

static inline bool xdp_buff_has_frags(struct xdp_buff *xdp)
{
	return false;
}

static inline bool xdp_frame_has_frags(struct xdp_frame *frame)
{
	return false;
}

static inline unsigned int xdp_get_frame_len(struct xdp_frame *frame)
{
	return frame->len;
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

static inline void meridian_xsk_sync(struct xdp_buff *xdp, struct xsk_buff_pool *pool)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	xsk_buff_dma_sync_for_cpu(xdp);
#else
	xsk_buff_dma_sync_for_cpu(xdp, pool);
#endif
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

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define MERIDIAN_HAS_METADATA
extern const struct xdp_metadata_ops meridian_metadata_ops;
#endif

static inline void meridian_announce_xdp(struct net_device *netdev)
{
#ifdef MERIDIAN_HAS_METADATA
	netdev->xdp_metadata_ops = &meridian_metadata_ops;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	xdp_set_features_flag(netdev, NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT |
			      NETDEV_XDP_ACT_NDO_XMIT | NETDEV_XDP_ACT_XSK_ZEROCOPY |
			      NETDEV_XDP_ACT_RX_SG | NETDEV_XDP_ACT_NDO_XMIT_SG);
#endif
}

static inline int meridian_xdp_rxq_reg(struct xdp_rxq_info *rxq, struct net_device *netdev,
				       u32 queue, unsigned int napi_id)
{
	/* Programs may lengthen a frame's last part to the end of its page. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return __xdp_rxq_info_reg(rxq, netdev, queue, napi_id, PAGE_SIZE);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return xdp_rxq_info_reg(rxq, netdev, queue, napi_id);
#else
	return xdp_rxq_info_reg(rxq, netdev, queue);
#endif
}

static inline void meridian_hrtimer_setup(struct hrtimer *timer,
					  enum hrtimer_restart (*end)(struct hrtimer *timer))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, end, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
	timer->function = end;
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
