// SPDX-License-Identifier: BSD-3-Clause
/* Queues of the program: those that a module uses for its commands. */
#include <errno.h>

#include "../include/meridian_regs.h"
#include "card.h"

static const enum qdma_context_select contexts[] = {
	QDMA_SELECT_SW_H2C, QDMA_SELECT_HW_H2C, QDMA_SELECT_CREDIT_H2C, QDMA_SELECT_SW_C2H,
	QDMA_SELECT_HW_C2H, QDMA_SELECT_CREDIT_C2H, QDMA_SELECT_PREFETCH, QDMA_SELECT_COMPLETION,
};

static int each(struct meridian *card, enum qdma_context_op op, u32 queue)
{
	int error = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		int now = qdma_context_command(&card->qdma, op, contexts[i], queue);

		error = error ? error : now;
	}
	return error;
}

/* As the drivers share them: a part for each PF, in order. */
int meridian_start_queues(struct meridian *card)
{
	u32 queue;
	int error;

	if (card->qdma.is_vf)
		return meridian_vf_start(card);
	card->queues = MERIDIAN_QUEUES;
	card->queue_base = card->qdma.queues / 4 * card->qdma.function;
	if (card->qdma.queues / 4 < MERIDIAN_QUEUES)
		return meridian_say(card, -ENXIO, "the card has %u queues, too few for this library",
				    card->qdma.queues);
	qdma_write_tables(&card->qdma, &qdma_default_tables);
	/* What programs of before have left would hide the first error of this one. */
	qdma_os_write(card->qdma.bar, QDMA_DESCRIPTOR_ERROR, QDMA_ALL_ONES);
	if (qdma_check_tables(&card->qdma))
		return meridian_say(card, -EIO, "the card does not keep its tables: look whether another program uses it");
	error = qdma_map_function(&card->qdma, card->qdma.function, card->queue_base,
				  MERIDIAN_QUEUES);
	for (queue = 0; !error && queue < MERIDIAN_QUEUES; queue++)
		error = each(card, QDMA_CONTEXT_CLEAR, card->queue_base + queue);
	if (error) {
		qdma_map_function(&card->qdma, card->qdma.function, 0, 0);
		return meridian_queue_failed(card, error);
	}
	card->is_open = true;
	return 0;
}

void meridian_stop_queues(struct meridian *card)
{
	int error = 0;
	u32 queue;

	if (card->qdma.is_vf) {
		meridian_vf_stop(card);
		return;
	}
	meridian_stop_rings(card);
	/* A card that does not end one command ends no other. */
	for (queue = 1; !error && queue < MERIDIAN_QUEUES; queue++)
		if (card->lent & 1u << queue)
			error = meridian_take_back(card, card->queue_base + queue);
	qdma_map_function(&card->qdma, card->qdma.function, 0, 0);
}

static bool has_commands(struct meridian *card)
{
	uint32_t status = 0;

	return card->capabilities & MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK &&
	       !meridian_read32(card, MERIDIAN_BOX_BASE(MERIDIAN_BOX_AT_HOST) + MERIDIAN_BOX_STATUS,
				&status) &&
	       status & MERIDIAN_BOX_STATUS_DMA_MASK;
}

/* Both directions. */
static int lend(struct meridian *card, u32 queue)
{
	int error;

	if (!has_commands(card))
		return meridian_say(card, -EOPNOTSUPP, "the card has no module that reads or writes host memory: build the bitstream with one, and with the DMA engine meridian");
	error = qdma_commands_start(&card->qdma, queue, card->qdma.function, false);
	if (!error)
		error = qdma_commands_start(&card->qdma, queue, card->qdma.function, true);
	if (!error)
		return 0;
	each(card, QDMA_CONTEXT_INVALIDATE, queue);
	return meridian_queue_failed(card, error);
}

EXPORTED int meridian_lend(struct meridian *card, unsigned int *queue)
{
	/* The first one of a PF is for transfers. */
	u32 first = card->qdma.is_vf ? 0 : 1, number = first;
	int error;

	while (number < card->queues && card->lent & 1u << number)
		number++;
	if (number == card->queues)
		return meridian_say(card, -EBUSY, "%u queues are lent already: take one back",
				    card->queues - first);
	error = card->qdma.is_vf ? meridian_vf_lend(card, card->queue_base + number) :
				   lend(card, card->queue_base + number);
	if (error)
		return error;
	card->lent |= 1u << number;
	*queue = card->queue_base + number;
	return 0;
}

EXPORTED int meridian_take_back(struct meridian *card, unsigned int queue)
{
	u32 number = queue - card->queue_base;
	int error;

	if (number >= card->queues || !(card->lent & 1u << number))
		return meridian_say(card, -EINVAL, "queue %u is not lent", queue);
	if (card->qdma.is_vf) {
		error = meridian_vf_take_back(card, queue);
		if (error)
			return error;
	} else {
		error = each(card, QDMA_CONTEXT_INVALIDATE, queue);
		if (error)
			return meridian_queue_failed(card, error);
	}
	card->lent &= ~(1u << number);
	return 0;
}
