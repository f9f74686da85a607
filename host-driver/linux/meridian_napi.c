// SPDX-License-Identifier: GPL-2.0-only
/* What Linux is told of a queue pair's NAPI and interrupt, and which processor is theirs. */
#include "compat.h"
#include "meridian.h"

static const struct cpumask *own_cpu(const struct meridian *m, unsigned int index)
{
	return cpumask_of(cpumask_local_spread(index, dev_to_node(&m->pdev->dev)));
}

/**
 * meridian_request_irq() - have the interrupt of a queue pair
 * @channel: whose NAPI is added
 * @handler: of it
 *
 * Return: 0 or a negative error, then it has none.
 */
int meridian_request_irq(struct meridian_channel *channel, irq_handler_t handler)
{
	struct meridian *m = channel->m;
	int irq = pci_irq_vector(m->pdev, meridian_first_vector(m) + channel->rx.index);
	int error;

	snprintf(channel->name, sizeof(channel->name), "%s-%u", m->netdev->name,
		 channel->rx.index);
	error = request_irq(irq, handler, 0, channel->name, channel);
	if (error)
		return error;
	channel->irq = irq;
	meridian_hint_irq(irq, own_cpu(m, channel->rx.index));
	meridian_napi_set_irq(&channel->napi, irq);
	return 0;
}

/**
 * meridian_free_irq() - undo meridian_request_irq()
 * @channel: that may have none
 */
void meridian_free_irq(struct meridian_channel *channel)
{
	if (!channel->irq)
		return;
	meridian_napi_set_irq(&channel->napi, -1);
	meridian_hint_irq(channel->irq, NULL);
	free_irq(channel->irq, channel);
	channel->irq = 0;
}

/**
 * meridian_enable_napi() - poll, and let users know by which NAPI a queue is polled
 * @channel: of a function with so many queues; under RTNL
 */
void meridian_enable_napi(struct meridian_channel *channel)
{
	meridian_napi_enable(&channel->napi);
	meridian_queue_set_napi(channel->m->netdev, channel->rx.index, &channel->napi);
}

/**
 * meridian_disable_napi() - undo meridian_enable_napi()
 * @channel: that is polled; under RTNL
 */
void meridian_disable_napi(struct meridian_channel *channel)
{
	meridian_queue_set_napi(channel->m->netdev, channel->rx.index, NULL);
	meridian_napi_disable(&channel->napi);
}

/**
 * meridian_spread_tx() - let a processor send by the queue whose interrupt it has
 * @m: a function with queues; under RTNL
 *
 * Done once for a number of queues: what the administrator says then stays.
 */
void meridian_spread_tx(struct meridian *m)
{
	unsigned int i;

	if (m->spread == m->channels)
		return;
	m->spread = m->channels;
	for (i = 0; i < m->channels; i++)
		netif_set_xps_queue(m->netdev, own_cpu(m, i), i);
}
