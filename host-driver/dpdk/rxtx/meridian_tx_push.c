/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small frames that are written into the card, which then need not read them. They stand in the
 * ring all the same: the card reads them there if it has others of the queue to send, or if another
 * queue has taken its room.
 */
#include "meridian_tx.h"

static void
store(volatile uint64_t *window, const uint64_t *frame, uint32_t words, uint64_t header)
{
	uint32_t i;

	for (i = 0; i < words; i++)
		rte_write64_relaxed(frame[i], &window[i]);
	rte_write64_relaxed(header, &window[QDMA_WINDOW_HEADER / sizeof(*window)]);
	/* The doorbell comes behind it, whatever kind of memory either is. */
	rte_wmb();
}

/**
 * meridian_push() - write the frame that was put last into the card
 * @tx: a queue that pushes, about to be rung for this frame alone
 *
 * Only if the ring has nothing else, and no frame that is to be cut.
 */
void
meridian_push(struct meridian_tx *tx)
{
	uint32_t index = (tx->filled - 1) & tx->mask;
	const struct rte_mbuf *mbuf = tx->buffer[index];
	/* Without offloads for several segments, a descriptor has the first one alone. */
	uint32_t length = tx->linear != NULL && mbuf->nb_segs > 1 ? mbuf->pkt_len : mbuf->data_len;
	uint64_t frame[QDMA_PUSH_BYTES / sizeof(uint64_t)], header;
	struct meridian_bus *bus;
	const void *data;
	uint32_t words;

	if (!length || length > tx->push || mbuf->ol_flags & MERIDIAN_TX_CUT ||
	    qdma_h2c_status_cidx(rte_le_to_cpu_64(*tx->status)) != index)
		return;
	words = (length + sizeof(*frame) - 1) / sizeof(*frame);
	frame[words - 1] = 0;
	data = rte_pktmbuf_read(mbuf, 0, length, frame);
	if (data == NULL)
		return;
	if (data != frame)
		memcpy(frame, data, length);
	header = qdma_push_header(rte_le_to_cpu_64(*meridian_tx_entry(tx, index)), length, index);
	header = rte_cpu_to_le_64(header);
	if (likely(tx->window != NULL)) {
		store(tx->window, frame, words, header);
	} else {
		bus = rte_eth_devices[tx->port_id].process_private;
		bus->ops->push(bus, tx->index, frame, words, header);
	}
	tx->counts.pushed++;
}
