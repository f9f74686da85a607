// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of the port by the names that IEEE 802.3 and RMON (RFC 2819) give them. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define COUNTER(name) \
	meridian_ps_read_port_counter(port, MERIDIAN_PORT_COUNTERS_COUNTER_##name)

void meridian_ps_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	stats->FramesTransmittedOK = COUNTER(TX_GOOD_FRAMES);
	stats->FramesReceivedOK = COUNTER(RX_GOOD_FRAMES);
	stats->FrameCheckSequenceErrors = COUNTER(RX_BAD_FCS);
	stats->OctetsTransmittedOK = COUNTER(TX_GOOD_BYTES);
	stats->OctetsReceivedOK = COUNTER(RX_GOOD_BYTES);
	stats->MulticastFramesXmittedOK = COUNTER(TX_MULTICAST);
	stats->BroadcastFramesXmittedOK = COUNTER(TX_BROADCAST);
	stats->MulticastFramesReceivedOK = COUNTER(RX_MULTICAST);
	stats->BroadcastFramesReceivedOK = COUNTER(RX_BROADCAST);
	stats->FrameTooLongErrors = COUNTER(RX_OVERSIZE);
}

static const struct ethtool_rmon_hist_range ranges_of_card[] = {
	{ 64, 64 }, { 65, 127 }, { 128, 255 }, { 256, 511 }, { 512, 1023 }, { 1024, 1518 },
	{ 1519, 2047 }, { 2048, 4095 }, { 4096, 8191 }, { 8192, 10000 },
	{}
};

/* Which of the ranges each of the card's, which are finer, is in; the last is for larger frames. */
static const u8 range_of[] = { 0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9 };

static void read_sizes(struct meridian_ps_port *port, u32 first, u32 large, u64 *sizes)
{
	unsigned int i;

	sizes[9] = meridian_ps_read_port_counter(port, large);
	for (i = 0; i < 9; i++)
		sizes[i] = 0;
	for (i = 0; i < ARRAY_SIZE(range_of); i++)
		sizes[range_of[i]] += meridian_ps_read_port_counter(port, first + 8 * i);
}

void meridian_ps_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			    const struct ethtool_rmon_hist_range **ranges)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	*ranges = ranges_of_card;
	stats->undersize_pkts = COUNTER(RX_RUNT);
	stats->oversize_pkts = COUNTER(RX_OVERSIZE);
	read_sizes(port, MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_64,
		   MERIDIAN_PORT_COUNTERS_COUNTER_RX_LARGE, stats->hist);
	read_sizes(port, MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_64,
		   MERIDIAN_PORT_COUNTERS_COUNTER_TX_LARGE, stats->hist_tx);
}
