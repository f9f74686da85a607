/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What host and card share in memory, little endian, as numbers of the host: a user converts words
 * on their way. The last entry of each ring is its status; indices run over the others.
 */
#ifndef QDMA_RING_H
#define QDMA_RING_H

#include "qdma_os.h"

#define QDMA_H2C_DESCRIPTOR_BYTES	16
#define QDMA_C2H_DESCRIPTOR_BYTES	8

/*
 * On a card with the capability pieces a transmit descriptor may have this many entries like the
 * one of 16 bytes. The first one starts a frame, and one of them ends it.
 */
#define QDMA_H2C_PIECES_LOG2		2
#define QDMA_H2C_PIECES			BIT(QDMA_H2C_PIECES_LOG2)

/*
 * Transmit descriptor, first of two words; the second is the address. One descriptor is one frame.
 * The length also stands in the metadata, where OpenNIC's shell looks for it. Start and end of
 * packet are for descriptors of several entries, and for other shells' bypass.
 */
#define QDMA_H2C_START			BIT_ULL(48)
#define QDMA_H2C_END			BIT_ULL(49)

static inline u64 qdma_h2c_descriptor(u32 length)
{
	u64 bytes = length & 0xffff;

	return bytes | bytes << 32 | QDMA_H2C_START | QDMA_H2C_END;
}

/* The same for a shell that takes the metadata as what it is asked to do to the frame. */
static inline u64 qdma_h2c_descriptor_request(u32 length, u32 request)
{
	return request | (u64)(length & 0xffff) << 32 | QDMA_H2C_START | QDMA_H2C_END;
}

/* The first word of a piece behind the first one. */
static inline u64 qdma_h2c_piece(u32 length, bool is_last)
{
	return (u64)(length & 0xffff) << 32 | (is_last ? QDMA_H2C_END : 0);
}

/*
 * On a card with the capability push, BAR 4 is a window with a place for each queue of the
 * function. A frame is written to its beginning in words of 8 bytes, and its header behind the
 * longest frame, in any order but before the doorbell of its descriptor. If the card has nothing
 * else of the ring to send, it does not read descriptor and frame then; else what was written has
 * no effect.
 */
#define QDMA_WINDOW_BYTES		512	/* of a queue */
#define QDMA_WINDOW_HEADER		256
#define QDMA_PUSH_BYTES			256	/* of a frame */

/* The header of a frame, from the first word of its descriptor, and the descriptor's index. */
static inline u64 qdma_push_header(u64 word, u32 length, u32 index)
{
	return (u32)word | (u64)(length & 0xffff) << 32 | (u64)index << 48;
}

/* Status entry of a transmit ring. */
static inline u32 qdma_h2c_status_cidx(u64 status)
{
	return (u32)(status >> 16) & 0xffff;
}

static inline u32 qdma_h2c_status_error(u64 status)
{
	return (u32)status & 3;
}

/*
 * Entry of a completion ring. The card turns the colour each time it begins the ring anew; it
 * starts with 1.
 */
static inline u32 qdma_completion_color(u64 entry)
{
	return (u32)(entry >> 1) & 1;
}

static inline bool qdma_completion_error(u64 entry)
{
	return entry >> 2 & 1;
}

/* Bytes of the frame, without FCS. */
static inline u32 qdma_completion_length(u64 entry)
{
	return (u32)(entry >> 32) & 0xffff;
}

/* Running number of the frame among all that the card received. */
static inline u32 qdma_completion_packet(u64 entry)
{
	return (u32)(entry >> 48);
}

/* Status entry of a completion ring. */
static inline u32 qdma_completion_status_pidx(u64 status)
{
	return (u32)status & 0xffff;
}

static inline u32 qdma_completion_status_error(u64 status)
{
	return (u32)(status >> 35) & 3;
}

#endif
