// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many frames of the wire the card lets through to this port, those of PTP and all others
 * apart: /sys/class/net/NAME/limits. A flood at the port's addresses then costs no frame of PTP,
 * nor all of a processor.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/of.h>
#include <linux/sysfs.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/* A rate of 1 in the registers is UNIT / 2^UNIT_SHIFT frames a second. */
#define UNIT		390625000
#define UNIT_SHIFT	18
#define LARGEST_RATE	FIELD_MAX(MERIDIAN_PORT_PS_LIMIT_RATE_MASK)
#define LARGEST_BURST	FIELD_MAX(MERIDIAN_PORT_PS_LIMIT_BURST_MASK)

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

	/* What is asked for is not to be nothing, nor more than there is. */
	return rate ? clamp_t(u64, units, 1, LARGEST_RATE) : 0;
}

static u32 largest_rate(void)
{
	return div_u64((u64)LARGEST_RATE * UNIT, 1 << UNIT_SHIFT);
}

static u32 word_of(const struct meridian_ps_rate *rate)
{
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
	if (port->limits.enabled)
		word |= MERIDIAN_PORT_PS_LIMIT_ENABLE_MASK;
	meridian_ps_port_write(port, MERIDIAN_PORT_PS_LIMIT, word);
	mutex_unlock(&port->limits.lock);
}

struct limit_attribute {
	struct device_attribute attribute;
	u32 offset;	/* of its u32 in struct meridian_ps_limits */
};

static u32 *value_of(struct device *dev, struct device_attribute *attribute,
		     struct meridian_ps_port **port)
{
	*port = netdev_priv(to_net_dev(dev));
	return (void *)&(*port)->limits +
	       container_of(attribute, struct limit_attribute, attribute)->offset;
}

static ssize_t show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct meridian_ps_port *port;
	u32 *value = value_of(dev, attribute, &port);

	return sysfs_emit(text, "%u\n", READ_ONCE(*value));
}

static ssize_t set(struct device *dev, struct device_attribute *attribute, const char *text,
		   size_t length, u32 largest)
{
	struct meridian_ps_port *port;
	u32 *value = value_of(dev, attribute, &port);
	u32 wanted;
	int error = kstrtou32(text, 0, &wanted);

	if (error)
		return error;
	if (wanted > largest)
		return -ERANGE;
	WRITE_ONCE(*value, wanted);
	meridian_ps_write_limits(port);
	return length;
}

static ssize_t set_switch(struct device *dev, struct device_attribute *attribute, const char *text,
			  size_t length)
{
	return set(dev, attribute, text, length, 1);
}

static ssize_t set_rate(struct device *dev, struct device_attribute *attribute, const char *text,
			size_t length)
{
	return set(dev, attribute, text, length, largest_rate());
}

static ssize_t set_burst(struct device *dev, struct device_attribute *attribute, const char *text,
			 size_t length)
{
	return set(dev, attribute, text, length, LARGEST_BURST);
}

static struct limit_attribute limits[] = {
	{ __ATTR(enabled, 0644, show, set_switch),
	  offsetof(struct meridian_ps_limits, enabled) },
	{ __ATTR(others_rate, 0644, show, set_rate),
	  offsetof(struct meridian_ps_limits, others.rate) },
	{ __ATTR(others_burst, 0644, show, set_burst),
	  offsetof(struct meridian_ps_limits, others.burst) },
	{ __ATTR(ptp_rate, 0644, show, set_rate),
	  offsetof(struct meridian_ps_limits, ptp.rate) },
	{ __ATTR(ptp_burst, 0644, show, set_burst),
	  offsetof(struct meridian_ps_limits, ptp.burst) },
};

static struct attribute *attributes[] = {
	&limits[0].attribute.attr,
	&limits[1].attribute.attr,
	&limits[2].attribute.attr,
	&limits[3].attribute.attr,
	&limits[4].attribute.attr,
	NULL
};

static const struct attribute_group group = {
	.name = "limits",
	.attrs = attributes,
};

static void read_pair(const struct device_node *node, const char *property,
		      struct meridian_ps_rate *rate)
{
	u32 pair[2];

	if (!node || of_property_read_u32_array(node, property, pair, ARRAY_SIZE(pair)))
		return;
	rate->rate = min(pair[0], largest_rate());
	rate->burst = min_t(u32, pair[1], LARGEST_BURST);
}

/**
 * meridian_ps_init_limits() - give a port the limits it starts with
 * @port: whose netdev is not registered
 * @node: of the port in the device tree, or NULL
 */
void meridian_ps_init_limits(struct meridian_ps_port *port, const struct device_node *node)
{
	struct meridian_ps_limits *limits = &port->limits;

	mutex_init(&limits->lock);
	limits->enabled = 1;
	limits->others = (struct meridian_ps_rate){ DEFAULT_RATE, DEFAULT_BURST };
	limits->ptp = (struct meridian_ps_rate){ DEFAULT_PTP_RATE, DEFAULT_PTP_BURST };
	read_pair(node, "meridian,receive-limit", &limits->others);
	read_pair(node, "meridian,ptp-receive-limit", &limits->ptp);
	if (has_limits(port))
		port->netdev->sysfs_groups[0] = &group;
	meridian_ps_write_limits(port);
}
