// SPDX-License-Identifier: GPL-2.0-only
/* Queues: their memory, and how they start and stop on the card. */
#include "compat_netdev.h"
#include "compat_pool.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_interrupt.h"
#include "meridian_ring.h"

/* What a transmit queue gets to empty itself before it is taken away. */
#define DRAIN_POLLS		20

/*
 * Once NAPI is done another CPU may poll and be first with its doorbell. An index that goes back
 * is an error that ends the ring, so whoever has the lock tells the newest.
 */
static void tell_completion(struct meridian_rx *rx, bool arm)
{
	spin_lock(&rx->bell);
	/* Pairs with the one in poll_channel(). */
	qdma_completion_doorbell(&rx->m->qdma, rx->index, smp_load_acquire(&rx->told), rx->mode,
				 arm);
	spin_unlock(&rx->bell);
}

static int poll_channel(struct napi_struct *napi, int budget)
{
	struct meridian_channel *channel = container_of(napi, struct meridian_channel, napi);
	struct meridian_rx *rx = &channel->rx;
	bool all_sent, done;
	int received;

	/*
	 * Netpoll asks for room in the transmit ring, at any time and in any context. The receive
	 * queue is left alone: a doorbell that does not arm it takes the next frame's interrupt.
	 */
	if (!budget) {
		meridian_clean_tx(&channel->tx, 0);
		return 0;
	}
	all_sent = meridian_clean_tx(&channel->tx, budget) && meridian_xsk_send(channel);
	received = meridian_poll_rx(rx, napi, budget);
	done = all_sent && received < budget;
	/* Entries are read before the card may write them again. */
	smp_store_release(&rx->told, rx->completion);
	if (done)
		meridian_sample_dim(channel);
	if (!done || !napi_complete_done(napi, received)) {
		tell_completion(rx, false);
		return done ? received : budget;
	}
	tell_completion(rx, true);
	meridian_arm_tx(&channel->tx);
	return received;
}

static int begin_channel(struct meridian_channel *channel)
{
	int error;

	meridian_init_moderation(channel);
	meridian_napi_add(channel->m->netdev, &channel->napi, poll_channel, channel->rx.index);
	error = meridian_request_irq(channel);
	if (error)
		meridian_napi_del(&channel->napi);
	return error;
}

static void end_channel(struct meridian_channel *channel)
{
	meridian_free_irq(channel);
	meridian_end_moderation(channel);
	meridian_napi_del(&channel->napi);
}

/**
 * meridian_end_channels() - give back interrupts and NAPI
 * @m: a function
 * @count: queue pairs that keep theirs
 *
 * Context: May sleep.
 */
void meridian_end_channels(struct meridian *m, unsigned int count)
{
	unsigned int i;

	for (i = count; i < m->queue_limit; i++) {
		if (m->channel[i].irq)
			end_channel(&m->channel[i]);
	}
}

/**
 * meridian_begin_channels() - interrupts and NAPI, which outlive the rings that they serve
 * @m: a function
 * @count: queue pairs that are to have theirs; some may
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then those that had none have none.
 */
int meridian_begin_channels(struct meridian *m, unsigned int count)
{
	unsigned int i, first = 0;
	int error = 0;

	while (first < count && m->channel[first].irq)
		first++;
	for (i = first; i < count && !error; i++)
		error = begin_channel(&m->channel[i]);
	if (error)
		meridian_end_channels(m, first);
	return error;
}

/**
 * meridian_check_tables() - whether the card has rings and buffers of such sizes
 * @m: the function
 * @config: what it is to have
 *
 * A PF of another driver may have other tables.
 *
 * Context: Does not sleep.
 * Return: 0 or -ERANGE.
 */
int meridian_check_tables(struct meridian *m, const struct meridian_config *config)
{
	const struct qdma_tables *tables = &m->qdma.tables;

	if (qdma_find(tables->rings, config->tx_slots + 1) < 0 ||
	    qdma_find(tables->rings, config->rx_slots + 1) < 0 ||
	    qdma_find(tables->rings, 2 * config->rx_slots + 1) < 0 ||
	    qdma_find(tables->buffers, MERIDIAN_RX_BUFFER) < 0)
		return -ERANGE;
	return 0;
}

static int start_tx(struct meridian_tx *tx)
{
	struct meridian *m = tx->m;
	int ring = qdma_find(m->qdma.tables.rings, tx->ring.slots + 1);
	struct qdma_h2c_setting setting = {
		.queue = m->queue_base + tx->index,
		.function = m->function,
		.ring = tx->ring.dma,
		.ring_index = ring,
		.interrupt = true,
		.vector = meridian_vector_of(m, tx->index),
		.aggregate = meridian_shares_vectors(m),
	};

	if (ring < 0)
		return ring;
	/* A VF may just have said hello to another PF's driver. */
	if (tx->more && meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK))
		tx->pieces_log2 = QDMA_H2C_PIECES_LOG2;
	else
		tx->pieces_log2 = 0;
	setting.pieces_log2 = tx->pieces_log2;
	tx->pidx = 0;
	tx->cidx = 0;
	tx->rest.is_on = false;
	meridian_moderate_tx(tx);
	*meridian_tx_entry(tx, tx->ring.slots) = 0;
	return m->ops->start_tx(m, &setting);
}

static int make_rx(struct meridian_rx *rx)
{
	const struct qdma_tables *tables = &rx->m->qdma.tables;
	struct meridian *m = rx->m;
	int ring = qdma_find(tables->rings, rx->ring.slots + 1);
	int completions = qdma_find(tables->rings, rx->completions.slots + 1);
	int buffer = qdma_find(tables->buffers, MERIDIAN_RX_BUFFER);
	struct qdma_c2h_setting setting = {
		.queue = m->queue_base + rx->index,
		.function = m->function,
		.ring = rx->ring.dma,
		.ring_index = ring,
		.completions = rx->completions.dma,
		.completion_index = completions,
		.entry_log2 = rx->entry_log2,
		.buffer_index = buffer,
		.trigger = QDMA_TRIGGER_EVERY,
		.interrupt = true,
		.vector = meridian_vector_of(m, rx->index),
		.aggregate = meridian_shares_vectors(m),
		.prefetch = true,
		.full_update = true,
	};
	int error;

	if (ring < 0 || completions < 0 || buffer < 0)
		return -ERANGE;
	error = meridian_settle_rx(rx);
	if (error)
		return error;
	rx->pidx = 0;
	rx->cidx = 0;
	rx->posted = 0;
	rx->completion = 0;
	rx->told = 0;
	rx->color = 1;
	rx->is_failed = false;
	/* The first doorbell makes it so. */
	meridian_moderate_rx(rx);
	memset(rx->completions.entries, 0, rx->completions.bytes);
	meridian_pool_joins_napi(rx->pool, &m->channel[rx->index].napi);
	if (rx->xsk)
		meridian_xsk_claim(rx);
	return m->ops->start_rx(m, &setting);
}

/* The card has the queue: it gets buffers, and is to tell of the first frame. */
static void open_rx(struct meridian_rx *rx)
{
	if (!meridian_fill_rx(rx) && rx->posted == 0)
		set_bit(MERIDIAN_FLAG_STARVED, &rx->m->flags);
	qdma_completion_doorbell(&rx->m->qdma, rx->index, 0, rx->mode, true);
}

/**
 * meridian_start_rx() - let the card have a receive queue
 * @rx: with memory; its NAPI is not enabled
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then the queue may be there in part.
 */
int meridian_start_rx(struct meridian_rx *rx)
{
	int error = make_rx(rx);

	if (!error)
		open_rx(rx);
	return error;
}

/**
 * meridian_start_queues() - let the card have the queues
 * @m: a function with channels; NAPI is not enabled yet
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then no queue is started.
 */
int meridian_start_queues(struct meridian *m)
{
	unsigned int i;
	int error;

	error = meridian_end_fence(m);
	if (!error)
		error = meridian_start_rings(m);
	if (!error)
		error = m->ops->map_queues(m, m->channels);
	/* A VF may just have said hello to another PF's driver. */
	if (!error)
		error = meridian_check_tables(m, &m->config);
	for (i = 0; i < m->channels && !error; i++) {
		error = start_tx(&m->channel[i].tx);
		if (!error)
			error = make_rx(&m->channel[i].rx);
	}
	if (error) {
		netdev_err(m->netdev, "the card does not take the queues: %d\n", error);
		meridian_stop_queues(m);
		return error;
	}
	for (i = 0; i < m->channels; i++)
		open_rx(&m->channel[i].rx);
	return 0;
}

/**
 * meridian_drain_tx() - wait a while for the card to take what is in the transmit rings
 * @m: a function whose interface sends no more
 *
 * Context: May sleep.
 */
void meridian_drain_tx(struct meridian *m)
{
	unsigned int i, polls = 0;

	for (i = 0; i < m->channels; i++) {
		while (meridian_tx_pending(&m->channel[i].tx) && polls < DRAIN_POLLS &&
		       meridian_present(m)) {
			usleep_range(500, 1000);
			polls++;
		}
	}
}

static void mark_runaway(struct meridian *m, bool is_runaway)
{
	unsigned int i;

	for (i = 0; i < m->channels; i++) {
		m->channel[i].tx.ring.is_runaway = is_runaway;
		m->channel[i].rx.ring.is_runaway = is_runaway;
	}
}

/*
 * What a function that may not access memory has sent before, the answer to a read of its
 * configuration pushes ahead. One that is gone reads as ones, and sends nothing.
 */
static void fence(struct meridian *m)
{
	u16 command = 0;

	pci_clear_master(m->pdev);
	set_bit(MERIDIAN_FLAG_FENCED, &m->flags);
	pci_read_config_word(m->pdev, PCI_COMMAND, &command);
	if (command == (u16)~0 || !(command & PCI_COMMAND_MASTER))
		return;
	set_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags);
	mark_runaway(m, true);
	netdev_err(m->netdev, "its Bus Master bit stays set: the queues' memory stays theirs\n");
}

/**
 * meridian_end_fence() - let the function access memory again once none of its queues runs
 * @m: a function that is down; under RTNL
 *
 * Context: May sleep.
 * Return: 0, or a negative error; then it is as before.
 */
int meridian_end_fence(struct meridian *m)
{
	int error;

	if (!test_bit(MERIDIAN_FLAG_FENCED, &m->flags))
		return 0;
	error = m->ops->end_queues(m);
	if (error)
		return error;
	pci_set_master(m->pdev);
	clear_bit(MERIDIAN_FLAG_FENCED, &m->flags);
	clear_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags);
	mark_runaway(m, false);
	return 0;
}

/*
 * After the first queue that does not end the others are not tried, as each may take as long. A PF
 * that knows nothing of its VF's queues refuses to end them one by one.
 */
static int stop_each(struct meridian *m)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < m->channels && !error; i++) {
		error = m->ops->stop_tx(m, m->queue_base + i);
		if (!error)
			error = m->ops->stop_rx(m, m->queue_base + i);
	}
	return error == -EACCES ? m->ops->end_queues(m) : error;
}

static void fence_if(struct meridian *m, int error)
{
	if (!meridian_present(m) && !error)
		error = -ENODEV;
	if (!error)
		return;
	if (meridian_present(m))
		netdev_err(m->netdev, "the %s does not end the queues (%d): no DMA until it does\n",
			   meridian_is_vf(m->pdev) ? "PF" : "card", error);
	fence(m);
}

/**
 * meridian_pause_queues() - take the queues from the card, to give it others
 * @m: a function that neither sends nor polls any more
 *
 * When it returns the card touches their memory no more: where a queue does not end, the function
 * may not access memory at all until meridian_end_fence(). What the function has beside its queues
 * stays.
 *
 * Context: May sleep.
 */
void meridian_pause_queues(struct meridian *m)
{
	fence_if(m, stop_each(m));
}

/**
 * meridian_stop_queues() - take the queues from the card
 * @m: see meridian_pause_queues()
 *
 * The card is told that the function has no queues any more, too.
 *
 * Context: May sleep.
 */
void meridian_stop_queues(struct meridian *m)
{
	int error = stop_each(m);

	if (!error)
		error = m->ops->map_queues(m, 0);
	fence_if(m, error);
}

/**
 * meridian_release_queues() - free the frames and give the buffers back that the card had
 * @m: a function whose queues are stopped
 *
 * What the card may still write to stays where it is.
 *
 * Context: Does not sleep.
 */
void meridian_release_queues(struct meridian *m)
{
	unsigned int i;

	for (i = 0; i < m->channels; i++) {
		if (!m->channel[i].tx.ring.is_runaway)
			meridian_release_tx(&m->channel[i].tx);
		if (!m->channel[i].rx.ring.is_runaway)
			meridian_release_rx(&m->channel[i].rx);
	}
}
