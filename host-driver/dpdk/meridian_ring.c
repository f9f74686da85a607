/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: their memory, and how they start and stop on the card. */
#include <rte_errno.h>
#include <rte_interrupts.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "meridian.h"

/* Frames that may be in copies at once. */
#define LINEAR_FRAMES	256u

/* Completions that the card tells of in the status, which nobody reads but for errors. */
#define STATUS_FRAMES	64
#define STATUS_USECS	100

/* A vector reads a lane beyond the last buffer at most. */
#define VECTOR_PAD	8

static bool
is_size(const struct meridian *m, uint32_t slots)
{
	return slots >= MERIDIAN_RING_MIN && slots <= MERIDIAN_RING_MAX &&
	       qdma_find(m->qdma.tables.rings, slots + 1) >= 0 &&
	       qdma_find(m->qdma.tables.rings, 2 * slots + 1) >= 0;
}

static int
check_size(const struct meridian *m, const char *direction, uint16_t index, uint16_t slots)
{
	if (is_size(m, rte_align32pow2(slots)))
		return 0;
	MERIDIAN_LOG(ERR, "%s: %s queue %u cannot have %u descriptors: a ring has %u to %u, rounded up to a power of two",
		     m->data->name, direction, index, slots, MERIDIAN_RING_MIN, MERIDIAN_RING_MAX);
	return -EINVAL;
}

/* Queues whose rings stay the card's, as it did not end them: so often a name was used up. */
static unsigned int kept;

/* Memory for the card, without crossing what it can be told. */
static const struct rte_memzone *
reserve(struct rte_eth_dev *dev, const char *name, uint16_t index, size_t bytes,
	unsigned int socket)
{
	char whole[RTE_MEMZONE_NAMESIZE];

	snprintf(whole, sizeof(whole), kept ? "%s%u" : "%s", name, kept);
	return rte_eth_dma_zone_reserve(dev, whole, index, bytes, RTE_CACHE_LINE_SIZE, socket);
}

/* What the card may write into a buffer: the largest of its sizes that has room. */
static uint32_t
buffer_size(const struct meridian *m, uint32_t room)
{
	const uint32_t *sizes = m->qdma.tables.buffers;
	uint32_t best = 0, i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		if (sizes[i] <= room && sizes[i] > best)
			best = sizes[i];
	}
	return best;
}

/**
 * meridian_least_buffer() - how much a receive buffer must have room for
 * @m: a port
 *
 * The card sends frames of any length to any queue, and spreads one over QDMA_FRAME_BUFFERS at
 * most.
 *
 * Return: bytes; all ones if the card has no size for its longest frame.
 */
uint32_t
meridian_least_buffer(const struct meridian *m)
{
	const uint32_t *sizes = m->qdma.tables.buffers;
	uint32_t least = UINT32_MAX, i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		if (QDMA_FRAME_BUFFERS * sizes[i] >= m->max_frame && sizes[i] < least)
			least = sizes[i];
	}
	return least;
}

static void
tell_kept(struct rte_eth_dev *dev, const char *direction, uint16_t index)
{
	kept++;
	MERIDIAN_LOG(WARNING, "%s: memory of %s queue %u is lost, for the card may still write to it",
		     dev->data->name, direction, index);
}

void
meridian_rx_release(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_rx *rx = dev->data->rx_queues[index];

	if (rx == NULL)
		return;
	dev->data->rx_queues[index] = NULL;
	if (rx->is_kept) {
		tell_kept(dev, "receive", index);
		return;
	}
	rte_memzone_free(rx->ring_zone);
	rte_memzone_free(rx->completion_zone);
	rte_free(rx->buffer);
	rte_free(rx);
}

void
meridian_tx_release(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_tx *tx = dev->data->tx_queues[index];

	if (tx == NULL)
		return;
	dev->data->tx_queues[index] = NULL;
	if (tx->is_kept) {
		tell_kept(dev, "transmit", index);
		return;
	}
	rte_mempool_free(tx->linear);
	rte_memzone_free(tx->zone);
	rte_free(tx->buffer);
	rte_free(tx);
}

static uint64_t
mbuf_words(uint16_t port_id)
{
	struct rte_mbuf mbuf = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = port_id };

	uint64_t words;

	rte_mbuf_refcnt_set(&mbuf, 1);
	memcpy(&words, &mbuf.data_off, sizeof(words));
	return words;
}

static int
alloc_rx(struct rte_eth_dev *dev, struct meridian_rx *rx, uint16_t slots, unsigned int socket)
{
	size_t entry = MERIDIAN_COMPLETION_BYTES << rx->entry_log2;

	rx->ring_zone = reserve(dev, "rx_ring", rx->index, (slots + 1) * sizeof(uint64_t), socket);
	/* Twice as many: frames of one buffer never find the completions full. */
	rx->completion_zone = reserve(dev, "rx_completion", rx->index, (2 * slots + 1) * entry,
				      socket);
	rx->buffer = rte_calloc_socket("meridian rx", slots + VECTOR_PAD, sizeof(*rx->buffer),
				       RTE_CACHE_LINE_SIZE, socket);
	if (rx->ring_zone == NULL || rx->completion_zone == NULL || rx->buffer == NULL)
		return -ENOMEM;
	rx->ring = rx->ring_zone->addr;
	rx->completions = rx->completion_zone->addr;
	rx->mask = slots - 1;
	rx->completion_mask = 2 * slots - 1;
	rx->color_shift = rte_log2_u32(2 * slots);
	return 0;
}

/* The receive function of a port that runs stays. */
static bool
is_too_small(const struct rte_eth_dev *dev, uint32_t bytes)
{
	return dev->data->dev_started && !dev->data->scattered_rx &&
	       bytes < dev->data->mtu + (uint32_t)MERIDIAN_FRAME_OVERHEAD;
}

int
meridian_rx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t slots, unsigned int socket,
		  const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct meridian *m = meridian_of(dev);
	uint32_t room = rte_pktmbuf_data_room_size(pool);
	struct meridian_rx *rx;
	int error = check_size(m, "receive", index, slots);

	if (error)
		return error;
	slots = rte_align32pow2(slots);
	room = room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
	if (room < meridian_least_buffer(m)) {
		MERIDIAN_LOG(ERR, "%s: an mbuf of pool %s has room for %u bytes, the card writes up to %u at least",
			     m->data->name, pool->name, room, meridian_least_buffer(m));
		return -EINVAL;
	}
	if (is_too_small(dev, buffer_size(m, room))) {
		MERIDIAN_LOG(ERR, "%s: frames of MTU %u take several buffers of pool %s: stop the port first",
			     m->data->name, dev->data->mtu, pool->name);
		return -EBUSY;
	}
	if ((uint32_t)slots + MERIDIAN_BATCH > pool->size)
		MERIDIAN_LOG(WARNING, "%s: pool %s has %u mbufs, receive queue %u alone takes %u",
			     m->data->name, pool->name, pool->size, index, slots);
	meridian_rx_release(dev, index);
	rx = rte_zmalloc_socket("meridian rx", sizeof(*rx), RTE_CACHE_LINE_SIZE, socket);
	if (rx == NULL)
		return -ENOMEM;
	dev->data->rx_queues[index] = rx;
	rx->index = index;
	rx->port_id = dev->data->port_id;
	rx->pool = pool;
	rx->is_deferred = conf->rx_deferred_start;
	rx->is_off = true;
	rx->free_thresh = MERIDIAN_BATCH;
	rx->buffer_bytes = buffer_size(m, room);
	rx->mbuf_words = mbuf_words(dev->data->port_id);
	rx->entry_log2 = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK);
	if (m->bus->doorbells != NULL && m->bus->ops->doorbell == NULL)
		rx->doorbells = (volatile uint32_t *)m->bus->doorbells + 4 * index;
	error = alloc_rx(dev, rx, slots, socket);
	if (error)
		meridian_rx_release(dev, index);
	return error;
}

static int
alloc_linear(struct meridian *m, struct meridian_tx *tx, uint16_t slots, unsigned int socket)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), kept ? "meridian_%u_tx_%u_%u" : "meridian_%u_tx_%u",
		 tx->port_id, tx->index, kept);
	tx->linear = rte_pktmbuf_pool_create(name, RTE_MIN((unsigned int)slots, LINEAR_FRAMES),
					     0, 0, RTE_PKTMBUF_HEADROOM + m->max_frame, socket);
	return tx->linear != NULL ? 0 : -rte_errno;
}

/* What descriptors of the queue may ask for. */
static void
set_requests(const struct meridian *m, struct meridian_tx *tx)
{
	tx->asks = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK);
	/* Where metadata mean nothing, OpenNIC's shell looks for the length in them. */
	tx->factor = tx->asks ? 1ull << 32 : 1ull << 32 | 1;
}

/* Which of its frames are pushed, and where to. */
static void
set_push(const struct meridian *m, struct meridian_tx *tx)
{
	bool can = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK) &&
		   tx->index < m->bus->window_queues;

	tx->push = can ? m->push : 0;
	tx->window = NULL;
	if (can && m->bus->ops->push == NULL)
		tx->window = (volatile uint64_t *)m->bus->window +
			     tx->index * (QDMA_WINDOW_BYTES / sizeof(uint64_t));
}

int
meridian_tx_setup(struct rte_eth_dev *dev, uint16_t index, uint16_t slots, unsigned int socket,
		  const struct rte_eth_txconf *conf)
{
	uint64_t offloads = conf->offloads | dev->data->dev_conf.txmode.offloads;
	struct meridian *m = meridian_of(dev);
	struct meridian_tx *tx;
	int error = check_size(m, "transmit", index, slots);

	if (error)
		return error;
	if (conf->tx_free_thresh >= slots) {
		MERIDIAN_LOG(ERR, "%s: transmit queue %u has %u descriptors, fewer than tx_free_thresh %u",
			     m->data->name, index, slots, conf->tx_free_thresh);
		return -EINVAL;
	}
	slots = rte_align32pow2(slots);
	meridian_tx_release(dev, index);
	tx = rte_zmalloc_socket("meridian tx", sizeof(*tx), RTE_CACHE_LINE_SIZE, socket);
	if (tx == NULL)
		return -ENOMEM;
	dev->data->tx_queues[index] = tx;
	tx->index = index;
	tx->port_id = dev->data->port_id;
	tx->offloads = offloads;
	tx->mask = slots - 1;
	tx->max_length = m->max_frame;
	set_requests(m, tx);
	tx->is_deferred = conf->tx_deferred_start;
	tx->free_thresh = conf->tx_free_thresh ? conf->tx_free_thresh : slots / 4;
	if (offloads & MERIDIAN_TX_SEVERAL &&
	    meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK))
		tx->most_log2 = QDMA_H2C_PIECES_LOG2;
	tx->zone = reserve(dev, "tx_ring", index,
			   (slots + 1) * (QDMA_H2C_DESCRIPTOR_BYTES << tx->most_log2), socket);
	tx->buffer = rte_calloc_socket("meridian tx", slots, sizeof(*tx->buffer),
				       RTE_CACHE_LINE_SIZE, socket);
	error = tx->zone != NULL && tx->buffer != NULL ? 0 : -ENOMEM;
	if (!error && offloads & MERIDIAN_TX_SEVERAL)
		error = alloc_linear(m, tx, slots, socket);
	if (error) {
		meridian_tx_release(dev, index);
		return error;
	}
	tx->fast_free = offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE && tx->linear == NULL;
	tx->ring = tx->zone->addr;
	tx->status = meridian_tx_entry(tx, slots);
	meridian_close_tx(tx);
	if (m->bus->doorbells != NULL && m->bus->ops->doorbell == NULL)
		tx->doorbell = (volatile uint32_t *)m->bus->doorbells + 4 * index +
			       QDMA_DOORBELL_H2C_PIDX / 4;
	return 0;
}

static uint64_t
offload_mask(uint64_t offloads)
{
	uint64_t mask = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;

	if (offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM)
		mask |= RTE_MBUF_F_RX_IP_CKSUM_MASK;
	if (offloads & (RTE_ETH_RX_OFFLOAD_UDP_CKSUM | RTE_ETH_RX_OFFLOAD_TCP_CKSUM))
		mask |= RTE_MBUF_F_RX_L4_CKSUM_MASK;
	if (offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH)
		mask |= RTE_MBUF_F_RX_RSS_HASH;
	return mask;
}

static void
reset_rx(struct rte_eth_dev *dev, struct meridian_rx *rx)
{
	const struct qdma_tables *tables = &meridian_of(dev)->qdma.tables;
	uint32_t frame = dev->data->mtu + MERIDIAN_FRAME_OVERHEAD;
	uint32_t timer = qdma_nearest(tables->timers, STATUS_USECS);
	uint32_t counter = qdma_nearest(tables->counters, STATUS_FRAMES);

	rx->posted = 0;
	rx->taken = 0;
	rx->completed = 0;
	rx->told = 0;
	meridian_limit_length(rx, meridian_is_scattered(dev) ? frame :
				  RTE_MIN(frame, rx->buffer_bytes));
	rx->offload_mask = offload_mask(dev->data->dev_conf.rxmode.offloads);
	rx->quiet_mode = qdma_completion_mode(QDMA_TRIGGER_USER_TIMER_COUNT, timer, counter);
	rx->armed_mode = qdma_completion_mode(QDMA_TRIGGER_EVERY, timer, counter) |
			 QDMA_DOORBELL_CMPT_ARM;
	rx->mode = rx->quiet_mode;
	rte_spinlock_init(&rx->lock);
	memset(rx->completions, 0, rx->completion_zone->len);
}

/* A VF that was reset may have found another PF's driver, with other tables. */
static int
no_size(const struct meridian *m, const char *direction, uint16_t index)
{
	MERIDIAN_LOG(ERR, "%s: the PF's driver has other sizes of rings or buffers than %s queue %u: set the queue up again",
		     m->data->name, direction, index);
	return -EINVAL;
}

int
meridian_rx_start(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_rx *rx = dev->data->rx_queues[index];
	struct meridian *m = meridian_of(dev);
	const struct qdma_tables *tables = &m->qdma.tables;
	int ring = qdma_find(tables->rings, rx->mask + 2);
	int completions = qdma_find(tables->rings, rx->completion_mask + 2);
	int buffer = qdma_find(tables->buffers, rx->buffer_bytes);
	struct qdma_c2h_setting setting = {
		.queue = m->queue_base + index,
		.function = m->function,
		.ring = rx->ring_zone->iova,
		.ring_index = ring,
		.completions = rx->completion_zone->iova,
		.completion_index = completions,
		.entry_log2 = rx->entry_log2,
		.buffer_index = buffer,
		.trigger = QDMA_TRIGGER_USER_TIMER_COUNT,
		.timer_index = qdma_nearest(tables->timers, STATUS_USECS),
		.counter_index = qdma_nearest(tables->counters, STATUS_FRAMES),
		.prefetch = true,
	};
	int error;

	if (dev->data->rx_queue_state[index] == RTE_ETH_QUEUE_STATE_STARTED)
		return 0;
	if (ring < 0 || completions < 0 || buffer < 0)
		return no_size(m, "receive", index);
	if (meridian_is_interrupting(dev)) {
		setting.interrupt = true;
		setting.vector = RTE_INTR_VEC_RXTX_OFFSET + index;
		/* So that doorbells switch interrupts on and off. */
		setting.full_update = true;
	}
	reset_rx(dev, rx);
	error = m->ops->start_rx(m, &setting, rx->buffer_bytes);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: the card does not take receive queue %u: %s",
			     m->data->name, index, strerror(-error));
		/* It may have taken half. If it does not say that this ended, it is ended later. */
		if (m->ops->stop(m, m->queue_base + index, true))
			dev->data->rx_queue_state[index] = RTE_ETH_QUEUE_STATE_STARTED;
		return error;
	}
	rx->is_off = false;
	meridian_tell_now(rx);
	meridian_fill_rx(rx);
	if (!rx->posted)
		MERIDIAN_LOG(WARNING, "%s: pool %s has no mbufs left for receive queue %u",
			     m->data->name, rx->pool->name, index);
	dev->data->rx_queue_state[index] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

int
meridian_tx_start(struct rte_eth_dev *dev, uint16_t index)
{
	struct meridian_tx *tx = dev->data->tx_queues[index];
	struct meridian *m = meridian_of(dev);
	int ring = qdma_find(m->qdma.tables.rings, tx->mask + 2);
	struct qdma_h2c_setting setting = {
		.queue = m->queue_base + index,
		.function = m->function,
		.ring = tx->zone->iova,
		.ring_index = ring,
	};
	int error;

	if (dev->data->tx_queue_state[index] == RTE_ETH_QUEUE_STATE_STARTED)
		return 0;
	if (ring < 0)
		return no_size(m, "transmit", index);
	/* A VF may have another PF's driver than when the queue was set up. */
	set_requests(m, tx);
	set_push(m, tx);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK))
		tx->pieces_log2 = tx->most_log2;
	else
		tx->pieces_log2 = 0;
	tx->cuts = tx->asks && tx->offloads & MERIDIAN_TX_TSO && meridian_can_cut(m);
	setting.pieces_log2 = tx->pieces_log2;
	/* A queue that is not started may be polled. */
	*meridian_tx_entry(tx, tx->mask + 1) = 0;
	rte_wmb();
	tx->status = meridian_tx_entry(tx, tx->mask + 1);
	error = m->ops->start_tx(m, &setting, tx->cuts);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: the card does not take transmit queue %u: %s",
			     m->data->name, index, strerror(-error));
		if (m->ops->stop(m, m->queue_base + index, false))
			dev->data->tx_queue_state[index] = RTE_ETH_QUEUE_STATE_STARTED;
		return error;
	}
	tx->filled = 0;
	tx->freed = 0;
	tx->is_off = false;
	dev->data->tx_queue_state[index] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

void
meridian_rx_info(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_rxq_info *info)
{
	const struct meridian_rx *rx = dev->data->rx_queues[index];

	info->mp = rx->pool;
	info->nb_desc = rx->mask + 1;
	info->scattered_rx = dev->data->scattered_rx;
	info->rx_buf_size = rx->buffer_bytes;
	info->conf.rx_free_thresh = rx->free_thresh;
	info->conf.rx_drop_en = 1;
	info->conf.rx_deferred_start = rx->is_deferred;
	info->conf.offloads = dev->data->dev_conf.rxmode.offloads;
}

void
meridian_tx_info(struct rte_eth_dev *dev, uint16_t index, struct rte_eth_txq_info *info)
{
	const struct meridian_tx *tx = dev->data->tx_queues[index];

	info->nb_desc = tx->mask + 1;
	info->conf.tx_free_thresh = tx->free_thresh;
	info->conf.tx_deferred_start = tx->is_deferred;
	info->conf.offloads = tx->offloads;
}
