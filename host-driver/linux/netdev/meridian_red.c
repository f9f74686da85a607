// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random early detection (tc red) by the card: it marks packets that wait in the transmit queues of
 * the port as having met congestion (ECN, RFC 3168). It marks by the fill itself and not by its
 * average, and drops nothing early.
 */
#include <linux/netdevice.h>
#include <net/pkt_cls.h>
#include <net/red.h>

#include "meridian.h"
#include "meridian_classes.h"
#include "meridian_dcb.h"
#include "meridian_red.h"

/* Of a probability of 1 in tc, and in the slope of a line. */
#define PROBABILITY_BITS	32
#define SLOPE_BITS		21

static u64 count_marked(struct meridian *m)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < MERIDIAN_CLASSES; i++)
		sum += meridian_read_class(m, i, MERIDIAN_CLASS_MARKED);
	return sum;
}

/* The card's reset is one of its counters, too. */
static u64 count_since(struct meridian *m, u64 *told)
{
	u64 now = count_marked(m), before = *told;

	*told = now;
	return now < before ? now : now - before;
}

static int take_line(struct net_device *netdev, const struct tc_red_qopt_offload_params *wish,
		     struct meridian_marks *marks)
{
	struct meridian_marks most;
	u32 cell = meridian_read_most_marks(netdev_priv(netdev), &most);
	u32 min = DIV_ROUND_UP(wish->min, cell), max = DIV_ROUND_UP(wish->max, cell);
	u32 slope = 0;

	if (!wish->is_ecn || !wish->is_nodrop || wish->is_harddrop) {
		netdev_info(netdev, "tc red: the card marks and drops nothing; ecn and nodrop without harddrop have it do so\n");
		return -EOPNOTSUPP;
	}
	if (!max || min > max || max > most.max) {
		netdev_info(netdev, "tc red: the card takes a max from 1 to %u bytes, and a min up to max\n",
			    most.max * cell);
		return -ERANGE;
	}
	if (min < max)
		slope = (wish->probability >> (PROBABILITY_BITS - SLOPE_BITS)) / (max - min);
	if (min < max && wish->probability && !slope) {
		netdev_info(netdev, "tc red: the card takes a probability from 1/%lu on for each %u bytes between min and max\n",
			    BIT(SLOPE_BITS), cell);
		return -ERANGE;
	}
	if (slope > most.slope) {
		netdev_info(netdev, "tc red: the card takes a probability up to %u/%u for each %u bytes between min and max\n",
			    1, (u32)(BIT(SLOPE_BITS) / (most.slope + 1)), cell);
		return -ERANGE;
	}
	*marks = (struct meridian_marks){ .min = min, .max = max, .slope = slope };
	return 0;
}

static int mark_all(struct net_device *netdev, const struct meridian_marks *marks)
{
	struct meridian_classes classes;
	unsigned int i;
	int error;

	error = meridian_get_classes(netdev_priv(netdev), &classes);
	if (error)
		return error;
	for (i = 0; i < MERIDIAN_CLASSES; i++)
		classes.marks[i] = *marks;
	return meridian_set_classes(netdev, &classes);
}

static int destroy(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);
	const struct meridian_marks none = {};
	int error;

	m->red.handle = 0;
	error = mark_all(netdev, &none);
	if (netdev->reg_state == NETREG_REGISTERED)
		netdev_update_features(netdev);
	return error;
}

/* Of a port, the card marks by one line. Under RTNL, so none of them begins or ends meanwhile. */
static int check_others(struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);

	if (!meridian_other_has_red(m))
		return 0;
	netdev_info(netdev, "tc red: the card marks for another PF of the port already\n");
	return -EBUSY;
}

/* One that the card cannot have leaves neither an older one in force nor a part of itself. */
static int replace(struct net_device *netdev, const struct tc_red_qopt_offload *red)
{
	struct meridian *m = netdev_priv(netdev);
	bool is_marking = m->red.handle;
	struct meridian_marks marks;
	int error;

	if (red->parent != TC_H_ROOT)
		return -EOPNOTSUPP;
	error = netif_device_present(netdev) ? check_others(netdev) : -ENODEV;
	if (!error)
		error = take_line(netdev, &red->set, &marks);
	if (!error) {
		is_marking = true;
		error = mark_all(netdev, &marks);
	}
	if (error) {
		if (is_marking)
			destroy(netdev);
		return error;
	}
	if (m->red.handle != red->handle) {
		m->red.handle = red->handle;
		m->red.told = count_marked(m);
		m->red.told_of_line = m->red.told;
	}
	return 0;
}

/* In a reset, the counters are not there; the card goes on marking behind it. */
static int setup_red(struct net_device *netdev, struct tc_red_qopt_offload *red)
{
	struct meridian *m = netdev_priv(netdev);

	if (red->command == TC_RED_REPLACE)
		return replace(netdev, red);
	if (!m->red.handle || m->red.handle != red->handle)
		return -EOPNOTSUPP;
	switch (red->command) {
	case TC_RED_DESTROY:
		return destroy(netdev);
	case TC_RED_STATS:
		/* The kernel has counted packets and bytes: they come through its queue, too. */
		if (netif_device_present(netdev))
			red->stats.qstats->overlimits += count_since(m, &m->red.told);
		return 0;
	case TC_RED_XSTATS:
		if (netif_device_present(netdev))
			red->xstats->prob_mark += count_since(m, &m->red.told_of_line);
		return 0;
	case TC_RED_GRAFT:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * meridian_setup_tc() - take over what the kernel's traffic control asks for
 * @netdev: of a function
 * @type: what it is about
 * @data: what is asked, as the type says
 *
 * Context: May sleep; under RTNL and the device's lock, but for types that are refused.
 * Return: 0, or an error; then the kernel does it alone.
 */
int meridian_setup_tc(struct net_device *netdev, enum tc_setup_type type, void *data)
{
	if (type != TC_SETUP_QDISC_RED || !meridian_has_classes(netdev_priv(netdev)))
		return -EOPNOTSUPP;
	return setup_red(netdev, data);
}

/**
 * meridian_red_needs() - the features that the device has to keep
 * @m: the function; under RTNL
 * @features: that it is to have
 *
 * Without the offload, the kernel does not tell the card when a discipline is taken away. One that
 * is to be switched off is so when the card has ended.
 *
 * Context: Does not sleep.
 * Return: them.
 */
netdev_features_t meridian_red_needs(struct meridian *m, netdev_features_t features)
{
	if (!m->red.handle || features & NETIF_F_HW_TC)
		return 0;
	netdev_info(m->netdev, "tc red: the offload stays on until the discipline is taken away, for which the card marks packets\n");
	return NETIF_F_HW_TC;
}

/**
 * meridian_offer_red() - have the kernel ask for random early detection, if the card has it
 * @netdev: of a function, before it is registered
 *
 * Context: Does not sleep.
 */
void meridian_offer_red(struct net_device *netdev)
{
	if (!meridian_has_classes(netdev_priv(netdev)))
		return;
	netdev->hw_features |= NETIF_F_HW_TC;
	netdev->features |= NETIF_F_HW_TC;
}
