// SPDX-License-Identifier: GPL-2.0-only
/* Statistics: what the queues count, and what the card counts of the function and its port. */
#include <linux/ethtool.h>

#include "compat_pool.h"
#include "meridian.h"
#include "meridian_classes.h"
#include "meridian_counts.h"
#include "meridian_hw.h"
#include "meridian_pause.h"
#include "meridian_stats.h"

struct named {
	char name[ETH_GSTRING_LEN];
	u32 offset;
};

#define RX(name, index) { "rx_" name, MERIDIAN_RX_##index }
#define TX(name, index) { "tx_" name, MERIDIAN_TX_##index }

static const struct named rx_counts[] = {
	RX("no_memory", NO_MEMORY),
	RX("bad_completion", BAD),
	RX("xdp_drop", XDP_DROP),
	RX("xdp_tx", XDP_TX),
	RX("xdp_redirect", XDP_REDIRECT),
	RX("xdp_error", XDP_ERROR),
	RX("checksum_good", CHECKSUM_GOOD),
	RX("checksum_bad", CHECKSUM_BAD),
	RX("checksum_none", CHECKSUM_NONE),
};

static const struct named tx_counts[] = {
	TX("dropped", DROPPED),
	TX("stopped", STOPPED),
	TX("woken", WOKEN),
	TX("xdp", XDP),
	TX("needs_csum", NEEDS_CSUM),
	TX("gathered", GATHERED),
	TX("linearized", LINEARIZED),
	TX("pushed", PUSHED),
	TX("segmented", SEGMENTED),
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
	FUNCTION("tx_queue_full", TX_QUEUE_FULL),
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
	UNOWNED("rx_copy_cut", RX_COPY_CUT),
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

#define FLOW(name, counter) { "port_" name, MERIDIAN_FLOW_CONTROL_COUNTER_##counter }
#define PAUSED(n) FLOW("tx_paused_ns_" #n, PAUSED_##n)
#define STORMS(n) FLOW("tx_pause_storms_" #n, STORMS_##n)

#define STOPPED(n) FLOW("rx_stopped_ns_" #n, STOPPED_##n)

/* PAUSE frames stop all classes alike. */
static const struct named flow_counters[] = {
	FLOW("rx_pause", RX_PAUSE),
	FLOW("rx_pfc", RX_PFC),
	FLOW("rx_control_ignored", RX_IGNORED),
	PAUSED(0), PAUSED(1), PAUSED(2), PAUSED(3),
	PAUSED(4), PAUSED(5), PAUSED(6), PAUSED(7),
	STORMS(0), STORMS(1), STORMS(2), STORMS(3),
	STORMS(4), STORMS(5), STORMS(6), STORMS(7),
};

/* Of a port that sends flow control. */
static const struct named sent_counters[] = {
	FLOW("tx_pause_xoff", TX_PAUSE_XOFF),
	FLOW("tx_pause_xon", TX_PAUSE_XON),
	FLOW("tx_pfc_xoff", TX_PFC_XOFF),
	FLOW("tx_pfc_xon", TX_PFC_XON),
	STOPPED(0), STOPPED(1), STOPPED(2), STOPPED(3),
	STOPPED(4), STOPPED(5), STOPPED(6), STOPPED(7),
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

void meridian_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_counts counts;
	struct meridian_missed missed;

	meridian_all_counts(m, &counts);
	spin_lock_bh(&m->stats_lock);
	missed = m->missed;
	spin_unlock_bh(&m->stats_lock);
	stats->rx_packets = counts.rx[MERIDIAN_RX_PACKETS];
	stats->rx_bytes = counts.rx[MERIDIAN_RX_BYTES];
	stats->tx_packets = counts.tx[MERIDIAN_TX_PACKETS];
	stats->tx_bytes = counts.tx[MERIDIAN_TX_BYTES];
	stats->rx_dropped = counts.rx[MERIDIAN_RX_NO_MEMORY];
	stats->tx_dropped = counts.tx[MERIDIAN_TX_DROPPED];
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
	if (meridian_has_pause(m))
		count += ARRAY_SIZE(flow_counters);
	if (meridian_sends_pause(m))
		count += ARRAY_SIZE(sent_counters);
	if (meridian_has_classes(m))
		count += MERIDIAN_CLASSES * MERIDIAN_CLASS_COUNTS;
	return count + 4 * m->queue_limit + meridian_pool_stats_count();
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
	static const char * const class_counts[MERIDIAN_CLASS_COUNTS] = {
		[MERIDIAN_CLASS_FRAMES] = "port_tx_class%u_frames",
		[MERIDIAN_CLASS_BYTES] = "port_tx_class%u_bytes",
		[MERIDIAN_CLASS_LOST] = "port_tx_class%u_lost",
		[MERIDIAN_CLASS_MARKED] = "port_tx_class%u_marked",
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
	if (meridian_has_pause(m))
		data = put_names(data, flow_counters, ARRAY_SIZE(flow_counters));
	if (meridian_sends_pause(m))
		data = put_names(data, sent_counters, ARRAY_SIZE(sent_counters));
	for (i = 0; meridian_has_classes(m) && i < MERIDIAN_CLASSES; i++) {
		for (kind = 0; kind < ARRAY_SIZE(class_counts); kind++, data += ETH_GSTRING_LEN)
			snprintf(data, ETH_GSTRING_LEN, class_counts[kind], i);
	}
	for (i = 0; i < m->queue_limit; i++) {
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++, data += ETH_GSTRING_LEN)
			snprintf(data, ETH_GSTRING_LEN, kinds[kind], i);
	}
	meridian_pool_stats_strings(data);
}

static u64 *put_queues(struct meridian *m, u64 *data)
{
	unsigned int i;

	for (i = 0; i < m->queue_limit; i++) {
		struct meridian_counts counts;

		meridian_queue_counts(m, i, &counts);
		*data++ = counts.rx[MERIDIAN_RX_PACKETS];
		*data++ = counts.rx[MERIDIAN_RX_BYTES];
		*data++ = counts.tx[MERIDIAN_TX_PACKETS];
		*data++ = counts.tx[MERIDIAN_TX_BYTES];
	}
	return data;
}

/* Of the pools that there are: what others have counted goes with them. */
static void put_pools(struct meridian *m, u64 *data)
{
	struct meridian_pool_stats stats = {};
	unsigned int i;

	for (i = 0; i < m->channels; i++) {
		if (m->channel[i].rx.pool)
			meridian_add_pool_stats(m->channel[i].rx.pool, &stats);
	}
	meridian_pool_stats_values(data, &stats);
}

void meridian_stats_values(struct meridian *m, u64 *data)
{
	u32 unowned = MERIDIAN_HOST_PORT_COUNTERS_BASE(m->port);
	u32 flow = MERIDIAN_FLOW_CONTROL_BASE(m->port);
	struct meridian_counts counts;
	unsigned int i;

	meridian_all_counts(m, &counts);
	for (i = 0; i < ARRAY_SIZE(rx_counts); i++)
		*data++ = counts.rx[rx_counts[i].offset];
	for (i = 0; i < ARRAY_SIZE(tx_counts); i++)
		*data++ = counts.tx[tx_counts[i].offset];
	for (i = 0; i < ARRAY_SIZE(function_counters); i++)
		*data++ = meridian_read_function_counter(m, function_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(unowned_counters); i++)
		*data++ = meridian_read_counter(m, unowned + unowned_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(port_counters); i++)
		*data++ = meridian_read_port_counter(m, port_counters[i].offset);
	for (i = 0; !meridian_is_vf(m->pdev) && i < ARRAY_SIZE(mail_counts); i++)
		*data++ = READ_ONCE(*(u64 *)((u8 *)&m->vf_service + mail_counts[i].offset));
	for (i = 0; meridian_has_pause(m) && i < ARRAY_SIZE(flow_counters); i++)
		*data++ = meridian_read_counter(m, flow + flow_counters[i].offset);
	for (i = 0; meridian_sends_pause(m) && i < ARRAY_SIZE(sent_counters); i++)
		*data++ = meridian_read_counter(m, flow + sent_counters[i].offset);
	for (i = 0; meridian_has_classes(m) && i < MERIDIAN_CLASSES * MERIDIAN_CLASS_COUNTS; i++)
		*data++ = meridian_read_class(m, i / MERIDIAN_CLASS_COUNTS,
					      i % MERIDIAN_CLASS_COUNTS);
	put_pools(m, put_queues(m, data));
}
