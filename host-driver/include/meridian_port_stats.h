/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Statistics of an Ethernet port of Meridian by the names that IEEE 802.3 and
 * RMON (RFC 2819) give them, for Linux's drivers on both sides of the card.
 */
#ifndef MERIDIAN_PORT_STATS_H
#define MERIDIAN_PORT_STATS_H

#include <linux/ethtool.h>
#include <linux/kernel.h>

#include "meridian_regs.h"

#define MERIDIAN_PORT_COUNTER(name) \
	read(port, MERIDIAN_PORT_COUNTERS_COUNTER_##name)

/**
 * meridian_port_mac_stats() - of IEEE 802.3
 * @port: whose
 * @read: tells the value of its counter MERIDIAN_PORT_COUNTERS_COUNTER_*
 * @stats: to be filled
 */
static inline void meridian_port_mac_stats(void *port, u64 (*read)(void *port, u32 counter),
					   struct ethtool_eth_mac_stats *stats)
{
	stats->FramesTransmittedOK = MERIDIAN_PORT_COUNTER(TX_GOOD_FRAMES);
	stats->FramesReceivedOK = MERIDIAN_PORT_COUNTER(RX_GOOD_FRAMES);
	stats->FrameCheckSequenceErrors = MERIDIAN_PORT_COUNTER(RX_BAD_FCS);
	stats->OctetsTransmittedOK = MERIDIAN_PORT_COUNTER(TX_GOOD_BYTES);
	stats->OctetsReceivedOK = MERIDIAN_PORT_COUNTER(RX_GOOD_BYTES);
	stats->MulticastFramesXmittedOK = MERIDIAN_PORT_COUNTER(TX_MULTICAST);
	stats->BroadcastFramesXmittedOK = MERIDIAN_PORT_COUNTER(TX_BROADCAST);
	stats->MulticastFramesReceivedOK = MERIDIAN_PORT_COUNTER(RX_MULTICAST);
	stats->BroadcastFramesReceivedOK = MERIDIAN_PORT_COUNTER(RX_BROADCAST);
	stats->FrameTooLongErrors = MERIDIAN_PORT_COUNTER(RX_OVERSIZE);
}

static const struct ethtool_rmon_hist_range meridian_port_ranges[] = {
	{ 64, 64 }, { 65, 127 }, { 128, 255 }, { 256, 511 }, { 512, 1023 }, { 1024, 1518 },
	{ 1519, 2047 }, { 2048, 4095 }, { 4096, 8191 }, { 8192, 10000 },
	{}
};

/* Which of the ranges each of the card's, which are finer, is in; the last is for larger frames. */
static const u8 meridian_port_range_of[] = { 0, 1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9 };

static inline void meridian_port_sizes(void *port, u64 (*read)(void *port, u32 counter),
				       u32 first, u32 large, u64 *sizes)
{
	unsigned int i;

	sizes[9] = read(port, large);
	for (i = 0; i < 9; i++)
		sizes[i] = 0;
	for (i = 0; i < ARRAY_SIZE(meridian_port_range_of); i++)
		sizes[meridian_port_range_of[i]] += read(port, first + 8 * i);
}

/**
 * meridian_port_rmon_stats() - of RMON
 * @port: whose
 * @read: tells the value of its counter MERIDIAN_PORT_COUNTERS_COUNTER_*
 * @stats: to be filled
 * @ranges: told the sizes of frames that are counted apart
 */
static inline void meridian_port_rmon_stats(void *port, u64 (*read)(void *port, u32 counter),
					    struct ethtool_rmon_stats *stats,
					    const struct ethtool_rmon_hist_range **ranges)
{
	*ranges = meridian_port_ranges;
	stats->undersize_pkts = MERIDIAN_PORT_COUNTER(RX_RUNT);
	stats->oversize_pkts = MERIDIAN_PORT_COUNTER(RX_OVERSIZE);
	meridian_port_sizes(port, read, MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_64,
			    MERIDIAN_PORT_COUNTERS_COUNTER_RX_LARGE, stats->hist);
	meridian_port_sizes(port, read, MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_64,
			    MERIDIAN_PORT_COUNTERS_COUNTER_TX_LARGE, stats->hist_tx);
}

#endif
