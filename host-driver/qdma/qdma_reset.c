// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Resets of a function by its mailbox, and by the contexts of its queues. */
#include "qdma_context.h"
#include "qdma_queue.h"
#include "qdma_regs.h"
#include "qdma_reset.h"

/* The product guides name no limit. PCIe gives a function 100 ms for its own reset. */
#define RESET_POLL_US	100
#define RESET_POLLS	2000

/**
 * qdma_reset_function() - reset a function by its mailbox's register
 * @qdma: the function, PF or VF
 *
 * Takes from the function the queues of the mailbox's map and all messages, and tells the shell; of
 * a PF, its VFs' too. A function whose IP has no such register is as it was: PG302's register list
 * of VFs does not name it, so nothing may depend on it alone.
 *
 * Return: 0; -EBUSY if it is not done after 200 ms, -ENODEV if the card is gone.
 */
int qdma_reset_function(struct qdma_device *qdma)
{
	u32 polls;

	if (!qdma->has_mailbox || (!qdma->is_vf && !qdma->has_flr))
		return 0;
	qdma_os_write(qdma->bar, qdma->mailbox + QDMA_MAILBOX_RESET, 1);
	for (polls = 0; polls < RESET_POLLS; polls++) {
		u32 word = qdma_read(qdma, qdma->mailbox + QDMA_MAILBOX_RESET);

		if (word == QDMA_ALL_ONES && !qdma_present(qdma))
			return -ENODEV;
		if (!(word & 1))
			return 0;
		qdma_os_delay_us(RESET_POLL_US);
	}
	return -EBUSY;
}

/**
 * qdma_take_function() - begin with no queue of whoever had the function before
 * @qdma: a PF, which should not access memory yet
 * @base: first of the queues that are the PF's, absolute
 * @count: how many
 *
 * On return the function has no queues.
 *
 * Return: 0 or a negative error of qdma_reset_function() or qdma_context_command().
 */
int qdma_take_function(struct qdma_device *qdma, u32 base, u32 count)
{
	u32 i;
	int error;

	error = qdma_map_function(qdma, qdma->function, base, count);
	if (!error)
		error = qdma_reset_function(qdma);
	for (i = 0; !error && i < count; i++) {
		error = qdma_h2c_stop(qdma, base + i);
		if (!error)
			error = qdma_c2h_stop(qdma, base + i);
	}
	return error ? error : qdma_map_function(qdma, qdma->function, 0, 0);
}
