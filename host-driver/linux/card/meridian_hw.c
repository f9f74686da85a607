// SPDX-License-Identifier: GPL-2.0-only
/* Registers of the shell in BAR2. */
#include <linux/bitfield.h>

#include "meridian.h"
#include "meridian_hw.h"

/*
 * The MAC clocks see a switch some cycles after it was written; a read of their block takes longer.
 */
#define CROSSING_READS	2

u32 meridian_read(struct meridian *m, u32 offset)
{
	return readl(m->shell + offset);
}

void meridian_write(struct meridian *m, u32 offset, u32 value)
{
	writel(value, m->shell + offset);
}

u32 meridian_read_function(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_FUNCTION_BASE(m->function) + offset);
}

void meridian_write_function(struct meridian *m, u32 offset, u32 value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(m->function) + offset, value);
}

/**
 * meridian_present() - look whether the card answers and has not been given up
 * @m: the function
 *
 * Context: Does not sleep.
 * Return: whether it does; false while a reset is under way that was announced.
 */
bool meridian_present(struct meridian *m)
{
	return !test_bit(MERIDIAN_FLAG_RESET, &m->flags) && qdma_present(&m->qdma);
}

/**
 * meridian_flush() - wait until what was written is in force
 * @m: the function
 *
 * Writes are posted, and a doorbell may overtake one to BAR2.
 *
 * Context: Does not sleep.
 */
void meridian_flush(struct meridian *m)
{
	int i;

	for (i = 0; i < CROSSING_READS; i++)
		meridian_read(m, MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE);
}

/**
 * meridian_enforce_credit() - have frames whose queue has too few buffers dropped and counted
 * @m: a PF
 *
 * Context: Does not sleep.
 */
void meridian_enforce_credit(struct meridian *m)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT,
		       MERIDIAN_FILTER_CREDIT_ENFORCE_MASK);
}

/**
 * meridian_set_queues() - say which queues the frames of a function may go to
 * @m: a PF
 * @function: it, or one of its VFs
 * @base: the first
 * @count: from there on; 0 switches the function off
 *
 * In force when it returns, as is meridian_enforce_credit().
 *
 * Context: Does not sleep.
 */
void meridian_set_queues(struct meridian *m, u32 function, u32 base, u32 count)
{
	if (count)
		meridian_enforce_credit(m);
	meridian_write(m, MERIDIAN_FUNCTION_BASE(function) + MERIDIAN_FUNCTION_QCONF,
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_BASE_MASK, count ? base : 0) |
		       FIELD_PREP(MERIDIAN_FUNCTION_QCONF_COUNT_MASK, count));
	/* Another driver may have gone meanwhile: see meridian_release_credit(). */
	if (count)
		meridian_enforce_credit(m);
	meridian_flush(m);
}

/* Whether frames may go to queues of any of the card's functions; true if it does not answer. */
static bool has_queues(struct meridian *m)
{
	u32 function, queues = 0;

	for (function = 0; function < m->functions && !queues; function++)
		queues = FIELD_GET(MERIDIAN_FUNCTION_QCONF_COUNT_MASK,
				   meridian_read(m, MERIDIAN_FUNCTION_BASE(function) +
						    MERIDIAN_FUNCTION_QCONF));
	return queues;
}

/**
 * meridian_release_credit() - have frames whose queue has too few buffers wait, as after a reset
 * @m: a PF without queues
 *
 * Then all frames that follow wait, too, so it does nothing while another function has queues. PFs
 * may have drivers that share nothing with this one. Each of them has such frames dropped before
 * and after it gives a function queues, and this one looks for queues before and after its write.
 *
 * Context: Does not sleep.
 */
void meridian_release_credit(struct meridian *m)
{
	if (has_queues(m))
		return;
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT, 0);
	if (has_queues(m))
		meridian_enforce_credit(m);
}

/**
 * meridian_set_buffer_size() - say how large a queue's receive buffers are
 * @m: a function
 * @queue: absolute
 * @bytes: of a buffer
 *
 * The shell counts buffers by it. To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_buffer_size(struct meridian *m, u32 queue, u32 bytes)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_BUFFER_SIZE,
		       FIELD_PREP(MERIDIAN_FILTER_BUFFER_SIZE_BYTES_MASK, bytes) |
		       FIELD_PREP(MERIDIAN_FILTER_BUFFER_SIZE_QUEUE_MASK, queue));
}

static void set_switch(struct meridian *m, u32 queue, u32 mask, bool on)
{
	u32 offset = MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(queue);
	u32 value = meridian_read(m, offset);

	meridian_write(m, offset, on ? value | mask : value & ~mask);
}

/**
 * meridian_set_entry_size() - say how much a queue's completions tell
 * @m: a function
 * @queue: absolute
 * @entry_log2: they have 8 << entry_log2 bytes
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_entry_size(struct meridian *m, u32 queue, u32 entry_log2)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK, entry_log2);
}

/**
 * meridian_set_paced() - hold a transmit queue to the rates of its function, or no longer
 * @m: a function
 * @queue: absolute
 * @on: its context must fetch descriptors on credit
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_paced(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_PACED_MASK, on);
}

/**
 * meridian_set_tx_offload() - take a transmit queue's metadata as requests, or as nothing
 * @m: a function
 * @queue: absolute
 * @on: see @m
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_tx_offload(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK, on);
}

/**
 * meridian_set_tx_segments() - whether metadata of a transmit queue may ask for segments
 * @m: a function
 * @queue: absolute
 * @on: see @m
 *
 * To be flushed before the queue starts.
 *
 * Context: Does not sleep.
 */
void meridian_set_tx_segments(struct meridian *m, u32 queue, bool on)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_MASK, on);
}

/**
 * meridian_can() - look what the card has
 * @m: the function
 * @capability: MERIDIAN_IDENT_CAPABILITIES_*_MASK
 *
 * Context: Does not sleep.
 * Return: whether it has it for this function.
 */
bool meridian_can(const struct meridian *m, u32 capability)
{
	return m->capabilities & capability;
}

/**
 * meridian_link_up() - the link of the function's port
 * @m: the function
 *
 * Context: Does not sleep.
 * Return: whether it is up; false if the card does not answer.
 */
bool meridian_link_up(struct meridian *m)
{
	u32 status = meridian_read_function(m, MERIDIAN_FUNCTION_STATUS);

	return status != QDMA_ALL_ONES && (status & MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK);
}
