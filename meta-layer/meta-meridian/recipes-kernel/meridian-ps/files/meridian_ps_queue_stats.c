// SPDX-License-Identifier: GPL-2.0-only
/* Statistics of queues and transmit timestamps, where the kernel has places for them. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#ifdef MERIDIAN_PS_HAS_QUEUE_STATS

/* Of a port at hand. */
#define RX_STAT(counter)	meridian_ps_read_stat(&port->rx.stats.sync, &port->rx.stats.counter)
#define SENT_STAT(counter)	meridian_ps_read_stat(&port->tx.sent.sync, &port->tx.sent.counter)
#define DONE_STAT(counter)	meridian_ps_read_stat(&port->tx.done.sync, &port->tx.done.counter)

static void rx_queue_stats(struct net_device *netdev, int queue,
			   struct netdev_queue_stats_rx *stats)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	stats->packets = RX_STAT(packets);
	stats->bytes = RX_STAT(bytes);
	stats->alloc_fail = RX_STAT(no_memory) + RX_STAT(no_buffer);
	stats->hw_drop_ratelimits = meridian_ps_read_policed(port);
	stats->hw_drop_overruns =
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_NO_DESCRIPTOR_LOW) +
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_INSIDE_LOW) +
		meridian_ps_read_port_counter(port, MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_OVERFLOW);
	stats->hw_drops =
		stats->hw_drop_ratelimits + stats->hw_drop_overruns +
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_BUFFER_SMALL_LOW) +
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_ERRORS_LOW);
}

static void tx_queue_stats(struct net_device *netdev, int queue,
			   struct netdev_queue_stats_tx *stats)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	stats->packets = DONE_STAT(packets);
	stats->bytes = DONE_STAT(bytes);
	stats->hw_drop_errors = DONE_STAT(errors);
	stats->hw_drops = stats->hw_drop_errors;
	stats->stop = SENT_STAT(stopped);
	stats->wake = DONE_STAT(woken);
}

/* The queues are never others. */
static void base_stats(struct net_device *netdev, struct netdev_queue_stats_rx *rx,
		       struct netdev_queue_stats_tx *tx)
{
	rx->packets = 0;
	rx->bytes = 0;
	rx->alloc_fail = 0;
	rx->hw_drops = 0;
	rx->hw_drop_overruns = 0;
	rx->hw_drop_ratelimits = 0;
	tx->packets = 0;
	tx->bytes = 0;
	tx->hw_drops = 0;
	tx->hw_drop_errors = 0;
	tx->stop = 0;
	tx->wake = 0;
}

const struct netdev_stat_ops meridian_ps_stat_ops = {
	.get_queue_stats_rx = rx_queue_stats,
	.get_queue_stats_tx = tx_queue_stats,
	.get_base_stats = base_stats,
};

/**
 * meridian_ps_ts_stats() - how transmit timestamps fared
 * @netdev: of the port
 * @stats: filled in
 *
 * Context: Does not sleep.
 */
void meridian_ps_ts_stats(struct net_device *netdev, struct ethtool_ts_stats *stats)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	stats->pkts = port->stamp.delivered;
	stats->lost = port->stamp.late;
	stats->err = port->stamp.skipped;
}

#endif
