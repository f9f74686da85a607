// SPDX-License-Identifier: BSD-3-Clause
/* Cards: how one is taken and given back, and its registers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../include/meridian_regs.h"
#include "card.h"

#define CHANNEL_MEMORY	0x114	/* register of the DMA engine: bits 0 and 8, memory-mapped queues of each direction */
#define BOTH_MEMORY	0x00000101u

u32 qdma_os_read(const void *bar, u32 offset)
{
	const struct meridian *card = bar;

	return card->bus->read(card->bus, 0, offset);
}

void qdma_os_write(void *bar, u32 offset, u32 value)
{
	struct meridian *card = bar;

	card->bus->write(card->bus, 0, offset, value);
}

void qdma_os_delay_us(u32 us)
{
	struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

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

static int check_offset(struct meridian *card, uint32_t offset)
{
	if (offset % 4)
		return meridian_say(card, -EINVAL, "0x%x is no place of a register: choose a multiple of 4",
				    offset);
	if (offset >= card->bus->bar2_bytes)
		return meridian_say(card, -EINVAL, "BAR2 has nothing at 0x%x: it has 0x%llx bytes", offset,
				    (unsigned long long)card->bus->bar2_bytes);
	return 0;
}

EXPORTED int meridian_read32(struct meridian *card, uint32_t offset, uint32_t *value)
{
	int error = check_offset(card, offset);

	if (error)
		return error;
	*value = card->bus->read(card->bus, 2, offset);
	/* A register may have all ones, the card's first one never has. */
	if (*value == UINT32_MAX && !qdma_present(&card->qdma))
		return meridian_queue_failed(card, -ENODEV);
	return 0;
}

EXPORTED int meridian_write32(struct meridian *card, uint32_t offset, uint32_t value)
{
	int error = check_offset(card, offset);

	if (!error)
		card->bus->write(card->bus, 2, offset, value);
	return error;
}

static int check_box(struct meridian *card, unsigned int box, uint32_t offset)
{
	bool at_host = box == MERIDIAN_BOX_AT_HOST;

	if (card->qdma.is_vf)
		return meridian_say(card, -EPERM, "registers of a module are a PF's: have a program with a PF write them, and name the VF's queue there");
	if (box > MERIDIAN_BOX_AT_HOST)
		return meridian_say(card, -EINVAL, "there is no place %u of a module: choose 0 to 3 for a port's wire, or 4 for the host",
				    box);
	if (!(card->capabilities & (at_host ? MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK :
				    MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK)))
		return meridian_say(card, -ENODEV, "the card has no module at the %s: build the bitstream with %s",
				    at_host ? "host" : "wire", at_host ? "HOST_BOX" : "BOX");
	if (!at_host && box >= card->ports)
		return meridian_say(card, -ENODEV, "the card has no port %u: it has %u", box, card->ports);
	if (offset % 4 || offset >= 1u << 16)
		return meridian_say(card, -EINVAL, "a module has no register at 0x%x: choose a multiple of 4 below 0x10000",
				    offset);
	return 0;
}

EXPORTED int meridian_box_read(struct meridian *card, unsigned int box, uint32_t offset, uint32_t *value)
{
	int error = check_box(card, box, offset);

	return error ? error : meridian_read32(card, MERIDIAN_BOX_WINDOW_BASE(box) + offset, value);
}

EXPORTED int meridian_box_write(struct meridian *card, unsigned int box, uint32_t offset, uint32_t value)
{
	int error = check_box(card, box, offset);

	return error ? error : meridian_write32(card, MERIDIAN_BOX_WINDOW_BASE(box) + offset, value);
}
