/* SPDX-License-Identifier: BSD-3-Clause */
/* From a bus to a port and back. */
#include <stdlib.h>

#include <rte_malloc.h>

#include "meridian.h"

RTE_LOG_REGISTER_DEFAULT(meridian_logtype, NOTICE);

static int
identify_pf(struct meridian *m, const struct meridian_options *options)
{
	int error;

	m->ops = &meridian_pf_ops;
	m->card = meridian_card_get(m->bus->card);
	if (m->card == NULL)
		return -ENOMEM;
	error = meridian_identify(m, options->queues);
	if (!error)
		meridian_read_rate_unit(m);
	if (!error)
		error = meridian_take_pf(m);
	if (!error)
		meridian_card_join(m);
	if (!error && rte_is_zero_ether_addr(&options->address))
		meridian_take_address(m);
	meridian_default_rss(m);
	return error;
}

/* What the card has of it is looked at when the port starts. */
static int
take_pf_address(struct meridian *m, const struct rte_ether_addr *address)
{
	bool is_anothers;

	pthread_mutex_lock(&m->card->lock);
	is_anothers = meridian_is_anothers(m, m->function, address);
	if (!is_anothers)
		m->data->mac_addrs[0] = *address;
	pthread_mutex_unlock(&m->card->lock);
	if (!is_anothers)
		return 0;
	MERIDIAN_LOG(ERR, "%s: mac=" RTE_ETHER_ADDR_PRT_FMT ": another function of the port has that address",
		     m->data->name, RTE_ETHER_ADDR_BYTES(address));
	return -EADDRINUSE;
}

static int
take_vf_address(struct meridian *m, const struct rte_ether_addr *address)
{
	int error = meridian_set_own_address(m, address);

	if (error)
		MERIDIAN_LOG(ERR, "%s: mac=" RTE_ETHER_ADDR_PRT_FMT ": its PF does not give the VF that address: %s",
			     m->data->name, RTE_ETHER_ADDR_BYTES(address), strerror(-error));
	else
		m->data->mac_addrs[0] = *address;
	return error;
}

/* A VF may get another driver for its PF later, so the wish stays. */
static void
take_push(struct meridian *m, uint32_t bytes)
{
	m->push = bytes;
	if (bytes && !meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK))
		MERIDIAN_LOG(WARNING, "%s: push=%u: the card takes no pushed frames, or the PF of this VF does not say so",
			     m->data->name, bytes);
	else if (bytes && !m->bus->window_queues)
		MERIDIAN_LOG(WARNING, "%s: push=%u: no frame is pushed, because BAR %u is not mapped",
			     m->data->name, bytes, MERIDIAN_BAR_WINDOW);
}

static int
identify(struct rte_eth_dev *dev, struct meridian *m)
{
	struct meridian_options options;
	int error = meridian_take_options(dev->device->devargs, &options);

	if (error)
		return error;
	if (m->bus->is_vf && options.vfs) {
		MERIDIAN_LOG(ERR, "%s: vfs=%u: a VF has no VFs", m->data->name, options.vfs);
		return -EINVAL;
	}
	dev->data->mac_addrs = rte_calloc("meridian", MERIDIAN_ADDRESSES,
					  sizeof(struct rte_ether_addr), 0);
	m->baseline = rte_calloc("meridian", MERIDIAN_CARD_COUNTERS, sizeof(*m->baseline), 0);
	if (dev->data->mac_addrs == NULL || m->baseline == NULL)
		return -ENOMEM;
	if (m->bus->is_vf) {
		m->ops = &meridian_vf_ops;
		error = meridian_identify_vf(m);
	} else {
		error = identify_pf(m, &options);
	}
	if (!error)
		take_push(m, options.push);
	if (!error && !rte_is_zero_ether_addr(&options.address))
		error = m->bus->is_vf ? take_vf_address(m, &options.address) :
					take_pf_address(m, &options.address);
	if (!error && options.vfs)
		error = meridian_start_vfs(m, &options);
	return error;
}

static int
init(struct rte_eth_dev *dev, void *argument)
{
	struct meridian *m = meridian_of(dev);
	int error;

	dev->process_private = argument;
	meridian_set_status_calls(dev);
	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		dev->dev_ops = &meridian_secondary_ops;
		meridian_choose_bursts(dev);
		return 0;
	}
	m->bus = argument;
	m->data = dev->data;
	pthread_mutex_init(&m->latch, NULL);
	dev->data->numa_node = dev->device->numa_node;
	dev->intr_handle = m->bus->interrupt;
	error = identify(dev, m);
	if (error) {
		meridian_give_up(m);
		return error;
	}
	dev->dev_ops = &meridian_primary_ops;
	dev->data->dev_flags |= RTE_ETH_DEV_INTR_LSC | RTE_ETH_DEV_INTR_RMV |
				RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS;
	meridian_choose_bursts(dev);
	meridian_stats_reset(dev);
	meridian_tm_begin_counts(m);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(meridian_attach)
int
meridian_attach(struct rte_device *device, struct meridian_bus *bus)
{
	int error;

	if (bus->ops->version != MERIDIAN_BUS_VERSION) {
		MERIDIAN_LOG(ERR, "%s: its plug-in is built for version %u of meridian_bus.h, this driver has version %u",
			     device->name, bus->ops->version, MERIDIAN_BUS_VERSION);
		error = -EPROTO;
	} else {
		error = rte_eth_dev_create(device, device->name, sizeof(struct meridian), NULL,
					   NULL, init, bus);
	}
	if (error)
		bus->ops->close(bus);
	return error;
}

RTE_EXPORT_INTERNAL_SYMBOL(meridian_detach)
int
meridian_detach(struct rte_device *device)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(device->name);

	/* A port that the application closed no longer exists. ethdev closes no started port. */
	if (dev == NULL)
		return 0;
	meridian_close(dev);
	return rte_eth_dev_release_port(dev);
}
