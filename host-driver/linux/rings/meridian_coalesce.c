// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moderation of interrupts, fixed or after the load. The card delays those of received frames by a
 * timer and a counter. It interrupts for sent frames whenever a doorbell asks for it; so doorbells
 * do not ask while a timer of ours is to poll.
 */
#include "compat.h"
#include "compat_ethtool.h"
#include "meridian.h"
#include "meridian_interrupt.h"

/* Polls from sample to sample of the transmit load: a look at the clock costs as a frame does. */
#define TX_SAMPLE	8

static u32 largest(const u32 table[QDMA_TABLE_ENTRIES])
{
	unsigned int i;
	u32 value = 0;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++)
		value = max(value, table[i]);
	return value;
}

/*
 * The card has 16 values of each to choose from; the nearest is taken. Without a time every frame
 * interrupts, as fewer than are counted would wait for ever.
 */
static struct meridian_moderation nearest(const struct qdma_tables *tables, u32 usecs, u32 frames)
{
	struct meridian_moderation moderation = {
		.usecs = usecs ? tables->timers[qdma_nearest(tables->timers, usecs)] : 0,
		.frames = frames > 1 ? tables->counters[qdma_nearest(tables->counters, frames)] :
			  frames,
	};

	return moderation;
}

/* In force from the queue's next doorbell on. */
static void set_rx(struct meridian_rx *rx, u32 usecs, u32 frames)
{
	const struct qdma_tables *tables = &rx->m->qdma.tables;
	u32 trigger = QDMA_TRIGGER_USER_TIMER_COUNT;

	if (!usecs || frames == 1)
		trigger = QDMA_TRIGGER_EVERY;
	else if (!frames)
		trigger = QDMA_TRIGGER_USER_TIMER;
	WRITE_ONCE(rx->mode, qdma_completion_mode(trigger, qdma_nearest(tables->timers, usecs),
						  qdma_nearest(tables->counters, frames)));
}

static void set_tx(struct meridian_tx *tx, u32 usecs, u32 frames, bool is_adaptive)
{
	WRITE_ONCE(tx->rest.usecs, usecs);
	WRITE_ONCE(tx->rest.frames, frames);
	WRITE_ONCE(tx->rest.is_fixed, usecs && !is_adaptive);
}

/**
 * meridian_moderate_rx() - let a queue interrupt as it is set
 * @rx: the queue
 *
 * Context: Does not sleep.
 */
void meridian_moderate_rx(struct meridian_rx *rx)
{
	const struct meridian_moderation *set = &rx->m->queue_coalesce[rx->index].rx;

	set_rx(rx, set->usecs, set->frames);
}

/**
 * meridian_moderate_tx() - let a queue interrupt as it is set
 * @tx: the queue
 *
 * Context: Does not sleep.
 */
void meridian_moderate_tx(struct meridian_tx *tx)
{
	const struct meridian_moderation *set = &tx->m->queue_coalesce[tx->index].tx;

	set_tx(tx, set->usecs, set->frames, set->is_adaptive);
}

static void rx_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct meridian_channel *channel = container_of(dim, struct meridian_channel, rx_dim);
	struct dim_cq_moder moder = net_dim_get_rx_moderation(dim->mode, dim->profile_ix);

	if (READ_ONCE(channel->m->queue_coalesce[channel->rx.index].rx.is_adaptive))
		set_rx(&channel->rx, moder.usec, moder.pkts);
	dim->state = DIM_START_MEASURE;
}

static void tx_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct meridian_channel *channel = container_of(dim, struct meridian_channel, tx_dim);
	struct dim_cq_moder moder = net_dim_get_tx_moderation(dim->mode, dim->profile_ix);

	if (READ_ONCE(channel->m->queue_coalesce[channel->tx.index].tx.is_adaptive))
		set_tx(&channel->tx, moder.usec, moder.pkts, true);
	dim->state = DIM_START_MEASURE;
}

static enum hrtimer_restart end_rest(struct hrtimer *timer)
{
	struct meridian_tx *tx = container_of(timer, struct meridian_tx, rest.timer);

	napi_schedule(&container_of(tx, struct meridian_channel, tx)->napi);
	return HRTIMER_NORESTART;
}

/**
 * meridian_init_moderation() - once for a queue pair
 * @channel: the pair
 *
 * Context: Does not sleep.
 */
void meridian_init_moderation(struct meridian_channel *channel)
{
	INIT_WORK(&channel->rx_dim.work, rx_dim_work);
	INIT_WORK(&channel->tx_dim.work, tx_dim_work);
	channel->rx_dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
	channel->tx_dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
	meridian_hrtimer_setup(&channel->tx.rest.timer, end_rest);
}

/**
 * meridian_end_moderation() - wait until none of it runs
 * @channel: whose NAPI is disabled
 *
 * Context: May sleep.
 */
void meridian_end_moderation(struct meridian_channel *channel)
{
	hrtimer_cancel(&channel->tx.rest.timer);
	cancel_work_sync(&channel->rx_dim.work);
	cancel_work_sync(&channel->tx_dim.work);
}

static void sample(struct dim *dim, u16 events, const u64_stats_t *packets,
		   const u64_stats_t *bytes)
{
	struct dim_sample sample = {};

	dim_update_sample(events, u64_stats_read(packets), u64_stats_read(bytes), &sample);
	meridian_net_dim(dim, &sample);
}

/**
 * meridian_sample_dim() - let adaptive moderation see the load; of NAPI
 * @channel: whose poll ends
 *
 * Context: NAPI poll (softirq). Does not sleep.
 */
void meridian_sample_dim(struct meridian_channel *channel)
{
	const struct meridian_coalesce *set = &channel->m->queue_coalesce[channel->rx.index];
	struct meridian_tx *tx = &channel->tx;

	if (READ_ONCE(set->rx.is_adaptive))
		sample(&channel->rx_dim, channel->events, &channel->rx.stats.packets,
		       &channel->rx.stats.bytes);
	if (tx->rest.cleaned && ++tx->rest.polls % TX_SAMPLE == 0 &&
	    READ_ONCE(set->tx.is_adaptive))
		sample(&channel->tx_dim, tx->rest.polls, &tx->done.packets, &tx->done.bytes);
}

/**
 * meridian_rest_tx() - ask the card for no interrupt, but poll in a while
 * @tx: the queue; under its transmit lock
 *
 * Context: Does not sleep.
 */
void meridian_rest_tx(struct meridian_tx *tx)
{
	tx->rest.since = tx->pidx;
	WRITE_ONCE(tx->rest.is_on, true);
	hrtimer_start(&tx->rest.timer, ns_to_ktime(NSEC_PER_USEC * READ_ONCE(tx->rest.usecs)),
		      HRTIMER_MODE_REL_PINNED);
}

/**
 * meridian_may_rest_tx() - whether to poll in a while rather than to be interrupted
 * @tx: the queue, as its NAPI leaves it
 *
 * Of adaptive queues only one that has sent several frames since it was polled last: it would be
 * interrupted for the next at once. One that has sent none may have nothing to poll for.
 *
 * Context: Does not sleep.
 * Return: whether.
 */
bool meridian_may_rest_tx(const struct meridian_tx *tx)
{
	return READ_ONCE(tx->rest.usecs) &&
	       tx->rest.cleaned >= (READ_ONCE(tx->rest.is_fixed) ? 1 : 2);
}

static void show(const struct meridian_coalesce *set, struct ethtool_coalesce *coalesce)
{
	coalesce->rx_coalesce_usecs = set->rx.usecs;
	coalesce->rx_max_coalesced_frames = set->rx.frames;
	coalesce->use_adaptive_rx_coalesce = set->rx.is_adaptive;
	coalesce->tx_coalesce_usecs = set->tx.usecs;
	coalesce->tx_max_coalesced_frames = set->tx.frames;
	coalesce->use_adaptive_tx_coalesce = set->tx.is_adaptive;
}

/* What is shown is what the card does. */
static int take(const struct meridian *m, const struct ethtool_coalesce *coalesce,
		struct meridian_coalesce *set)
{
	const struct qdma_tables *tables = &m->qdma.tables;

	if (coalesce->rx_coalesce_usecs > largest(tables->timers) ||
	    coalesce->rx_max_coalesced_frames > largest(tables->counters) ||
	    coalesce->tx_coalesce_usecs > MERIDIAN_TX_USECS_MAX ||
	    coalesce->tx_max_coalesced_frames > MERIDIAN_RING_MAX)
		return -EINVAL;
	set->rx = nearest(tables, coalesce->rx_coalesce_usecs, coalesce->rx_max_coalesced_frames);
	set->rx.is_adaptive = coalesce->use_adaptive_rx_coalesce;
	set->tx.usecs = coalesce->tx_coalesce_usecs;
	set->tx.frames = coalesce->tx_max_coalesced_frames;
	set->tx.is_adaptive = coalesce->use_adaptive_tx_coalesce;
	return 0;
}

static void set_queue(struct meridian *m, unsigned int queue, const struct meridian_coalesce *set)
{
	m->queue_coalesce[queue] = *set;
	if (queue >= m->channels)
		return;
	/* One that has found the queue adaptive before is not to have the last word. */
	flush_work(&m->channel[queue].rx_dim.work);
	flush_work(&m->channel[queue].tx_dim.work);
	meridian_moderate_rx(&m->channel[queue].rx);
	meridian_moderate_tx(&m->channel[queue].tx);
}

/**
 * meridian_default_coalesce() - as the driver has it when nobody has said anything
 * @m: the function
 *
 * Context: Does not sleep.
 */
void meridian_default_coalesce(struct meridian *m)
{
	static const struct meridian_coalesce defaults = {
		.rx = { .usecs = 5, .frames = 64, .is_adaptive = true },
		.tx = { .usecs = 16, .frames = 32, .is_adaptive = true },
	};
	unsigned int i;

	m->coalesce = defaults;
	for (i = 0; i < MERIDIAN_QUEUES; i++)
		m->queue_coalesce[i] = defaults;
}

int meridian_get_coalesce(struct net_device *netdev,
			  struct ethtool_coalesce *coalesce MERIDIAN_COALESCE_MORE)
{
	struct meridian *m = netdev_priv(netdev);

	show(&m->coalesce, coalesce);
	return 0;
}

int meridian_set_coalesce(struct net_device *netdev,
			  struct ethtool_coalesce *coalesce MERIDIAN_COALESCE_MORE)
{
	struct meridian *m = netdev_priv(netdev);
	int error = take(m, coalesce, &m->coalesce);
	unsigned int i;

	for (i = 0; i < MERIDIAN_QUEUES && !error; i++)
		set_queue(m, i, &m->coalesce);
	return error;
}

int meridian_get_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce)
{
	struct meridian *m = netdev_priv(netdev);

	if (queue >= m->config.queues)
		return -EINVAL;
	show(&m->queue_coalesce[queue], coalesce);
	return 0;
}

int meridian_set_queue_coalesce(struct net_device *netdev, u32 queue,
				struct ethtool_coalesce *coalesce)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_coalesce set;
	int error;

	if (queue >= m->config.queues)
		return -EINVAL;
	error = take(m, coalesce, &set);
	if (!error)
		set_queue(m, queue, &set);
	return error;
}
