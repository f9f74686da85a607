/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues end: the card says so, or the function may not access memory any more. Only then are
 * buffers and rings the application's again; where neither is to be had, they stay the card's.
 */
#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "meridian.h"

/* What transmit queues get to empty themselves: in all, and without one frame that goes. */
#define DRAIN_POLLS	10000
#define DRAIN_IDLE	1000
#define DRAIN_POLL_US	100

/* Nothing is accepted, and nothing is there to be given back. */
void
meridian_close_tx(struct meridian_tx *tx)
{
	tx->freed = 0;
	tx->filled = tx->mask;
	tx->is_off = true;
	*tx->status = 0;
}

static void
empty_rx(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_rx *rx = dev->data->rx_queues[index];

	for (; rx->taken != rx->posted; rx->taken++)
		rte_mbuf_raw_free(rx->buffer[rx->taken & rx->mask]);
	rx->is_off = true;
	rx->is_kept = false;
	dev->data->rx_queue_state[index] = RTE_ETH_QUEUE_STATE_STOPPED;
}

/* Frames that the card has not taken were not sent, whether statistics were reset since or not. */
static void
discard_frames(struct meridian_tx *tx)
{
	meridian_clean_tx(tx, tx->mask);
	for (; tx->freed != tx->filled; tx->freed++) {
		struct rte_mbuf *mbuf = tx->buffer[tx->freed & tx->mask];

		tx->counts.packets--;
		tx->counts.bytes -= mbuf->nb_segs > 1 ? mbuf->pkt_len : mbuf->data_len;
		tx->counts.discarded++;
		rte_pktmbuf_free(mbuf);
	}
	tx->before.packets = RTE_MIN(tx->before.packets, tx->counts.packets);
	tx->before.bytes = RTE_MIN(tx->before.bytes, tx->counts.bytes);
}

static void
empty_tx(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_tx *tx = dev->data->tx_queues[index];

	if (!tx->is_off)
		discard_frames(tx);
	meridian_close_tx(tx);
	tx->is_kept = false;
	dev->data->tx_queue_state[index] = RTE_ETH_QUEUE_STATE_STOPPED;
}

/**
 * meridian_rx_stop() - end a receive queue
 * @dev: a port
 * @index: of the queue
 *
 * Return: 0; or a negative errno, then the queue counts as started still, and keeps its buffers.
 */
int
meridian_rx_stop(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_rx *rx = dev->data->rx_queues[index];
	struct meridian *m = meridian_of(dev);
	int error;

	if (dev->data->rx_queue_state[index] == RTE_ETH_QUEUE_STATE_STOPPED)
		return 0;
	rx->is_off = true;
	error = m->ops->stop(m, m->queue_base + index, true);
	if (!error)
		empty_rx(dev, index);
	return error;
}

static int
stop_tx(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian *m = meridian_of(dev);
	int error;

	if (dev->data->tx_queue_state[index] == RTE_ETH_QUEUE_STATE_STOPPED)
		return 0;
	error = m->ops->stop(m, m->queue_base + index, false);
	if (!error)
		empty_tx(dev, index);
	return error;
}

static uint32_t
pending(const struct rte_eth_dev *dev, uint16_t first, uint16_t count)
{
	uint32_t frames = 0, i;

	for (i = first; i < (uint32_t)first + count; i++) {
		const struct meridian_tx *tx = dev->data->tx_queues[i];

		if (dev->data->tx_queue_state[i] != RTE_ETH_QUEUE_STATE_STOPPED && !tx->is_off)
			frames += meridian_tx_pending(tx);
	}
	return frames;
}

static void
drain(struct rte_eth_dev *dev, uint16_t first, uint16_t count)
{
	uint32_t before = pending(dev, first, count), now;
	unsigned int polls, idle = 0;

	for (polls = 0; polls < DRAIN_POLLS && idle < DRAIN_IDLE && before; polls++) {
		if (!meridian_present(meridian_of(dev)))
			return;
		rte_delay_us_sleep(DRAIN_POLL_US);
		now = pending(dev, first, count);
		idle = now < before ? 0 : idle + 1;
		before = now;
	}
}

/**
 * meridian_tx_stop() - end a transmit queue
 * @dev: a port
 * @index: of the queue
 *
 * Return: 0; or a negative errno, then the queue counts as started still, and keeps its frames.
 */
int
meridian_tx_stop(struct rte_eth_dev *dev, uint16_t index)
{
	drain(dev, index, 1);
	return stop_tx(dev, index);
}

/**
 * meridian_end_tx() - end all transmit queues when what was accepted is sent
 * @dev: a port
 *
 * Return: 0 or a negative errno.
 */
int
meridian_end_tx(struct rte_eth_dev *dev)
{
	int error = 0;
	uint16_t i;

	drain(dev, 0, dev->data->nb_tx_queues);
	/* After the first that does not end the others are not tried: each may take as long. */
	for (i = 0; i < dev->data->nb_tx_queues && !error; i++)
		error = stop_tx(dev, i);
	return error;
}

/**
 * meridian_end_rx() - end all receive queues
 * @dev: a port
 *
 * Return: 0 or a negative errno.
 */
int
meridian_end_rx(struct rte_eth_dev *dev)
{
	int error = 0;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues && !error; i++)
		error = meridian_rx_stop(dev, i);
	return error;
}

static void
empty_queues(struct rte_eth_dev *dev)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		struct meridian_rx *rx = dev->data->rx_queues[i];

		if (rx != NULL && (rx->is_kept ||
				   dev->data->rx_queue_state[i] != RTE_ETH_QUEUE_STATE_STOPPED))
			empty_rx(dev, i);
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		struct meridian_tx *tx = dev->data->tx_queues[i];

		if (tx != NULL && (tx->is_kept ||
				   dev->data->tx_queue_state[i] != RTE_ETH_QUEUE_STATE_STOPPED))
			empty_tx(dev, i);
	}
}

static void
keep_queues(struct rte_eth_dev *dev)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		struct meridian_rx *rx = dev->data->rx_queues[i];

		if (dev->data->rx_queue_state[i] == RTE_ETH_QUEUE_STATE_STOPPED)
			continue;
		rx->is_off = true;
		rx->is_kept = true;
		dev->data->rx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		struct meridian_tx *tx = dev->data->tx_queues[i];

		if (dev->data->tx_queue_state[i] == RTE_ETH_QUEUE_STATE_STOPPED)
			continue;
		tx->is_kept = true;
		dev->data->tx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
}

/**
 * meridian_fence() - the card does not end the port's queues: keep the function from memory
 * @dev: a port
 * @error: why not
 *
 * Return: 0 if the card has gone, else @error.
 */
int
meridian_fence(struct rte_eth_dev *dev, int error)
{
	struct meridian *m = meridian_of(dev);

	m->is_fenced = true;
	if (m->bus->ops->set_master == NULL || m->bus->ops->set_master(m->bus, false)) {
		keep_queues(dev);
		MERIDIAN_LOG(ERR, "%s: the card does not end the queues (%s), and nothing keeps it from memory: their buffers and rings stay its",
			     m->data->name, strerror(-error));
		return error;
	}
	empty_queues(dev);
	if (m->qdma.gone)
		return 0;
	MERIDIAN_LOG(ERR, "%s: the card does not end the queues (%s): it may not access memory until it does",
		     m->data->name, strerror(-error));
	return error;
}

/**
 * meridian_end_fence() - let the function access memory again when none of its queues runs
 * @dev: a port that is to be started
 *
 * Return: 0 or a negative errno; then it is as before, and the log says so.
 */
int
meridian_end_fence(struct rte_eth_dev *dev)
{
	struct meridian *m = meridian_of(dev);
	int error;

	if (!m->is_fenced)
		return 0;
	error = m->ops->end_queues(m);
	if (!error && m->bus->ops->set_master != NULL)
		error = m->bus->ops->set_master(m->bus, true);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: the card still does not end the queues of before: %s",
			     m->data->name, strerror(-error));
		return error;
	}
	m->is_fenced = false;
	empty_queues(dev);
	return 0;
}
