// SPDX-License-Identifier: GPL-2.0-only
/* Memory of queues: of those that run, and of those that are to take their place. */
#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_ring.h"

#define RX_ENTRY_BYTES		QDMA_C2H_DESCRIPTOR_BYTES
#define COMPLETION_ENTRY_BYTES	MERIDIAN_COMPLETION_BYTES

static int alloc_ring(struct meridian *m, struct meridian_ring *ring, u32 slots, size_t entry)
{
	ring->slots = slots;
	ring->bytes = (slots + 1) * entry;
	ring->entries = dma_alloc_coherent(&m->pdev->dev, ring->bytes, &ring->dma, GFP_KERNEL);
	return ring->entries ? 0 : -ENOMEM;
}

static void free_ring(struct meridian *m, struct meridian_ring *ring)
{
	if (ring->entries)
		dma_free_coherent(&m->pdev->dev, ring->bytes, ring->entries, ring->dma);
	ring->entries = NULL;
}

static int alloc_pool(struct meridian_rx *rx)
{
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = rx->ring.slots,
		.nid = dev_to_node(&rx->m->pdev->dev),
		.dev = &rx->m->pdev->dev,
		.dma_dir = DMA_BIDIRECTIONAL,
		.max_len = MERIDIAN_RX_BUFFER,
		.offset = MERIDIAN_RX_HEADROOM,
	};
	struct page_pool *pool;

	meridian_pool_owner(&params, rx->m->netdev, rx->index);
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	rx->pool = pool;
	return 0;
}

static int register_xdp(struct meridian_rx *rx, unsigned int napi_id)
{
	int error = meridian_xdp_rxq_reg(&rx->xdp_rxq, rx->m->netdev, rx->index, napi_id);

	if (error)
		return error;
	if (rx->xsk)
		error = meridian_xsk_register(rx);
	else
		error = xdp_rxq_info_reg_mem_model(&rx->xdp_rxq, MEM_TYPE_PAGE_POOL, rx->pool);
	if (error)
		xdp_rxq_info_unreg(&rx->xdp_rxq);
	return error;
}

/**
 * meridian_alloc_rx() - memory of a receive queue
 * @rx: without memory; its function and index are set
 * @slots: of its ring
 *
 * Context: May sleep.
 * Return: 0 or a negative error; then meridian_free_rx() is due, too.
 */
int meridian_alloc_rx(struct meridian_rx *rx, u32 slots)
{
	struct meridian *m = rx->m;
	int error;

	error = alloc_ring(m, &rx->ring, slots, RX_ENTRY_BYTES);
	rx->entry_log2 = meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK);
	/* Twice as many: frames of one buffer never find the completions full. */
	if (!error)
		error = alloc_ring(m, &rx->completions, 2 * slots,
				   COMPLETION_ENTRY_BYTES << rx->entry_log2);
	if (!error) {
		rx->page = kvcalloc(slots, sizeof(*rx->page), GFP_KERNEL);
		error = rx->page ? 0 : -ENOMEM;
	}
	if (!error)
		error = meridian_xsk_begin(rx);
	if (!error)
		error = alloc_pool(rx);
	if (!error)
		error = register_xdp(rx, m->channel[rx->index].napi.napi_id);
	return error;
}

/**
 * meridian_stock_rx() - see to it that a queue which is to start finds its buffers
 * @rx: with memory that no queue uses yet
 *
 * Its pool has them from then on. A socket's buffers are the socket's business.
 *
 * Context: May sleep.
 * Return: 0 or -ENOMEM.
 */
int meridian_stock_rx(struct meridian_rx *rx)
{
	u32 i, wanted = rx->xsk ? 0 : rx->ring.slots - 1;

	for (i = 0; i < wanted; i++) {
		rx->page[i] = page_pool_alloc_pages(rx->pool, GFP_KERNEL | __GFP_NOWARN);
		if (!rx->page[i])
			break;
	}
	meridian_release_rx(rx);
	return i < wanted ? -ENOMEM : 0;
}

/**
 * meridian_settle_rx() - let a queue whose socket has gone have the pages of its own pool
 * @rx: with memory, whose buffers are released
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then this is to be tried again.
 */
int meridian_settle_rx(struct meridian_rx *rx)
{
	bool is_left = rx->xsk && !test_bit(rx->index, rx->m->xsk_queues);

	if (!is_left && xdp_rxq_info_is_reg(&rx->xdp_rxq))
		return 0;
	if (xdp_rxq_info_is_reg(&rx->xdp_rxq))
		xdp_rxq_info_unreg(&rx->xdp_rxq);
	if (is_left)
		meridian_xsk_end(rx);
	return register_xdp(rx, rx->m->channel[rx->index].napi.napi_id);
}

/**
 * meridian_free_rx() - undo meridian_alloc_rx()
 * @rx: whose buffers are released
 *
 * Memory that the card may still write to is nobody else's, ever.
 *
 * Context: May sleep.
 */
void meridian_free_rx(struct meridian_rx *rx)
{
	/* A pool that nobody destroys is not to know a NAPI that goes. */
	meridian_retire_rx(rx);
	if (!rx->ring.is_runaway) {
		if (xdp_rxq_info_is_reg(&rx->xdp_rxq))
			xdp_rxq_info_unreg(&rx->xdp_rxq);
		if (rx->pool)
			page_pool_destroy(rx->pool);
		meridian_xsk_end(rx);
		kvfree(rx->page);
		free_ring(rx->m, &rx->completions);
		free_ring(rx->m, &rx->ring);
	}
	memset(&rx->ring, 0, sizeof(rx->ring));
	memset(&rx->completions, 0, sizeof(rx->completions));
	memset(&rx->xdp_rxq, 0, sizeof(rx->xdp_rxq));
	rx->page = NULL;
	rx->pool = NULL;
	rx->buff = NULL;
	rx->xsk = NULL;
}

static int alloc_tx(struct meridian_tx *tx, u32 slots)
{
	bool in_pieces = meridian_can(tx->m, MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK);
	size_t entry = QDMA_H2C_DESCRIPTOR_BYTES;
	int error;

	if (in_pieces)
		entry <<= QDMA_H2C_PIECES_LOG2;
	error = alloc_ring(tx->m, &tx->ring, slots, entry);
	if (error)
		return error;
	tx->buffer = kvcalloc(slots, sizeof(*tx->buffer), GFP_KERNEL);
	if (in_pieces)
		tx->more = kvcalloc(slots, MERIDIAN_TX_MORE * sizeof(*tx->more), GFP_KERNEL);
	return tx->buffer && (tx->more || !in_pieces) ? 0 : -ENOMEM;
}

static void free_tx(struct meridian_tx *tx)
{
	if (!tx->ring.is_runaway) {
		kvfree(tx->buffer);
		kvfree(tx->more);
		free_ring(tx->m, &tx->ring);
	}
	memset(&tx->ring, 0, sizeof(tx->ring));
	tx->buffer = NULL;
	tx->more = NULL;
}

/**
 * meridian_new_channels() - queue pairs without memory, as many as the function may have
 * @m: the function
 *
 * Context: May sleep.
 * Return: the first of them, or NULL; for meridian_drop_channels().
 */
struct meridian_channel *meridian_new_channels(struct meridian *m)
{
	struct meridian_channel *channels;
	unsigned int i;

	channels = kvcalloc(m->queue_limit, sizeof(*channels), GFP_KERNEL);
	for (i = 0; channels && i < m->queue_limit; i++) {
		struct meridian_channel *channel = &channels[i];

		channel->m = m;
		channel->tx.m = m;
		channel->tx.index = i;
		channel->rx.m = m;
		channel->rx.index = i;
		u64_stats_init(&channel->tx.stats.sync);
		u64_stats_init(&channel->tx.done.sync);
		u64_stats_init(&channel->rx.stats.sync);
		spin_lock_init(&channel->rx.bell);
	}
	return channels;
}

/**
 * meridian_drop_channels() - undo meridian_new_channels()
 * @m: the function
 * @channels: without memory and interrupts; may be NULL
 *
 * Context: Does not sleep.
 */
void meridian_drop_channels(struct meridian *m, struct meridian_channel *channels)
{
	unsigned int i;

	for (i = 0; channels && i < m->queue_limit; i++)
		kfree(channels[i].affinity.wanted);
	kvfree(channels);
}

/**
 * meridian_free_memory() - give back what meridian_alloc_memory() took
 * @m: the function
 * @channels: of meridian_new_channels(), whose frames and buffers are released
 *
 * Context: May sleep.
 */
void meridian_free_memory(struct meridian *m, struct meridian_channel *channels)
{
	unsigned int i;

	for (i = 0; i < m->queue_limit; i++) {
		free_tx(&channels[i].tx);
		meridian_free_rx(&channels[i].rx);
	}
}

/**
 * meridian_alloc_memory() - memory of the queues of a configuration
 * @m: the function
 * @channels: of meridian_new_channels(), without memory
 * @config: the configuration
 *
 * Context: May sleep.
 * Return: 0 or a negative error, then nothing is kept.
 */
int meridian_alloc_memory(struct meridian *m, struct meridian_channel *channels,
			  const struct meridian_config *config)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < config->queues && !error; i++) {
		error = alloc_tx(&channels[i].tx, config->tx_slots);
		if (!error)
			error = meridian_alloc_rx(&channels[i].rx, config->rx_slots);
	}
	if (error)
		meridian_free_memory(m, channels);
	return error;
}

static void exchange_tx(struct meridian_tx *tx, struct meridian_tx *other)
{
	swap(tx->ring, other->ring);
	swap(tx->buffer, other->buffer);
	swap(tx->more, other->more);
	swap(tx->pieces_log2, other->pieces_log2);
}

/**
 * meridian_exchange_rx() - let a receive queue have the memory of another, and that one its
 * @rx: that the card does not have
 * @other: the same
 *
 * Context: Does not sleep.
 */
void meridian_exchange_rx(struct meridian_rx *rx, struct meridian_rx *other)
{
	swap(rx->ring, other->ring);
	swap(rx->completions, other->completions);
	swap(rx->page, other->page);
	swap(rx->pool, other->pool);
	swap(rx->xsk, other->xsk);
	swap(rx->buff, other->buff);
	swap(rx->xdp_rxq, other->xdp_rxq);
	swap(rx->entry_log2, other->entry_log2);
}

/**
 * meridian_exchange_memory() - let queues have the memory of others, and those have theirs
 * @m: a function that the card has no queue of
 * @others: of meridian_new_channels()
 *
 * Context: Does not sleep.
 */
void meridian_exchange_memory(struct meridian *m, struct meridian_channel *others)
{
	unsigned int i;

	for (i = 0; i < m->queue_limit; i++) {
		exchange_tx(&m->channel[i].tx, &others[i].tx);
		meridian_exchange_rx(&m->channel[i].rx, &others[i].rx);
	}
}

/**
 * meridian_retire_rx() - part buffers that wait for their end from the NAPI that they were for
 * @rx: with memory that no queue uses any more; the NAPI is not enabled
 *
 * Context: Does not sleep.
 */
void meridian_retire_rx(struct meridian_rx *rx)
{
	if (rx->pool)
		meridian_pool_leaves_napi(rx->pool);
}
