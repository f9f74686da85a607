/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The null card: what a card does to rings and registers, in the caller's thread and at once. It
 * has no wire: received frames are made, transmitted ones are taken, or come back.
 */
#ifndef MERIDIAN_NULL_H
#define MERIDIAN_NULL_H

#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>

#include "include/meridian_regs.h"
#include "qdma/qdma_context.h"
#include "qdma/qdma_os.h"

#define MERIDIAN_NULL_QUEUES	256
#define MERIDIAN_NULL_ADDRESSES	1024
#define MERIDIAN_NULL_MAX_FRAME	9600
#define MERIDIAN_NULL_REGISTERS	(0x2000 / 4)
#define MERIDIAN_NULL_SHELL	((MERIDIAN_FUNCTION_BASE(1)) / 4)

/**
 * struct meridian_null_queue - a queue, as its contexts say
 * @h2c, @c2h, @completions: rings; NULL: not started
 * @h2c_slots, @c2h_slots, @completion_slots: without the status
 * @h2c_cidx: descriptors taken
 * @pieces_log2: a descriptor of @h2c has 1 << pieces_log2 pieces of a frame
 * @c2h_pidx: descriptors that the host has filled
 * @c2h_cidx: of those, used up
 * @pidx: completions written
 * @cidx: of those, read
 * @color: of the next completion
 * @entry_log2: it has 8 << entry_log2 bytes
 * @buffer: bytes
 * @packet: running number of frames
 */
struct meridian_null_queue {
	uint64_t *h2c;
	uint64_t *c2h;
	uint64_t *completions;
	uint32_t h2c_slots;
	uint32_t h2c_cidx;
	uint32_t pieces_log2;
	uint32_t c2h_slots;
	uint32_t c2h_pidx;
	uint32_t c2h_cidx;
	uint32_t completion_slots;
	uint32_t pidx;
	uint32_t cidx;
	uint32_t color;
	uint32_t entry_log2;
	uint32_t buffer;
	uint32_t packet;
} __rte_aligned(64);

/* An entry of the MAC table: what its registers said. */
struct meridian_null_address {
	uint32_t low;
	uint32_t high;
	uint32_t scope;
	uint32_t value;
};

/**
 * struct meridian_null_card - the card; in memory that secondary processes see
 * @length: of the frames that are made; 0: none are
 * @fill: they have contents
 * @loop: what is sent comes back
 * @pieces: the card joins a frame's pieces
 * @segments: it does, and cuts large frames into segments
 * @classes: a port's transmit queues have traffic classes, whose settings are kept only
 * @version: of the register map
 * @misses: frames that went nowhere: there was no room in a loop, or they were wrong
 * @capture: where what is sent is kept, of the primary; or NULL
 * @queue: of the function
 * @context: of each queue by enum qdma_context_select
 * @address: the MAC table, from the first on
 * @addresses: entries that it has
 * @registers: of the QDMA
 * @shell: of the shell
 */
struct meridian_null_card {
	uint32_t length;
	uint32_t fill;
	uint32_t loop;
	uint32_t pieces;
	uint32_t segments;
	uint32_t classes;
	uint32_t version;
	uint64_t misses;
	FILE *capture;
	struct meridian_null_queue queue[MERIDIAN_NULL_QUEUES];
	struct qdma_context context[MERIDIAN_NULL_QUEUES][QDMA_SELECT_PREFETCH + 1];
	struct meridian_null_address address[MERIDIAN_NULL_ADDRESSES];
	uint32_t addresses;
	uint32_t registers[MERIDIAN_NULL_REGISTERS];
	uint32_t shell[MERIDIAN_NULL_SHELL];
};

static inline uint32_t
meridian_null_next(uint32_t index, uint32_t slots)
{
	return index + 1 == slots ? 0 : index + 1;
}

static inline uint32_t
meridian_null_between(uint32_t from, uint32_t to, uint32_t slots)
{
	return to >= from ? to - from : to + slots - from;
}

/* meridian_null_registers.c */
void meridian_null_begin(struct meridian_null_card *card);
uint32_t meridian_null_read(struct meridian_null_card *card, unsigned int bar, uint32_t offset);
void meridian_null_write(struct meridian_null_card *card, unsigned int bar, uint32_t offset,
			 uint32_t value);

/* meridian_null_filter.c */
void meridian_null_filter(struct meridian_null_card *card, uint32_t operation);

/* meridian_null_frames.c */
void meridian_null_doorbell(struct meridian_null_card *card, uint32_t offset, uint32_t value);

/* meridian_null_receive.c */
void meridian_null_make(struct meridian_null_card *card, struct meridian_null_queue *queue);
int meridian_null_open_capture(struct meridian_null_card *card, const char *path);
void meridian_null_take(struct meridian_null_card *card, struct meridian_null_queue *queue,
			const uint8_t *frame, uint32_t length);

/* meridian_null_segments.c */
void meridian_null_cut(struct meridian_null_card *card, struct meridian_null_queue *queue,
		       const uint8_t *frame, uint32_t length, uint32_t most);

#endif
