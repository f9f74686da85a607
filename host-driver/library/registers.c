// SPDX-License-Identifier: BSD-3-Clause
/* Registers of the shell and of a module. */
#include <errno.h>

#include "../include/meridian_regs.h"
#include "card.h"

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
