// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moderation of receive interrupts: by a timer and a counter of the card, fixed or after the load.
 */
#include "compat.h"
#include "meridian.h"

/**
 * meridian_set_mode() - when a queue interrupts, from its next doorbell on
 * @rx: the queue
 * @usecs: after so long; 0: at every frame
 * @frames: with so many
 *
 * The card has 16 values of each to choose from; the nearest is taken.
 */
void meridian_set_mode(struct meridian_rx *rx, u32 usecs, u32 frames)
{
	const struct qdma_tables *tables = &rx->m->qdma.tables;
	u32 trigger = usecs && frames > 1 ? QDMA_TRIGGER_USER_TIMER_COUNT : QDMA_TRIGGER_EVERY;
	u32 timer = qdma_nearest(tables->timers, usecs);
	u32 counter = qdma_nearest(tables->counters, frames);

	WRITE_ONCE(rx->mode, qdma_completion_mode(trigger, timer, counter));
}

static void dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct meridian_channel *channel = container_of(dim, struct meridian_channel, dim);
	struct dim_cq_moder moder = net_dim_get_rx_moderation(dim->mode, dim->profile_ix);

	if (READ_ONCE(channel->m->coalesce.is_adaptive))
		meridian_set_mode(&channel->rx, moder.usec, moder.pkts);
	dim->state = DIM_START_MEASURE;
}

void meridian_init_dim(struct meridian_channel *channel)
{
	INIT_WORK(&channel->dim.work, dim_work);
	channel->dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
}

/**
 * meridian_sample_dim() - let adaptive moderation see the load; of NAPI
 * @channel: whose poll ends
 */
void meridian_sample_dim(struct meridian_channel *channel)
{
	struct meridian_rx_stats *stats = &channel->rx.stats;
	struct dim_sample sample = {};

	if (!READ_ONCE(channel->m->coalesce.is_adaptive))
		return;
	dim_update_sample(channel->events, u64_stats_read(&stats->packets),
			  u64_stats_read(&stats->bytes), &sample);
	meridian_net_dim(&channel->dim, &sample);
}
