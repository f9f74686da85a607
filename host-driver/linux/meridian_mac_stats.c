// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of the port by the names that IEEE 802.3 and RMON (RFC 2819) give them. */
#include "compat.h"
#include "meridian.h"

#ifdef MERIDIAN_HAS_STANDARD_STATS

#define COUNTER(name) meridian_read_port_counter(m, MERIDIAN_PORT_COUNTERS_COUNTER_##name)

void meridian_mac_stats(struct net_device *netdev, struct ethtool_eth_mac_stats *stats)
{
	struct meridian *m = netdev_priv(netdev);

	/* The port is not a VF's to see. */
	if (m->pdev->is_virtfn)
		return;
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

static const struct ethtool_rmon_hist_range rmon_ranges[] = {
	{ 64, 64 }, { 65, 127 }, { 128, 255 }, { 256, 511 }, { 512, 1023 }, { 1024, 1518 },
	{ 1519, 2047 }, { 2048, 4095 }, { 4096, 8191 }, { 8192, 10000 },
	{}
};

/* The card's ranges from 1519 to 2047 and from 8192 on are finer than is of use here. */
static void read_sizes(struct meridian *m, u32 first, u32 large, u64 *sizes)
{
	u64 read[12];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(read); i++)
		read[i] = meridian_read_port_counter(m, first + 8 * i);
	for (i = 0; i < 6; i++)
		sizes[i] = read[i];
	sizes[6] = read[6] + read[7] + read[8];
	sizes[7] = read[9];
	sizes[8] = read[10];
	sizes[9] = read[11] + meridian_read_port_counter(m, large);
}

void meridian_rmon_stats(struct net_device *netdev, struct ethtool_rmon_stats *stats,
			 const struct ethtool_rmon_hist_range **ranges)
{
	struct meridian *m = netdev_priv(netdev);

	if (m->pdev->is_virtfn)
		return;
	*ranges = rmon_ranges;
	stats->undersize_pkts = COUNTER(RX_RUNT);
	stats->oversize_pkts = COUNTER(RX_OVERSIZE);
	read_sizes(m, MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_64,
		   MERIDIAN_PORT_COUNTERS_COUNTER_RX_LARGE, stats->hist);
	read_sizes(m, MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_64,
		   MERIDIAN_PORT_COUNTERS_COUNTER_TX_LARGE, stats->hist_tx);
}

#endif
