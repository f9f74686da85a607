// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card by devlink: what it is, and its limits as policers. A port has two: 2 * port + 1 for
 * frames that are not of PTP, and the next for those that are. Rate 0 is no limit.
 */
#include <linux/slab.h>
#include <linux/stringify.h>
#include <net/devlink.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define LIMITS	2	/* of a port */
#define SMALLEST	__stringify(MERIDIAN_PS_SMALLEST_RATE)

/**
 * struct meridian_ps_devlink - what devlink has of a card
 * @card: it
 * @count: of @policer
 * @policer: as they are at first
 */
struct meridian_ps_devlink {
	struct meridian_ps *card;
	unsigned int count;
	struct devlink_trap_policer policer[LIMITS * MERIDIAN_PS_PORTS];
};

static bool is_ptp(const struct devlink_trap_policer *policer)
{
	return (policer->id - 1) % LIMITS;
}

static struct meridian_ps_port *port_of(struct devlink *devlink,
					const struct devlink_trap_policer *policer)
{
	struct meridian_ps_devlink *it = devlink_priv(devlink);

	return it->card->port[(policer->id - 1) / LIMITS];
}

static int set_policer(struct devlink *devlink, const struct devlink_trap_policer *policer,
		       u64 rate, u64 burst, struct netlink_ext_ack *extack)
{
	struct meridian_ps_port *port = port_of(devlink, policer);
	const struct meridian_ps_rate wanted = { .rate = rate, .burst = burst };

	if (rate && rate < MERIDIAN_PS_SMALLEST_RATE) {
		NL_SET_ERR_MSG(extack,
			       "the smallest rate is " SMALLEST " frames a second; 0 is no limit");
		return -ERANGE;
	}
	meridian_ps_set_limit(port, is_ptp(policer) ? &port->limits.ptp : &port->limits.others,
			      &wanted);
	return 0;
}

static int count_policed(struct devlink *devlink, const struct devlink_trap_policer *policer,
			 u64 *drops)
{
	u32 counter = is_ptp(policer) ? MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_PTP_POLICED :
					MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_POLICED;

	*drops = meridian_ps_read_port_counter(port_of(devlink, policer), counter);
	return 0;
}

static int get_info(struct devlink *devlink, struct devlink_info_req *request,
		    struct netlink_ext_ack *extack)
{
	struct meridian_ps_devlink *it = devlink_priv(devlink);
	u32 version = meridian_ps_read(it->card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_VERSION);
	u32 hash = meridian_ps_read(it->card, MERIDIAN_IDENT_PS_BASE + MERIDIAN_IDENT_BUILD_HASH);
	char text[24];
	int error;

	snprintf(text, sizeof(text), "%u.%u", FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version),
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version));
	error = devlink_info_version_running_put(request, "fw.map", text);
	if (error)
		return error;
	snprintf(text, sizeof(text), "%08x", hash);
	return devlink_info_version_running_put(request, "fw.git", text);
}

static const struct devlink_ops devlink_ops = {
	.info_get = get_info,
	.trap_policer_set = set_policer,
	.trap_policer_counter_get = count_policed,
};

static void end(void *data)
{
	struct devlink *devlink = data;
	struct meridian_ps_devlink *it = devlink_priv(devlink);

	devlink_unregister(devlink);
	devl_lock(devlink);
	devl_trap_policers_unregister(devlink, it->policer, it->count);
	devl_unlock(devlink);
	devlink_free(devlink);
}

static void add_policer(struct meridian_ps_devlink *it, const struct meridian_ps_rate *limit)
{
	it->policer[it->count] = (struct devlink_trap_policer){
		.id = it->count + 1, .init_rate = limit->rate, .init_burst = limit->burst,
		.max_rate = MERIDIAN_PS_LARGEST_RATE, .min_rate = 0,
		.max_burst = MERIDIAN_PS_LARGEST_BURST, .min_burst = 1,
	};
	it->count++;
}

/**
 * meridian_ps_init_devlink() - make the card known to devlink
 * @card: with all its ports
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_init_devlink(struct meridian_ps *card)
{
	struct meridian_ps_devlink *it;
	struct devlink *devlink;
	unsigned int i;
	int error;

	devlink = devlink_alloc(&devlink_ops, sizeof(*it), card->dev);
	if (!devlink)
		return -ENOMEM;
	it = devlink_priv(devlink);
	it->card = card;
	if (card->capabilities & MERIDIAN_IDENT_CAPABILITIES_PS_LIMIT_MASK) {
		for (i = 0; i < card->ports; i++) {
			add_policer(it, &card->port[i]->limits.others);
			add_policer(it, &card->port[i]->limits.ptp);
		}
	}
	devl_lock(devlink);
	error = devl_trap_policers_register(devlink, it->policer, it->count);
	devl_unlock(devlink);
	if (error) {
		devlink_free(devlink);
		return error;
	}
	devlink_register(devlink);
	return devm_add_action_or_reset(card->dev, end, devlink);
}
