// SPDX-License-Identifier: BSD-3-Clause
/* Bytes to and from the card's memory, by memory-mapped queues. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "card.h"

#define ENTRIES		64u		/* of a ring, without the status entry */
#define LARGEST		(128u << 20)	/* bytes of a descriptor, which may have 2^28 - 1 */
#define DESCRIPTOR_SIZE	2u		/* 8 << 2 bytes */
#define SPINS		1000		/* looks without a pause */
#define PAUSE_NS	20000

/* The first error of a queue since its bits were cleared. */
#define DESCRIPTOR_LOG	0x25c
#define LOG_VALID	(1u << 31)
#define LOG_C2H		(1u << 30)
#define LOG_QUEUE	0x00000fffu

struct descriptor {
	uint64_t source;
	uint64_t length;
	uint64_t destination;
	uint64_t reserved;
};

static struct descriptor *descriptors(struct ring *ring)
{
	return ring->memory.bytes;
}

/* Its error bits are 1:0, the index of the next descriptor that has not ended is at 31:16. */
static uint64_t status_of(struct ring *ring)
{
	return __atomic_load_n((uint64_t *)(descriptors(ring) + ENTRIES), __ATOMIC_ACQUIRE);
}

static enum qdma_context_select context_of(enum direction direction)
{
	return direction == TO_CARD ? QDMA_SELECT_SW_H2C : QDMA_SELECT_SW_C2H;
}

static int stop_ring(struct meridian *card, enum direction direction)
{
	int error = qdma_context_command(&card->qdma, QDMA_CONTEXT_INVALIDATE,
					 context_of(direction), card->queue_base);

	card->rings[direction].runs = false;
	return error;
}

void meridian_stop_rings(struct meridian *card)
{
	enum direction direction;

	for (direction = TO_CARD; direction <= FROM_CARD; direction++)
		if (card->rings[direction].runs)
			stop_ring(card, direction);
}

static int start_ring(struct meridian *card, enum direction direction)
{
	struct ring *ring = &card->rings[direction];
	struct qdma_context sw = { { 0 } };
	int error = 0;

	if (!ring->memory.bytes)
		error = meridian_allocate(card, (ENTRIES + 1) * sizeof(struct descriptor),
					  &ring->memory);
	if (error)
		return error;
	memset(ring->memory.bytes, 0, (ENTRIES + 1) * sizeof(struct descriptor));
	ring->pidx = 0;
	qdma_context_set(&sw, QDMA_SW_FUNCTION, card->qdma.function);
	qdma_context_set(&sw, QDMA_SW_ENABLE, 1);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK_PENDING, 1);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK_INTERVAL, 1);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK, 1);
	qdma_context_set(&sw, QDMA_SW_MEMORY_MAPPED, 1);
	qdma_context_set(&sw, QDMA_SW_RING_SIZE,
			 (u64)qdma_find(card->qdma.tables.rings, ENTRIES + 1));
	qdma_context_set(&sw, QDMA_SW_DESCRIPTOR_SIZE, DESCRIPTOR_SIZE);
	qdma_context_set(&sw, QDMA_SW_BASE, ring->memory.address);
	error = qdma_context_command(&card->qdma, QDMA_CONTEXT_CLEAR,
				     direction == TO_CARD ? QDMA_SELECT_HW_H2C : QDMA_SELECT_HW_C2H,
				     card->queue_base);
	if (!error)
		error = qdma_context_write(&card->qdma, context_of(direction), card->queue_base, &sw);
	if (error)
		return meridian_queue_failed(card, error);
	ring->runs = true;
	return 0;
}

/* Error bits if the log says that they are the ring's: those of other queues are left to whoever has them. */
static uint32_t take_errors(struct meridian *card, enum direction direction)
{
	uint32_t bits = qdma_read(&card->qdma, QDMA_DESCRIPTOR_ERROR);
	uint32_t mine = LOG_VALID | (direction == FROM_CARD ? LOG_C2H : 0) | card->queue_base;

	if ((qdma_read(&card->qdma, DESCRIPTOR_LOG) & (LOG_VALID | LOG_C2H | LOG_QUEUE)) != mine)
		return 0;
	qdma_os_write(card->qdma.bar, QDMA_DESCRIPTOR_ERROR, bits);
	return bits;
}

/* What the card says of a ring that has stopped; the ring begins anew with the next transfer. */
static int failed(struct meridian *card, enum direction direction)
{
	uint32_t bits = take_errors(card, direction);
	const char *what = "its DMA engine has stopped the queue";

	if (bits & 1u << 4)
		what = "a descriptor is malformed";
	else if (bits & 1u << 21)
		what = "a descriptor could not be read";
	else if (bits & 1u << 20)
		what = bits & 1u << 2 ? "memory of the host could not be read: look for errors of the IOMMU in the kernel's log" :
		       "the card's memory refuses the address: it ends before";
	stop_ring(card, direction);
	return meridian_say(card, -EIO, "%s (error register 0x%x)", what, bits);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int wait_for_end(struct meridian *card, enum direction direction)
{
	struct ring *ring = &card->rings[direction];
	uint64_t limit = now_ns() + card->patience_ms * 1000000ull;
	struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned int looks;

	for (looks = 0;; looks++) {
		uint64_t status = status_of(ring);

		if (status & 3)
			return failed(card, direction);
		if ((status >> 16 & 0xffff) == ring->pidx)
			return 0;
		if (looks < SPINS)
			continue;
		if (now_ns() > limit)
			break;
		nanosleep(&pause, NULL);
	}
	if (stop_ring(card, direction) == -ENODEV)
		return meridian_queue_failed(card, -ENODEV);
	return meridian_say(card, -ETIMEDOUT, "a transfer has not ended in %u ms: look whether the card answers, and whether it may access memory",
			    card->patience_ms);
}

static void post(struct ring *ring, enum direction direction, uint64_t host, uint64_t place,
		 size_t bytes)
{
	struct descriptor *it = descriptors(ring) + ring->pidx;

	it->source = direction == TO_CARD ? host : place;
	it->destination = direction == TO_CARD ? place : host;
	it->length = bytes;
	ring->pidx = (ring->pidx + 1) % ENTRIES;
}

static int transfer(struct meridian *card, enum direction direction, uint64_t place,
		    const struct meridian_memory *memory, size_t offset, size_t bytes)
{
	struct ring *ring = &card->rings[direction];
	int error = 0;

	if (card->qdma.is_vf)
		return meridian_say(card, -EOPNOTSUPP, "a VF has no memory-mapped queues: a program that has the PF reaches the card's memory");
	if (!card->has_memory)
		return meridian_say(card, -EOPNOTSUPP, "the card has no memory-mapped queues: build the bitstream with the DMA engine meridian and --memory true");
	if (!meridian_has(card, memory))
		return meridian_say(card, -EINVAL, "the memory is not of this card, or was given back: allocate it with this card");
	if (offset > memory->size || bytes > memory->size - offset)
		return meridian_say(card, -EINVAL, "%zu bytes from %zu on are not in memory of %zu bytes", bytes,
				    offset, memory->size);
	while (bytes && !error) {
		unsigned int count;

		if (!ring->runs)
			error = start_ring(card, direction);
		for (count = 0; !error && bytes && count < ENTRIES - 1; count++) {
			size_t now = bytes < LARGEST ? bytes : LARGEST;

			post(ring, direction, memory->address + offset, place, now);
			place += now;
			offset += now;
			bytes -= now;
		}
		if (!error) {
			if (direction == TO_CARD)
				qdma_h2c_doorbell(&card->qdma, 0, ring->pidx, false);
			else
				qdma_c2h_doorbell(&card->qdma, 0, ring->pidx);
			error = wait_for_end(card, direction);
		}
	}
	return error;
}

EXPORTED int meridian_to_card(struct meridian *card, uint64_t to, const struct meridian_memory *memory,
			      size_t offset, size_t bytes)
{
	return transfer(card, TO_CARD, to, memory, offset, bytes);
}

EXPORTED int meridian_from_card(struct meridian *card, uint64_t from, const struct meridian_memory *memory,
				size_t offset, size_t bytes)
{
	return transfer(card, FROM_CARD, from, memory, offset, bytes);
}
