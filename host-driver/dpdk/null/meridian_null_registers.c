/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of the null card: what a PF looks at, and contexts as they make queues. */
#include "qdma/qdma_device.h"
#include "meridian_bus.h"
#include "meridian_null.h"

#define GIGABITS	25
#define HOST_MHZ	250
#define CAPABILITIES	(MERIDIAN_IDENT_CAPABILITIES_MAC_TABLE_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_GROUPS_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_CREDIT_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_HASH_KEY_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK)

#define PIECES		MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK
#define SEGMENTS	(PIECES | MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK)

#define CLASSES		MERIDIAN_IDENT_CAPABILITIES_EGRESS_POOL_MASK
#define OF_PRIORITIES	0x76543210	/* in the class of the same number */
#define ALL_CLASSES	0xff
#define ONE_EACH	0x01010101
#define RATE_UNIT	488281		/* bit/s, as of a card at 25 Gb/s */

static void
set_shell(struct meridian_null_card *card, uint32_t offset, uint32_t value)
{
	card->shell[offset / 4] = value;
}

static void
begin_classes(struct meridian_null_card *card)
{
	uint32_t port;

	set_shell(card, MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_RATE_UNIT, RATE_UNIT);
	for (port = 0; port < MERIDIAN_EGRESS_CLASSES_MAX; port++) {
		set_shell(card, MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_CLASSES(port),
			  OF_PRIORITIES);
		set_shell(card, MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_STRICT(port), ALL_CLASSES);
		set_shell(card, MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_WEIGHTS_0_TO_3(port),
			  ONE_EACH);
		set_shell(card, MERIDIAN_EGRESS_BASE + MERIDIAN_EGRESS_WEIGHTS_4_TO_7(port),
			  ONE_EACH);
	}
}

/* A PF of one port, as after a reset. */
void
meridian_null_begin(struct meridian_null_card *card)
{
	card->registers[QDMA_IDENTIFIER / 4] = QDMA_IDENTIFIER_MAGIC << 16;
	card->registers[QDMA_CHANNEL_STREAM / 4] = QDMA_STREAMS;
	card->registers[QDMA_CHANNEL_CAPABILITY / 4] = MERIDIAN_NULL_QUEUES;
	card->registers[QDMA_MISC_CAPABILITY / 4] = QDMA_IP_EQDMA_5 << 20;
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_MAGIC, MERIDIAN_MAGIC);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_VERSION, card->version);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CAPABILITIES,
		  CAPABILITIES | (card->pieces ? PIECES : 0) | (card->segments ? SEGMENTS : 0) |
		  (card->classes ? CLASSES : 0));
	if (card->classes)
		begin_classes(card);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_GEOMETRY,
		  1u << MERIDIAN_IDENT_GEOMETRY_PORTS_SHIFT |
		  1u << MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_SHIFT);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_QUEUES,
		  MERIDIAN_NULL_QUEUES << MERIDIAN_IDENT_QUEUES_QUEUES_SHIFT |
		  8u << MERIDIAN_IDENT_QUEUES_GROUPS_SHIFT);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_MAX_FRAME, MERIDIAN_NULL_MAX_FRAME);
	set_shell(card, MERIDIAN_IDENT_BASE + MERIDIAN_IDENT_CLOCKS,
		  HOST_MHZ << MERIDIAN_IDENT_CLOCKS_HOST_MHZ_SHIFT);
	set_shell(card, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_HASH_STATUS,
		  MERIDIAN_FILTER_HASH_STATUS_DRAWN_MASK);
	set_shell(card, MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_LINK_STATUS,
		  MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK |
		  GIGABITS << MERIDIAN_PORT_LINK_STATUS_GIGABITS_SHIFT);
	set_shell(card, MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_STATUS,
		  MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK);
}

static uint32_t
slots(const struct meridian_null_card *card, const struct qdma_context *context, uint32_t field)
{
	return card->registers[QDMA_RING_SIZE(qdma_context_get(context, field)) / 4] - 1;
}

static void *
memory(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void
start_h2c(struct meridian_null_card *card, struct meridian_null_queue *queue,
	  const struct qdma_context *sw)
{
	uint32_t size = qdma_context_get(sw, QDMA_SW_DESCRIPTOR_SIZE);

	queue->h2c_slots = slots(card, sw, QDMA_SW_RING_SIZE);
	queue->pieces_log2 = size > 1 ? size - 1 : 0;
	queue->h2c_cidx = 0;
	queue->h2c = memory(qdma_context_get(sw, QDMA_SW_BASE));
}

static void
start_c2h(struct meridian_null_card *card, struct meridian_null_queue *queue,
	  const struct qdma_context *sw)
{
	queue->c2h_slots = slots(card, sw, QDMA_SW_RING_SIZE);
	queue->c2h_pidx = 0;
	queue->c2h_cidx = 0;
	queue->c2h = memory(qdma_context_get(sw, QDMA_SW_BASE));
}

static void
start_completions(struct meridian_null_card *card, struct meridian_null_queue *queue,
		  const struct qdma_context *context)
{
	queue->completion_slots = slots(card, context, QDMA_COMPLETION_RING_SIZE);
	queue->entry_log2 = qdma_context_get(context, QDMA_COMPLETION_ENTRY_SIZE);
	queue->color = qdma_context_get(context, QDMA_COMPLETION_COLOR);
	queue->pidx = 0;
	queue->cidx = 0;
	queue->completions = memory(qdma_context_get(context, QDMA_COMPLETION_BASE_HIGH) << 6 |
				    qdma_context_get(context, QDMA_COMPLETION_BASE_LOW) << 2);
}

static void
written(struct meridian_null_card *card, uint32_t select, uint32_t number)
{
	struct meridian_null_queue *queue = &card->queue[number];
	const struct qdma_context *context = &card->context[number][select];
	uint32_t index;

	switch (select) {
	case QDMA_SELECT_SW_H2C:
		start_h2c(card, queue, context);
		break;
	case QDMA_SELECT_SW_C2H:
		start_c2h(card, queue, context);
		break;
	case QDMA_SELECT_PREFETCH:
		index = qdma_context_get(context, QDMA_PREFETCH_BUFFER_SIZE);
		queue->buffer = card->registers[QDMA_BUFFER_SIZE(index) / 4];
		break;
	case QDMA_SELECT_COMPLETION:
		start_completions(card, queue, context);
		break;
	default:
		break;
	}
}

static void
ended(struct meridian_null_queue *queue, uint32_t select)
{
	if (select == QDMA_SELECT_SW_H2C)
		queue->h2c = NULL;
	else if (select == QDMA_SELECT_SW_C2H)
		queue->c2h = NULL;
	else if (select == QDMA_SELECT_COMPLETION)
		queue->completions = NULL;
}

/* As the IP does it: data and mask stand in registers, the command is done when it is written. */
static void
do_command(struct meridian_null_card *card, uint32_t command)
{
	uint32_t select = command >> 1 & 0xf, op = command >> 5 & 3, number = command >> 7 & 0x1fff;
	uint32_t i;

	if (select > QDMA_SELECT_PREFETCH || number >= MERIDIAN_NULL_QUEUES)
		return;
	for (i = 0; i < QDMA_CONTEXT_WORDS; i++) {
		uint32_t *word = &card->context[number][select].word[i];
		uint32_t *data = &card->registers[QDMA_CONTEXT_DATA(i) / 4];
		uint32_t mask = card->registers[QDMA_CONTEXT_MASK(i) / 4];

		if (op == QDMA_CONTEXT_CLEAR)
			*word = 0;
		else if (op == QDMA_CONTEXT_WRITE)
			*word = (*word & ~mask) | (*data & mask);
		else if (op == QDMA_CONTEXT_READ)
			*data = *word;
	}
	if (op == QDMA_CONTEXT_WRITE)
		written(card, select, number);
	else if (op == QDMA_CONTEXT_CLEAR || op == QDMA_CONTEXT_INVALIDATE)
		ended(&card->queue[number], select);
}

static uint32_t *
place(struct meridian_null_card *card, unsigned int bar, uint32_t offset)
{
	if (bar == MERIDIAN_BAR_QDMA)
		return offset / 4 < MERIDIAN_NULL_REGISTERS ? &card->registers[offset / 4] : NULL;
	return offset / 4 < MERIDIAN_NULL_SHELL ? &card->shell[offset / 4] : NULL;
}

uint32_t
meridian_null_read(struct meridian_null_card *card, unsigned int bar, uint32_t offset)
{
	const uint32_t *word = place(card, bar, offset);

	return word != NULL ? *word : 0;
}

void
meridian_null_write(struct meridian_null_card *card, unsigned int bar, uint32_t offset,
		    uint32_t value)
{
	uint32_t *word = place(card, bar, offset);

	if (bar == MERIDIAN_BAR_QDMA && offset == QDMA_CONTEXT_COMMAND)
		do_command(card, value);
	else if (bar == MERIDIAN_BAR_SHELL &&
		 offset == MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_MAC_COMMAND)
		meridian_null_filter(card, value);
	else if (word != NULL)
		*word = value;
}
