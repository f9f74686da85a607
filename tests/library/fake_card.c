// SPDX-License-Identifier: Apache-2.0
#include "fake_card.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../host-driver/include/meridian_regs.h"

#define QUEUES	512u

static uint32_t read_it(struct meridian_bus *bus, unsigned int bar, uint32_t offset)
{
	struct fake *fake = (struct fake *)bus;

	if (fake->dead)
		return UINT32_MAX;
	if (bar == 2)
		switch (offset) {
		case MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_MAGIC:
			return fake->magic;
		case MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_VERSION:
			return fake->version;
		case MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES:
			return fake->capabilities;
		case MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY:
			return 2;
		case MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CLOCKS:
			return 125;
		case MERIDIAN_BOX_BASE(4) + MERIDIAN_BOX_STATUS:
			return fake->status;
		default:
			return offset;
		}
	switch (offset) {
	case 0x000:
		return fake->identifier;
	case 0x114:
		return fake->memory_mapped ? 0x30101 : 0x30000;
	case 0x118:
		return 0x30000;
	case 0x120:
		return QUEUES;
	case 0x12c:
		return 1; /* PF 1 */
	case 0x844:
		return fake->busy;
	default:
		if (offset >= 0x804 && offset < 0x824)
			return fake->data[(offset - 0x804) / 4];
		return offset < 0x4000 ? fake->registers[offset / 4] : 0;
	}
}

struct descriptor {
	uint64_t source;
	uint64_t length;
	uint64_t destination;
	uint64_t reserved;
};

/* Program and card have the same addresses. */
static void move(struct fake *fake, bool to_card, uint32_t pidx)
{
	const uint32_t *context = fake->contexts[to_card ? 1 : 0][QUEUES / 4];
	struct descriptor *ring = (void *)(uintptr_t)(context[2] | (uint64_t)context[3] << 32);
	uint32_t *cidx = &fake->cidx[to_card];
	uint64_t *status = (uint64_t *)(ring + 64);

	if (!(context[1] & 1) || fake->silent || fake->dead)
		return;
	while (*cidx != pidx && !fake->error) {
		struct descriptor *it = &ring[*cidx];

		if (fake->moves_nothing) {
			uint64_t host = to_card ? it->source : it->destination;

			fake->in_order &= host == fake->next;
			fake->next = host + it->length;
			fake->total += it->length;
			fake->largest = it->length > fake->largest ? it->length : fake->largest;
		} else if (to_card)
			memcpy(fake->memory + it->destination, (void *)(uintptr_t)it->source, it->length);
		else
			memcpy((void *)(uintptr_t)it->destination, fake->memory + it->source, it->length);
		*cidx = (*cidx + 1) % 64;
	}
	if (fake->error && fake->error_register) {
		fake->registers[0x254 / 4] |= fake->error_register;
		fake->registers[0x25c / 4] = 1u << 31 | (to_card ? 0 : 1u << 30) | fake->error_queue;
	}
	*status = fake->error | (uint64_t)*cidx << 16;
}

static void command(struct fake *fake, uint32_t word)
{
	uint32_t *context = fake->contexts[word >> 1 & 15][word >> 7 & 2047];

	switch (word >> 5 & 3) {
	case 0:
		memset(context, 0, sizeof(fake->contexts[0][0]));
		break;
	case 1:
		memcpy(context, fake->data, sizeof(fake->contexts[0][0]));
		if ((word >> 1 & 15) < 2)
			fake->cidx[word >> 1 & 1] = 0;
		break;
	case 2:
		memcpy(fake->data, context, sizeof(fake->contexts[0][0]));
		break;
	default:
		context[1] &= ~1u;
	}
}

static void write_it(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value)
{
	struct fake *fake = (struct fake *)bus;

	if (bar == 2 || fake->dead)
		return;
	if (offset == 0x844) {
		fake->commands++;
		command(fake, value);
		fake->busy |= fake->fails_at == value && value;
	} else if (offset >= 0x804 && offset < 0x824)
		fake->data[(offset - 0x804) / 4] = value;
	else if (offset == 0x254)
		fake->registers[offset / 4] &= ~value;
	else if (offset == 0x18004 || offset == 0x18008) {
		fake->dead = fake->dies;
		move(fake, offset == 0x18004, value & 0xffff);
	} else if (offset < 0x4000 && !fake->keeps_nothing)
		fake->registers[offset / 4] = value;
}

static int allocate(struct meridian_bus *bus, size_t bytes, struct meridian_memory *memory)
{
	struct fake *fake = (struct fake *)bus;

	if (fake->no_memory) {
		snprintf(bus->text, sizeof(bus->text), "there is none");
		return -ENOMEM;
	}
	memory->bytes = calloc(1, bytes);
	memory->address = (uintptr_t)memory->bytes;
	memory->size = bytes;
	memory->huge = false;
	fake->allocated++;
	return 0;
}

static void release(struct meridian_bus *bus, struct meridian_memory *memory)
{
	((struct fake *)bus)->allocated--;
	free(memory->bytes);
}

static void stop_it(struct meridian_bus *bus)
{
	((struct fake *)bus)->stopped = true;
}

static void close_it(struct meridian_bus *bus)
{
	((struct fake *)bus)->closed = true;
}

void fake_begin(struct fake *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->bus = (struct meridian_bus){ .read = read_it, .write = write_it, .allocate = allocate, .release = release,
		.stop = stop_it, .close = close_it, .bar2_bytes = 4u << 20 };
	fake->identifier = 0x1fd30000;
	fake->magic = MERIDIAN_MAGIC;
	fake->version = MERIDIAN_MAP_MAJOR << 16 | MERIDIAN_MAP_MINOR;
	fake->capabilities = MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK;
	fake->status = MERIDIAN_BOX_STATUS_DMA_MASK;
	fake->memory_mapped = true;
	fake->error_queue = QUEUES / 4;
	fake->in_order = true;
}
