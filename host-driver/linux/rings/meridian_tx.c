// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transmit. One descriptor is one frame. The IP does not join several in the mode that the shell
 * uses; our engine takes a frame of several pieces in one descriptor.
 */
#include <linux/if_vlan.h>

#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"
#include "meridian_interrupt.h"

static void put(struct meridian_tx *tx, const struct meridian_tx_buffer *buffer, u32 request)
{
	bool asks = meridian_can(tx->m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK);
	u64 word = asks ? qdma_h2c_descriptor_request(buffer->first, request) :
			  qdma_h2c_descriptor(buffer->first);
	__le64 *entry = meridian_tx_entry(tx, tx->pidx);

	tx->buffer[tx->pidx] = *buffer;
	if (unlikely(buffer->more)) {
		word &= ~QDMA_H2C_END;
		meridian_put_more(tx, buffer->more);
	}
	entry[0] = cpu_to_le64(word);
	entry[1] = cpu_to_le64(buffer->dma);
	WRITE_ONCE(tx->pidx, meridian_next(tx->pidx, tx->ring.slots));
}

static void count(struct meridian_tx *tx, u64_stats_t *counter)
{
	u64_stats_update_begin(&tx->stats.sync);
	u64_stats_inc(counter);
	u64_stats_update_end(&tx->stats.sync);
}

/* Without an interrupt NAPI comes by itself, but soon enough for so many frames only. */
static bool wants_interrupt(struct meridian_tx *tx)
{
	u32 frames;

	if (likely(!tx->rest.is_on)) {
		if (likely(!READ_ONCE(tx->rest.is_fixed)))
			return true;
		meridian_rest_tx(tx);
		/* What begins it counts, too. */
		tx->rest.since = READ_ONCE(tx->cidx);
	}
	frames = READ_ONCE(tx->rest.frames);
	return frames && meridian_tx_distance(tx, tx->rest.since, tx->pidx) >= frames;
}

/**
 * meridian_ring_tx() - tell the card of all frames
 * @tx: the queue; under its transmit lock
 *
 * Context: Does not sleep.
 */
void meridian_ring_tx(struct meridian_tx *tx)
{
	qdma_h2c_doorbell(&tx->m->qdma, tx->index, tx->pidx, wants_interrupt(tx));
}

/**
 * meridian_arm_tx() - see to it that NAPI comes again for what the card has not taken yet
 * @tx: the queue, as its NAPI leaves it
 *
 * An interrupt takes the arming with it, and one that came meanwhile is sent now. The lock is for
 * the doorbell's index, which must not go back.
 *
 * Context: Does not sleep.
 */
void meridian_arm_tx(struct meridian_tx *tx)
{
	struct netdev_queue *queue = meridian_queue_of(tx);

	if (READ_ONCE(tx->pidx) == tx->cidx && !READ_ONCE(tx->rest.is_on))
		return;
	__netif_tx_lock(queue, smp_processor_id());
	if (tx->pidx == tx->cidx) {
		WRITE_ONCE(tx->rest.is_on, false);
		hrtimer_try_to_cancel(&tx->rest.timer);
	} else if (meridian_may_rest_tx(tx)) {
		meridian_rest_tx(tx);
	} else {
		WRITE_ONCE(tx->rest.is_on, false);
		qdma_h2c_doorbell(&tx->m->qdma, tx->index, tx->pidx, true);
	}
	__netif_tx_unlock(queue);
}

/*
 * Room is looked for again behind the stop, as the cleaner may have looked before it. Inline: two
 * calls would cost each frame that finds room.
 */
static __always_inline void stop(struct meridian_tx *tx, struct netdev_queue *queue)
{
	netif_tx_stop_queue(queue);
	count(tx, &tx->stats.stopped);
	/* Pairs with the one in meridian_clean_tx(). */
	smp_mb();
	if (meridian_tx_room(tx)) {
		netif_tx_start_queue(queue);
		count(tx, &tx->stats.restarted);
	}
}

static void stop_if_full(struct meridian_tx *tx, struct netdev_queue *queue)
{
	if (likely(meridian_tx_room(tx)))
		return;
	stop(tx, queue);
}

/* What the card is to do to a frame. */
static u32 request_of(struct meridian_tx *tx, const struct sk_buff *skb)
{
	u32 request = 0;

	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		request |= MERIDIAN_H2C_REQUEST_L4_CHECKSUM_MASK;
		count(tx, &tx->stats.needs_csum);
	}
	/* They have the same bits: Linux inserts the tag itself, but for what it has not asked. */
	if (skb_vlan_tag_present(skb))
		request |= MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | skb_vlan_tag_get(skb);
	else if (request)
		request |= meridian_inner_start(skb);
	return request;
}

/*
 * How the card is to cut a large frame. Linux has asked meridian_features_check(), but the queues
 * of a VF may have started anew since then, and XDP of Linux's own (generic) asks nothing.
 */
static bool plan_cut(const struct meridian_tx *tx, struct meridian_tx_buffer *buffer,
		     struct meridian_cut *cut)
{
	if (!tx->pieces_log2 ||
	    !meridian_can(tx->m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK) ||
	    !meridian_plan_cut(tx->m, buffer->skb, cut))
		return false;
	if (cut->inner && (!(skb_shinfo(buffer->skb)->gso_type & SKB_GSO_PARTIAL) ||
			   meridian_tell_whole_length(buffer->skb, cut->inner)))
		return false;
	buffer->cuts = cut->segments - 1;
	buffer->length += buffer->cuts * cut->header;
	return true;
}

static void count_cut(struct meridian_tx *tx, u32 bytes, const struct meridian_tx_buffer *buffer)
{
	u64_stats_update_begin(&tx->stats.sync);
	u64_stats_add(&tx->stats.needs_csum, buffer->cuts);
	u64_stats_inc(&tx->stats.segmented);
	u64_stats_add(&tx->stats.segmented_bytes, bytes);
	u64_stats_add(&tx->stats.segments, buffer->cuts + 1);
	u64_stats_add(&tx->stats.segments_bytes, buffer->length);
	u64_stats_update_end(&tx->stats.sync);
}

/*
 * Puts a frame into a ring with room. Returns the bytes that go out, or a negative error. Inline: a
 * call would cost each frame.
 */
static __always_inline int put_skb(struct meridian_tx *tx, struct sk_buff *skb)
{
	struct meridian_tx_buffer buffer = { .skb = skb, .length = skb->len, .is_mapped = true };
	struct meridian_cut cut = { .request = 0 };
	struct device *dev = &tx->m->pdev->dev;

	if (skb_is_gso(skb)) {
		if (unlikely(!plan_cut(tx, &buffer, &cut)))
			return -EMSGSIZE;
	} else if (unlikely(skb->len > tx->m->max_frame || skb->len < ETH_HLEN)) {
		return -EMSGSIZE;
	} else if (unlikely(skb->encap_hdr_csum && meridian_complete_checksum(tx->m, skb))) {
		return -ENOMEM;
	}
	if (skb_is_nonlinear(skb)) {
		int more = meridian_map_more_of_skb(tx, skb);

		if (unlikely(more < 0))
			return more;
		buffer.more = more;
	}
	buffer.first = skb_headlen(skb);
	buffer.dma = dma_map_single(dev, skb->data, buffer.first, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(dev, buffer.dma))) {
		meridian_unmap_more(tx, tx->pidx, buffer.more);
		return -ENOMEM;
	}
	put(tx, &buffer, request_of(tx, skb) | cut.request);
	if (cut.request)
		count_cut(tx, skb->len, &buffer);
	return buffer.length;
}

netdev_tx_t meridian_start_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_tx *tx = &m->channel[skb_get_queue_mapping(skb)].tx;
	struct netdev_queue *queue = meridian_queue_of(tx);
	bool more = netdev_xmit_more();
	int bytes;

	/* Linux wakes whom it attaches, also a VF that has no rings and waits for its PF. */
	if (unlikely(!test_bit(MERIDIAN_FLAG_UP, &m->flags))) {
		dev_kfree_skb_any(skb);
		count(tx, &tx->stats.dropped);
		return NETDEV_TX_OK;
	}
	/* XDP fills the ring, too, and stops nothing. */
	if (unlikely(!meridian_tx_room(tx))) {
		stop(tx, queue);
		return NETDEV_TX_BUSY;
	}
	bytes = put_skb(tx, skb);
	if (unlikely(bytes < 0))
		goto drop;
	skb_tx_timestamp(skb);
	if (skb->len <= READ_ONCE(m->push) && !more)
		meridian_push(tx, skb);
	stop_if_full(tx, queue);
	if (__netdev_tx_sent_queue(queue, bytes, more))
		meridian_ring_tx(tx);
	return NETDEV_TX_OK;
drop:
	dev_kfree_skb_any(skb);
	count(tx, &tx->stats.dropped);
	/* Frames before it may count on this one to ring. */
	if (!more)
		meridian_ring_tx(tx);
	return NETDEV_TX_OK;
}

/**
 * meridian_send_back() - send a received frame, of a function from which the stack sends nothing
 * @tx: the queue; under its transmit lock
 * @skb: the frame, whose caller keeps it if this fails
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_send_back(struct meridian_tx *tx, struct sk_buff *skb)
{
	int bytes = meridian_tx_room(tx) ? put_skb(tx, skb) : -ENOSPC;

	if (unlikely(bytes < 0)) {
		count(tx, &tx->stats.dropped);
		return bytes;
	}
	netdev_tx_sent_queue(meridian_queue_of(tx), bytes);
	meridian_ring_tx(tx);
	return 0;
}

/* Copies a frame in parts to memory of its own. */
static int join(struct xdp_frame *frame, struct meridian_tx_buffer *buffer)
{
	struct skb_shared_info *shared = xdp_get_shared_info_from_frame(frame);
	u8 *to = kmalloc(buffer->length, GFP_ATOMIC | __GFP_NOWARN);
	u32 i;

	if (unlikely(!to))
		return -ENOMEM;
	buffer->joined = to;
	buffer->is_joined = true;
	memcpy(to, frame->data, frame->len);
	to += frame->len;
	for (i = 0; i < shared->nr_frags; i++) {
		const skb_frag_t *part = &shared->frags[i];

		memcpy(to, skb_frag_address(part), skb_frag_size(part));
		to += skb_frag_size(part);
	}
	return 0;
}

static int map(struct device *dev, struct meridian_tx_buffer *buffer, void *data)
{
	buffer->dma = dma_map_single(dev, data, buffer->first, DMA_TO_DEVICE);
	buffer->is_mapped = true;
	return dma_mapping_error(dev, buffer->dma);
}

static int send_joined(struct meridian_tx *tx, struct xdp_frame *frame,
		       struct meridian_tx_buffer *buffer)
{
	int error = join(frame, buffer);

	if (unlikely(error))
		return error;
	buffer->first = buffer->length;
	error = map(&tx->m->pdev->dev, buffer, buffer->joined);
	if (unlikely(error)) {
		kfree(buffer->joined);
		return error;
	}
	put(tx, buffer, 0);
	count(tx, &tx->stats.linearized);
	xdp_return_frame(frame);
	return 0;
}

/**
 * meridian_send_xdp() - put a frame of XDP into the ring
 * @tx: the queue; under its transmit lock
 * @frame: its owner keeps it if this fails
 * @is_own: it is in pages of this interface's pools, which the card can reach already
 *
 * Context: Does not sleep.
 * Return: 0 or a negative error.
 */
int meridian_send_xdp(struct meridian_tx *tx, struct xdp_frame *frame, bool is_own)
{
	struct meridian_tx_buffer buffer = {
		.frame = frame, .length = xdp_get_frame_len(frame), .first = frame->len,
		.is_xdp = true,
	};
	struct device *dev = &tx->m->pdev->dev;
	int error;

	if (unlikely(!meridian_tx_room(tx) || buffer.length > tx->m->max_frame ||
		     buffer.length < ETH_HLEN))
		return -ENOSPC;
	if (xdp_frame_has_frags(frame)) {
		int more = meridian_map_more_of_xdp(tx, frame, is_own);

		if (more == -E2BIG)
			return send_joined(tx, frame, &buffer);
		if (unlikely(more < 0))
			return more;
		buffer.more = more;
	}
	if (is_own) {
		struct page *page = virt_to_page(frame->data);

		buffer.dma = page_pool_get_dma_addr(page) + offset_in_page(frame->data);
		dma_sync_single_for_device(dev, buffer.dma, buffer.first, DMA_BIDIRECTIONAL);
	} else {
		error = map(dev, &buffer, frame->data);
		if (unlikely(error)) {
			meridian_unmap_more(tx, tx->pidx, buffer.more);
			return error;
		}
	}
	put(tx, &buffer, 0);
	return 0;
}

/**
 * meridian_send_xsk() - put a frame of an AF_XDP socket into the ring
 * @tx: the queue, which has room; under its transmit lock
 * @dma: of the frame
 * @length: bytes
 *
 * Context: Does not sleep.
 */
void meridian_send_xsk(struct meridian_tx *tx, dma_addr_t dma, u32 length)
{
	const struct meridian_tx_buffer buffer = {
		.dma = dma, .length = length, .first = length, .is_xdp = true, .is_xsk = true,
	};

	put(tx, &buffer, 0);
}
