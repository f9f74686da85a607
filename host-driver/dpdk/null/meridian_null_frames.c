/* SPDX-License-Identifier: BSD-3-Clause */
/* Doorbells of the null card: what they set going is done when they return. */
#include <string.h>

#include <rte_byteorder.h>

#include "qdma/qdma_regs.h"
#include "qdma/qdma_ring.h"
#include "meridian_null.h"

static uint32_t
length_of(const uint64_t *entry)
{
	return rte_le_to_cpu_64(entry[0]) >> 32 & 0xffff;
}

static const uint8_t *
bytes_of(const uint64_t *entry)
{
	return (const uint8_t *)(uintptr_t)rte_le_to_cpu_64(entry[1]);
}

/*
 * Pieces from the one that starts the frame to the one that ends it. Returns the frame's length, or
 * 0 if it is malformed.
 */
static uint32_t
join(uint8_t *frame, const uint64_t *entry, uint32_t pieces)
{
	uint32_t length = 0, i;

	for (i = 0; i < pieces; i++, entry += 2) {
		uint32_t bytes = length_of(entry);

		if (!bytes || bytes > UINT16_MAX - length)
			return 0;
		memcpy(&frame[length], bytes_of(entry), bytes);
		length += bytes;
		if (rte_le_to_cpu_64(entry[0]) & QDMA_H2C_END)
			break;
	}
	return length;
}

static uint32_t
segment_bytes(const uint64_t *descriptor)
{
	return ((uint32_t)rte_le_to_cpu_64(descriptor[0]) &
		MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK) >>
	       MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_SHIFT;
}

/* Returns false, and the queue has stopped, for a frame that the card cannot take. */
static bool
look_at(struct meridian_null_card *card, struct meridian_null_queue *queue,
	const uint64_t *descriptor)
{
	uint64_t ends = rte_le_to_cpu_64(descriptor[0]) & (QDMA_H2C_START | QDMA_H2C_END);
	uint32_t length = length_of(descriptor);
	const uint8_t *frame = bytes_of(descriptor);
	uint8_t joined[UINT16_MAX];

	if (queue->pieces_log2 && ends == QDMA_H2C_START) {
		length = join(joined, descriptor, 1u << queue->pieces_log2);
		frame = joined;
		if (!length) {
			queue->h2c = NULL;
			return false;
		}
	}
	/* Without the capability, metadata may be lengths for OpenNIC's shell. */
	if (card->segments && segment_bytes(descriptor))
		meridian_null_cut(card, queue, frame, length, segment_bytes(descriptor));
	else
		meridian_null_take(card, queue, frame, length);
	return true;
}

static void
transmit(struct meridian_null_card *card, struct meridian_null_queue *queue, uint32_t pidx)
{
	if (queue->h2c == NULL || pidx >= queue->h2c_slots)
		return;
	if (card->loop || card->capture != NULL) {
		while (queue->h2c_cidx != pidx) {
			if (!look_at(card, queue,
				     &queue->h2c[(2 * queue->h2c_cidx) << queue->pieces_log2]))
				return;
			queue->h2c_cidx = meridian_null_next(queue->h2c_cidx, queue->h2c_slots);
		}
	}
	queue->h2c_cidx = pidx;
	queue->h2c[(2 * queue->h2c_slots) << queue->pieces_log2] =
		rte_cpu_to_le_64((uint64_t)pidx << 16);
}

void
meridian_null_doorbell(struct meridian_null_card *card, uint32_t offset, uint32_t value)
{
	struct meridian_null_queue *queue = &card->queue[offset / 16 % MERIDIAN_NULL_QUEUES];
	uint32_t index = value & 0xffff;

	switch (offset % 16) {
	case QDMA_DOORBELL_H2C_PIDX:
		transmit(card, queue, index);
		break;
	case QDMA_DOORBELL_C2H_PIDX:
		if (index < queue->c2h_slots)
			queue->c2h_pidx = index;
		meridian_null_make(card, queue);
		break;
	case QDMA_DOORBELL_CMPT_CIDX:
		if (index < queue->completion_slots)
			queue->cidx = index;
		meridian_null_make(card, queue);
		break;
	default:
		break;
	}
}
