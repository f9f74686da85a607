// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Contexts of queues: of streams, and for commands of the card's own logic. */
#include "qdma_queue.h"

#include "qdma_context.h"

#define H2C_DESCRIPTOR_SIZE	1	/* 8 << 1 bytes */

static const enum qdma_context_select h2c_contexts[] = {
	QDMA_SELECT_SW_H2C, QDMA_SELECT_HW_H2C, QDMA_SELECT_CREDIT_H2C,
};

static const enum qdma_context_select c2h_contexts[] = {
	QDMA_SELECT_SW_C2H, QDMA_SELECT_HW_C2H, QDMA_SELECT_CREDIT_C2H, QDMA_SELECT_PREFETCH,
	QDMA_SELECT_COMPLETION,
};

static int each(struct qdma_device *qdma, enum qdma_context_op op, u32 queue,
		const enum qdma_context_select *contexts, u32 count)
{
	int error = 0;
	u32 i;

	/* All of them, whatever one says: a queue is not to be left half alive. */
	for (i = 0; i < count; i++) {
		int now = qdma_context_command(qdma, op, contexts[i], queue);

		error = error ? error : now;
	}
	return error;
}

static int each_h2c(struct qdma_device *qdma, enum qdma_context_op op, u32 queue)
{
	return each(qdma, op, queue, h2c_contexts, ARRAY_SIZE(h2c_contexts));
}

static int each_c2h(struct qdma_device *qdma, enum qdma_context_op op, u32 queue)
{
	return each(qdma, op, queue, c2h_contexts, ARRAY_SIZE(c2h_contexts));
}

/**
 * qdma_h2c_start() - make a transmit queue's contexts
 * @qdma: a PF
 * @setting: of the queue
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_h2c_start(struct qdma_device *qdma, const struct qdma_h2c_setting *setting)
{
	struct qdma_context sw = { { 0 } };
	int error = each_h2c(qdma, QDMA_CONTEXT_CLEAR, setting->queue);

	if (error)
		return error;
	qdma_context_set(&sw, QDMA_SW_FUNCTION, setting->function);
	qdma_context_set(&sw, QDMA_SW_ENABLE, 1);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK_PENDING, 1);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK_INTERVAL, 1);
	qdma_context_set(&sw, QDMA_SW_RING_SIZE, setting->ring_index);
	qdma_context_set(&sw, QDMA_SW_DESCRIPTOR_SIZE,
			 H2C_DESCRIPTOR_SIZE + setting->pieces_log2);
	qdma_context_set(&sw, QDMA_SW_WRITE_BACK, 1);
	qdma_context_set(&sw, QDMA_SW_IRQ_ENABLE, setting->interrupt);
	qdma_context_set(&sw, QDMA_SW_BASE, setting->ring);
	qdma_context_set(&sw, QDMA_SW_VECTOR, setting->vector);
	qdma_context_set(&sw, QDMA_SW_AGGREGATE, setting->aggregate);
	qdma_context_set(&sw, QDMA_SW_FETCH_CREDIT, setting->on_credit);
	return qdma_context_write(qdma, QDMA_SELECT_SW_H2C, setting->queue, &sw);
}

/**
 * qdma_h2c_stop() - take a transmit queue away
 * @qdma: a PF
 * @queue: absolute
 *
 * When this returns and a register was read, the card touches the queue's memory no more.
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_h2c_stop(struct qdma_device *qdma, u32 queue)
{
	return each_h2c(qdma, QDMA_CONTEXT_INVALIDATE, queue);
}

static int write_c2h(struct qdma_device *qdma, const struct qdma_c2h_setting *setting)
{
	struct qdma_context sw = { { 0 } };

	qdma_context_set(&sw, QDMA_SW_FUNCTION, setting->function);
	qdma_context_set(&sw, QDMA_SW_ENABLE, 1);
	qdma_context_set(&sw, QDMA_SW_FETCH_CREDIT, 1);
	qdma_context_set(&sw, QDMA_SW_RING_SIZE, setting->ring_index);
	qdma_context_set(&sw, QDMA_SW_BASE, setting->ring);
	qdma_context_set(&sw, QDMA_SW_VECTOR, setting->vector);
	qdma_context_set(&sw, QDMA_SW_AGGREGATE, setting->aggregate);
	return qdma_context_write(qdma, QDMA_SELECT_SW_C2H, setting->queue, &sw);
}

static int write_prefetch(struct qdma_device *qdma, const struct qdma_c2h_setting *setting)
{
	struct qdma_context prefetch = { { 0 } };

	qdma_context_set(&prefetch, QDMA_PREFETCH_BUFFER_SIZE, setting->buffer_index);
	qdma_context_set(&prefetch, QDMA_PREFETCH_ENABLE, setting->prefetch);
	qdma_context_set(&prefetch, QDMA_PREFETCH_VALID, 1);
	return qdma_context_write(qdma, QDMA_SELECT_PREFETCH, setting->queue, &prefetch);
}

static int write_completion(struct qdma_device *qdma, const struct qdma_c2h_setting *setting)
{
	struct qdma_context completion = { { 0 } };

	qdma_context_set(&completion, QDMA_COMPLETION_STATUS_ENABLE, 1);
	qdma_context_set(&completion, QDMA_COMPLETION_IRQ_ENABLE, setting->interrupt);
	qdma_context_set(&completion, QDMA_COMPLETION_TRIGGER, setting->trigger);
	qdma_context_set(&completion, QDMA_COMPLETION_FUNCTION, setting->function);
	qdma_context_set(&completion, QDMA_COMPLETION_COUNTER, setting->counter_index);
	qdma_context_set(&completion, QDMA_COMPLETION_TIMER, setting->timer_index);
	qdma_context_set(&completion, QDMA_COMPLETION_COLOR, 1);
	qdma_context_set(&completion, QDMA_COMPLETION_RING_SIZE, setting->completion_index);
	qdma_context_set(&completion, QDMA_COMPLETION_BASE_HIGH, setting->completions >> 6);
	qdma_context_set(&completion, QDMA_COMPLETION_BASE_LOW, setting->completions >> 2);
	qdma_context_set(&completion, QDMA_COMPLETION_ENTRY_SIZE, setting->entry_log2);
	qdma_context_set(&completion, QDMA_COMPLETION_VALID, 1);
	qdma_context_set(&completion, QDMA_COMPLETION_FULL_UPDATE, setting->full_update);
	qdma_context_set(&completion, QDMA_COMPLETION_VECTOR, setting->vector);
	qdma_context_set(&completion, QDMA_COMPLETION_AGGREGATE, setting->aggregate);
	qdma_context_set(&completion, QDMA_COMPLETION_IS_C2H, 1);
	return qdma_context_write(qdma, QDMA_SELECT_COMPLETION, setting->queue, &completion);
}

/**
 * qdma_c2h_start() - make a receive queue's contexts
 * @qdma: a PF
 * @setting: of the queue
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_c2h_start(struct qdma_device *qdma, const struct qdma_c2h_setting *setting)
{
	int error = each_c2h(qdma, QDMA_CONTEXT_CLEAR, setting->queue);

	if (!error)
		error = write_c2h(qdma, setting);
	if (!error)
		error = write_prefetch(qdma, setting);
	if (!error)
		error = write_completion(qdma, setting);
	return error;
}

/**
 * qdma_c2h_stop() - take a receive queue away
 * @qdma: a PF
 * @queue: absolute
 *
 * When this returns and a register was read, the card touches the queue's memory no more.
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_c2h_stop(struct qdma_device *qdma, u32 queue)
{
	return each_c2h(qdma, QDMA_CONTEXT_INVALIDATE, queue);
}

/**
 * qdma_commands_start() - let the card's own logic read or write memory of a function
 * @qdma: a PF
 * @queue: absolute, by which commands name the function
 * @function: whose memory
 * @is_c2h: it writes; else it reads
 *
 * qdma_h2c_stop() or qdma_c2h_stop() ends it.
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_commands_start(struct qdma_device *qdma, u32 queue, u32 function, bool is_c2h)
{
	struct qdma_context sw = { { 0 } };
	int error = is_c2h ? each_c2h(qdma, QDMA_CONTEXT_CLEAR, queue) :
			     each_h2c(qdma, QDMA_CONTEXT_CLEAR, queue);

	if (error)
		return error;
	qdma_context_set(&sw, QDMA_SW_FUNCTION, function);
	qdma_context_set(&sw, QDMA_SW_ENABLE, 1);
	qdma_context_set(&sw, QDMA_SW_BYPASS, 1);
	return qdma_context_write(qdma, is_c2h ? QDMA_SELECT_SW_C2H : QDMA_SELECT_SW_H2C, queue,
				  &sw);
}
