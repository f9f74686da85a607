/* SPDX-License-Identifier: GPL-2.0-only */
/* Queue pairs: rings, what their entries are about, what they count. */
#ifndef MERIDIAN_QUEUE_H
#define MERIDIAN_QUEUE_H

#include <linux/dim.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/u64_stats_sync.h>
#include <net/xdp.h>

#include "meridian.h"
#include "qdma/qdma_ring.h"

/**
 * struct meridian_tx_buffer - what a transmit descriptor is about
 * @skb: the frame, or
 * @frame: that of XDP, if @is_xdp
 * @joined: a copy of one of XDP that was in parts, if @is_joined
 * @dma: its address for the card
 * @length: bytes that go out
 * @first: of the frame, those at @dma
 * @cuts: how often the card cuts it; it goes out as one segment more
 * @more: pieces that its other bytes are in
 * @is_xdp: it is not the first of these
 * @is_joined: see @joined
 * @is_xsk: none of them: it is in memory of an AF_XDP socket
 * @is_mapped: @dma is to be unmapped, and the other pieces
 */
struct meridian_tx_buffer {
	union {
		struct sk_buff *skb;
		struct xdp_frame *frame;
		void *joined;
	};
	dma_addr_t dma;
	u32 length;
	u16 first;
	u16 cuts : 10;
	u16 more : 2;
	bool is_xdp : 1;
	bool is_joined : 1;
	bool is_xsk : 1;
	bool is_mapped : 1;
};

/* Pieces of a frame behind its first one. */
#define MERIDIAN_TX_MORE	(QDMA_H2C_PIECES - 1)

/* Of a frame that the card cuts into segments, at most: the fields of length have 16 bits. */
#define MERIDIAN_TX_LONGEST	65535

/**
 * struct meridian_tx_piece - a piece of a frame behind its first one
 * @dma: its address for the card
 * @length: bytes
 */
struct meridian_tx_piece {
	dma_addr_t dma;
	u32 length;
};

/**
 * struct meridian_ring - memory that card and driver share
 * @entries: of which the last is the status
 * @dma: its address for the card
 * @slots: how many others there are
 * @bytes: of all
 * @is_runaway: the card may write to it for ever, and to the buffers that it tells of
 */
struct meridian_ring {
	__le64 *entries;
	dma_addr_t dma;
	u32 slots;
	size_t bytes;
	bool is_runaway;
};

/**
 * struct meridian_tx_stats - what is counted under a queue's transmit lock
 * @dropped: frames that cannot be sent
 * @stopped: times that the ring was full
 * @restarted: times that it had room again by the second look
 * @needs_csum: frames whose checksum the card is asked for
 * @gathered: frames in pieces that the card joins
 * @linearized: frames in pieces that the driver has joined
 * @pushed: frames that were written into the card, too
 * @segmented: large frames that the card cuts
 * @segmented_bytes: of these
 * @segments: that they go out as
 * @segments_bytes: of these
 * @sync: of these
 */
struct meridian_tx_stats {
	u64_stats_t dropped;
	u64_stats_t stopped;
	u64_stats_t restarted;
	u64_stats_t needs_csum;
	u64_stats_t gathered;
	u64_stats_t linearized;
	u64_stats_t pushed;
	u64_stats_t segmented;
	u64_stats_t segmented_bytes;
	u64_stats_t segments;
	u64_stats_t segments_bytes;
	struct u64_stats_sync sync;
};

/**
 * struct meridian_done_stats - what NAPI counts of a transmit queue
 * @packets: frames that the card has taken, as they go out
 * @bytes: of these
 * @xdp: those of XDP
 * @woken: times that a full ring had room again
 * @sync: of these; the transmit lock's counters have another, as both may write at a time. Only
 *   32-bit kernels have something in it, and no test boots one
 */
struct meridian_done_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t xdp;
	u64_stats_t woken;
	struct u64_stats_sync sync;
};

struct meridian_rx_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t no_memory;
	u64_stats_t bad_completion;
	u64_stats_t xdp_drop;
	u64_stats_t xdp_tx;
	u64_stats_t xdp_redirect;
	u64_stats_t xdp_error;
	u64_stats_t checksum_good;
	u64_stats_t checksum_bad;
	u64_stats_t checksum_none;
	struct u64_stats_sync sync;
};

/**
 * struct meridian_rest - a time in which the card is not asked to interrupt for sent frames
 * @usecs: how long it is; 0: there is none
 * @frames: that end it; 0: they are not counted
 * @is_fixed: it begins with a frame; else where NAPI finds frames often
 * @is_on: it is such a time; under the queue's transmit lock
 * @since: index that frames are counted from; under that lock
 * @cleaned: frames that the poll has found sent; of NAPI
 * @polls: that have found some; of NAPI
 * @timer: ends it by a poll
 */
struct meridian_rest {
	u32 usecs;
	u32 frames;
	bool is_fixed;
	bool is_on;
	u32 since;
	u32 cleaned;
	u16 polls;
	struct hrtimer timer;
};

/**
 * struct meridian_tx - a transmit queue
 * @m: its function
 * @ring: of descriptors, two words for each piece that a frame may have
 * @buffer: one for each descriptor
 * @more: MERIDIAN_TX_MORE for each descriptor; NULL if the card had no pieces when it was allocated
 * @pieces_log2: a descriptor has room for 1 << pieces_log2 pieces
 * @index: of the queue
 * @pidx: next descriptor to fill; under the queue's transmit lock
 * @stats: counted under that lock
 * @rest: moderation of its interrupts
 * @cidx: first descriptor the card has not taken; of NAPI
 * @seen: @cidx as the service has seen it last
 * @looks: of the service in a row that have found frames and no progress
 * @sent: bytes that the function had sent at the first of them
 * @done: counted by NAPI
 */
struct meridian_tx {
	struct meridian *m;
	struct meridian_ring ring;
	struct meridian_tx_buffer *buffer;
	struct meridian_tx_piece *more;
	u32 pieces_log2;
	u32 index;
	u32 seen;
	u32 looks;
	u64 sent;
	u32 pidx ____cacheline_aligned_in_smp;
	struct meridian_tx_stats stats;
	struct meridian_rest rest;
	u32 cidx ____cacheline_aligned_in_smp;
	struct meridian_done_stats done;
};

/**
 * struct meridian_rx - a receive queue
 * @m: its function
 * @ring: of descriptors, a word each
 * @completions: one or two words each, by @entry_log2
 * @page: one for each descriptor
 * @pool: where they come from
 * @xsk: of an AF_XDP socket that has the queue to itself, in place of @pool; else NULL
 * @buff: in place of @page
 * @xdp_rxq: as XDP knows the queue
 * @index: of the queue
 * @pidx: next descriptor to fill
 * @cidx: descriptor that the next frame begins in
 * @posted: what the card was told last of @pidx
 * @completion: next to read
 * @told: @completion as the last poll left it
 * @bell: of completion doorbells
 * @color: of entries that are new
 * @entry_log2: a completion has 8 << entry_log2 bytes
 * @mode: of completion doorbells
 * @must_flush: XDP has redirected frames in this poll
 * @is_failed: the card has said what cannot be; nothing is read until a reset
 * @is_looped: frames of the self-test go back to the card
 * @bad_entry: what the card has said then
 * @stats: counted here
 */
struct meridian_rx {
	struct meridian *m;
	struct meridian_ring ring;
	struct meridian_ring completions;
	struct page **page;
	struct page_pool *pool;
	struct xsk_buff_pool *xsk;
	struct xdp_buff **buff;
	struct xdp_rxq_info xdp_rxq;
	u32 index;
	u32 pidx;
	u32 cidx;
	u32 posted;
	u32 completion;
	u32 told;
	spinlock_t bell; /* doorbells */
	u32 color;
	u32 entry_log2;
	u32 mode;
	bool must_flush;
	bool is_failed;
	bool is_looped;
	u64 bad_entry;
	struct meridian_rx_stats stats;
};

/* The first word of a descriptor, or of the status entry behind the last one. */
static inline __le64 *meridian_tx_entry(const struct meridian_tx *tx, u32 index)
{
	return &tx->ring.entries[(2 * index) << tx->pieces_log2];
}

static inline u32 meridian_next(u32 index, u32 slots)
{
	return index + 1 == slots ? 0 : index + 1;
}

/* How far a transmit ring is: inline, as the stack asks for each frame. */

/**
 * meridian_tx_room() - how many frames may still be put into the ring
 * @tx: the queue
 *
 * One slot stays free, as a full ring would look like an empty one.
 *
 * Context: Does not sleep.
 * Return: how many.
 */
static inline u32 meridian_tx_room(const struct meridian_tx *tx)
{
	u32 cidx = READ_ONCE(tx->cidx), pidx = READ_ONCE(tx->pidx);

	return cidx > pidx ? cidx - pidx - 1 : cidx + tx->ring.slots - pidx - 1;
}

static inline struct netdev_queue *meridian_queue_of(const struct meridian_tx *tx)
{
	return netdev_get_tx_queue(tx->m->netdev, tx->index);
}

/**
 * meridian_tx_taken() - the first descriptor that the card has not taken, by what it has written
 * @tx: the queue
 *
 * Context: Does not sleep.
 * Return: its index.
 */
static inline u32 meridian_tx_taken(const struct meridian_tx *tx)
{
	u64 status = le64_to_cpu(READ_ONCE(*meridian_tx_entry(tx, tx->ring.slots)));
	u32 cidx = qdma_h2c_status_cidx(status);

	/* What cannot be is taken as no progress; the watchdog sees to it. */
	return cidx < tx->ring.slots ? cidx : tx->cidx;
}

static inline u32 meridian_tx_distance(const struct meridian_tx *tx, u32 from, u32 to)
{
	return to >= from ? to - from : to + tx->ring.slots - from;
}

/**
 * meridian_tx_pending() - frames that the card has not taken
 * @tx: a queue that nobody else uses
 *
 * Context: Does not sleep.
 * Return: how many.
 */
static inline u32 meridian_tx_pending(const struct meridian_tx *tx)
{
	return meridian_tx_distance(tx, meridian_tx_taken(tx), tx->pidx);
}

/**
 * struct meridian_affinity - which processors a user wants for an interrupt
 * @wanted: these; NULL: nothing was said
 * @notify: tells of it
 */
struct meridian_affinity {
	struct cpumask *wanted;
	struct irq_affinity_notify notify;
};

/**
 * struct meridian_channel - a queue pair with its interrupt
 * @m: its function
 * @napi: serves both
 * @tx: transmit
 * @rx: receive
 * @irq: Linux's number
 * @affinity: of its interrupt, if that is its own
 * @is_polled: NAPI is enabled
 * @name: of the interrupt
 * @events: interrupts, for moderation
 * @rx_dim: adaptive moderation of receive interrupts
 * @tx_dim: adaptive moderation of transmit interrupts
 */
struct meridian_channel {
	struct meridian *m;
	struct napi_struct napi;
	struct meridian_tx tx;
	struct meridian_rx rx;
	int irq;
	struct meridian_affinity affinity;
	bool is_polled;
	char name[IFNAMSIZ + 16];
	u16 events;
	struct dim rx_dim;
	struct dim tx_dim;
};

#endif
