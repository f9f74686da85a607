/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Interrupt rings: queues that share a vector of MSI-X have a ring in memory, in which the IP
 * writes whose interrupt it is. PG302 calls this interrupt aggregation.
 */
#ifndef QDMA_INTERRUPT_H
#define QDMA_INTERRUPT_H

#include "qdma_device.h"

/* Rings of a card. */
#define QDMA_INTERRUPT_RINGS		256

/* A page; the IP writes at most three entries for each direction of a queue that was not served. */
#define QDMA_INTERRUPT_ENTRIES		512
#define QDMA_INTERRUPT_BYTES		(8 * QDMA_INTERRUPT_ENTRIES)

/**
 * struct qdma_interrupt_setting - what an interrupt ring is made from
 * @ring: its number within the card, which queues name in place of a vector
 * @function: that is interrupted
 * @vector: of the function
 * @entries: QDMA_INTERRUPT_BYTES that are 0, at a multiple of 4 KiB
 */
struct qdma_interrupt_setting {
	u32 ring;
	u32 function;
	u32 vector;
	u64 entries;
};

/* The card turns the colour each time it begins the ring anew; it starts with 1. */
static inline u32 qdma_interrupt_color(u64 entry)
{
	return (u32)(entry >> 63);
}

/* The queue, absolute. */
static inline u32 qdma_interrupt_queue(u64 entry)
{
	return (u32)(entry >> 39) & 0xffffff;
}

/* Whether the queue receives. */
static inline bool qdma_interrupt_is_c2h(u64 entry)
{
	return entry >> 38 & 1;
}

int qdma_interrupt_start(struct qdma_device *qdma, const struct qdma_interrupt_setting *setting);
int qdma_interrupt_stop(struct qdma_device *qdma, u32 ring);
void qdma_interrupt_doorbell(struct qdma_device *qdma, u32 ring, u32 cidx);

#endif
