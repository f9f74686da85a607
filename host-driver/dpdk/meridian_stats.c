/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics: what the queues count, and what the card counts of the function and its port. */
#include <assert.h>

#include <rte_string_fns.h>

#include "meridian.h"

struct named {
	const char *name;
	uint32_t offset;
};

#define FUNCTION(name, counter) { "card_" name, MERIDIAN_FUNCTION_COUNTER_ ## counter }

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

#define UNOWNED(name, counter) \
	{ "port_" name, MERIDIAN_HOST_PORT_COUNTERS_COUNTER_ ## counter }

/* Frames of the port that were nobody's, which only a PF sees. */
static const struct named unowned_counters[] = {
	UNOWNED("rx_no_match", RX_NO_MATCH),
	UNOWNED("rx_no_listener", RX_NO_LISTENER),
	UNOWNED("rx_host_disabled", RX_HOST_DISABLED),
	UNOWNED("rx_copying", RX_COPYING),
	UNOWNED("rx_copy_cut", RX_COPY_CUT),
};

#define PORT(name, counter) { "port_" name, MERIDIAN_PORT_COUNTERS_COUNTER_ ## counter }

/* Of the Ethernet port, which only a PF sees. */
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

#define CARD_COUNTERS	(RTE_DIM(function_counters) + RTE_DIM(unowned_counters) + \
			 RTE_DIM(port_counters))
#define CLASS_COUNTERS	(MERIDIAN_CLASSES * MERIDIAN_CLASS_COUNTS)

static_assert(CARD_COUNTERS + CLASS_COUNTERS <= MERIDIAN_CARD_COUNTERS, "the baseline has no room");

/* Behind "port_tx_class0_" and so on, which a PF of a card with traffic classes sees. */
static const char * const class_counters[MERIDIAN_CLASS_COUNTS] = {
	[MERIDIAN_CLASS_FRAMES] = "frames",
	[MERIDIAN_CLASS_BYTES] = "bytes",
	[MERIDIAN_CLASS_LOST] = "lost",
	[MERIDIAN_CLASS_MARKED] = "marked",
};

/* Of all queues. */
static const struct named driver_counters[] = {
	{ "rx_too_long", offsetof(struct meridian_rx_counts, too_long) },
	{ "rx_no_memory", offsetof(struct meridian_rx_counts, no_memory) },
	{ "rx_bad_completion", offsetof(struct meridian_rx_counts, bad_completion) },
};

static const struct named driver_tx_counters[] = {
	{ "tx_refused", offsetof(struct meridian_tx_counts, errors) },
	{ "tx_copied", offsetof(struct meridian_tx_counts, copied) },
	{ "tx_gathered", offsetof(struct meridian_tx_counts, gathered) },
	{ "tx_pushed", offsetof(struct meridian_tx_counts, pushed) },
	{ "tx_segmented", offsetof(struct meridian_tx_counts, segmented) },
	{ "tx_no_memory", offsetof(struct meridian_tx_counts, no_memory) },
	{ "tx_discarded", offsetof(struct meridian_tx_counts, discarded) },
};

/* What VFs have asked their PF for: by the places of meridian_vf_counts(). */
static const char * const vf_counters[] = {
	"vf_messages", "vf_messages_refused", "vf_messages_slowed", "vf_answers_untaken",
	"vf_addresses_evicted",
};

static uint32_t
card_counters(const struct meridian *m)
{
	if (m->qdma.is_vf)
		return RTE_DIM(function_counters);
	return CARD_COUNTERS + (meridian_has_classes(m) ? CLASS_COUNTERS : 0);
}

/* Since the start of the card; of a PF behind those of its function those of its port and classes. */
static uint64_t
read_card(struct meridian *m, uint32_t index)
{
	if (index < RTE_DIM(function_counters))
		return m->ops->counter(m, function_counters[index].offset);
	index -= RTE_DIM(function_counters);
	if (index < RTE_DIM(unowned_counters))
		return meridian_read_counter(m, MERIDIAN_HOST_PORT_COUNTERS_BASE(m->port) +
					     unowned_counters[index].offset);
	index -= RTE_DIM(unowned_counters);
	if (index >= RTE_DIM(port_counters)) {
		index -= RTE_DIM(port_counters);
		return meridian_read_class(m, index / MERIDIAN_CLASS_COUNTS,
					   index % MERIDIAN_CLASS_COUNTS);
	}
	return meridian_read_counter(m, MERIDIAN_PORT_COUNTERS_BASE(m->port) +
				     port_counters[index].offset);
}

/* rte_eth_stats has frames that the card had no buffer for. */
static uint64_t
missed(struct meridian *m)
{
	static const uint32_t offsets[] = {
		MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL, MERIDIAN_FUNCTION_COUNTER_RX_COPY_CUT,
	};
	uint64_t sum = 0;
	uint32_t i, j;

	for (i = 0; i < RTE_DIM(function_counters); i++) {
		for (j = 0; j < RTE_DIM(offsets); j++) {
			if (function_counters[i].offset == offsets[j])
				sum += read_card(m, i) - m->baseline[i];
		}
	}
	return sum;
}

static void
count_rx(const struct meridian_rx *rx, struct meridian_rx_counts *since)
{
	since->packets = rx->counts.packets - rx->before.packets;
	since->bytes = rx->counts.bytes - rx->before.bytes;
	since->no_memory = rx->counts.no_memory - rx->before.no_memory;
	since->too_long = rx->counts.too_long - rx->before.too_long;
	since->bad_completion = rx->counts.bad_completion - rx->before.bad_completion;
}

static void
count_tx(const struct meridian_tx *tx, struct meridian_tx_counts *since)
{
	since->packets = tx->counts.packets - tx->before.packets;
	since->bytes = tx->counts.bytes - tx->before.bytes;
	since->errors = tx->counts.errors - tx->before.errors;
	since->copied = tx->counts.copied - tx->before.copied;
	since->gathered = tx->counts.gathered - tx->before.gathered;
	since->pushed = tx->counts.pushed - tx->before.pushed;
	since->segmented = tx->counts.segmented - tx->before.segmented;
	since->no_memory = tx->counts.no_memory - tx->before.no_memory;
	since->discarded = tx->counts.discarded - tx->before.discarded;
}

int
meridian_stats_get(MERIDIAN_STATS_ARGS)
{
	struct meridian_rx_counts rx;
	struct meridian_tx_counts tx;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] == NULL)
			continue;
		count_rx(dev->data->rx_queues[i], &rx);
		stats->ipackets += rx.packets;
		stats->ibytes += rx.bytes;
		stats->ierrors += rx.too_long + rx.bad_completion;
		stats->rx_nombuf += MERIDIAN_BATCH * rx.no_memory;
		if (i < RTE_ETHDEV_QUEUE_STAT_CNTRS && MERIDIAN_QUEUE_STATS(stats, queues)) {
			MERIDIAN_QUEUE_STATS(stats, queues)->q_ipackets[i] = rx.packets;
			MERIDIAN_QUEUE_STATS(stats, queues)->q_ibytes[i] = rx.bytes;
			MERIDIAN_QUEUE_STATS(stats, queues)->q_errors[i] = rx.too_long;
		}
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] == NULL)
			continue;
		count_tx(dev->data->tx_queues[i], &tx);
		stats->opackets += tx.packets;
		stats->obytes += tx.bytes;
		stats->oerrors += tx.errors;
		if (i < RTE_ETHDEV_QUEUE_STAT_CNTRS && MERIDIAN_QUEUE_STATS(stats, queues)) {
			MERIDIAN_QUEUE_STATS(stats, queues)->q_opackets[i] = tx.packets;
			MERIDIAN_QUEUE_STATS(stats, queues)->q_obytes[i] = tx.bytes;
		}
	}
	/* Registers are the primary's. */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY && meridian_present(meridian_of(dev)))
		stats->imissed = missed(meridian_of(dev));
	return 0;
}

/**
 * meridian_take_baseline() - let the card's counters begin where they are now
 * @m: a port; the card never clears them but by its reset
 *
 * Those of a card that does not answer, as while it is reset, begin where they began.
 */
void
meridian_take_baseline(struct meridian *m)
{
	uint32_t i;

	if (!meridian_present(m))
		return;
	for (i = 0; i < card_counters(m); i++)
		m->baseline[i] = read_card(m, i);
}

/* Threads that receive and send go on counting meanwhile, so what they have is not touched. */
int
meridian_stats_reset(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	uint32_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		struct meridian_rx *rx = dev->data->rx_queues[i];

		if (rx != NULL)
			rx->before = rx->counts;
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		struct meridian_tx *tx = dev->data->tx_queues[i];

		if (tx != NULL)
			tx->before = tx->counts;
	}
	if (m->vfs != NULL) {
		pthread_mutex_lock(&m->card->lock);
		memset(meridian_vf_counts(m), 0, RTE_DIM(vf_counters) * sizeof(uint64_t));
		pthread_mutex_unlock(&m->card->lock);
	}
	meridian_take_baseline(m);
	return 0;
}

static uint64_t
sum_rx(const struct rte_eth_dev_data *data, uint32_t offset)
{
	struct meridian_rx_counts since;
	uint64_t total = 0;
	uint16_t i;

	for (i = 0; i < data->nb_rx_queues; i++) {
		if (data->rx_queues[i] == NULL)
			continue;
		count_rx(data->rx_queues[i], &since);
		total += *(const uint64_t *)RTE_PTR_ADD(&since, offset);
	}
	return total;
}

static uint64_t
sum_tx(const struct rte_eth_dev_data *data, uint32_t offset)
{
	struct meridian_tx_counts since;
	uint64_t total = 0;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		if (data->tx_queues[i] == NULL)
			continue;
		count_tx(data->tx_queues[i], &since);
		total += *(const uint64_t *)RTE_PTR_ADD(&since, offset);
	}
	return total;
}

static uint32_t
xstats(const struct meridian *m)
{
	return RTE_DIM(driver_counters) + RTE_DIM(driver_tx_counters) + card_counters(m) +
	       (m->vfs != NULL ? RTE_DIM(vf_counters) : 0);
}

int
meridian_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *stats, unsigned int count)
{
	struct meridian *m = meridian_of(dev);
	struct rte_eth_dev_data *data = dev->data;
	uint32_t at = 0, i;
	bool is_there;

	if (count < xstats(m) || stats == NULL)
		return xstats(m);
	for (i = 0; i < RTE_DIM(driver_counters); i++)
		stats[at++].value = sum_rx(data, driver_counters[i].offset);
	for (i = 0; i < RTE_DIM(driver_tx_counters); i++)
		stats[at++].value = sum_tx(data, driver_tx_counters[i].offset);
	is_there = meridian_present(m);
	for (i = 0; i < card_counters(m); i++)
		stats[at++].value = is_there ? read_card(m, i) - m->baseline[i] : 0;
	if (m->vfs != NULL) {
		pthread_mutex_lock(&m->card->lock);
		for (i = 0; i < RTE_DIM(vf_counters); i++)
			stats[at++].value = meridian_vf_counts(m)[i];
		pthread_mutex_unlock(&m->card->lock);
	}
	for (i = 0; i < at; i++)
		stats[i].id = i;
	return at;
}

static void
put_names(struct rte_eth_xstat_name **names, const struct named *list, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++, (*names)++)
		rte_strscpy((*names)->name, list[i].name, sizeof((*names)->name));
}

int
meridian_xstats_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names,
		      unsigned int count)
{
	const struct meridian *m = meridian_of(dev);
	uint32_t i;

	if (names == NULL || count < xstats(m))
		return xstats(m);
	put_names(&names, driver_counters, RTE_DIM(driver_counters));
	put_names(&names, driver_tx_counters, RTE_DIM(driver_tx_counters));
	put_names(&names, function_counters, RTE_DIM(function_counters));
	if (!m->qdma.is_vf) {
		put_names(&names, unowned_counters, RTE_DIM(unowned_counters));
		put_names(&names, port_counters, RTE_DIM(port_counters));
	}
	for (i = 0; meridian_has_classes(m) && i < CLASS_COUNTERS; i++, names++)
		snprintf(names->name, sizeof(names->name), "port_tx_class%u_%s",
			 i / MERIDIAN_CLASS_COUNTS, class_counters[i % MERIDIAN_CLASS_COUNTS]);
	for (i = 0; m->vfs != NULL && i < RTE_DIM(vf_counters); i++, names++)
		rte_strscpy(names->name, vf_counters[i], sizeof(names->name));
	return xstats(m);
}
