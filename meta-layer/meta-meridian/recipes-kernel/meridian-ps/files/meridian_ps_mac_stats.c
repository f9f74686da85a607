// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of the port by the names of standards. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"
#include "meridian_port_stats.h"

static u64 read_counter(void *port, u32 counter)
{
	return meridian_ps_read_port_counter(port, counter);
}

void meridian_ps_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	meridian_port_mac_stats(netdev_priv(netdev), read_counter, stats);
}

void meridian_ps_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			    const struct ethtool_rmon_hist_range **ranges)
{
	meridian_port_rmon_stats(netdev_priv(netdev), read_counter, stats, ranges);
}
