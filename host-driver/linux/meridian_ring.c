// SPDX-License-Identifier: GPL-2.0-only
/* Queues: their memory, and how they start and stop on the card. */
#include "compat.h"
#include "meridian.h"

#define TX_ENTRY_BYTES		QDMA_H2C_DESCRIPTOR_BYTES
#define RX_ENTRY_BYTES		QDMA_C2H_DESCRIPTOR_BYTES
#define COMPLETION_ENTRY_BYTES	MERIDIAN_COMPLETION_BYTES

/* What a transmit queue gets to empty itself before it is taken away. */
#define DRAIN_POLLS		20

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

	meridian_pool_owner(&params, rx->m->netdev, &rx->m->channel[rx->index].napi, rx->index);
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

static int alloc_rx(struct meridian_channel *channel, u32 slots)
{
	struct meridian_rx *rx = &channel->rx;
	struct meridian *m = channel->m;
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
		error = register_xdp(rx, channel->napi.napi_id);
	return error;
}

static void free_rx(struct meridian_rx *rx)
{
	meridian_release_rx(rx);
	if (xdp_rxq_info_is_reg(&rx->xdp_rxq))
		xdp_rxq_info_unreg(&rx->xdp_rxq);
	if (rx->pool)
		page_pool_destroy(rx->pool);
	kvfree(rx->page);
	free_ring(rx->m, &rx->completions);
	free_ring(rx->m, &rx->ring);
}

static int alloc_tx(struct meridian_tx *tx, u32 slots)
{
	int error = alloc_ring(tx->m, &tx->ring, slots, TX_ENTRY_BYTES);

	if (error)
		return error;
	tx->buffer = kvcalloc(slots, sizeof(*tx->buffer), GFP_KERNEL);
	return tx->buffer ? 0 : -ENOMEM;
}

static void free_tx(struct meridian_tx *tx)
{
	if (tx->buffer)
		meridian_release_tx(tx);
	kvfree(tx->buffer);
	free_ring(tx->m, &tx->ring);
}

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

static irqreturn_t channel_interrupt(int irq, void *data)
{
	struct meridian_channel *channel = data;

	channel->events++;
	napi_schedule_irqoff(&channel->napi);
	return IRQ_HANDLED;
}

/**
 * meridian_free_channels() - give back what meridian_alloc_channels() took
 * @m: a function whose queues are stopped
 *
 * Memory that the card may still write to is nobody else's, ever.
 */
void meridian_free_channels(struct meridian *m)
{
	bool is_runaway = test_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags);
	unsigned int i;

	meridian_hide_counts(m);
	for (i = 0; i < m->channels; i++) {
		struct meridian_channel *channel = &m->channel[i];

		meridian_free_irq(channel);
		meridian_end_moderation(channel);
		if (!is_runaway) {
			free_tx(&channel->tx);
			free_rx(&channel->rx);
		}
		netif_napi_del(&channel->napi);
	}
	/* Pools that nobody has destroyed know their NAPI. */
	if (!is_runaway)
		kvfree(m->channel);
	m->channel = NULL;
	m->channels = 0;
}

/**
 * meridian_alloc_channels() - memory and interrupts of the queue pairs
 * @m: a function that has none
 *
 * Return: 0 or a negative error, then nothing is kept.
 */
int meridian_alloc_channels(struct meridian *m)
{
	unsigned int i;
	int error = 0;

	m->channel = kvcalloc(m->config.queues, sizeof(*m->channel), GFP_KERNEL);
	if (!m->channel)
		return -ENOMEM;
	m->channels = m->config.queues;
	for (i = 0; i < m->channels; i++) {
		struct meridian_channel *channel = &m->channel[i];

		channel->m = m;
		channel->tx.m = m;
		channel->tx.index = i;
		channel->rx.m = m;
		channel->rx.index = i;
		u64_stats_init(&channel->tx.stats.sync);
		u64_stats_init(&channel->tx.done.sync);
		u64_stats_init(&channel->rx.stats.sync);
		spin_lock_init(&channel->rx.bell);
		meridian_init_moderation(channel);
		meridian_napi_add(m->netdev, &channel->napi, poll_channel, i);
	}
	for (i = 0; i < m->channels && !error; i++) {
		error = alloc_tx(&m->channel[i].tx, m->config.tx_slots);
		if (!error)
			error = alloc_rx(&m->channel[i], m->config.rx_slots);
		if (!error)
			error = meridian_request_irq(&m->channel[i], channel_interrupt);
	}
	if (error)
		meridian_free_channels(m);
	else
		meridian_show_counts(m);
	return error;
}

/* A PF of another driver may have other tables. */
static int check_tables(struct meridian *m)
{
	const struct qdma_tables *tables = &m->qdma.tables;

	if (qdma_find(tables->rings, m->config.tx_slots + 1) < 0 ||
	    qdma_find(tables->rings, m->config.rx_slots + 1) < 0 ||
	    qdma_find(tables->rings, 2 * m->config.rx_slots + 1) < 0 ||
	    qdma_find(tables->buffers, MERIDIAN_RX_BUFFER) < 0)
		return -ERANGE;
	return 0;
}

static int start_tx(struct meridian_tx *tx)
{
	struct meridian *m = tx->m;
	struct qdma_h2c_setting setting = {
		.queue = m->queue_base + tx->index,
		.function = m->function,
		.ring = tx->ring.dma,
		.ring_index = qdma_find(m->qdma.tables.rings, tx->ring.slots + 1),
		.interrupt = true,
		.vector = meridian_first_vector(m) + tx->index,
	};

	tx->pidx = 0;
	tx->cidx = 0;
	tx->rest.is_on = false;
	meridian_moderate_tx(tx);
	tx->ring.entries[2 * tx->ring.slots] = 0;
	return m->ops->start_tx(m, &setting);
}

static int start_rx(struct meridian_rx *rx)
{
	const struct qdma_tables *tables = &rx->m->qdma.tables;
	struct meridian *m = rx->m;
	struct qdma_c2h_setting setting = {
		.queue = m->queue_base + rx->index,
		.function = m->function,
		.ring = rx->ring.dma,
		.ring_index = qdma_find(tables->rings, rx->ring.slots + 1),
		.completions = rx->completions.dma,
		.completion_index = qdma_find(tables->rings, rx->completions.slots + 1),
		.entry_log2 = rx->entry_log2,
		.buffer_index = qdma_find(tables->buffers, MERIDIAN_RX_BUFFER),
		.trigger = QDMA_TRIGGER_EVERY,
		.interrupt = true,
		.vector = meridian_first_vector(m) + rx->index,
		.prefetch = true,
		.full_update = true,
	};

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
	return m->ops->start_rx(m, &setting);
}

/**
 * meridian_start_queues() - let the card have the queues
 * @m: a function with channels; NAPI is not enabled yet
 *
 * Return: 0 or a negative error, then no queue is started.
 */
int meridian_start_queues(struct meridian *m)
{
	unsigned int i;
	int error;

	error = check_tables(m);
	if (!error)
		error = meridian_end_fence(m);
	if (!error)
		error = m->ops->map_queues(m, m->channels);
	for (i = 0; i < m->channels && !error; i++) {
		error = start_tx(&m->channel[i].tx);
		if (!error)
			error = start_rx(&m->channel[i].rx);
	}
	if (error) {
		netdev_err(m->netdev, "the card does not take the queues: %d\n", error);
		meridian_stop_queues(m);
		return error;
	}
	for (i = 0; i < m->channels; i++) {
		struct meridian_rx *rx = &m->channel[i].rx;

		if (!meridian_fill_rx(rx) && rx->posted == 0)
			set_bit(MERIDIAN_FLAG_STARVED, &m->flags);
		qdma_completion_doorbell(&m->qdma, rx->index, 0, rx->mode, true);
	}
	return 0;
}

/**
 * meridian_drain_tx() - wait a while for the card to take what is in the transmit rings
 * @m: a function whose interface sends no more
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
	netdev_err(m->netdev, "its Bus Master bit stays set: the queues' memory stays theirs\n");
}

/**
 * meridian_end_fence() - let the function access memory again once none of its queues runs
 * @m: a function that is down; under RTNL
 *
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
	return 0;
}

/**
 * meridian_stop_queues() - take the queues from the card
 * @m: a function that neither sends nor polls any more
 *
 * When it returns the card touches their memory no more: where a queue does not end, the function
 * may not access memory at all until meridian_end_fence(). After the first that does not end the
 * others are not tried, as each may take as long.
 */
void meridian_stop_queues(struct meridian *m)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < m->channels && !error; i++)
		error = m->ops->stop_queue(m, m->queue_base + i);
	if (!error)
		error = m->ops->map_queues(m, 0);
	if (!meridian_present(m) && !error)
		error = -ENODEV;
	if (!error)
		return;
	if (meridian_present(m))
		netdev_err(m->netdev,
			   "the card does not end the queues (%d): no DMA until it does\n", error);
	fence(m);
}
