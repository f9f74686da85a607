/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels that the driver is built for, 6.1 and later, differ. Nowhere else is a version asked. */
#ifndef MERIDIAN_PS_COMPAT_H
#define MERIDIAN_PS_COMPAT_H

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define kernel_ethtool_ts_info ethtool_ts_info
#endif

/* A pool did not know whom it is for. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define MERIDIAN_PS_POOL_OWNER(its_napi, its_netdev) .napi = its_napi, .netdev = its_netdev,
#else
#define MERIDIAN_PS_POOL_OWNER(its_napi, its_netdev)
#endif

/* Nobody could ask which interrupt and which queues a NAPI has. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define netif_napi_set_irq(napi, irq) do { } while (0)
#define netif_queue_set_napi(netdev, queue, type, napi) do { } while (0)
#endif

/* Statistics of queues and of timestamps had private names alone. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <net/netdev_queues.h>
#define MERIDIAN_PS_HAS_QUEUE_STATS
#define MERIDIAN_PS_SET_STAT_OPS(netdev, ops) ((netdev)->stat_ops = (ops))
#define MERIDIAN_PS_TS_STATS(get) .get_ts_stats = get,
#else
#define MERIDIAN_PS_SET_STAT_OPS(netdev, ops) do { } while (0)
#define MERIDIAN_PS_TS_STATS(get)
#endif

/* What a driver does not name is refused before it is asked. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define MERIDIAN_PS_PTP_FLAGS \
	.supported_perout_flags = PTP_PEROUT_DUTY_CYCLE | PTP_PEROUT_PHASE, \
	.supported_extts_flags = PTP_RISING_EDGE | PTP_FALLING_EDGE | PTP_STRICT_FLAGS,
#else
#define MERIDIAN_PS_PTP_FLAGS
#endif

/* Timestamps were asked for by an ioctl, and the driver copied the request. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define MERIDIAN_PS_HWTSTAMP_OPS(get, set) .ndo_hwtstamp_get = get, .ndo_hwtstamp_set = set
#define MERIDIAN_PS_DEFINE_HWTSTAMP(get, set)
#else
struct kernel_hwtstamp_config {
	int flags;
	int tx_type;
	int rx_filter;
};

#define MERIDIAN_PS_HWTSTAMP_OPS(get, set) .ndo_eth_ioctl = set##_ioctl
#define MERIDIAN_PS_DEFINE_HWTSTAMP(get, set) \
static int set##_ioctl(struct net_device *netdev, struct ifreq *request, int command) \
{ \
	struct kernel_hwtstamp_config config; \
	struct hwtstamp_config user; \
	int error; \
\
	if (command != SIOCGHWTSTAMP && command != SIOCSHWTSTAMP) \
		return -EOPNOTSUPP; \
	if (command == SIOCSHWTSTAMP) { \
		if (copy_from_user(&user, request->ifr_data, sizeof(user))) \
			return -EFAULT; \
		config.flags = user.flags; \
		config.tx_type = user.tx_type; \
		config.rx_filter = user.rx_filter; \
		error = set(netdev, &config, NULL); \
	} else { \
		error = get(netdev, &config); \
	} \
	if (error) \
		return error; \
	user.flags = config.flags; \
	user.tx_type = config.tx_type; \
	user.rx_filter = config.rx_filter; \
	return copy_to_user(request->ifr_data, &user, sizeof(user)) ? -EFAULT : 0; \
}
#endif

#endif
