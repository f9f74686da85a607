/* SPDX-License-Identifier: Apache-2.0 */
/* A card of registers alone, as libmeridian's bus has it; its engine moves bytes when a doorbell is rung. */
#ifndef FAKE_CARD_H
#define FAKE_CARD_H

#include "../../host-driver/library/meridian_bus.h"

#define FAKE_MEMORY	(256u << 10)

/**
 * struct fake - the card
 * @bus: for meridian_attach()
 * @dead: nothing answers
 * @dies: so does a doorbell find it
 * @identifier: of the DMA engine
 * @magic: of the shell
 * @version: of the register map
 * @capabilities: of the shell
 * @status: of the module at the host
 * @busy: commands to contexts do not end
 * @fails_at: the last word of such a command that ends, with @busy from then on, or 0
 * @commands: to contexts, so far
 * @keeps_nothing: writes of tables have no effect
 * @memory_mapped: it has such queues
 * @no_memory: allocations fail
 * @silent: transfers do not end
 * @error: bits of the status entry and of the error register of the next transfer, or 0
 * @error_register: these bits
 * @error_queue: that the log names, as the DMA engine does
 * @moves_nothing: transfers end at once; what was asked for is counted
 * @largest: bytes of a descriptor since then
 * @total: bytes of all
 * @next: where the next one continues
 * @in_order: each has begun where the one before has ended
 * @allocated: pieces of memory that have not been given back
 * @stopped: the bus was
 * @closed: the bus was
 * @memory: of the card
 * @contexts: by select and queue, the lowest 128 bits
 */
struct fake {
	struct meridian_bus bus;
	bool dead;
	bool dies;
	uint32_t identifier;
	uint32_t magic;
	uint32_t version;
	uint32_t capabilities;
	uint32_t status;
	bool busy;
	uint32_t fails_at;
	unsigned int commands;
	bool keeps_nothing;
	bool memory_mapped;
	bool no_memory;
	bool silent;
	uint32_t error;
	uint32_t error_register;
	uint32_t error_queue;
	bool moves_nothing;
	uint64_t largest;
	uint64_t total;
	uint64_t next;
	bool in_order;
	int allocated;
	bool stopped;
	bool closed;
	uint8_t memory[FAKE_MEMORY];
	uint32_t contexts[16][2048][4];
	uint32_t registers[0x1000];
	uint32_t data[8];
	uint32_t cidx[2];
};

void fake_begin(struct fake *fake);

#endif
