// SPDX-License-Identifier: GPL-2.0-only
/* The network interface of a function. */
#include <linux/rtnetlink.h>

#include "compat.h"
#include "meridian.h"

static void stop_tx(struct meridian *m)
{
	netif_tx_disable(m->netdev);
	netif_carrier_off(m->netdev);
}

/**
 * meridian_up() - memory, queues, frames
 * @m: a function that is down; under RTNL
 *
 * Return: 0 or a negative error, then it is down as before.
 */
int meridian_up(struct meridian *m)
{
	unsigned int i;
	int error;

	error = netif_set_real_num_queues(m->netdev, m->queues, m->queues);
	if (error)
		return error;
	error = meridian_alloc_channels(m);
	if (error)
		return error;
	error = meridian_start_queues(m);
	if (error)
		goto free;
	for (i = 0; i < m->channels; i++)
		napi_enable(&m->channel[i].napi);
	set_bit(MERIDIAN_FLAG_UP, &m->flags);
	meridian_set_queues(m, m->channels);
	netif_tx_start_all_queues(m->netdev);
	meridian_update_link(m);
	/* An interrupt from before NAPI was enabled is lost. */
	for (i = 0; i < m->channels; i++) {
		local_bh_disable();
		napi_schedule(&m->channel[i].napi);
		local_bh_enable();
	}
	return 0;
free:
	meridian_free_channels(m);
	return error;
}

/**
 * meridian_down() - no frames, no queues, no memory
 * @m: a function that is up; under RTNL
 */
void meridian_down(struct meridian *m)
{
	unsigned int i;

	clear_bit(MERIDIAN_FLAG_UP, &m->flags);
	stop_tx(m);
	meridian_set_queues(m, 0);
	for (i = 0; i < m->channels; i++)
		napi_disable(&m->channel[i].napi);
	meridian_stop_queues(m);
	meridian_free_channels(m);
}

static int meridian_open(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_present(m))
		return -ENODEV;
	return meridian_up(m);
}

static int meridian_stop(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	if (test_bit(MERIDIAN_FLAG_UP, &m->flags))
		meridian_down(m);
	return 0;
}

static void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	netdev_stats_to_stats64(stats, &netdev->stats);
}

static void meridian_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_tx *tx = &m->channel[queue].tx;

	netdev_warn(netdev, "transmit queue %u stands still with %u frames: resetting\n", queue,
		    meridian_tx_pending(tx));
	meridian_schedule_reset(m);
}

const struct net_device_ops meridian_netdev_ops = {
	.ndo_open = meridian_open,
	.ndo_stop = meridian_stop,
	.ndo_start_xmit = meridian_start_xmit,
	.ndo_get_stats64 = meridian_get_stats64,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_tx_timeout = meridian_tx_timeout,
};

/**
 * meridian_init_netdev() - what an interface has before it is registered
 * @m: an identified function
 */
void meridian_init_netdev(struct meridian *m)
{
	struct net_device *netdev = m->netdev;

	netdev->netdev_ops = &meridian_netdev_ops;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = m->max_frame - ETH_HLEN - VLAN_HLEN;
	netdev->watchdog_timeo = 5 * HZ;
	netdev->dev_port = m->port;
	eth_hw_addr_random(netdev);
}
