// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small frames that are written into the card, which then need not read them. They stand in the
 * ring all the same: the card reads them there if it has others of the queue to send, or if another
 * queue has taken its room.
 */
#include <linux/io.h>

#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_hw.h"

/**
 * meridian_settle_push() - push frames as was asked for, if the card can
 * @m: the function, whose capabilities are known
 *
 * Context: Does not sleep.
 */
void meridian_settle_push(struct meridian *m)
{
	bool can = m->window && meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK);

	WRITE_ONCE(m->push, can ? m->push_wish : 0);
}

/**
 * meridian_push() - write the frame that was put last into the card
 * @tx: the queue; under its transmit lock, and about to be rung
 * @skb: that frame, of QDMA_PUSH_BYTES at most
 *
 * Only if it is alone in the ring.
 *
 * Context: Does not sleep.
 */
void meridian_push(struct meridian_tx *tx, const struct sk_buff *skb)
{
	u32 index = tx->pidx ? tx->pidx - 1 : tx->ring.slots - 1;
	u8 __iomem *place = tx->m->window + tx->index * QDMA_WINDOW_BYTES;
	u64 frame[QDMA_PUSH_BYTES / sizeof(u64)];
	u64 word = le64_to_cpu(*meridian_tx_entry(tx, index));
	__le64 header;

	if (meridian_tx_taken(tx) != index || tx->index >= tx->m->window_queues || skb_is_gso(skb))
		return;
	frame[(skb->len - 1) / sizeof(u64)] = 0;
	if (skb_copy_bits(skb, 0, frame, skb->len))
		return;
	header = cpu_to_le64(qdma_push_header(word, skb->len, index));
	__iowrite64_copy(place, frame, DIV_ROUND_UP(skb->len, sizeof(u64)));
	__iowrite64_copy(place + QDMA_WINDOW_HEADER, &header, 1);
	/* The doorbell comes behind it, through another mapping. */
	wmb();
	u64_stats_update_begin(&tx->stats.sync);
	u64_stats_inc(&tx->stats.pushed);
	u64_stats_update_end(&tx->stats.sync);
}
