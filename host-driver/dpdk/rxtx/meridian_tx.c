/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transmit. One descriptor is one frame: the IP does not join several, so a frame of several
 * segments is copied into one first. Our engine takes some segments in one descriptor.
 */
#include "meridian_tx.h"

/* What the card has not taken, of those that were told; nonsense is taken as no progress. */
static inline uint32_t
taken_since(const struct meridian_tx *tx)
{
	uint32_t cidx = qdma_h2c_status_cidx(rte_le_to_cpu_64(*tx->status));
	uint32_t taken = (cidx - tx->freed) & tx->mask;

	if (unlikely(cidx > tx->mask || taken > tx->filled - tx->freed))
		return 0;
	return taken;
}

/**
 * meridian_tx_pending() - frames that the card has not taken
 * @tx: a queue that nobody else uses
 *
 * Return: how many.
 */
uint32_t
meridian_tx_pending(const struct meridian_tx *tx)
{
	return tx->filled - tx->freed - taken_since(tx);
}

/* Of one run of the ring. */
static void
give_back(struct rte_mbuf **mbufs, uint32_t count)
{
	struct rte_mbuf *batch[2 * MERIDIAN_BATCH];
	uint32_t i, held = 0;

	for (i = 0; i < count; i++) {
		struct rte_mbuf *mbuf;

		if (unlikely(mbufs[i]->nb_segs > 1)) {
			rte_pktmbuf_free(mbufs[i]);
			continue;
		}
		mbuf = rte_pktmbuf_prefree_seg(mbufs[i]);
		if (unlikely(mbuf == NULL))
			continue;
		if (held && (held == RTE_DIM(batch) || batch[0]->pool != mbuf->pool)) {
			rte_mempool_put_bulk(batch[0]->pool, (void **)batch, held);
			held = 0;
		}
		batch[held++] = mbuf;
	}
	if (held)
		rte_mempool_put_bulk(batch[0]->pool, (void **)batch, held);
}

static void
give_back_run(struct meridian_tx *tx, uint32_t count)
{
	struct rte_mbuf **mbufs = &tx->buffer[tx->freed & tx->mask];

	if (tx->fast_free)
		rte_mempool_put_bulk(mbufs[0]->pool, (void **)mbufs, count);
	else
		give_back(mbufs, count);
	tx->freed += count;
}

/**
 * meridian_clean_tx() - give frames back that the card has taken
 * @tx: the queue
 * @limit: so many at most
 *
 * Return: how many.
 */
int
meridian_clean_tx(struct meridian_tx *tx, uint32_t limit)
{
	uint32_t count = RTE_MIN(taken_since(tx), limit);
	uint32_t run = RTE_MIN(count, tx->mask + 1 - (tx->freed & tx->mask));

	if (run)
		give_back_run(tx, run);
	if (count > run)
		give_back_run(tx, count - run);
	return count;
}

static inline uint32_t
room(const struct meridian_tx *tx)
{
	return tx->mask - (tx->filled - tx->freed);
}

static inline uint32_t
make_room(struct meridian_tx *tx)
{
	if (room(tx) < tx->free_thresh)
		meridian_clean_tx(tx, tx->mask);
	return room(tx);
}

static inline void
ring_bell(struct meridian_tx *tx)
{
	meridian_ring_bell(tx->doorbell, tx->port_id, 16 * tx->index + QDMA_DOORBELL_H2C_PIDX,
			   tx->filled & tx->mask);
}

/* Tells the card of the descriptors that were filled last. */
static inline void
tell(struct meridian_tx *tx, uint32_t count)
{
	if (unlikely(tx->push) && count == 1)
		meridian_push(tx);
	ring_bell(tx);
}

static __rte_always_inline uint64_t
first_word(const struct meridian_tx *tx, uint32_t length, uint32_t request)
{
	return rte_cpu_to_le_64(QDMA_H2C_START | QDMA_H2C_END | length * tx->factor | request);
}

/* Frames of one segment that ask for nothing, into slots that do not wrap. */
static uint64_t
fill_run(struct meridian_tx *tx, struct rte_mbuf **mbufs, uint32_t count)
{
	uint32_t at = tx->filled & tx->mask, i;
	uint64_t *entries = &tx->ring[2 * at];
	uint64_t bytes = 0;

	for (i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];

		tx->buffer[at + i] = mbufs[i];
		entries[2 * i] = first_word(tx, mbuf->data_len, 0);
		entries[2 * i + 1] = rte_cpu_to_le_64(rte_mbuf_data_iova(mbuf));
		bytes += mbuf->data_len;
	}
	tx->filled += count;
	return bytes;
}

uint16_t
meridian_xmit_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct meridian_tx *tx = queue;
	uint32_t run;

	count = RTE_MIN((uint32_t)count, make_room(tx));
	if (unlikely(!count))
		return 0;
	run = RTE_MIN((uint32_t)count, tx->mask + 1 - (tx->filled & tx->mask));
	tx->counts.bytes += fill_run(tx, mbufs, run);
	if (unlikely(run < count))
		tx->counts.bytes += fill_run(tx, &mbufs[run], count - run);
	tx->counts.packets += count;
	tell(tx, count);
	return count;
}

static inline uint32_t
request_of(const struct rte_mbuf *mbuf)
{
	uint32_t request = 0;

	if (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN)
		request |= MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | mbuf->vlan_tci;
	if (mbuf->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		request |= MERIDIAN_H2C_REQUEST_IP_CHECKSUM_MASK;
	if (mbuf->ol_flags & RTE_MBUF_F_TX_L4_MASK)
		request |= MERIDIAN_H2C_REQUEST_L4_CHECKSUM_MASK;
	return request;
}

/* The same frame in one segment; NULL without memory. The other is freed. */
static struct rte_mbuf *
linearise(struct meridian_tx *tx, struct rte_mbuf *mbuf)
{
	const struct rte_mbuf *segment;
	struct rte_mbuf *copy;
	char *to;

	copy = rte_pktmbuf_alloc(tx->linear);
	if (unlikely(copy == NULL)) {
		/* Those that the card has taken are wanted now. */
		meridian_clean_tx(tx, tx->mask);
		copy = rte_pktmbuf_alloc(tx->linear);
	}
	if (unlikely(copy == NULL)) {
		tx->counts.no_memory++;
		return NULL;
	}
	to = rte_pktmbuf_mtod(copy, char *);
	for (segment = mbuf; segment != NULL; segment = segment->next) {
		memcpy(to, rte_pktmbuf_mtod(segment, const char *), segment->data_len);
		to += segment->data_len;
	}
	copy->data_len = mbuf->pkt_len;
	copy->pkt_len = mbuf->pkt_len;
	copy->ol_flags = mbuf->ol_flags & (RTE_MBUF_F_TX_OFFLOAD_MASK);
	copy->vlan_tci = mbuf->vlan_tci;
	rte_pktmbuf_free(mbuf);
	tx->counts.copied++;
	return copy;
}

/* Puts a frame of so many pieces into a descriptor as it is. The card takes no empty piece. */
static void
gather(struct meridian_tx *tx, const struct rte_mbuf *mbuf, uint32_t pieces, uint32_t request)
{
	uint64_t *entry = meridian_tx_entry(tx, tx->filled & tx->mask);
	uint64_t not_end = pieces > 1 ? ~rte_cpu_to_le_64(QDMA_H2C_END) : UINT64_MAX;

	tx->counts.gathered += mbuf->nb_segs > 1;
	while (!mbuf->data_len)
		mbuf = mbuf->next;
	entry[0] = first_word(tx, mbuf->data_len, request) & not_end;
	entry[1] = rte_cpu_to_le_64(rte_mbuf_data_iova(mbuf));
	while (--pieces) {
		do
			mbuf = mbuf->next;
		while (!mbuf->data_len);
		entry += 2;
		entry[0] = rte_cpu_to_le_64(qdma_h2c_piece(mbuf->data_len, pieces == 1));
		entry[1] = rte_cpu_to_le_64(rte_mbuf_data_iova(mbuf));
	}
}

static __rte_always_inline void
fill_one(struct meridian_tx *tx, const struct rte_mbuf *mbuf)
{
	uint64_t *entry = meridian_tx_entry(tx, tx->filled & tx->mask);

	entry[0] = first_word(tx, mbuf->data_len, tx->asks ? request_of(mbuf) : 0);
	entry[1] = rte_cpu_to_le_64(rte_mbuf_data_iova(mbuf));
}

/* Returns what is to be freed in the end; NULL without memory. */
static struct rte_mbuf *
fill_several(struct meridian_tx *tx, struct rte_mbuf *mbuf)
{
	uint32_t pieces = meridian_pieces_of(mbuf);

	if (tx->pieces_log2 && pieces <= 1u << tx->pieces_log2) {
		gather(tx, mbuf, pieces, tx->asks ? request_of(mbuf) : 0);
		return mbuf;
	}
	mbuf = linearise(tx, mbuf);
	if (likely(mbuf != NULL))
		fill_one(tx, mbuf);
	return mbuf;
}

/* Puts a frame into a descriptor that the card is to cut. */
static __rte_noinline bool
fill_cut(struct meridian_tx *tx, struct rte_mbuf *mbuf)
{
	uint32_t pieces = meridian_pieces_to_cut(tx, mbuf);

	if (unlikely(!pieces))
		return false;
	gather(tx, mbuf, pieces, request_of(mbuf) | (uint32_t)mbuf->tso_segsz <<
						    MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_SHIFT);
	tx->counts.segmented++;
	return true;
}

static inline void
refuse(struct meridian_tx *tx, struct rte_mbuf *mbuf)
{
	rte_pktmbuf_free(mbuf);
	tx->counts.errors++;
}

/* cuts: frames may be such that the card is to cut; the others do not pay for it. */
static __rte_always_inline uint16_t
xmit(struct meridian_tx *tx, struct rte_mbuf **mbufs, uint16_t count, const bool cuts)
{
	uint32_t free = make_room(tx), filled = tx->filled;
	uint16_t done;

	for (done = 0; done < count && free; done++) {
		struct rte_mbuf *mbuf = mbufs[done];
		uint32_t at = tx->filled & tx->mask;

		if (cuts && mbuf->ol_flags & MERIDIAN_TX_CUT) {
			if (unlikely(!fill_cut(tx, mbuf))) {
				refuse(tx, mbuf);
				continue;
			}
			tx->counts.bytes += mbuf->pkt_len;
		} else if (unlikely(!meridian_can_send(tx, mbuf))) {
			refuse(tx, mbuf);
			continue;
		} else if (unlikely(mbuf->nb_segs > 1)) {
			mbuf = fill_several(tx, mbuf);
			if (unlikely(mbuf == NULL))
				break;
			tx->counts.bytes += mbuf->pkt_len;
		} else {
			fill_one(tx, mbuf);
			tx->counts.bytes += mbuf->data_len;
		}
		tx->buffer[at] = mbuf;
		tx->filled++;
		free--;
	}
	tx->counts.packets += tx->filled - filled;
	if (likely(tx->filled != filled))
		tell(tx, tx->filled - filled);
	return done;
}

uint16_t
meridian_xmit_full(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return xmit(queue, mbufs, count, false);
}

uint16_t
meridian_xmit_cutting(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return xmit(queue, mbufs, count, true);
}
