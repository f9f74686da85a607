// SPDX-License-Identifier: GPL-2.0-only
/* Transmit: a frame is one piece of memory and one descriptor. */
#include <linux/dma-mapping.h>

#include "meridian_ps_compat.h"
#include "meridian_ps.h"

/**
 * meridian_ps_alloc_tx() - memory for the transmit ring
 * @port: it is of
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_ps_alloc_tx(struct meridian_ps_port *port)
{
	struct meridian_ps_tx *tx = &port->tx;
	int error = meridian_ps_alloc_ring(port, &tx->ring, port->config.tx_size);

	if (error)
		return error;
	tx->frame = kvcalloc(tx->ring.size, sizeof(*tx->frame), GFP_KERNEL);
	if (tx->frame)
		return 0;
	meridian_ps_free_ring(port, &tx->ring);
	return -ENOMEM;
}

static void unmap(struct meridian_ps_port *port, const struct meridian_ps_tx_frame *frame)
{
	dma_unmap_single(port->card->dev, frame->dma, frame->length, DMA_TO_DEVICE);
}

/**
 * meridian_ps_free_tx() - undo meridian_ps_alloc_tx(), and drop the frames that did not leave
 * @port: whose ring the card has no more
 *
 * Context: May sleep.
 */
void meridian_ps_free_tx(struct meridian_ps_port *port)
{
	struct meridian_ps_tx *tx = &port->tx;
	u64 dropped = 0;
	u32 i;

	for (i = 0; tx->frame && i < tx->ring.size; i++) {
		if (!tx->frame[i].skb)
			continue;
		unmap(port, &tx->frame[i]);
		dev_kfree_skb_any(tx->frame[i].skb);
		dropped++;
	}
	u64_stats_update_begin(&tx->done.sync);
	u64_stats_add(&tx->done.dropped, dropped);
	u64_stats_update_end(&tx->done.sync);
	kvfree(tx->frame);
	tx->frame = NULL;
	meridian_ps_free_ring(port, &tx->ring);
}

/**
 * meridian_ps_leave_tx() - leave the ring and its frames to the card for good
 * @port: that goes, and whose ring the card still may have
 *
 * Context: Does not sleep.
 */
void meridian_ps_leave_tx(struct meridian_ps_port *port)
{
	kvfree(port->tx.frame);
}

static u32 room(const struct meridian_ps_tx *tx)
{
	return tx->ring.size - meridian_ps_posted(&tx->ring);
}

/* Stops the queue if the ring is full, unless the poll has just made room. */
static void stop_if_full(struct meridian_ps_port *port)
{
	struct meridian_ps_tx *tx = &port->tx;

	if (likely(room(tx)))
		return;
	netif_stop_queue(port->netdev);
	u64_stats_update_begin(&tx->sent.sync);
	u64_stats_inc(&tx->sent.stopped);
	u64_stats_update_end(&tx->sent.sync);
	/* The poll sees the queue stopped, or this sees the room that it has made. */
	smp_mb();
	if (room(tx))
		netif_start_queue(port->netdev);
}

static void ring_doorbell(struct meridian_ps_port *port)
{
	/* Descriptors are in memory before this is at the card. */
	meridian_ps_ring_write(port, MERIDIAN_PS_RING_TX_PRODUCER, port->tx.ring.producer);
}

static void post(struct meridian_ps_port *port, struct sk_buff *skb, dma_addr_t dma)
{
	struct meridian_ps_tx *tx = &port->tx;
	u32 next = meridian_ps_next(&tx->ring, tx->ring.producer);
	struct meridian_ps_descriptor *descriptor = &tx->ring.descriptor[next];
	u16 request = 0, tag = 0;

	if (unlikely(skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) &&
	    meridian_ps_want_stamp(port, skb, &tag))
		request = MERIDIAN_PS_WANT_STAMP;
	tx->frame[next] = (struct meridian_ps_tx_frame){
		.skb = skb, .dma = dma, .length = skb->len,
	};
	descriptor->address = cpu_to_le64(dma);
	descriptor->length = cpu_to_le16(skb->len);
	descriptor->request = cpu_to_le16(request);
	descriptor->tag = cpu_to_le16(tag);
	skb_tx_timestamp(skb);
	/* The poll looks at the frame once it sees the index. */
	smp_store_release(&tx->ring.producer, (u16)(tx->ring.producer + 1));
}

static netdev_tx_t drop(struct meridian_ps_port *port, struct sk_buff *skb)
{
	struct meridian_ps_tx_stats *stats = &port->tx.sent;

	u64_stats_update_begin(&stats->sync);
	u64_stats_inc(&stats->dropped);
	u64_stats_update_end(&stats->sync);
	dev_kfree_skb_any(skb);
	/* Frames before it may have left the doorbell to this one. */
	if (!netdev_xmit_more())
		ring_doorbell(port);
	return NETDEV_TX_OK;
}

netdev_tx_t meridian_ps_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	u32 length = skb->len;
	dma_addr_t dma;

	if (unlikely(!room(&port->tx))) {
		netif_stop_queue(netdev);
		return NETDEV_TX_BUSY;
	}
	if (unlikely(length > port->card->longest || skb_linearize(skb)))
		return drop(port, skb);
	dma = dma_map_single(port->card->dev, skb->data, length, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(port->card->dev, dma)))
		return drop(port, skb);
	post(port, skb, dma);
	stop_if_full(port);
	/* From here on the skb may be gone. */
	if (__netdev_sent_queue(netdev, length, netdev_xmit_more()))
		ring_doorbell(port);
	return NETDEV_TX_OK;
}

/**
 * meridian_ps_poll_tx() - take back the frames that the card is done with
 * @port: it is of
 * @budget: of the poll
 *
 * Context: NAPI poll (softirq). Does not sleep.
 */
void meridian_ps_poll_tx(struct meridian_ps_port *port, int budget)
{
	struct meridian_ps_tx *tx = &port->tx;
	u32 packets = 0, bytes = 0, errors = 0, error_bytes = 0;
	u64 done;

	while (meridian_ps_take(&tx->ring, &done)) {
		u32 next = meridian_ps_next(&tx->ring, tx->ring.consumer);
		const struct meridian_ps_descriptor *descriptor = &tx->ring.descriptor[next];
		struct meridian_ps_tx_frame *frame = &tx->frame[next];

		if (unlikely(done & MERIDIAN_PS_DONE_ERROR)) {
			errors++;
			error_bytes += frame->length;
			/* It is not sent: there is nothing to wait for. */
			if (le16_to_cpu(descriptor->request) & MERIDIAN_PS_WANT_STAMP)
				meridian_ps_cancel_stamp(port, le16_to_cpu(descriptor->tag));
		}
		unmap(port, frame);
		packets++;
		bytes += frame->length;
		napi_consume_skb(frame->skb, budget);
		frame->skb = NULL;
		/* What is done with the descriptor is done before it is free. */
		smp_store_release(&tx->ring.consumer, (u16)(tx->ring.consumer + 1));
	}
	if (!packets)
		return;
	netdev_completed_queue(port->netdev, packets, bytes);
	u64_stats_update_begin(&tx->done.sync);
	u64_stats_add(&tx->done.packets, packets - errors);
	u64_stats_add(&tx->done.bytes, bytes - error_bytes);
	u64_stats_add(&tx->done.errors, errors);
	u64_stats_update_end(&tx->done.sync);
	/* Pairs with the barrier of who stops the queue. */
	smp_mb();
	if (netif_queue_stopped(port->netdev) && room(tx) >= tx->ring.size / 4 &&
	    test_bit(MERIDIAN_PS_FLAG_UP, &port->flags)) {
		u64_stats_update_begin(&tx->done.sync);
		u64_stats_inc(&tx->done.woken);
		u64_stats_update_end(&tx->done.sync);
		netif_wake_queue(port->netdev);
	}
}
