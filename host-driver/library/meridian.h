/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmeridian: a Meridian card for logic of your own. A program has a PF or VF of the card by VFIO, without root: its memory, the
 * registers of the card and of your module, and DMA. libmeridian(3) is the manual.
 *
 * Functions return 0 or a negative errno, and meridian_error() then has a sentence. A card is for one thread at a time.
 */
#ifndef MERIDIAN_H
#define MERIDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A module of yours in the card: at the wire of port 0 to 3, or at the host. */
#define MERIDIAN_BOX_AT_WIRE(port)	(port)
#define MERIDIAN_BOX_AT_HOST		4u

struct meridian;

/**
 * struct meridian_memory - memory that the card can reach
 * @bytes: where the program has it
 * @address: where the card has it, for descriptors, commands and registers of a module
 * @size: in bytes, as much as was asked for or more
 * @huge: it is in huge pages
 */
struct meridian_memory {
	void *bytes;
	uint64_t address;
	size_t size;
	bool huge;
};

/**
 * meridian_open() - take a card
 * @name: of a PF or VF on PCIe, as 0000:03:00.0, that vfio-pci has
 * @card: becomes it
 *
 * The card's queues of this PF are the program's from now on, or those that a VF's PF gives it. Return: 0; -ENODEV, -EACCES, -EBUSY, -ENXIO or another
 * error of the system. meridian_error(NULL) has the sentence, of this thread.
 */
int meridian_open(const char *name, struct meridian **card);

/**
 * meridian_close() - give a card back
 * @card: or NULL
 *
 * Its queues end, it reaches memory no more, and all memory of it is gone. Nothing happens in a child of fork(): the card is
 * its parent's.
 */
void meridian_close(struct meridian *card);

/**
 * meridian_error() - what went wrong last, and what to do
 * @card: or NULL for meridian_open() in this thread
 *
 * Return: a sentence, "" if nothing did. It holds until the next call with this card.
 */
const char *meridian_error(const struct meridian *card);

/**
 * meridian_set_patience() - how long to wait for the card
 * @card: the card
 * @milliseconds: for a transfer; 10,000 at first
 */
void meridian_set_patience(struct meridian *card, unsigned int milliseconds);

/**
 * meridian_allocate() - memory that program and card share
 * @card: the card
 * @bytes: not 0
 * @memory: becomes it, filled with zeros
 *
 * More than 1 MiB is in huge pages of 2 MiB if there are any free; else memory is in pages of 4 KiB. A child of fork() does
 * not have it.
 */
int meridian_allocate(struct meridian *card, size_t bytes, struct meridian_memory *memory);

/**
 * meridian_free() - give memory back
 * @card: that has it
 * @memory: of meridian_allocate(); no command of a module may be under way there
 */
void meridian_free(struct meridian *card, struct meridian_memory *memory);

/**
 * meridian_read32() - read a register of the card
 * @card: the card
 * @offset: in BAR2, a multiple of 4
 * @value: becomes it
 *
 * Return: 0; -EINVAL, or -ENODEV if the card is gone, or in a reset.
 */
int meridian_read32(struct meridian *card, uint32_t offset, uint32_t *value);

/**
 * meridian_write32() - write a register of the card
 * @card: the card
 * @offset: in BAR2, a multiple of 4
 * @value: of the register
 */
int meridian_write32(struct meridian *card, uint32_t offset, uint32_t value);

/**
 * meridian_box_read() - read a register of your module
 * @card: a PF
 * @box: MERIDIAN_BOX_AT_HOST or MERIDIAN_BOX_AT_WIRE(port)
 * @offset: below 65,536, a multiple of 4
 * @value: becomes it
 */
int meridian_box_read(struct meridian *card, unsigned int box, uint32_t offset, uint32_t *value);

/**
 * meridian_box_write() - write a register of your module
 * @card: a PF
 * @box: MERIDIAN_BOX_AT_HOST or MERIDIAN_BOX_AT_WIRE(port)
 * @offset: below 65,536, a multiple of 4
 * @value: of the register
 */
int meridian_box_write(struct meridian *card, unsigned int box, uint32_t offset, uint32_t value);

/**
 * meridian_lend() - let your module at the host read and write memory of this program
 * @card: the card
 * @queue: becomes the number that the module is to name in its commands
 *
 * All memory of meridian_allocate() is the module's, too, until meridian_take_back(). Up to 15 queues of a PF may be lent, and as
 * many of a VF as its PF has given it.
 */
int meridian_lend(struct meridian *card, unsigned int *queue);

/**
 * meridian_take_back() - end what meridian_lend() began
 * @card: the card
 * @queue: of meridian_lend()
 *
 * When this returns, nothing is written for the queue any more; commands that are under way fail.
 */
int meridian_take_back(struct meridian *card, unsigned int queue);

/**
 * meridian_to_card() - write bytes into the card's memory
 * @card: a PF of one with memory-mapped queues
 * @to: address in the card's memory
 * @memory: where the bytes are
 * @offset: of the first
 * @bytes: how many, from 0 on
 *
 * Return: 0 when they are there; -EOPNOTSUPP, -EINVAL, -ENODEV, -ETIMEDOUT, or -EIO with what the card says.
 */
int meridian_to_card(struct meridian *card, uint64_t to, const struct meridian_memory *memory,
		     size_t offset, size_t bytes);

/**
 * meridian_from_card() - read bytes of the card's memory
 * @card: a PF of one with memory-mapped queues
 * @from: address in the card's memory
 * @memory: where the bytes go
 * @offset: of the first
 * @bytes: how many, from 0 on
 *
 * Return: as meridian_to_card().
 */
int meridian_from_card(struct meridian *card, uint64_t from, const struct meridian_memory *memory,
		       size_t offset, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
