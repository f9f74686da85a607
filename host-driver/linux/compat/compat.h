/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for, 5.10 and later, stands here and in
 * compat_*.h by subject. Nowhere else is a version asked.
 */
#ifndef MERIDIAN_COMPAT_H
#define MERIDIAN_COMPAT_H

#include <linux/dim.h>
#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/u64_stats_sync.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#include <linux/aer.h>
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
