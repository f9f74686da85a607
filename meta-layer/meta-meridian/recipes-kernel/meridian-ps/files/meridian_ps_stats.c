// SPDX-License-Identifier: GPL-2.0-only
/* Statistics: what the driver counts, and what the card counts of the rings and the port. */
#include "meridian_ps_compat.h"
#include "meridian_ps.h"

struct named {
	char name[ETH_GSTRING_LEN];
	u32 offset;
};

#define RING(name, counter) { "card_" name, MERIDIAN_PS_RING_##counter##_LOW }

static const struct named ring_counters[] = {
	RING("rx_frames", RX_FRAMES),
	RING("rx_bytes", RX_BYTES),
	RING("rx_no_descriptor", RX_NO_DESCRIPTOR),
	RING("rx_buffer_small", RX_BUFFER_SMALL),
	RING("rx_disabled", RX_DISABLED),
	RING("rx_inside", RX_INSIDE),
	RING("rx_errors", RX_ERRORS),
	RING("tx_frames", TX_FRAMES),
	RING("tx_bytes", TX_BYTES),
	RING("tx_bad_descriptor", TX_BAD_DESCRIPTOR),
	RING("tx_bus_errors", TX_BUS_ERRORS),
	RING("tx_aborted", TX_ABORTED),
	RING("tx_switched", TX_SWITCHED),
	RING("tx_veb_full", TX_VEB_FULL),
	RING("tx_copies_switched", TX_COPIES_SWITCHED),
	RING("tx_copies_veb_full", TX_COPIES_VEB_FULL),
	RING("timestamps_lost", TIMESTAMPS_LOST),
	RING("bus_errors", BUS_ERRORS),
};

#define PORT(name, counter) { "port_" name, MERIDIAN_PORT_COUNTERS_COUNTER_##counter }

static const struct named port_counters[] = {
	PORT("rx_frames", RX_FRAMES),
	PORT("rx_bad_fcs", RX_BAD_FCS),
	PORT("rx_runt", RX_RUNT),
	PORT("rx_oversize", RX_OVERSIZE),
	PORT("rx_to_host", RX_TO_HOST),
	PORT("rx_to_ps", RX_TO_PS),
	PORT("rx_ps_overflow", RX_PS_OVERFLOW),
	PORT("rx_ps_policed", RX_PS_POLICED),
	PORT("rx_ps_ptp_policed", RX_PS_PTP_POLICED),
	PORT("rx_nowhere", RX_NOWHERE),
	PORT("rx_uncounted", RX_UNCOUNTED),
	PORT("tx_frames", TX_FRAMES),
	PORT("tx_from_host", TX_FROM_HOST),
	PORT("tx_from_ps", TX_FROM_PS),
};

/* In the order of driver_values(). */
static const char driver_names[][ETH_GSTRING_LEN] = {
	"rx_no_memory", "rx_no_buffer", "rx_bad_completion", "tx_dropped", "tx_stopped",
	"tx_stamps", "tx_stamps_late", "tx_stamps_unknown", "tx_stamps_skipped",
	"restarts_rx_error", "restarts_tx_error", "restarts_tx_timeout", "restarts_card_reset",
	"restarts_failed",
};

/**
 * meridian_ps_read_stat() - a number that the driver counts
 * @sync: of the number
 * @counter: it
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_ps_read_stat(const struct u64_stats_sync *sync, const u64_stats_t *counter)
{
	unsigned int start;
	u64 value;

	do {
		start = u64_stats_fetch_begin(sync);
		value = u64_stats_read(counter);
	} while (u64_stats_fetch_retry(sync, start));
	return value;
}

/* Of a port at hand. */
#define RX_STAT(counter)	meridian_ps_read_stat(&port->rx.stats.sync, &port->rx.stats.counter)
#define SENT_STAT(counter)	meridian_ps_read_stat(&port->tx.sent.sync, &port->tx.sent.counter)
#define DONE_STAT(counter)	meridian_ps_read_stat(&port->tx.done.sync, &port->tx.done.counter)

/**
 * meridian_ps_read_counter() - a counter of two words
 * @card: whose
 * @offset: of the low word; reading it holds the high one
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_ps_read_counter(struct meridian_ps *card, u32 offset)
{
	u64 value;

	spin_lock_bh(&card->counter_lock);
	value = meridian_ps_read(card, offset);
	value |= (u64)meridian_ps_read(card, offset + 4) << 32;
	spin_unlock_bh(&card->counter_lock);
	return value;
}

/**
 * meridian_ps_read_ring_counter() - a counter of the port's rings
 * @port: it
 * @offset: MERIDIAN_PS_RING_*_LOW
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_ps_read_ring_counter(struct meridian_ps_port *port, u32 offset)
{
	u32 base = MERIDIAN_PS_RING_PS_BASE(port->index);

	return meridian_ps_read_counter(port->card, base + offset);
}

/**
 * meridian_ps_read_port_counter() - a counter of the Ethernet port
 * @port: it
 * @offset: MERIDIAN_PORT_COUNTERS_COUNTER_*
 *
 * Context: Does not sleep.
 * Return: its value.
 */
u64 meridian_ps_read_port_counter(struct meridian_ps_port *port, u32 offset)
{
	u32 base = MERIDIAN_PORT_COUNTERS_PS_BASE(port->index);

	return meridian_ps_read_counter(port->card, base + offset);
}

/**
 * meridian_ps_read_policed() - frames that were over the limits of the port
 * @port: it
 *
 * Context: Does not sleep.
 * Return: their number.
 */
u64 meridian_ps_read_policed(struct meridian_ps_port *port)
{
	u64 ptp;

	ptp = meridian_ps_read_port_counter(port, MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_PTP_POLICED);
	return ptp +
	       meridian_ps_read_port_counter(port, MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_POLICED);
}

void meridian_ps_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct meridian_ps_port *port = netdev_priv(netdev);

	stats->rx_packets = RX_STAT(packets);
	stats->rx_bytes = RX_STAT(bytes);
	stats->rx_dropped = RX_STAT(no_memory);
	stats->rx_length_errors =
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_BUFFER_SMALL_LOW);
	stats->rx_errors = RX_STAT(errors) + RX_STAT(bad_completion) + stats->rx_length_errors;
	stats->rx_missed_errors =
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_NO_DESCRIPTOR_LOW) +
		meridian_ps_read_ring_counter(port, MERIDIAN_PS_RING_RX_INSIDE_LOW) +
		meridian_ps_read_policed(port);
	/* Frames that the ring was too slow for, in the card's buffer before it. */
	stats->rx_fifo_errors =
		meridian_ps_read_port_counter(port, MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_OVERFLOW);
	stats->tx_packets = DONE_STAT(packets);
	stats->tx_bytes = DONE_STAT(bytes);
	stats->tx_dropped = SENT_STAT(dropped) + DONE_STAT(dropped);
	stats->tx_errors = DONE_STAT(errors);
}

/*
 * In the order of struct clocks. They are no counters: each reading of the statistics latches. An
 * older bitstream has none of them.
 */
static const char clock_names[][ETH_GSTRING_LEN] = {
	"port_rx_clock", "port_rx_clock_still", "port_tx_clock", "port_tx_clock_still",
	"port_clock_seconds", "port_clock_nanoseconds", "port_clock_unknown",
};

/* Cycles of the MAC's clocks and the PTP clock's time, of one moment, as ethtool shows them. */
struct clocks {
	u64 rx;
	u64 rx_still;	/* 1: it stands still, and the count is an old one */
	u64 tx;
	u64 tx_still;
	u64 seconds;	/* low word */
	u64 nanoseconds;
	u64 unknown;	/* 1: the card does not tell, and all others are 0 */
};

static_assert(sizeof(struct clocks) == ARRAY_SIZE(clock_names) * sizeof(u64));

/* A latch takes 256 cycles of the card's clock at most, and a read 10 at least. */
#define LATCH_READS	100

/* Somebody else, by BAR2, may latch while this side reads: so often it tries again. */
#define LATCH_TRIES	8

#define LATCH_STATE(state, field)	FIELD_GET(MERIDIAN_PORT_CLOCK_LATCH_##field##_MASK, state)

/* The state of the latch when it is over; busy: it does not end, as without a card. */
static u32 await_latch(struct meridian_ps_port *port)
{
	unsigned int reads = LATCH_READS;
	u32 state;

	do {
		state = meridian_ps_port_read(port, MERIDIAN_PORT_CLOCK_LATCH);
	} while (LATCH_STATE(state, BUSY) && --reads);
	return state;
}

/* Under the lock of the counters. Whether all that was read is of one latch. */
static bool latch_clocks(struct meridian_ps_port *port, struct clocks *clocks)
{
	unsigned int tries;
	u32 state;

	for (tries = 0; tries < LATCH_TRIES; tries++) {
		meridian_ps_port_write(port, MERIDIAN_PORT_CLOCK_LATCH,
				       MERIDIAN_PORT_CLOCK_LATCH_LATCH_MASK);
		state = await_latch(port);
		if (LATCH_STATE(state, BUSY))
			return false;
		*clocks = (struct clocks) {
			.rx = meridian_ps_port_read(port, MERIDIAN_PORT_RX_CLOCK),
			.rx_still = LATCH_STATE(state, RX_STILL),
			.tx = meridian_ps_port_read(port, MERIDIAN_PORT_TX_CLOCK),
			.tx_still = LATCH_STATE(state, TX_STILL),
			.seconds = meridian_ps_port_read(port, MERIDIAN_PORT_CLOCK_SECONDS),
			.nanoseconds = meridian_ps_port_read(port, MERIDIAN_PORT_CLOCK_NANOSECONDS),
		};
		if (state == meridian_ps_port_read(port, MERIDIAN_PORT_CLOCK_LATCH))
			return true;
	}
	return false;
}

static void read_clocks(struct meridian_ps_port *port, struct clocks *clocks)
{
	spin_lock_bh(&port->card->counter_lock);
	if (!latch_clocks(port, clocks))
		*clocks = (struct clocks) { .unknown = 1 };
	spin_unlock_bh(&port->card->counter_lock);
}

int meridian_ps_stats_count(struct meridian_ps_port *port)
{
	return ARRAY_SIZE(driver_names) + ARRAY_SIZE(ring_counters) + ARRAY_SIZE(port_counters) +
	       (port->card->has_clocks ? ARRAY_SIZE(clock_names) : 0);
}

static u8 *put_names(u8 *data, const struct named *table, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++, data += ETH_GSTRING_LEN)
		memcpy(data, table[i].name, ETH_GSTRING_LEN);
	return data;
}

void meridian_ps_stats_strings(struct meridian_ps_port *port, u8 *data)
{
	memcpy(data, driver_names, sizeof(driver_names));
	data = put_names(data + sizeof(driver_names), ring_counters, ARRAY_SIZE(ring_counters));
	data = put_names(data, port_counters, ARRAY_SIZE(port_counters));
	if (port->card->has_clocks)
		memcpy(data, clock_names, sizeof(clock_names));
}

static u64 *driver_values(struct meridian_ps_port *port, u64 *data)
{
	const u64 values[] = {
		RX_STAT(no_memory), RX_STAT(no_buffer), RX_STAT(bad_completion),
		SENT_STAT(dropped) + DONE_STAT(dropped), SENT_STAT(stopped),
		port->stamp.delivered, port->stamp.late, port->stamp.unknown, port->stamp.skipped,
		port->restarts.rx_error, port->restarts.tx_error, port->restarts.tx_timeout,
		port->restarts.card_reset, port->restarts.failed,
	};

	static_assert(ARRAY_SIZE(values) == ARRAY_SIZE(driver_names));
	memcpy(data, values, sizeof(values));
	return data + ARRAY_SIZE(values);
}

void meridian_ps_stats_values(struct meridian_ps_port *port, u64 *data)
{
	unsigned int i;

	data = driver_values(port, data);
	for (i = 0; i < ARRAY_SIZE(ring_counters); i++)
		*data++ = meridian_ps_read_ring_counter(port, ring_counters[i].offset);
	for (i = 0; i < ARRAY_SIZE(port_counters); i++)
		*data++ = meridian_ps_read_port_counter(port, port_counters[i].offset);
	if (port->card->has_clocks)
		read_clocks(port, (struct clocks *)data);
}
