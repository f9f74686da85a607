// SPDX-License-Identifier: GPL-2.0-only
/* Statistics: what the queues count, and what the card counts of the function and its port. */
#include <linux/ethtool.h>

#include "compat.h"
#include "meridian.h"

enum {
	RX_PACKETS, RX_BYTES, RX_NO_MEMORY, RX_BAD,
	RX_XDP_DROP, RX_XDP_TX, RX_XDP_REDIRECT, RX_XDP_ERROR,
	RX_CHECKSUM_GOOD, RX_CHECKSUM_BAD,
};

enum { TX_PACKETS, TX_BYTES, TX_DROPPED, TX_STOPPED, TX_XDP };

struct named {
	char name[ETH_GSTRING_LEN];
	u32 offset;
};

#define RX(name, index) { "rx_" name, index }
#define TX(name, index) { "tx_" name, index }

static const struct named rx_counts[] = {
	RX("no_memory", RX_NO_MEMORY),
	RX("bad_completion", RX_BAD),
	RX("xdp_drop", RX_XDP_DROP),
	RX("xdp_tx", RX_XDP_TX),
	RX("xdp_redirect", RX_XDP_REDIRECT),
	RX("xdp_error", RX_XDP_ERROR),
	RX("checksum_good", RX_CHECKSUM_GOOD),
	RX("checksum_bad", RX_CHECKSUM_BAD),
};

static const struct named tx_counts[] = {
	TX("dropped", TX_DROPPED),
	TX("stopped", TX_STOPPED),
	TX("xdp", TX_XDP),
};

#define FUNCTION(name, counter) { "card_" name, MERIDIAN_FUNCTION_COUNTER_##counter }

/* The card's verdicts on the function's frames. */
static const struct named function_counters[] = {
	FUNCTION("rx_delivered", RX_DELIVERED),
	FUNCTION("rx_bytes", RX_BYTES),
	FUNCTION("rx_copies", RX_COPIES),
	FUNCTION("rx_disabled", RX_DISABLED),
	FUNCTION("rx_bad_queue", RX_BAD_QUEUE),
	FUNCTION("rx_queue_full", RX_QUEUE_FULL),
	FUNCTION("rx_copy_cut", RX_COPY_CUT),
	FUNCTION("tx_sent", TX_SENT),
	FUNCTION("tx_bytes", TX_BYTES),
	FUNCTION("tx_no_function", TX_NO_FUNCTION),
	FUNCTION("tx_disabled", TX_DISABLED),
	FUNCTION("tx_spoof", TX_SPOOF),
	FUNCTION("tx_control_frame", TX_CONTROL_FRAME),
	FUNCTION("tx_offload_skipped", TX_OFFLOAD_SKIPPED),
	FUNCTION("tx_runt", TX_RUNT),
	FUNCTION("tx_oversize", TX_OVERSIZE),
	FUNCTION("tx_error", TX_ERROR),
	FUNCTION("tx_link_down", TX_LINK_DOWN),
	FUNCTION("tx_host_disabled", TX_HOST_DISABLED),
	FUNCTION("tx_switched", TX_SWITCHED),
	FUNCTION("tx_to_ps", TX_TO_PS),
	FUNCTION("tx_veb_full", TX_VEB_FULL),
	FUNCTION("tx_ps_full", TX_PS_FULL),
	FUNCTION("tx_hairpin", TX_HAIRPIN),
	FUNCTION("tx_copies_switched", TX_COPIES_SWITCHED),
	FUNCTION("tx_copies_veb_full", TX_COPIES_VEB_FULL),
	FUNCTION("tx_copies_to_ps", TX_COPIES_TO_PS),
	FUNCTION("tx_copies_ps_full", TX_COPIES_PS_FULL),
};

#define UNOWNED(name, counter) { "port_" name, MERIDIAN_HOST_PORT_COUNTERS_COUNTER_##counter }

/* Frames of the port that were nobody's. */
static const struct named unowned_counters[] = {
	UNOWNED("rx_no_match", RX_NO_MATCH),
	UNOWNED("rx_no_listener", RX_NO_LISTENER),
	UNOWNED("rx_host_disabled", RX_HOST_DISABLED),
	UNOWNED("rx_copying", RX_COPYING),
};

#define PORT(name, counter) { "port_" name, MERIDIAN_PORT_COUNTERS_COUNTER_##counter }

static const struct named port_counters[] = {
	PORT("rx_frames", RX_FRAMES),
	PORT("rx_bad_fcs", RX_BAD_FCS),
	PORT("rx_runt", RX_RUNT),
	PORT("rx_oversize", RX_OVERSIZE),
	PORT("rx_to_host", RX_TO_HOST),
	PORT("rx_to_ps", RX_TO_PS),
	PORT("rx_host_overflow", RX_HOST_OVERFLOW),
	PORT("rx_ps_overflow", RX_PS_OVERFLOW),
	PORT("rx_ps_policed", RX_PS_POLICED),
	PORT("rx_ps_ptp_policed", RX_PS_PTP_POLICED),
	PORT("rx_nowhere", RX_NOWHERE),
	PORT("rx_uncounted", RX_UNCOUNTED),
	PORT("tx_frames", TX_FRAMES),
	PORT("tx_from_host", TX_FROM_HOST),
	PORT("tx_from_ps", TX_FROM_PS),
};

#define MAIL(name, field) { "vf_" name, offsetof(struct qdma_service, field) }

/* What VFs have asked their PF for. */
static const struct named mail_counts[] = {
	MAIL("messages", taken),
	MAIL("messages_refused", refused),
	MAIL("messages_slowed", slowed),
	MAIL("answers_untaken", untaken),
	MAIL("addresses_evicted", evicted),
};

/**
 * meridian_read_counter() - a 64-bit counter
 * @m: the function
 * @offset: in BAR2, of the low word
 *
 * Reading the low word holds the high one for this function: one reader at a time.
 *
 * Return: its value.
 */
u64 meridian_read_counter(struct meridian *m, u32 offset)
{
	u32 low = meridian_read(m, offset);

	return (u64)meridian_read(m, offset + 4) << 32 | low;
}

static void add_rx(u64 *counts, const struct meridian_rx_stats *stats)
{
	const u64_stats_t *values[] = {
		&stats->packets, &stats->bytes, &stats->no_memory, &stats->bad_completion,
		&stats->xdp_drop, &stats->xdp_tx, &stats->xdp_redirect, &stats->xdp_error,
		&stats->checksum_good, &stats->checksum_bad,
	};
	u64 now[ARRAY_SIZE(values)];
	unsigned int start, i;

	do {
		start = meridian_stats_begin(&stats->sync);
		for (i = 0; i < ARRAY_SIZE(values); i++)
			now[i] = u64_stats_read(values[i]);
	} while (meridian_stats_retry(&stats->sync, start));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		counts[i] += now[i];
}

static void add_tx(u64 *counts, const struct meridian_tx_stats *stats)
{
	const u64_stats_t *values[] = {
		&stats->packets, &stats->bytes, &stats->dropped, &stats->stopped, &stats->xdp,
	};
	u64 now[ARRAY_SIZE(values)];
	unsigned int start, i;

	do {
		start = meridian_stats_begin(&stats->sync);
		for (i = 0; i < ARRAY_SIZE(values); i++)
			now[i] = u64_stats_read(values[i]);
	} while (meridian_stats_retry(&stats->sync, start));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		counts[i] += now[i];
}

/* Under stats_lock. */
static void sum(struct meridian *m, struct meridian_counts *counts)
{
	unsigned int i;

	*counts = m->before;
	for (i = 0; i < m->counted; i++) {
		add_rx(counts->rx, &m->channel[i].rx.stats);
		add_tx(counts->tx, &m->channel[i].tx.stats);
	}
}

/**
 * meridian_show_counts() - channels are there, and count
 * @m: the function
 */
void meridian_show_counts(struct meridian *m)
{
	spin_lock_bh(&m->stats_lock);
	m->counted = m->channels;
	spin_unlock_bh(&m->stats_lock);
}

/**
 * meridian_hide_counts() - channels are about to go; what they counted stays
 * @m: the function
 */
void meridian_hide_counts(struct meridian *m)
{
	struct meridian_counts counts;

	spin_lock_bh(&m->stats_lock);
	sum(m, &counts);
	m->before = counts;
	m->counted = 0;
	spin_unlock_bh(&m->stats_lock);
}

/* A VF's page has the counters where a function's has them. */
static_assert(MERIDIAN_VF_COUNTER_RX_DELIVERED == MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED);
static_assert(MERIDIAN_VF_COUNTER_RX_COPIES == MERIDIAN_FUNCTION_COUNTER_RX_COPIES);
static_assert(MERIDIAN_VF_COUNTER_TX_COPIES_TO_PS == MERIDIAN_FUNCTION_COUNTER_TX_COPIES_TO_PS);

static u64 read_function_counter(struct meridian *m, u32 offset)
{
	u32 base = meridian_is_vf(m->pdev) ? 0 : MERIDIAN_FUNCTION_BASE(m->function);

	return meridian_read_counter(m, base + offset);
}

/**
 * meridian_read_port_counter() - a counter of the function's port
 * @m: the function
 * @offset: MERIDIAN_PORT_COUNTERS_COUNTER_*
 *
 * Return: its value.
 */
u64 meridian_read_port_counter(struct meridian *m, u32 offset)
{
	return meridian_read_counter(m, MERIDIAN_PORT_COUNTERS_BASE(m->port) + offset);
}

/**
 * meridian_read_missed() - look at what the card has dropped
 * @m: the function; under RTNL, as all that reads counters
 */
void meridian_read_missed(struct meridian *m)
{
	u32 runt = MERIDIAN_PORT_COUNTERS_COUNTER_RX_RUNT;
	u32 oversize = MERIDIAN_PORT_COUNTERS_COUNTER_RX_OVERSIZE;
	struct meridian_missed now = {
		.no_buffer = read_function_counter(m, MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL) +
			     read_function_counter(m, MERIDIAN_FUNCTION_COUNTER_RX_COPY_CUT),
		.bad_fcs = meridian_read_port_counter(m, MERIDIAN_PORT_COUNTERS_COUNTER_RX_BAD_FCS),
		.bad_length = meridian_read_port_counter(m, runt) +
			      meridian_read_port_counter(m, oversize),
	};

	if (!meridian_present(m))
		return;
	spin_lock_bh(&m->stats_lock);
	m->missed = now;
	spin_unlock_bh(&m->stats_lock);
}

void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_counts counts;
	struct meridian_missed missed;

	spin_lock_bh(&m->stats_lock);
	sum(m, &counts);
	missed = m->missed;
	spin_unlock_bh(&m->stats_lock);
	stats->rx_packets = counts.rx[RX_PACKETS];
	stats->rx_bytes = counts.rx[RX_BYTES];
	stats->tx_packets = counts.tx[TX_PACKETS];
	stats->tx_bytes = counts.tx[TX_BYTES];
	stats->rx_dropped = counts.rx[RX_NO_MEMORY];
	stats->tx_dropped = counts.tx[TX_DROPPED];
	stats->rx_missed_errors = missed.no_buffer;
	stats->rx_crc_errors = missed.bad_fcs;
	stats->rx_length_errors = missed.bad_length;
	stats->rx_errors = missed.bad_fcs + missed.bad_length;
}

int meridian_stats_count(struct meridian *m)
{
	int count = ARRAY_SIZE(rx_counts) + ARRAY_SIZE(tx_counts) + ARRAY_SIZE(function_counters);

	/* A VF does not see its port. */
	if (!meridian_is_vf(m->pdev))
		count += ARRAY_SIZE(unowned_counters) + ARRAY_SIZE(port_counters) +
			 ARRAY_SIZE(mail_counts);
	return count + 4 * m->queue_limit;
}

static u8 *put_names(u8 *data, const struct named *table, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++, data += ETH_GSTRING_LEN)
		memcpy(data, table[i].name, ETH_GSTRING_LEN);
	return data;
}

void meridian_stats_strings(struct meridian *m, u8 *data)
{
	static const char * const kinds[] = {
		"rx%u_packets", "rx%u_bytes", "tx%u_packets", "tx%u_bytes",
	};
	unsigned int i, kind;

	data = put_names(data, rx_counts, ARRAY_SIZE(rx_counts));
	data = put_names(data, tx_counts, ARRAY_SIZE(tx_counts));
	data = put_names(data, function_counters, ARRAY_SIZE(function_counters));
	if (!meridian_is_vf(m->pdev)) {
		data = put_names(data, unowned_counters, ARRAY_SIZE(unowned_counters));
		data = put_names(data, port_counters, ARRAY_SIZE(port_counters));
		data = put_names(data, mail_counts, ARRAY_SIZE(mail_counts));
	}
	for (i = 0; i < m->queue_limit; i++) {
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++, data += ETH_GSTRING_LEN)
			snprintf(data, ETH_GSTRING_LEN, kinds[kind], i);
	}
}

static u64 *put_queues(struct meridian *m, u64 *data)
{
	unsigned int i;

	for (i = 0; i < m->queue_limit; i++) {
		struct meridian_counts counts = {};

		if (i < m->counted) {
			add_rx(counts.rx, &m->channel[i].rx.stats);
			add_tx(counts.tx, &m->channel[i].tx.stats);
		}
		*data++ = counts.rx[RX_PACKETS];
		*data++ = counts.rx[RX_BYTES];
		*data++ = counts.tx[TX_PACKETS];
		*data++ = counts.tx[TX_BYTES];
	}
	return data;
}

void meridian_stats_values(struct meridian *m, u64 *data)
{
	u32 unowned = MERIDIAN_HOST_PORT_COUNTERS_BASE(m->port);
	struct meridian_counts counts;
	unsigned int i;

	spin_lock_bh(&m->stats_lock);
	sum(m, &counts);
	spin_unlock_bh(&m->stats_lock);
	for (i = 0; i < ARRAY_SIZE(rx_counts); i++)
		*data++ = counts.rx[rx_counts[i].offset];
	for (i = 0; i < ARRAY_SIZE(tx_counts); i++)
		*data++ = counts.tx[tx_counts[i].offset];
	for (i = 0; i < ARRAY_SIZE(function_counters); i++)
		*data++ = read_function_counter(m, function_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(unowned_counters); i++)
		*data++ = meridian_read_counter(m, unowned + unowned_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(port_counters); i++)
		*data++ = meridian_read_port_counter(m, port_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(mail_counts); i++)
		*data++ = READ_ONCE(*(u64 *)((u8 *)&m->vf_service + mail_counts[i].offset));
	put_queues(m, data);
}
