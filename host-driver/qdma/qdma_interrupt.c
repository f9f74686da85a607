// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Interrupt rings: how a PF makes one, ends it, and says how far it has read. */
#include "qdma_interrupt.h"

#include "qdma_context.h"
#include "qdma_regs.h"

/**
 * qdma_interrupt_start() - make an interrupt ring
 * @qdma: a PF, none of whose queues names the ring
 * @setting: of the ring
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_interrupt_start(struct qdma_device *qdma, const struct qdma_interrupt_setting *setting)
{
	struct qdma_context ring = { { 0 } };
	int error = qdma_context_command(qdma, QDMA_CONTEXT_CLEAR, QDMA_SELECT_INTERRUPT_RING,
					 setting->ring);

	if (error)
		return error;
	qdma_context_set(&ring, QDMA_INTERRUPT_RING_VALID, 1);
	qdma_context_set(&ring, QDMA_INTERRUPT_RING_VECTOR, setting->vector);
	qdma_context_set(&ring, QDMA_INTERRUPT_RING_COLOR, 1);
	qdma_context_set(&ring, QDMA_INTERRUPT_RING_BASE_4K, setting->entries >> 12);
	qdma_context_set(&ring, QDMA_INTERRUPT_RING_FUNCTION, setting->function);
	return qdma_context_write(qdma, QDMA_SELECT_INTERRUPT_RING, setting->ring, &ring);
}

/**
 * qdma_interrupt_stop() - take an interrupt ring away
 * @qdma: a PF, none of whose queues names the ring any more
 * @ring: its number within the card
 *
 * When this returns and a register was read, the card touches the ring's memory no more.
 *
 * Return: 0 or a negative error of qdma_context_command().
 */
int qdma_interrupt_stop(struct qdma_device *qdma, u32 ring)
{
	return qdma_context_command(qdma, QDMA_CONTEXT_INVALIDATE, QDMA_SELECT_INTERRUPT_RING,
				    ring);
}

/**
 * qdma_interrupt_doorbell() - tell the card how far an interrupt ring is read
 * @qdma: the function that is interrupted
 * @ring: its number within the card
 * @cidx: the first entry that was not read
 *
 * The card interrupts again if it has written more.
 */
void qdma_interrupt_doorbell(struct qdma_device *qdma, u32 ring, u32 cidx)
{
	/* The queue does not matter. */
	qdma_os_write(qdma->bar, qdma->doorbells + QDMA_DOORBELL_RING_CIDX, ring << 16 | cidx);
}
