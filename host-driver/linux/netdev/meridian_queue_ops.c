// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue management: Linux gives one receive queue other memory, while the others and all that
 * transmit run on. Linux holds the device's lock from stop to start.
 */
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_fault.h"
#include "meridian_frames.h"
#include "meridian_ring.h"

#ifdef MERIDIAN_HAS_QUEUE_OPS

static int alloc_memory(struct net_device *netdev, MERIDIAN_QUEUE_CONFIG void *memory, int index)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_rx *rx = memory;
	int error;

	rx->m = m;
	rx->index = index;
	error = meridian_alloc_rx(rx, m->config.rx_slots);
	if (!error)
		error = meridian_stock_rx(rx);
	if (error)
		meridian_free_rx(rx);
	return error;
}

static void free_memory(struct net_device *netdev, void *memory)
{
	struct meridian_rx *rx = memory;

	/* That of a queue which was never there to be stopped. */
	if (rx->m)
		meridian_free_rx(rx);
}

static int stop(struct net_device *netdev, void *memory, int index)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_rx *rx = &m->channel[index].rx;
	struct meridian_rx *other = memory;
	int error;

	/* While the function is reset, Linux takes the interface for one that is up. */
	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags))
		return -ENETDOWN;
	if (rx->xsk || !meridian_disable_channel(&m->channel[index]))
		return -EBUSY;
	error = m->ops->stop_rx(m, m->queue_base + index);
	if (error) {
		meridian_enable_channel(&m->channel[index]);
		meridian_schedule_reset(m);
		return error;
	}
	meridian_release_rx(rx);
	meridian_retire_rx(rx);
	other->m = m;
	other->index = index;
	meridian_exchange_rx(rx, other);
	return 0;
}

/*
 * The queue keeps the memory that it did not start with, until it starts with other memory or all
 * queues start anew: the card may have it in part.
 */
static int start(struct net_device *netdev, MERIDIAN_QUEUE_CONFIG void *memory, int index)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_rx *rx = &m->channel[index].rx;
	int error;

	if (rx->ring.entries) {
		error = m->ops->stop_rx(m, m->queue_base + index);
		if (error)
			return error;
		meridian_free_rx(rx);
	}
	meridian_exchange_rx(rx, memory);
	error = meridian_start_rx(rx);
	if (error)
		meridian_schedule_reset(m);
	else
		meridian_enable_channel(&m->channel[index]);
	return error;
}

static const struct netdev_queue_mgmt_ops queue_ops = {
	.ndo_queue_mem_size = sizeof(struct meridian_rx),
	.ndo_queue_mem_alloc = alloc_memory,
	.ndo_queue_mem_free = free_memory,
	.ndo_queue_start = start,
	.ndo_queue_stop = stop,
};

void meridian_offer_queue_ops(struct net_device *netdev)
{
	netdev->queue_mgmt_ops = &queue_ops;
}

#else

void meridian_offer_queue_ops(struct net_device *netdev)
{
}

#endif
