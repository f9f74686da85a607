// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The command interface to contexts. A card has one, whichever PF uses it: callers keep to one at a
 * time.
 */
#include "qdma_context.h"
#include "qdma_device.h"
#include "qdma_regs.h"

/* PG302 names no limit; the public drivers give up after half a second. */
#define COMMAND_POLL_US		10
#define COMMAND_POLLS		50000

/**
 * qdma_context_set() - set a field
 * @context: the context it is of
 * @field: a QDMA_FIELD
 * @value: bits beyond the field's width are left out
 */
void qdma_context_set(struct qdma_context *context, u32 field, u64 value)
{
	u32 lsb = field >> 8, width = field & 0xff;

	while (width) {
		u32 shift = lsb % 32;
		u32 take = width < 32 - shift ? width : 32 - shift;
		u32 ones = take == 32 ? QDMA_ALL_ONES : (1u << take) - 1;
		u32 *word = &context->word[lsb / 32];

		*word = (*word & ~(ones << shift)) | ((u32)value & ones) << shift;
		value >>= take;
		lsb += take;
		width -= take;
	}
}

/**
 * qdma_context_get() - a field's value
 * @context: the context it is of
 * @field: a QDMA_FIELD
 *
 * Return: the value, zero extended.
 */
u64 qdma_context_get(const struct qdma_context *context, u32 field)
{
	u32 lsb = field >> 8, width = field & 0xff;
	u64 value = 0;
	u32 done = 0;

	while (done < width) {
		u32 shift = (lsb + done) % 32;
		u32 left = width - done;
		u32 take = left < 32 - shift ? left : 32 - shift;
		u32 ones = take == 32 ? QDMA_ALL_ONES : (1u << take) - 1;

		value |= (u64)(context->word[(lsb + done) / 32] >> shift & ones) << done;
		done += take;
	}
	return value;
}

/**
 * qdma_context_command() - give a command and wait until it is done
 * @qdma: a PF
 * @op: what to do
 * @select: with which kind of context
 * @number: the absolute queue; for FMAP the function, for interrupt rings the ring
 *
 * Return: 0, -EBUSY after half a second, -ENODEV if the card is gone.
 */
int qdma_context_command(struct qdma_device *qdma, enum qdma_context_op op,
			 enum qdma_context_select select, u32 number)
{
	u32 polls;

	if (qdma->gone)
		return -ENODEV;
	qdma_os_write(qdma->bar, QDMA_CONTEXT_COMMAND,
		      number << 7 | (u32)op << 5 | (u32)select << 1);
	for (polls = 0; polls < COMMAND_POLLS; polls++) {
		u32 word = qdma_read(qdma, QDMA_CONTEXT_COMMAND);

		if (word == QDMA_ALL_ONES && !qdma_present(qdma))
			return -ENODEV;
		if (!(word & QDMA_CONTEXT_BUSY))
			return 0;
		qdma_os_delay_us(COMMAND_POLL_US);
	}
	return -EBUSY;
}

/**
 * qdma_context_write() - write a whole context
 * @qdma: a PF
 * @select: kind of context
 * @number: as of qdma_context_command()
 * @context: its words
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_context_write(struct qdma_device *qdma, enum qdma_context_select select, u32 number,
		       const struct qdma_context *context)
{
	u32 i;

	for (i = 0; i < QDMA_CONTEXT_WORDS; i++)
		qdma_os_write(qdma->bar, QDMA_CONTEXT_DATA(i), context->word[i]);
	for (i = 0; i < QDMA_CONTEXT_WORDS; i++)
		qdma_os_write(qdma->bar, QDMA_CONTEXT_MASK(i), QDMA_ALL_ONES);
	return qdma_context_command(qdma, QDMA_CONTEXT_WRITE, select, number);
}

/**
 * qdma_context_read() - read a whole context
 * @qdma: a PF
 * @select: kind of context
 * @number: as of qdma_context_command()
 * @context: where its words go
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_context_read(struct qdma_device *qdma, enum qdma_context_select select, u32 number,
		      struct qdma_context *context)
{
	int error = qdma_context_command(qdma, QDMA_CONTEXT_READ, select, number);
	u32 i;

	if (error)
		return error;
	for (i = 0; i < QDMA_CONTEXT_WORDS; i++)
		context->word[i] = qdma_read(qdma, QDMA_CONTEXT_DATA(i));
	return 0;
}

/* PG302 5.0, "Function Map Table": the mailbox has its own map, for a function's reset by it. */
static void map_in_mailbox(struct qdma_device *qdma, u32 function, u32 base, u32 count)
{
	if (qdma->has_mailbox && qdma->ip >= QDMA_IP_EQDMA_5 && !qdma->gone)
		qdma_os_write(qdma->bar, qdma->mailbox + QDMA_MAILBOX_MAP(function),
			      count << 12 | base);
}

/**
 * qdma_map_function() - say which queues are a function's
 * @qdma: a PF
 * @function: whose
 * @base: the first of them, absolute
 * @count: how many; 0: none
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_map_function(struct qdma_device *qdma, u32 function, u32 base, u32 count)
{
	struct qdma_context fmap = { { 0 } };
	int error;

	error = qdma_context_command(qdma, QDMA_CONTEXT_CLEAR, QDMA_SELECT_FMAP, function);
	map_in_mailbox(qdma, function, count ? base : 0, count);
	if (error || !count)
		return error;
	qdma_context_set(&fmap, QDMA_FMAP_BASE, base);
	qdma_context_set(&fmap, QDMA_FMAP_COUNT, count);
	return qdma_context_write(qdma, QDMA_SELECT_FMAP, function, &fmap);
}
