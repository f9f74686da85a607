// SPDX-License-Identifier: BSD-3-Clause
/* Cards: how one is taken and given back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/meridian_regs.h"
#include "card.h"

#define CHANNEL_MEMORY	0x114	/* register of the DMA engine: bits 0 and 8, memory-mapped queues of each direction */
#define BOTH_MEMORY	0x00000101u

/* The shell tells whose card it is, and of which version, to a PF in one place and to a VF in another. */
static int check_shell(struct meridian *card, uint32_t magic, uint32_t version)
{
	if (card->bus->read(card->bus, 2, magic) != MERIDIAN_MAGIC)
		return meridian_say_open(-ENXIO, "%s: this is no Meridian card: its shell has no MRDN at its beginning",
					 card->name);
	version = card->bus->read(card->bus, 2, version);
	if (version >> 16 != MERIDIAN_MAP_MAJOR)
		return meridian_say_open(-EPROTO, "%s: the bitstream has register map %u.%u, and this libmeridian is for %u: build both of one version",
					 card->name, version >> 16, version & 0xffff,
					 MERIDIAN_MAP_MAJOR);
	return 0;
}

static uint32_t read_ident(struct meridian *card, uint32_t offset)
{
	return card->bus->read(card->bus, 2, MERIDIAN_IDENT_BASE + offset);
}

/* Whether it is a card of this library's. */
static int identify(struct meridian *card)
{
	int error;

	error = qdma_identify(&card->qdma, card);
	if (error && !qdma_identify_vf(&card->qdma, card))
		return check_shell(card, MERIDIAN_VF_MAGIC, MERIDIAN_VF_VERSION);
	if (error == -ENODEV)
		return meridian_say_open(error, "%s: the card does not answer: look whether it has a bitstream",
					 card->name);
	if (error)
		return meridian_say_open(-ENXIO, "%s: this is no card with a DMA engine of the kind that Meridian has",
					 card->name);
	error = check_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_MAGIC,
			    MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_VERSION);
	if (error)
		return error;
	card->capabilities = read_ident(card, MERIDIAN_IDENT_CAPABILITIES);
	card->ports = read_ident(card, MERIDIAN_IDENT_GEOMETRY) & MERIDIAN_IDENT_GEOMETRY_PORTS_MASK;
	/* Timers of all functions count it. */
	card->qdma.user_mhz = read_ident(card, MERIDIAN_IDENT_CLOCKS) & MERIDIAN_IDENT_CLOCKS_HOST_MHZ_MASK;
	card->has_memory = (qdma_read(&card->qdma, CHANNEL_MEMORY) & BOTH_MEMORY) == BOTH_MEMORY;
	return 0;
}

EXPORTED int meridian_attach(struct meridian_bus *bus, const char *name, struct meridian **card)
{
	struct meridian *it = calloc(1, sizeof(*it));
	int error;

	if (!it) {
		bus->close(bus);
		return meridian_say_open(-ENOMEM, "%s: there is no memory for the card", name);
	}
	it->bus = bus;
	it->patience_ms = 10000;
	it->process = getpid();
	snprintf(it->name, sizeof(it->name), "%s", name);
	error = identify(it);
	if (!error) {
		error = meridian_start_queues(it);
		if (error)
			meridian_say_open(error, "%s", it->text);
	}
	if (error) {
		meridian_close(it);
		return error;
	}
	meridian_say_open(0, "%s", "");
	*card = it;
	return 0;
}

EXPORTED int meridian_open(const char *name, struct meridian **card)
{
	struct meridian_bus *bus;
	int error = meridian_vfio_open(name, &bus);

	return error ? error : meridian_attach(bus, name, card);
}

EXPORTED void meridian_close(struct meridian *card)
{
	/* A child of fork() has files of the card, too, and would end what its parent has. */
	if (!card || card->process != getpid())
		return;
	if (card->is_open)
		meridian_stop_queues(card);
	if (card->bus->stop)
		card->bus->stop(card->bus);
	meridian_free_all(card);
	card->bus->close(card->bus);
	free(card);
}

EXPORTED void meridian_set_patience(struct meridian *card, unsigned int milliseconds)
{
	card->patience_ms = milliseconds;
}
