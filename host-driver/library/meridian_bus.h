/* SPDX-License-Identifier: BSD-3-Clause */
/* How the library reaches a card: by VFIO, or by what attaches one. */
#ifndef MERIDIAN_LIBRARY_BUS_H
#define MERIDIAN_LIBRARY_BUS_H

#include "meridian.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct meridian_bus - a way to a function of a card
 * @read: a register of BAR 0 or 2
 * @write: one, behind all writes to memory before
 * @allocate: memory of program and card, whole pages of zeros; 0 or a negative errno with a sentence in @text
 * @release: such memory
 * @stop: or NULL: the card reaches no memory any more, before that is released
 * @close: frees the bus, and what a card that was not attached has
 * @bar2_bytes: size of BAR 2
 * @text: a sentence for an error of allocate
 */
struct meridian_bus {
	uint32_t (*read)(struct meridian_bus *bus, unsigned int bar, uint32_t offset);
	void (*write)(struct meridian_bus *bus, unsigned int bar, uint32_t offset, uint32_t value);
	int (*allocate)(struct meridian_bus *bus, size_t bytes, struct meridian_memory *memory);
	void (*release)(struct meridian_bus *bus, struct meridian_memory *memory);
	void (*stop)(struct meridian_bus *bus);
	void (*close)(struct meridian_bus *bus);
	uint64_t bar2_bytes;
	char text[256];
};

/**
 * meridian_no_card() - say why there is no card
 * @error: negative errno
 * @sentence: for meridian_error(NULL)
 *
 * Return: the error.
 */
int meridian_no_card(int error, const char *sentence);

/**
 * meridian_attach() - take a card by a bus of one's own
 * @bus: closed with the card, and on errors
 * @name: of the card, for sentences
 * @card: becomes it
 *
 * Return: as meridian_open().
 */
int meridian_attach(struct meridian_bus *bus, const char *name, struct meridian **card);

#ifdef __cplusplus
}
#endif

#endif
