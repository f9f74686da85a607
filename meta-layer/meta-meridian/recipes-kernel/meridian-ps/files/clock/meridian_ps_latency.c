// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a frame takes between the connector of a port and where the MAC stamps it:
 * /sys/class/net/NAME/latency, in picoseconds. The card moves its timestamps by it, so that all
 * who read them see those of the connector.
 */
#include <linux/device.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/sysfs.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define FRACTION	16		/* bits below a nanosecond in the registers */
#define MOST_PS		32000000	/* what they can hold, rounded */

/* A row of the device tree's table. */
struct latency_row {
	u32 gigabits;
	u32 rx_ps;
	u32 tx_ps;
};

#define ROW_CELLS	(sizeof(struct latency_row) / sizeof(u32))
#define MOST_ROWS	4

static bool has_latency(const struct meridian_ps_port *port)
{
	return port->card->capabilities & MERIDIAN_IDENT_CAPABILITIES_STAMP_LATENCY_MASK;
}

static u32 units_of(s32 picoseconds)
{
	return DIV_S64_ROUND_CLOSEST((s64)picoseconds * (1 << FRACTION), 1000);
}

/*
 * Under the lock: who changes one, or a port that comes up, would else write what is old by then.
 */
static void write_both(struct meridian_ps_port *port)
{
	meridian_ps_port_write(port, MERIDIAN_PORT_RX_LATENCY, units_of(port->latency.rx_ps));
	meridian_ps_port_write(port, MERIDIAN_PORT_TX_LATENCY, units_of(port->latency.tx_ps));
}

/**
 * meridian_ps_write_latency() - bring the card's latencies to those of the port
 * @port: it; a card that cannot move its timestamps is left alone
 *
 * Context: May sleep.
 */
void meridian_ps_write_latency(struct meridian_ps_port *port)
{
	if (!has_latency(port))
		return;
	mutex_lock(&port->latency.lock);
	write_both(port);
	mutex_unlock(&port->latency.lock);
}

struct latency_attribute {
	struct device_attribute attribute;
	u32 offset;	/* of its s32 in struct meridian_ps_latency */
};

static s32 *value_of(struct device *dev, struct device_attribute *attribute,
		     struct meridian_ps_port **port)
{
	*port = netdev_priv(to_net_dev(dev));
	return (void *)&(*port)->latency +
	       container_of(attribute, struct latency_attribute, attribute)->offset;
}

static ssize_t show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct meridian_ps_port *port;
	s32 *value = value_of(dev, attribute, &port);

	return sysfs_emit(text, "%d\n", READ_ONCE(*value));
}

static ssize_t set(struct device *dev, struct device_attribute *attribute, const char *text,
		   size_t length)
{
	struct meridian_ps_port *port;
	s32 *value = value_of(dev, attribute, &port);
	s32 wanted;
	int error = kstrtos32(text, 0, &wanted);

	if (error)
		return error;
	if (wanted < -MOST_PS || wanted > MOST_PS)
		return -ERANGE;
	mutex_lock(&port->latency.lock);
	WRITE_ONCE(*value, wanted);
	write_both(port);
	mutex_unlock(&port->latency.lock);
	return length;
}

static struct latency_attribute latencies[] = {
	{ __ATTR(rx_ps, 0644, show, set), offsetof(struct meridian_ps_latency, rx_ps) },
	{ __ATTR(tx_ps, 0644, show, set), offsetof(struct meridian_ps_latency, tx_ps) },
};

static struct attribute *attributes[] = {
	&latencies[0].attribute.attr,
	&latencies[1].attribute.attr,
	NULL
};

static const struct attribute_group group = {
	.name = "latency",
	.attrs = attributes,
};

static s32 within(struct meridian_ps_port *port, u32 cell)
{
	s32 wanted = (s32)cell;

	if (wanted >= -MOST_PS && wanted <= MOST_PS)
		return wanted;
	dev_warn(port->card->dev, "port %u: no latency can be %d ps, 0 is taken\n", port->index,
		 wanted);
	return 0;
}

/**
 * meridian_ps_init_latency() - give a port the latencies that the device tree has for its rate
 * @port: whose netdev is not registered
 * @node: of the port in the device tree, or NULL
 *
 * Context: May sleep.
 */
void meridian_ps_init_latency(struct meridian_ps_port *port, const struct device_node *node)
{
	u32 gigabits = FIELD_GET(MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK,
				 meridian_ps_port_read(port, MERIDIAN_PORT_LINK_STATUS));
	struct latency_row rows[MOST_ROWS];
	int cells, i;

	mutex_init(&port->latency.lock);
	cells = node ? of_property_read_variable_u32_array(node, "meridian,stamp-latency",
							   (u32 *)rows, ROW_CELLS,
							   MOST_ROWS * ROW_CELLS) : 0;
	for (i = 0; i < cells / (int)ROW_CELLS; i++) {
		if (rows[i].gigabits != gigabits)
			continue;
		port->latency.rx_ps = within(port, rows[i].rx_ps);
		port->latency.tx_ps = within(port, rows[i].tx_ps);
	}
	if (!has_latency(port) && (port->latency.rx_ps || port->latency.tx_ps))
		dev_warn(port->card->dev, "port %u: this card cannot move its timestamps\n",
			 port->index);
	meridian_ps_write_latency(port);
}

/**
 * meridian_ps_add_latency_files() - show the latencies of a port, and let them be set
 * @port: whose netdev is registered, and takes them away when it goes
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_add_latency_files(struct meridian_ps_port *port)
{
	return has_latency(port) ? sysfs_create_group(&port->netdev->dev.kobj, &group) : 0;
}
