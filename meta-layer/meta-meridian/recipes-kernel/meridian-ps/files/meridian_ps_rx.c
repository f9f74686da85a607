// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive. A frame goes into one buffer: the middle of pages of a pool, which go up the stack as
 * they are. A small frame is copied, so that it does not keep pages.
 */
#include <linux/etherdevice.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

#define HEADROOM	(NET_SKB_PAD + NET_IP_ALIGN)
#define SMALL		256	/* a frame that is copied */
#define FILL_BATCH	16

static u32 room_of(u32 order)
{
	return SKB_WITH_OVERHEAD(PAGE_SIZE << order) - HEADROOM;
}

static int make_pool(struct meridian_ps_port *port)
{
	struct meridian_ps_rx *rx = &port->rx;
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.order = rx->order,
		.pool_size = rx->ring.size,
		.nid = NUMA_NO_NODE,
		.dev = port->card->dev,
		MERIDIAN_PS_POOL_OWNER(&port->napi, port->netdev)
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = rx->room,
		.offset = HEADROOM,
	};
	struct page_pool *pool = page_pool_create(&params);

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	rx->pool = pool;
	return 0;
}

/**
 * meridian_ps_alloc_rx() - memory for the receive ring; its buffers come later
 * @port: it is of
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_alloc_rx(struct meridian_ps_port *port)
{
	struct meridian_ps_rx *rx = &port->rx;
	int error;

	/* The card drops and counts what is longer than its buffer. */
	rx->room = port->config.mtu + MERIDIAN_PS_HEADER;
	for (rx->order = 0; room_of(rx->order) < rx->room; rx->order++)
		;
	error = meridian_ps_alloc_ring(port, &rx->ring, port->config.rx_size);
	if (error)
		return error;
	rx->page = kvcalloc(rx->ring.size, sizeof(*rx->page), GFP_KERNEL);
	error = rx->page ? make_pool(port) : -ENOMEM;
	if (error)
		meridian_ps_free_rx(port);
	return error;
}

/**
 * meridian_ps_free_rx() - undo meridian_ps_alloc_rx(), and take the buffers back
 * @port: whose ring the card has no more
 *
 * Context: May sleep.
 */
void meridian_ps_free_rx(struct meridian_ps_port *port)
{
	struct meridian_ps_rx *rx = &port->rx;
	u32 i;

	if (rx->pool) {
		for (i = 0; i < rx->ring.size; i++) {
			if (rx->page[i])
				page_pool_put_full_page(rx->pool, rx->page[i], false);
		}
		page_pool_destroy(rx->pool);
	}
	rx->pool = NULL;
	kvfree(rx->page);
	rx->page = NULL;
	meridian_ps_free_ring(port, &rx->ring);
}

/**
 * meridian_ps_leave_rx() - leave the ring and its buffers to the card for good
 * @port: that goes, and whose ring the card still may have
 *
 * Context: May sleep.
 */
void meridian_ps_leave_rx(struct meridian_ps_port *port)
{
	/* Frames that are with others come back to it. */
	if (port->rx.pool)
		page_pool_destroy(port->rx.pool);
	kvfree(port->rx.page);
}

static void count(struct meridian_ps_rx *rx, u64_stats_t *counter)
{
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(counter);
	u64_stats_update_end(&rx->stats.sync);
}

/**
 * meridian_ps_fill_rx() - post buffers until the ring is full
 * @port: it is of
 *
 * Context: Does not sleep.
 * Return: false if memory did not last.
 */
bool meridian_ps_fill_rx(struct meridian_ps_port *port)
{
	struct meridian_ps_rx *rx = &port->rx;
	struct meridian_ps_ring *ring = &rx->ring;
	u32 free = ring->size - meridian_ps_posted(ring);
	bool ok = true;

	if (free < FILL_BATCH)
		return true;
	while (free--) {
		u32 next = meridian_ps_next(ring, ring->producer);
		struct meridian_ps_descriptor *descriptor = &ring->descriptor[next];
		struct page *page = page_pool_dev_alloc_pages(rx->pool);

		if (unlikely(!page)) {
			count(rx, &rx->stats.no_buffer);
			ok = false;
			break;
		}
		rx->page[next] = page;
		descriptor->address = cpu_to_le64(page_pool_get_dma_addr(page) + HEADROOM);
		descriptor->length = cpu_to_le16(rx->room);
		ring->producer++;
	}
	/* Descriptors are in memory before this is at the card. */
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_RX_PRODUCER, ring->producer);
	return ok;
}

/* A copy of the frame; the page may be used again at once. */
static struct sk_buff *copy(struct meridian_ps_port *port, struct page *page, u32 length)
{
	struct sk_buff *skb = napi_alloc_skb(&port->napi, length);

	if (likely(skb))
		skb_put_data(skb, page_address(page) + HEADROOM, length);
	page_pool_recycle_direct(port->rx.pool, page);
	return skb;
}

static struct sk_buff *build(struct meridian_ps_port *port, struct page *page, u32 length)
{
	struct meridian_ps_rx *rx = &port->rx;
	struct sk_buff *skb = napi_build_skb(page_address(page), PAGE_SIZE << rx->order);

	if (unlikely(!skb)) {
		page_pool_recycle_direct(rx->pool, page);
		return NULL;
	}
	skb_reserve(skb, HEADROOM);
	__skb_put(skb, length);
	skb_mark_for_recycle(skb);
	return skb;
}

/* Hands a frame up; returns its bytes, 0 if there was none that could be. */
static u32 deliver(struct meridian_ps_port *port, u64 done)
{
	struct meridian_ps_rx *rx = &port->rx;
	u32 next = meridian_ps_next(&rx->ring, rx->ring.consumer);
	const struct meridian_ps_descriptor *descriptor = &rx->ring.descriptor[next];
	u32 length = le16_to_cpu(descriptor->done_length);
	u32 nanoseconds = le32_to_cpu(descriptor->nanoseconds);
	struct page *page = rx->page[next];
	struct sk_buff *skb;

	rx->page[next] = NULL;
	if (unlikely(done & MERIDIAN_PS_DONE_ERROR || length < ETH_HLEN || length > rx->room)) {
		count(rx, done & MERIDIAN_PS_DONE_ERROR ? &rx->stats.errors :
							  &rx->stats.bad_completion);
		page_pool_recycle_direct(rx->pool, page);
		return 0;
	}
	dma_sync_single_range_for_cpu(port->card->dev, page_pool_get_dma_addr(page), HEADROOM,
				      length, DMA_FROM_DEVICE);
	skb = length <= SMALL ? copy(port, page, length) : build(port, page, length);
	if (unlikely(!skb)) {
		count(rx, &rx->stats.no_memory);
		return 0;
	}
	skb_reset_mac_header(skb);
	if (done & MERIDIAN_PS_DONE_STAMPED)
		meridian_ps_stamp_rx(port, skb, FIELD_GET(MERIDIAN_PS_DONE_SECONDS, done),
				     nanoseconds);
	skb->protocol = eth_type_trans(skb, port->netdev);
	napi_gro_receive(&port->napi, skb);
	return length;
}

/**
 * meridian_ps_poll_rx() - hand frames to the stack
 * @port: it is of
 * @budget: most frames
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: how many descriptors were done.
 */
int meridian_ps_poll_rx(struct meridian_ps_port *port, int budget)
{
	struct meridian_ps_rx *rx = &port->rx;
	u64 packets = 0, bytes = 0, done;
	int taken = 0;

	while (taken < budget && meridian_ps_take(&rx->ring, &done)) {
		u32 length = deliver(port, done);

		packets += !!length;
		bytes += length;
		rx->ring.consumer++;
		taken++;
	}
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_add(&rx->stats.packets, packets);
	u64_stats_add(&rx->stats.bytes, bytes);
	u64_stats_update_end(&rx->stats.sync);
	/* Without any buffer no frame would ask for buffers again: the service does. */
	if (unlikely(!meridian_ps_fill_rx(port)))
		set_bit(MERIDIAN_PS_FLAG_STARVED, &port->flags);
	return taken;
}
