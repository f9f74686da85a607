/* SPDX-License-Identifier: BSD-3-Clause */
/* The window for pushed frames, BAR4 of a card with our DMA engine, by messages. */
#include <rte_byteorder.h>

#include "../../host-driver/qdma/qdma_ring.h"
#include "meridian_twin.h"

/* A card that has none says that it has no bytes. */
void
meridian_twin_find_window(struct meridian_twin *twin)
{
	const struct meridian_link_welcome *welcome = &twin->welcome;

	twin->bus.window_queues = (twin->bus.is_vf ? welcome->vf_bar4_bytes : welcome->bar4_bytes) /
				  QDMA_WINDOW_BYTES;
}

static void
write_word(struct meridian_twin *twin, uint32_t offset, uint64_t word)
{
	struct meridian_link_header header = {
		.type = MERIDIAN_LINK_BAR_WRITE,
		.function = twin->function,
		.bar = MERIDIAN_BAR_WINDOW,
		.width = sizeof(word),
		.address = offset,
		.value = rte_le_to_cpu_64(word),
	};

	meridian_twin_send(twin, &header, NULL, 0, -1);
}

/* A doorbell in shared memory may overtake what was written, but no answer behind it. */
void
meridian_twin_push(struct meridian_bus *bus, uint32_t queue, const uint64_t *frame, uint32_t words,
		   uint64_t header)
{
	struct meridian_twin *twin = (struct meridian_twin *)bus;
	uint32_t place = queue * QDMA_WINDOW_BYTES, i;

	for (i = 0; i < words; i++)
		write_word(twin, place + i * sizeof(*frame), frame[i]);
	write_word(twin, place + QDMA_WINDOW_HEADER, header);
	bus->ops->read(bus, MERIDIAN_BAR_WINDOW, place);
}
