// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many frames of the wire the card lets through to this port, those of PTP and all others
 * apart. A flood at the port's addresses then costs no frame of PTP, nor all of a processor.
 */
#include <linux/math64.h>
#include <linux/of.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* A rate of 1 in the registers is UNIT / 2^UNIT_SHIFT frames a second. */
#define UNIT		390625000
#define UNIT_SHIFT	18
#define LARGEST_UNITS	FIELD_MAX(MERIDIAN_PORT_PS_LIMIT_RATE_MASK)

/* What a processor of the card can just do with frames of any size; a millisecond of it at once. */
#define DEFAULT_RATE		200000
#define DEFAULT_BURST		200
/* A thousand clients that ask 16 times a second. */
#define DEFAULT_PTP_RATE	16000
#define DEFAULT_PTP_BURST	64

static_assert(MERIDIAN_PORT_PS_LIMIT_RATE_MASK == MERIDIAN_PORT_PS_PTP_LIMIT_RATE_MASK);
static_assert(MERIDIAN_PORT_PS_LIMIT_BURST_MASK == MERIDIAN_PORT_PS_PTP_LIMIT_BURST_MASK);

static u32 units_of(u32 rate)
{
	u64 units = DIV_ROUND_CLOSEST_ULL((u64)rate << UNIT_SHIFT, UNIT);

	return min_t(u64, units, LARGEST_UNITS);
}

/* The card has one switch for both: where one has no limit, it gets the largest. */
static u32 word_of(const struct meridian_ps_rate *rate)
{
	const struct meridian_ps_rate none = {
		MERIDIAN_PS_LARGEST_RATE, MERIDIAN_PS_LARGEST_BURST,
	};

	if (!rate->rate)
		rate = &none;
	return FIELD_PREP(MERIDIAN_PORT_PS_LIMIT_RATE_MASK, units_of(rate->rate)) |
	       FIELD_PREP(MERIDIAN_PORT_PS_LIMIT_BURST_MASK, rate->burst);
}

static bool has_limits(const struct meridian_ps_port *port)
{
	return port->card->capabilities & MERIDIAN_IDENT_CAPABILITIES_PS_LIMIT_MASK;
}

/**
 * meridian_ps_write_limits() - bring the card's limits to those of the port
 * @port: it; a card without limits is left alone
 *
 * Context: May sleep.
 */
void meridian_ps_write_limits(struct meridian_ps_port *port)
{
	u32 word;

	if (!has_limits(port))
		return;
	mutex_lock(&port->limits.lock);
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_PTP_LIMIT, word_of(&port->limits.ptp));
	word = word_of(&port->limits.others);
	/* Buckets fill up until the limits are enabled. */
	if (!(meridian_ps_port_read(port, MERIDIAN_PORT_PS_LIMIT) &
	      MERIDIAN_PORT_PS_LIMIT_ENABLE_MASK)) {
		meridian_ps_port_write(port, MERIDIAN_PORT_PS_LIMIT, word);
		meridian_ps_port_read(port, MERIDIAN_PORT_PS_LIMIT);
	}
	if (port->limits.ptp.rate || port->limits.others.rate)
		word |= MERIDIAN_PORT_PS_LIMIT_ENABLE_MASK;
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_LIMIT, word);
	mutex_unlock(&port->limits.lock);
}

/**
 * meridian_ps_set_limit() - put another limit into force
 * @port: of the limit
 * @limit: one of the port's
 * @wanted: its rate is 0 for none, else MERIDIAN_PS_SMALLEST_RATE to MERIDIAN_PS_LARGEST_RATE
 *
 * Context: May sleep.
 */
void meridian_ps_set_limit(struct meridian_ps_port *port, struct meridian_ps_rate *limit,
			   const struct meridian_ps_rate *wanted)
{
	mutex_lock(&port->limits.lock);
	*limit = *wanted;
	mutex_unlock(&port->limits.lock);
	meridian_ps_write_limits(port);
}

static void read_pair(struct meridian_ps_port *port, const struct device_node *node,
		      const char *property, struct meridian_ps_rate *rate)
{
	u32 pair[2];

	if (!node || of_property_read_u32_array(node, property, pair, ARRAY_SIZE(pair)))
		return;
	if (pair[0] && pair[0] < MERIDIAN_PS_SMALLEST_RATE) {
		dev_warn(port->card->dev,
			 "port %u: %s has a rate of %u, but the smallest is %u: %u is taken\n",
			 port->index, property, pair[0], MERIDIAN_PS_SMALLEST_RATE,
			 MERIDIAN_PS_SMALLEST_RATE);
		pair[0] = MERIDIAN_PS_SMALLEST_RATE;
	}
	rate->rate = min_t(u32, pair[0], MERIDIAN_PS_LARGEST_RATE);
	rate->burst = clamp_t(u32, pair[1], 1, MERIDIAN_PS_LARGEST_BURST);
}

/**
 * meridian_ps_init_limits() - give a port the limits it starts with
 * @port: whose netdev is not registered
 * @node: of the port in the device tree, or NULL
 *
 * Context: May sleep.
 */
void meridian_ps_init_limits(struct meridian_ps_port *port, const struct device_node *node)
{
	struct meridian_ps_limits *limits = &port->limits;

	BUILD_BUG_ON(UNIT >> UNIT_SHIFT != MERIDIAN_PS_SMALLEST_RATE);
	BUILD_BUG_ON(((u64)LARGEST_UNITS * UNIT) >> UNIT_SHIFT != MERIDIAN_PS_LARGEST_RATE);
	BUILD_BUG_ON(FIELD_MAX(MERIDIAN_PORT_PS_LIMIT_BURST_MASK) != MERIDIAN_PS_LARGEST_BURST);
	mutex_init(&limits->lock);
	limits->others = (struct meridian_ps_rate){ DEFAULT_RATE, DEFAULT_BURST };
	limits->ptp = (struct meridian_ps_rate){ DEFAULT_PTP_RATE, DEFAULT_PTP_BURST };
	read_pair(port, node, "meridian,receive-limit", &limits->others);
	read_pair(port, node, "meridian,ptp-receive-limit", &limits->ptp);
	meridian_ps_write_limits(port);
}
