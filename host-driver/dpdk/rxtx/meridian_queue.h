/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: what the data path has in hand, in memory that all processes of a primary see. */
#ifndef MERIDIAN_QUEUE_H
#define MERIDIAN_QUEUE_H

#include <rte_io.h>
#include <rte_spinlock.h>

#include <ethdev_driver.h>

#include "qdma/qdma_regs.h"
#include "qdma/qdma_ring.h"
#include "meridian_bus.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_memzone;

#define MERIDIAN_RING_MIN	64
#define MERIDIAN_RING_MAX	4096
#define MERIDIAN_RING_DEFAULT	1024

/* Buffers are posted in such lots, and frames freed in such lots at most. */
#define MERIDIAN_BATCH		32

/**
 * struct meridian_rx_counts - what a receive queue has counted, ever
 * @packets: frames that were handed out
 * @bytes: of them
 * @no_memory: times that the pool had no MERIDIAN_BATCH mbufs
 * @too_long: frames that were dropped, longer than the MTU
 * @bad_completion: of the card, that cannot be
 */
struct meridian_rx_counts {
	uint64_t packets;
	uint64_t bytes;
	uint64_t no_memory;
	uint64_t too_long;
	uint64_t bad_completion;
};

/**
 * struct meridian_tx_counts - what a transmit queue has counted, ever
 * @packets: frames that were accepted, but for those of @discarded
 * @bytes: of them
 * @errors: frames that cannot be sent, which were freed
 * @copied: frames of several segments that the driver has copied into one
 * @gathered: frames of several segments that the card joins
 * @pushed: frames that were written into the card, too
 * @segmented: frames that the card cuts into segments of TCP or UDP
 * @no_memory: times that there was none for a copy
 * @discarded: frames that were accepted, and not sent before the queue was stopped
 */
struct meridian_tx_counts {
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors;
	uint64_t copied;
	uint64_t gathered;
	uint64_t pushed;
	uint64_t segmented;
	uint64_t no_memory;
	uint64_t discarded;
};

/**
 * struct meridian_rx - a receive queue
 * @ring: descriptors, a word each
 * @completions: two words each, or one
 * @buffer: one for each descriptor
 * @doorbells: of the queue; NULL if the bus wants to be called
 * @mbuf_words: what rearms an mbuf, with its port
 * @offload_mask: of RTE_MBUF_F_RX_*, what was asked for
 * @pool: where mbufs come from
 * @posted: descriptors filled, ever
 * @taken: of those, used up
 * @completed: completions read, ever
 * @told: of those, what the card knows
 * @mask: of an index in @ring
 * @completion_mask: of an index in @completions
 * @buffer_bytes: the card writes so many into one
 * @max_length: of a frame; longer ones are dropped
 * @single_length: of a frame that is not dropped and takes one buffer
 * @mode: of completion doorbells
 * @entry_log2: a completion has 8 << entry_log2 bytes
 * @color_shift: the turn of @completed
 * @index: of the queue
 * @port_id: of ethdev
 * @is_off: not started, or the card has said what cannot be; nothing is read and no buffer posted
 *	until the queue is started
 * @is_deferred: not started with the port
 * @is_kept: the card has not said that the queue ended, and may access its memory
 *
 * @counts: by the thread that receives
 * @before: @counts as statistics were reset
 * @quiet_mode: @mode that does not interrupt
 * @armed_mode: @mode that does at the next completion, once
 * @lock: of a port with interrupts of receive queues, for bursts and @mode
 */
struct meridian_rx {
	uint64_t *ring;
	uint64_t *completions;
	struct rte_mbuf **buffer;
	volatile uint32_t *doorbells;
	uint64_t mbuf_words;
	uint64_t offload_mask;
	struct rte_mempool *pool;
	uint32_t posted;
	uint32_t taken;
	uint32_t completed;
	uint32_t told;
	uint32_t mask;
	uint32_t completion_mask;
	uint32_t buffer_bytes;
	uint32_t max_length;
	uint32_t single_length;
	uint32_t mode;
	uint16_t index;
	uint16_t port_id;
	uint8_t entry_log2;
	uint8_t color_shift;
	bool is_off;
	bool is_deferred;
	bool is_kept;

	struct meridian_rx_counts counts;

	const struct rte_memzone *ring_zone;
	const struct rte_memzone *completion_zone;
	uint32_t quiet_mode;
	uint32_t armed_mode;
	rte_spinlock_t lock;
	uint16_t free_thresh;
	struct meridian_rx_counts before;
} __rte_cache_aligned;

/**
 * struct meridian_tx - a transmit queue; one that is not started is full
 * @ring: descriptors, two words for each piece that a frame may have
 * @status: the card says here what it has taken
 * @buffer: one for each descriptor
 * @doorbell: of the queue; NULL if the bus wants to be called
 * @factor: of a length, as it stands in a descriptor
 * @filled: descriptors filled, ever
 * @freed: of those, whose frames were given back
 * @mask: of an index
 * @free_thresh: with fewer free, frames are given back
 * @index: of the queue
 * @port_id: of ethdev
 * @max_length: of a frame
 * @asks: descriptors say what the card is to do to a frame
 * @cuts: they may say that it is to be cut into segments
 * @fast_free: all frames are of one pool and nobody else's
 * @is_off: not started, though the card may have taken half of it: @buffer has nothing to be freed
 * @is_deferred: not started with the port
 * @is_kept: the card has not said that the queue ended, and may access its memory
 * @pieces_log2: a descriptor has 1 << pieces_log2 pieces of a frame
 * @most_log2: the memory is for so many
 * @push: longest frame that is written into the card if it is alone; 0: none is
 * @linear: where frames of several segments are copied to that the card does not join; NULL: there
 *	are none
 * @counts: by the thread that sends
 * @offloads: of the queue, with the port's
 * @window: where frames are written; NULL if the bus wants to be called
 * @before: @counts as statistics were reset
 */
struct meridian_tx {
	uint64_t *ring;
	volatile uint64_t *status;
	struct rte_mbuf **buffer;
	volatile uint32_t *doorbell;
	uint64_t factor;
	uint32_t filled;
	uint32_t freed;
	uint32_t mask;
	uint32_t max_length;
	uint16_t free_thresh;
	uint16_t index;
	uint16_t port_id;
	bool asks;
	bool cuts;
	bool fast_free;
	bool is_off;
	bool is_deferred;
	bool is_kept;
	uint8_t pieces_log2;
	uint8_t most_log2;
	uint16_t push;
	struct rte_mempool *linear;

	struct meridian_tx_counts counts;

	const struct rte_memzone *zone;
	uint64_t offloads;
	volatile uint64_t *window;
	struct meridian_tx_counts before;
} __rte_cache_aligned;

/* The first word of a descriptor, or of the status behind the last one. */
static __rte_always_inline uint64_t *
meridian_tx_entry(const struct meridian_tx *tx, uint32_t index)
{
	return &tx->ring[(2 * index) << tx->pieces_log2];
}

/* offset: of all doorbells; bell: where that is, or NULL. */
static __rte_always_inline void
meridian_ring_bell(volatile uint32_t *bell, uint16_t port_id, uint32_t offset, uint32_t value)
{
	struct meridian_bus *bus;

	if (likely(bell != NULL)) {
		rte_write32(value, bell);
		return;
	}
	bus = rte_eth_devices[port_id].process_private;
	bus->ops->doorbell(bus, offset, value);
}

/* The card gets the completions that were read, and the queue's mode. */
static __rte_always_inline void
meridian_tell_now(struct meridian_rx *rx)
{
	rx->told = rx->completed;
	meridian_ring_bell(rx->doorbells ? rx->doorbells + QDMA_DOORBELL_CMPT_CIDX / 4 : NULL,
			   rx->port_id, 16 * rx->index + QDMA_DOORBELL_CMPT_CIDX,
			   (rx->completed & rx->completion_mask) | rx->mode);
}

static inline void
meridian_limit_length(struct meridian_rx *rx, uint32_t length)
{
	rx->max_length = length;
	rx->single_length = RTE_MIN(length, rx->buffer_bytes);
}

/* meridian_rx.c */
uint16_t meridian_recv_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_recv_scattered(void *queue, struct rte_mbuf **mbufs, uint16_t count);
void meridian_fill_rx(struct meridian_rx *rx);
uint32_t meridian_completions_ready(const struct meridian_rx *rx, uint32_t limit);
void meridian_tell_completions(struct meridian_rx *rx);

/* Each in its meridian_rx_*.c: only for completions of 16 bytes. */
uint16_t meridian_recv_sse(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_recv_avx2(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_recv_neon(void *queue, struct rte_mbuf **mbufs, uint16_t count);

/* meridian_rx_locked.c */
void meridian_set_mode(struct meridian_rx *rx, uint32_t mode);
uint16_t meridian_locked_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_locked_scattered(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_locked_sse(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_locked_avx2(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_locked_neon(void *queue, struct rte_mbuf **mbufs, uint16_t count);

/* meridian_tx.c */
uint16_t meridian_xmit_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_xmit_full(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t meridian_xmit_cutting(void *queue, struct rte_mbuf **mbufs, uint16_t count);
uint32_t meridian_tx_pending(const struct meridian_tx *tx);
int meridian_clean_tx(struct meridian_tx *tx, uint32_t limit);

/* meridian_tx_push.c */
void meridian_push(struct meridian_tx *tx);

/* meridian_tx_prepare.c */
uint16_t meridian_xmit_prepare(void *queue, struct rte_mbuf **mbufs, uint16_t count);

#endif
