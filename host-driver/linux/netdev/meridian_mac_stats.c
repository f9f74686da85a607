// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of the port by the names of standards. */
#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_hw.h"

#ifdef MERIDIAN_HAS_STANDARD_STATS
#include "include/meridian_port_stats.h"

static u64 read_counter(void *m, u32 counter)
{
	return meridian_read_port_counter(m, counter);
}

/* The port is not a VF's to see. */
void meridian_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_is_vf(m->pdev))
		meridian_port_mac_stats(m, read_counter, stats);
}

void meridian_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			 const struct ethtool_rmon_hist_range **ranges)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_is_vf(m->pdev))
		meridian_port_rmon_stats(m, read_counter, stats, ranges);
}

#endif
