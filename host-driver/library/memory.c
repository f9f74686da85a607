// SPDX-License-Identifier: BSD-3-Clause
/* Memory of program and card. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

/* What was allocated, for the end. */
struct piece {
	struct meridian_memory memory;
	struct piece *next;
};

EXPORTED int meridian_allocate(struct meridian *card, size_t bytes, struct meridian_memory *memory)
{
	struct piece *piece;
	int error;

	if (!bytes)
		return meridian_say(card, -EINVAL, "memory of no bytes was asked for");
	piece = calloc(1, sizeof(*piece));
	if (!piece)
		return meridian_say(card, -ENOMEM, "there is no memory to keep books");
	error = card->bus->allocate(card->bus, bytes, &piece->memory);
	if (error) {
		free(piece);
		return meridian_say(card, error, "%s", card->bus->text);
	}
	piece->next = card->allocated;
	card->allocated = piece;
	*memory = piece->memory;
	return 0;
}

/* Whether it is memory of the card's. */
bool meridian_has(const struct meridian *card, const struct meridian_memory *memory)
{
	const struct piece *piece = card->allocated;

	while (piece && piece->memory.bytes != memory->bytes)
		piece = piece->next;
	return piece && piece->memory.address == memory->address;
}

EXPORTED void meridian_free(struct meridian *card, struct meridian_memory *memory)
{
	struct piece **place = &card->allocated;
	struct piece *piece;

	while (*place && (*place)->memory.bytes != memory->bytes)
		place = &(*place)->next;
	piece = *place;
	if (!piece)
		return;
	*place = piece->next;
	card->bus->release(card->bus, &piece->memory);
	free(piece);
	memset(memory, 0, sizeof(*memory));
}

void meridian_free_all(struct meridian *card)
{
	while (card->allocated) {
		struct meridian_memory memory = card->allocated->memory;

		meridian_free(card, &memory);
	}
}
