// SPDX-License-Identifier: GPL-2.0-only
/* What Linux is told of a queue pair's NAPI. */
#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_interrupt.h"

/**
 * meridian_enable_napi() - poll, and let users know by which NAPI a queue is polled
 * @channel: of a function with so many queues; under RTNL
 *
 * Context: May sleep.
 */
void meridian_enable_napi(struct meridian_channel *channel)
{
	meridian_napi_enable(&channel->napi);
	meridian_queue_set_napi(channel->m->netdev, channel->rx.index, &channel->napi);
}

/**
 * meridian_disable_napi() - undo meridian_enable_napi()
 * @channel: that is polled; under RTNL
 *
 * Context: May sleep.
 */
void meridian_disable_napi(struct meridian_channel *channel)
{
	meridian_queue_set_napi(channel->m->netdev, channel->rx.index, NULL);
	meridian_napi_disable(&channel->napi);
}
