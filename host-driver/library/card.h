/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library's files share. */
#ifndef MERIDIAN_LIBRARY_CARD_H
#define MERIDIAN_LIBRARY_CARD_H

#include "../qdma/qdma_context.h"
#include "../qdma/qdma_queue.h"
#include "meridian_bus.h"

#define EXPORTED		__attribute__((visibility("default")))
#define MERIDIAN_QUEUES		16u	/* of the program, if its PF gives a VF so many */

enum direction {
	TO_CARD,
	FROM_CARD,
};

/**
 * struct ring - descriptors of transfers of a direction
 * @memory: descriptors, and behind them the status entry
 * @pidx: the next that is free
 * @runs: its context is there
 */
struct ring {
	struct meridian_memory memory;
	uint32_t pidx;
	bool runs;
};

/**
 * struct meridian - a card
 * @bus: the way to it
 * @qdma: its DMA engine
 * @name: for sentences
 * @text: what went wrong last
 * @capabilities: of the shell
 * @ports: of Ethernet
 * @queue_base: the first queue of this function on the card
 * @queues: that are the program's
 * @lent: bitmap of queues that are lent
 * @rings: of transfers, by enum direction
 * @has_memory: it has memory-mapped queues
 * @is_open: queues may be used
 * @process: that has opened it, and alone uses it
 * @patience_ms: for a transfer
 * @allocated: memory of the program that it has not given back
 */
struct meridian {
	struct meridian_bus *bus;
	struct qdma_device qdma;
	char name[64];
	char text[512];
	uint32_t capabilities;
	uint32_t ports;
	uint32_t queue_base;
	uint32_t queues;
	uint32_t lent;
	struct ring rings[2];
	bool has_memory;
	bool is_open;
	int process;
	unsigned int patience_ms;
	struct piece *allocated;
};

/* errors.c */
int meridian_say(struct meridian *card, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int meridian_queue_failed(struct meridian *card, int error);
int meridian_say_open(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* memory.c */
bool meridian_has(const struct meridian *card, const struct meridian_memory *memory);
void meridian_free_all(struct meridian *card);

/* queues.c */
int meridian_start_queues(struct meridian *card);
void meridian_stop_queues(struct meridian *card);

/* transfer.c */
void meridian_stop_rings(struct meridian *card);

/* vf.c */
int meridian_vf_start(struct meridian *card);
void meridian_vf_stop(struct meridian *card);
int meridian_vf_lend(struct meridian *card, u32 queue);
int meridian_vf_take_back(struct meridian *card, u32 queue);

/* vfio.c */
int meridian_vfio_open(const char *name, struct meridian_bus **bus);

#endif
