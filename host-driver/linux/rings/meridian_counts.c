// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the queues count: each of those that are there, and all together since the interface has
 * been there.
 */
#include "compat.h"
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_counts.h"
#include "meridian_hw.h"

static void add_rx(u64 *counts, const struct meridian_rx_stats *stats)
{
	const u64_stats_t *values[] = {
		[MERIDIAN_RX_PACKETS] = &stats->packets,
		[MERIDIAN_RX_BYTES] = &stats->bytes,
		[MERIDIAN_RX_NO_MEMORY] = &stats->no_memory,
		[MERIDIAN_RX_BAD] = &stats->bad_completion,
		[MERIDIAN_RX_XDP_DROP] = &stats->xdp_drop,
		[MERIDIAN_RX_XDP_TX] = &stats->xdp_tx,
		[MERIDIAN_RX_XDP_REDIRECT] = &stats->xdp_redirect,
		[MERIDIAN_RX_XDP_ERROR] = &stats->xdp_error,
		[MERIDIAN_RX_CHECKSUM_GOOD] = &stats->checksum_good,
		[MERIDIAN_RX_CHECKSUM_BAD] = &stats->checksum_bad,
		[MERIDIAN_RX_CHECKSUM_NONE] = &stats->checksum_none,
	};
	u64 now[MERIDIAN_RX_COUNTS];
	unsigned int start, i;

	static_assert(ARRAY_SIZE(values) == MERIDIAN_RX_COUNTS);
	do {
		start = meridian_stats_begin(&stats->sync);
		for (i = 0; i < MERIDIAN_RX_COUNTS; i++)
			now[i] = u64_stats_read(values[i]);
	} while (meridian_stats_retry(&stats->sync, start));
	for (i = 0; i < MERIDIAN_RX_COUNTS; i++)
		counts[i] += now[i];
}

static void add_tx(u64 *counts, const struct meridian_tx_stats *stats)
{
	const struct {
		const u64_stats_t *value;
		enum meridian_tx_count count;
	} each[] = {
		{ &stats->dropped, MERIDIAN_TX_DROPPED },
		{ &stats->stopped, MERIDIAN_TX_STOPPED },
		{ &stats->restarted, MERIDIAN_TX_WOKEN },
		{ &stats->needs_csum, MERIDIAN_TX_NEEDS_CSUM },
		{ &stats->gathered, MERIDIAN_TX_GATHERED },
		{ &stats->linearized, MERIDIAN_TX_LINEARIZED },
		{ &stats->pushed, MERIDIAN_TX_PUSHED },
		{ &stats->segmented, MERIDIAN_TX_SEGMENTED },
		{ &stats->segmented_bytes, MERIDIAN_TX_SEGMENTED_BYTES },
		{ &stats->segments, MERIDIAN_TX_SEGMENTS },
		{ &stats->segments_bytes, MERIDIAN_TX_SEGMENTS_BYTES },
	};
	u64 now[ARRAY_SIZE(each)];
	unsigned int start, i;

	do {
		start = meridian_stats_begin(&stats->sync);
		for (i = 0; i < ARRAY_SIZE(each); i++)
			now[i] = u64_stats_read(each[i].value);
	} while (meridian_stats_retry(&stats->sync, start));
	for (i = 0; i < ARRAY_SIZE(each); i++)
		counts[each[i].count] += now[i];
}

static void add_done(u64 *counts, const struct meridian_done_stats *stats)
{
	u64 packets, bytes, xdp, woken;
	unsigned int start;

	do {
		start = meridian_stats_begin(&stats->sync);
		packets = u64_stats_read(&stats->packets);
		bytes = u64_stats_read(&stats->bytes);
		xdp = u64_stats_read(&stats->xdp);
		woken = u64_stats_read(&stats->woken);
	} while (meridian_stats_retry(&stats->sync, start));
	counts[MERIDIAN_TX_PACKETS] += packets;
	counts[MERIDIAN_TX_BYTES] += bytes;
	counts[MERIDIAN_TX_XDP] += xdp;
	counts[MERIDIAN_TX_WOKEN] += woken;
}

static void add_channel(struct meridian_counts *counts, const struct meridian_channel *channel)
{
	add_rx(counts->rx, &channel->rx.stats);
	add_tx(counts->tx, &channel->tx.stats);
	add_done(counts->tx, &channel->tx.done);
}

/* Under stats_lock. */
static void sum(struct meridian *m, struct meridian_counts *counts)
{
	unsigned int i;

	*counts = m->before;
	for (i = 0; i < m->counted; i++)
		add_channel(counts, &m->channel[i]);
}

static void forget(struct meridian_channel *channel)
{
	memset(&channel->rx.stats, 0, offsetof(struct meridian_rx_stats, sync));
	memset(&channel->tx.stats, 0, offsetof(struct meridian_tx_stats, sync));
	memset(&channel->tx.done, 0, offsetof(struct meridian_done_stats, sync));
}

/**
 * meridian_count_channels() - say which channels count
 * @m: the function
 * @count: of its channels; what the others have counted stays, and they begin anew
 *
 * Context: Does not sleep.
 */
void meridian_count_channels(struct meridian *m, unsigned int count)
{
	unsigned int i;

	spin_lock_bh(&m->stats_lock);
	for (i = count; i < m->counted; i++) {
		add_channel(&m->before, &m->channel[i]);
		forget(&m->channel[i]);
	}
	m->counted = count;
	spin_unlock_bh(&m->stats_lock);
}

/**
 * meridian_all_counts() - of all queues that there are and were
 * @m: the function
 * @counts: gets them
 *
 * Context: Does not sleep.
 */
void meridian_all_counts(struct meridian *m, struct meridian_counts *counts)
{
	spin_lock_bh(&m->stats_lock);
	sum(m, counts);
	spin_unlock_bh(&m->stats_lock);
}

/**
 * meridian_queue_counts() - of one queue pair, since it has been there
 * @m: the function
 * @index: of the pair
 * @counts: gets them, or zeros if there is no such pair
 *
 * Context: Does not sleep.
 */
void meridian_queue_counts(struct meridian *m, unsigned int index, struct meridian_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	spin_lock_bh(&m->stats_lock);
	if (index < m->counted)
		add_channel(counts, &m->channel[index]);
	spin_unlock_bh(&m->stats_lock);
}

#ifdef MERIDIAN_HAS_QUEUE_STATS
static void put_rx(struct netdev_queue_stats_rx *stats, const u64 *counts)
{
	stats->packets = counts[MERIDIAN_RX_PACKETS];
	stats->bytes = counts[MERIDIAN_RX_BYTES];
	stats->alloc_fail = counts[MERIDIAN_RX_NO_MEMORY];
	stats->csum_unnecessary = counts[MERIDIAN_RX_CHECKSUM_GOOD];
	stats->csum_bad = counts[MERIDIAN_RX_CHECKSUM_BAD];
	stats->csum_none = counts[MERIDIAN_RX_CHECKSUM_NONE];
}

static void put_tx(struct netdev_queue_stats_tx *stats, const u64 *counts)
{
	stats->packets = counts[MERIDIAN_TX_PACKETS];
	stats->bytes = counts[MERIDIAN_TX_BYTES];
	stats->needs_csum = counts[MERIDIAN_TX_NEEDS_CSUM];
	stats->hw_gso_packets = counts[MERIDIAN_TX_SEGMENTED];
	stats->hw_gso_bytes = counts[MERIDIAN_TX_SEGMENTED_BYTES];
	stats->hw_gso_wire_packets = counts[MERIDIAN_TX_SEGMENTS];
	stats->hw_gso_wire_bytes = counts[MERIDIAN_TX_SEGMENTS_BYTES];
	stats->stop = counts[MERIDIAN_TX_STOPPED];
	stats->wake = counts[MERIDIAN_TX_WOKEN];
}

static void get_queue_stats_rx(struct net_device *netdev, int index,
			       struct netdev_queue_stats_rx *stats)
{
	struct meridian_counts counts;

	meridian_queue_counts(netdev_priv(netdev), index, &counts);
	put_rx(stats, counts.rx);
}

static void get_queue_stats_tx(struct net_device *netdev, int index,
			       struct netdev_queue_stats_tx *stats)
{
	struct meridian_counts counts;

	meridian_queue_counts(netdev_priv(netdev), index, &counts);
	put_tx(stats, counts.tx);
}

static u64 read_all(struct meridian *m, const u32 *offsets, unsigned int count)
{
	u64 total = 0;

	while (count--)
		total += meridian_read_function_counter(m, *offsets++);
	return total;
}

/* What the card has dropped; it does not tell of which queue. Nothing if the card is away. */
static void put_drops(struct meridian *m, struct netdev_queue_stats_rx *rx,
		      struct netdev_queue_stats_tx *tx)
{
	static const u32 no_room[] = {
		MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL, MERIDIAN_FUNCTION_COUNTER_RX_COPY_CUT,
	};
	static const u32 unwanted[] = {
		MERIDIAN_FUNCTION_COUNTER_RX_DISABLED, MERIDIAN_FUNCTION_COUNTER_RX_BAD_QUEUE,
	};
	static const u32 malformed[] = {
		MERIDIAN_FUNCTION_COUNTER_TX_RUNT, MERIDIAN_FUNCTION_COUNTER_TX_OVERSIZE,
		MERIDIAN_FUNCTION_COUNTER_TX_ERROR,
	};
	static const u32 unsent[] = {
		MERIDIAN_FUNCTION_COUNTER_TX_NO_FUNCTION, MERIDIAN_FUNCTION_COUNTER_TX_DISABLED,
		MERIDIAN_FUNCTION_COUNTER_TX_SPOOF, MERIDIAN_FUNCTION_COUNTER_TX_CONTROL_FRAME,
		MERIDIAN_FUNCTION_COUNTER_TX_LINK_DOWN, MERIDIAN_FUNCTION_COUNTER_TX_HOST_DISABLED,
		MERIDIAN_FUNCTION_COUNTER_TX_VEB_FULL, MERIDIAN_FUNCTION_COUNTER_TX_PS_FULL,
		MERIDIAN_FUNCTION_COUNTER_TX_HAIRPIN,
	};
	u64 overruns, rx_drops, errors, tx_drops;

	if (!netif_device_present(m->netdev))
		return;
	overruns = read_all(m, no_room, ARRAY_SIZE(no_room));
	rx_drops = overruns + read_all(m, unwanted, ARRAY_SIZE(unwanted));
	errors = read_all(m, malformed, ARRAY_SIZE(malformed));
	tx_drops = errors + read_all(m, unsent, ARRAY_SIZE(unsent));
	if (!meridian_present(m))
		return;
	rx->hw_drops = rx_drops;
	rx->hw_drop_overruns = overruns;
	tx->hw_drops = tx_drops;
	tx->hw_drop_errors = errors;
}

static void get_base_stats(struct net_device *netdev, struct netdev_queue_stats_rx *rx,
			   struct netdev_queue_stats_tx *tx)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_counts before;

	spin_lock_bh(&m->stats_lock);
	before = m->before;
	spin_unlock_bh(&m->stats_lock);
	put_rx(rx, before.rx);
	put_tx(tx, before.tx);
	put_drops(m, rx, tx);
}

static const struct netdev_stat_ops stat_ops = {
	.get_queue_stats_rx = get_queue_stats_rx,
	.get_queue_stats_tx = get_queue_stats_tx,
	.get_base_stats = get_base_stats,
};

/**
 * meridian_offer_queue_stats() - statistics by queue, for who asks by netlink
 * @netdev: not registered yet
 *
 * Context: Does not sleep.
 */
void meridian_offer_queue_stats(struct net_device *netdev)
{
	netdev->stat_ops = &stat_ops;
}
#else
void meridian_offer_queue_stats(struct net_device *netdev)
{
}
#endif
