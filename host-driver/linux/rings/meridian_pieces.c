// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames in pieces, for a card that joins them: the pieces behind the first one, which are entries
 * of the same descriptor.
 */
#include <net/xdp.h>

#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_frames.h"

static struct meridian_tx_piece *more_of(const struct meridian_tx *tx, u32 index)
{
	return &tx->more[MERIDIAN_TX_MORE * index];
}

/**
 * meridian_unmap_more() - the card needs the pieces of a frame behind its first one no more
 * @tx: the queue
 * @index: of the frame's descriptor
 * @count: of these pieces, which were mapped
 *
 * Context: Does not sleep.
 */
void meridian_unmap_more(struct meridian_tx *tx, u32 index, u32 count)
{
	const struct meridian_tx_piece *more;

	if (!count)
		return;
	for (more = more_of(tx, index); count--; more++)
		dma_unmap_page(&tx->m->pdev->dev, more->dma, more->length, DMA_TO_DEVICE);
}

/**
 * meridian_put_more() - tell the card of the pieces of a frame behind its first one
 * @tx: the queue; under its transmit lock
 * @count: of these pieces, of the descriptor that is filled next
 *
 * Context: Does not sleep.
 */
void meridian_put_more(struct meridian_tx *tx, u32 count)
{
	const struct meridian_tx_piece *more = more_of(tx, tx->pidx);
	__le64 *entry = meridian_tx_entry(tx, tx->pidx);

	u64_stats_update_begin(&tx->stats.sync);
	u64_stats_inc(&tx->stats.gathered);
	u64_stats_update_end(&tx->stats.sync);
	for (; count--; more++) {
		entry += 2;
		entry[0] = cpu_to_le64(qdma_h2c_piece(more->length, !count));
		entry[1] = cpu_to_le64(more->dma);
	}
}

/* The card takes no empty piece. */
static bool can_gather(u32 first, const struct skb_shared_info *shared)
{
	u32 i;

	if (!first || shared->nr_frags > MERIDIAN_TX_MORE)
		return false;
	for (i = 0; i < shared->nr_frags; i++) {
		if (!skb_frag_size(&shared->frags[i]))
			return false;
	}
	return true;
}

/**
 * meridian_can_gather() - whether a card that joins pieces can join those of a frame
 * @skb: the frame
 *
 * Context: Does not sleep.
 * Return: whether it can.
 */
bool meridian_can_gather(const struct sk_buff *skb)
{
	return can_gather(skb_headlen(skb), skb_shinfo(skb)) && !skb_has_frag_list(skb);
}

static int map_frags(struct meridian_tx *tx, const struct skb_shared_info *shared)
{
	struct meridian_tx_piece *more = more_of(tx, tx->pidx);
	struct device *dev = &tx->m->pdev->dev;
	u32 i;

	for (i = 0; i < shared->nr_frags; i++, more++) {
		const skb_frag_t *frag = &shared->frags[i];

		more->length = skb_frag_size(frag);
		more->dma = skb_frag_dma_map(dev, frag, 0, more->length, DMA_TO_DEVICE);
		if (unlikely(dma_mapping_error(dev, more->dma))) {
			meridian_unmap_more(tx, tx->pidx, i);
			return -ENOMEM;
		}
	}
	return i;
}

/* Frames in pages of the pools of this interface, which the card can reach already. */
static int sync_frags(struct meridian_tx *tx, const struct skb_shared_info *shared)
{
	struct meridian_tx_piece *more = more_of(tx, tx->pidx);
	u32 i;

	for (i = 0; i < shared->nr_frags; i++, more++) {
		const skb_frag_t *frag = &shared->frags[i];

		more->length = skb_frag_size(frag);
		more->dma = page_pool_get_dma_addr(skb_frag_page(frag)) + skb_frag_off(frag);
		dma_sync_single_for_device(&tx->m->pdev->dev, more->dma, more->length,
					   DMA_BIDIRECTIONAL);
	}
	return i;
}

/**
 * meridian_map_more_of_skb() - let the card reach the pieces of a frame behind its first one
 * @tx: a queue with room; under its transmit lock
 * @skb: a frame in pieces, which is joined if the card cannot join it
 *
 * Context: Does not sleep.
 * Return: how many pieces these are, or a negative error; then none is mapped.
 */
int meridian_map_more_of_skb(struct meridian_tx *tx, struct sk_buff *skb)
{
	if (likely(tx->pieces_log2 && meridian_can_gather(skb)))
		return map_frags(tx, skb_shinfo(skb));
	if (unlikely(__skb_linearize(skb)))
		return -ENOMEM;
	u64_stats_update_begin(&tx->stats.sync);
	u64_stats_inc(&tx->stats.linearized);
	u64_stats_update_end(&tx->stats.sync);
	return 0;
}

/**
 * meridian_map_more_of_xdp() - the same of a frame of XDP
 * @tx: a queue with room; under its transmit lock
 * @frame: in pieces
 * @is_own: it is in pages of this interface's pools
 *
 * Context: Does not sleep.
 * Return: how many pieces these are, -E2BIG if the card cannot join them, or another negative
 * error. If it is negative none is mapped.
 */
int meridian_map_more_of_xdp(struct meridian_tx *tx, struct xdp_frame *frame, bool is_own)
{
	const struct skb_shared_info *shared = xdp_get_shared_info_from_frame(frame);

	if (!tx->pieces_log2 || !can_gather(frame->len, shared))
		return -E2BIG;
	return is_own ? sync_frags(tx, shared) : map_frags(tx, shared);
}
