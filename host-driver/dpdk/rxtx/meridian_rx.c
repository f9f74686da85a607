/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive. The card fills buffers in the order they were posted, as many as a frame needs, and
 * writes one completion a frame, whose colour says that it is new.
 */
#include <rte_mbuf.h>

#include "include/meridian_regs.h"
#include "meridian_log.h"
#include "meridian_queue.h"

/* What a completion says of a frame; more: its second half, 0 in an entry of 8 bytes. */
struct completion {
	uint32_t length;
	bool is_bad;
	uint64_t more;
};

#define FIELD(word, name) \
	((uint32_t)((word) >> 32 & MERIDIAN_COMPLETION_ ## name ## _MASK) >> \
	 MERIDIAN_COMPLETION_ ## name ## _SHIFT)

static inline uint32_t
buffers_of(const struct meridian_rx *rx, uint32_t length)
{
	if (likely(length <= rx->buffer_bytes))
		return 1;
	return (length + rx->buffer_bytes - 1) / rx->buffer_bytes;
}

/**
 * meridian_fill_rx() - post buffers until the ring is full, in whole batches
 * @rx: the queue
 *
 * A ring without a free slot would look like an empty one, so a batch stays free.
 */
void
meridian_fill_rx(struct meridian_rx *rx)
{
	uint32_t slots = rx->mask + 1, before = rx->posted;

	while (slots - (rx->posted - rx->taken) > MERIDIAN_BATCH) {
		uint32_t at = rx->posted & rx->mask, i;
		struct rte_mbuf **mbufs = &rx->buffer[at];
		uint64_t *entries = &rx->ring[at];

		if (unlikely(rte_mempool_get_bulk(rx->pool, (void **)mbufs, MERIDIAN_BATCH))) {
			rx->counts.no_memory++;
			break;
		}
		for (i = 0; i < MERIDIAN_BATCH; i++)
			entries[i] = rte_cpu_to_le_64(rte_mbuf_data_iova_default(mbufs[i]));
		rx->posted += MERIDIAN_BATCH;
	}
	if (rx->posted != before)
		meridian_ring_bell(rx->doorbells ? rx->doorbells +
				   QDMA_DOORBELL_C2H_PIDX / 4 : NULL, rx->port_id,
				   16 * rx->index + QDMA_DOORBELL_C2H_PIDX, rx->posted & rx->mask);
}

/**
 * meridian_tell_completions() - let the card have the completions that were read, in lots
 * @rx: the queue
 */
void
meridian_tell_completions(struct meridian_rx *rx)
{
	if (rx->completed - rx->told < MERIDIAN_BATCH)
		return;
	meridian_tell_now(rx);
}

static inline const uint64_t *
entry_of(const struct meridian_rx *rx, uint32_t number)
{
	return &rx->completions[(uint64_t)(number & rx->completion_mask) << rx->entry_log2];
}

static inline bool
is_new(const struct meridian_rx *rx, uint32_t number)
{
	uint64_t word = rte_le_to_cpu_64(*(const volatile uint64_t *)entry_of(rx, number));

	/* The first turn is of colour 1. */
	return qdma_completion_color(word) != (number >> rx->color_shift & 1);
}

/**
 * meridian_completions_ready() - count what the card has written and nobody has read
 * @rx: the queue
 * @limit: no more are looked for
 *
 * Return: how many.
 */
uint32_t
meridian_completions_ready(const struct meridian_rx *rx, uint32_t limit)
{
	uint32_t count = 0;

	while (!rx->is_off && count < limit && is_new(rx, rx->completed + count))
		count++;
	return count;
}

/* The next completion, if there is one. */
static inline bool
take_completion(struct meridian_rx *rx, struct completion *completion)
{
	const uint64_t *words = entry_of(rx, rx->completed);
	uint64_t word;

	if (!is_new(rx, rx->completed))
		return false;
	/* Nothing of a frame is to be read before its colour. */
	rte_io_rmb();
	word = rte_le_to_cpu_64(words[0]);
	completion->more = rx->entry_log2 ? rte_le_to_cpu_64(words[1]) : 0;
	completion->length = qdma_completion_length(word);
	completion->is_bad = qdma_completion_error(word) || !completion->length ||
			     buffers_of(rx, completion->length) > rx->posted - rx->taken;
	if (unlikely(completion->is_bad)) {
		MERIDIAN_LOG(ERR, "port %u receive queue %u: completion %#" PRIx64
			     " cannot be, the queue is to be started anew",
			     rx->port_id, rx->index, word);
		rx->counts.bad_completion++;
		rx->is_off = true;
		return false;
	}
	rx->completed++;
	return true;
}

/* The mbuf of the frame's next bytes, ready for them. */
static inline struct rte_mbuf *
take_buffer(struct meridian_rx *rx, uint32_t bytes)
{
	struct rte_mbuf *mbuf = rx->buffer[rx->taken & rx->mask];

	rx->taken++;
	memcpy(&mbuf->data_off, &rx->mbuf_words, sizeof(rx->mbuf_words));
	mbuf->data_len = bytes;
	return mbuf;
}

static void
drop(struct meridian_rx *rx, uint32_t length)
{
	uint32_t buffers = buffers_of(rx, length);

	rx->counts.too_long++;
	while (buffers--)
		rte_mbuf_raw_free(rx->buffer[rx->taken++ & rx->mask]);
}

static const uint32_t layer_3[] = {
	[MERIDIAN_HASH_TYPE_NONE] = 0,
	[MERIDIAN_HASH_TYPE_IPV4] = RTE_PTYPE_L3_IPV4_EXT_UNKNOWN,
	[MERIDIAN_HASH_TYPE_IPV4_TCP] = RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_TCP,
	[MERIDIAN_HASH_TYPE_IPV4_UDP] = RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_UDP,
	[MERIDIAN_HASH_TYPE_IPV6] = RTE_PTYPE_L3_IPV6_EXT_UNKNOWN,
	[MERIDIAN_HASH_TYPE_IPV6_TCP] = RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_TCP,
	[MERIDIAN_HASH_TYPE_IPV6_UDP] = RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_UDP,
};

static const uint64_t ip_verdict[] = {
	0, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD, 0,
};

static const uint64_t l4_verdict[] = {
	0, RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD, 0,
};

/* What the card has found out of the frame. */
static inline void
tell(const struct meridian_rx *rx, struct rte_mbuf *mbuf, uint64_t more)
{
	uint32_t type = FIELD(more, HASH_TYPE);
	uint64_t flags = ip_verdict[FIELD(more, IP_CHECKSUM)] |
			 l4_verdict[FIELD(more, L4_CHECKSUM)];

	mbuf->hash.rss = (uint32_t)more;
	mbuf->vlan_tci = FIELD(more, VLAN_TCI);
	if (FIELD(more, VLAN_STRIPPED))
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (type)
		flags |= RTE_MBUF_F_RX_RSS_HASH;
	mbuf->packet_type = RTE_PTYPE_L2_ETHER;
	if (type < RTE_DIM(layer_3))
		mbuf->packet_type |= layer_3[type];
	mbuf->ol_flags = flags & rx->offload_mask;
}

static __rte_always_inline struct rte_mbuf *
receive(struct meridian_rx *rx, const struct completion *completion, bool is_scattered)
{
	uint32_t left = completion->length;
	uint32_t bytes = is_scattered ? RTE_MIN(left, rx->buffer_bytes) : left;
	struct rte_mbuf *head = take_buffer(rx, bytes), *tail = head;

	head->pkt_len = left;
	tell(rx, head, completion->more);
	for (left -= bytes; is_scattered && left; left -= bytes) {
		bytes = RTE_MIN(left, rx->buffer_bytes);
		tail->next = take_buffer(rx, bytes);
		tail = tail->next;
		head->nb_segs++;
	}
	return head;
}

/* One that takes several buffers, or is too long: then there is none. */
static __rte_noinline struct rte_mbuf *
receive_long(struct meridian_rx *rx, const struct completion *completion)
{
	if (likely(completion->length <= rx->max_length))
		return receive(rx, completion, true);
	drop(rx, completion->length);
	return NULL;
}

/* Whichever function a process has chosen, a queue's frames may be longer since. */
static __rte_always_inline uint16_t
receive_burst(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint16_t count, bool is_scattered)
{
	struct completion completion;
	uint16_t frames = 0;
	uint64_t bytes = 0;

	if (unlikely(rx->is_off))
		return 0;
	while (frames < count && take_completion(rx, &completion)) {
		uint32_t length = completion.length;

		if (unlikely(length > (is_scattered ? rx->max_length : rx->single_length))) {
			mbufs[frames] = receive_long(rx, &completion);
			if (mbufs[frames] == NULL)
				continue;
		} else {
			mbufs[frames] = receive(rx, &completion, is_scattered);
		}
		bytes += length;
		frames++;
	}
	rx->counts.packets += frames;
	rx->counts.bytes += bytes;
	/* A queue that has no memory now is filled by a later poll. */
	meridian_fill_rx(rx);
	meridian_tell_completions(rx);
	return frames;
}

uint16_t
meridian_recv_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return receive_burst(queue, mbufs, count, false);
}

uint16_t
meridian_recv_scattered(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return receive_burst(queue, mbufs, count, true);
}
