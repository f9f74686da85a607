/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in an interface: locks, queues, NAPI, interrupts. */
#ifndef MERIDIAN_COMPAT_NETDEV_H
#define MERIDIAN_COMPAT_NETDEV_H

#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/version.h>

/* Statistics by queue; those of 6.9 and 6.10 lack fields. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#include <net/netdev_queues.h>
#define MERIDIAN_HAS_QUEUE_STATS
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
static inline int netif_set_real_num_queues(struct net_device *netdev, unsigned int tx,
					    unsigned int rx)
{
	int error = netif_set_real_num_tx_queues(netdev, tx);

	return error ? error : netif_set_real_num_rx_queues(netdev, rx);
}
#endif

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

/* Older kernels have one limit for what a device cuts and what Linux cuts for it. */
static inline void meridian_set_tso_max_size(struct net_device *netdev, unsigned int bytes)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	netif_set_tso_max_size(netdev, bytes);
#else
	netif_set_gso_max_size(netdev, bytes);
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

/* Which processors are to have an interrupt that is shared; NULL before it is given back. */
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

/* Newer kernels keep what users say of a NAPI's interrupt; with older ones a driver hears of it. */
static inline void meridian_watch_affinity(int irq, struct irq_affinity_notify *notify)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	irq_set_affinity_notifier(irq, notify);
#endif
}

/* With older kernels it also says which has one that is a NAPI's own. */
static inline void meridian_hint_irq(int irq, const struct cpumask *mask)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
	meridian_hint_shared_irq(irq, mask);
#endif
}

#endif
