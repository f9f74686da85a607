// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The mailbox's registers. A PF names the other side, a VF has its PF only. */
#include "qdma_mailbox.h"

#define DRAIN_LIMIT	256	/* functions that can have left a message */

static u32 read_register(struct qdma_device *qdma, u32 offset)
{
	return qdma_read(qdma, qdma->mailbox + offset);
}

static void write_register(struct qdma_device *qdma, u32 offset, u32 value)
{
	qdma_os_write(qdma->bar, qdma->mailbox + offset, value);
}

static u32 source_of(u32 status)
{
	return status >> 4 & 0xfff;
}

/**
 * qdma_mailbox_interrupt() - ask for an interrupt when a message comes
 * @qdma: the function
 * @vector: of it
 * @on: or no more
 *
 * A message that already waits interrupts at once.
 */
void qdma_mailbox_interrupt(struct qdma_device *qdma, u32 vector, bool on)
{
	write_register(qdma, QDMA_MAILBOX_VECTOR, vector);
	write_register(qdma, QDMA_MAILBOX_INTERRUPT, on);
}

/**
 * qdma_mailbox_clear() - throw away what waits from before
 * @qdma: the function
 */
void qdma_mailbox_clear(struct qdma_device *qdma)
{
	u32 turn, i;

	for (turn = 0; turn < DRAIN_LIMIT; turn++) {
		u32 status = read_register(qdma, QDMA_MAILBOX_STATUS);

		if (status == QDMA_ALL_ONES && !qdma_present(qdma))
			return;
		if (!qdma->is_vf && (status & QDMA_MAILBOX_STATUS_ACK)) {
			for (i = 0; i < QDMA_MAILBOX_ACK_WORDS; i++)
				write_register(qdma, QDMA_MAILBOX_ACK(i), QDMA_ALL_ONES);
		}
		if (!(status & QDMA_MAILBOX_STATUS_IN))
			return;
		if (!qdma->is_vf)
			write_register(qdma, QDMA_MAILBOX_TARGET, source_of(status));
		write_register(qdma, QDMA_MAILBOX_COMMAND, QDMA_MAILBOX_COMMAND_RECEIVE);
	}
}

/**
 * qdma_mailbox_peek() - look who has sent the next message
 * @qdma: a PF
 * @source: who; a PF believes the mailbox, not the message
 *
 * Return: 0, -EAGAIN if there is none, -ENODEV if the card is gone.
 */
int qdma_mailbox_peek(struct qdma_device *qdma, u32 *source)
{
	u32 status = read_register(qdma, QDMA_MAILBOX_STATUS);

	if (status == QDMA_ALL_ONES && !qdma_present(qdma))
		return -ENODEV;
	*source = source_of(status);
	return status & QDMA_MAILBOX_STATUS_IN ? 0 : -EAGAIN;
}

/**
 * qdma_mailbox_receive() - take the next message
 * @qdma: the function
 * @message: where it goes
 * @source: who sent it, as qdma_mailbox_peek() has it
 *
 * Return: 0, -EAGAIN if there is none, -ENODEV if the card is gone.
 */
int qdma_mailbox_receive(struct qdma_device *qdma, struct qdma_message *message, u32 *source)
{
	u32 status, i;

	/* One that is given up may answer still, and nobody waits for it. */
	if (qdma->gone)
		return -ENODEV;
	status = read_register(qdma, QDMA_MAILBOX_STATUS);
	if (status == QDMA_ALL_ONES && !qdma_present(qdma))
		return -ENODEV;
	if (!(status & QDMA_MAILBOX_STATUS_IN))
		return -EAGAIN;
	if (!qdma->is_vf)
		write_register(qdma, QDMA_MAILBOX_TARGET, source_of(status));
	for (i = 0; i < QDMA_MAILBOX_WORDS; i++) {
		u32 word = read_register(qdma, QDMA_MAILBOX_IN(i));

		message->byte[4 * i] = word;
		message->byte[4 * i + 1] = word >> 8;
		message->byte[4 * i + 2] = word >> 16;
		message->byte[4 * i + 3] = word >> 24;
	}
	write_register(qdma, QDMA_MAILBOX_COMMAND, QDMA_MAILBOX_COMMAND_RECEIVE);
	*source = qdma->is_vf ? qdma_message_source(message) : source_of(status);
	return 0;
}

/**
 * qdma_mailbox_send() - send a message
 * @qdma: the function
 * @target: the VF, of a PF
 * @message: to be sent
 *
 * Return: 0, -EBUSY if the other side has not taken the last one, -ENODEV if the card is gone.
 */
int qdma_mailbox_send(struct qdma_device *qdma, u32 target, const struct qdma_message *message)
{
	u32 status, i;

	if (qdma->gone)
		return -ENODEV;
	if (!qdma->is_vf)
		write_register(qdma, QDMA_MAILBOX_TARGET, target);
	status = read_register(qdma, QDMA_MAILBOX_STATUS);
	if (status == QDMA_ALL_ONES && !qdma_present(qdma))
		return -ENODEV;
	if (status & QDMA_MAILBOX_STATUS_OUT)
		return -EBUSY;
	for (i = 0; i < QDMA_MAILBOX_WORDS; i++) {
		const u8 *byte = &message->byte[4 * i];

		write_register(qdma, QDMA_MAILBOX_OUT(i),
			       byte[0] | (u32)byte[1] << 8 | (u32)byte[2] << 16 |
			       (u32)byte[3] << 24);
	}
	if (!qdma->is_vf)
		write_register(qdma, QDMA_MAILBOX_ACK(target / 32), 1u << target % 32);
	write_register(qdma, QDMA_MAILBOX_COMMAND, QDMA_MAILBOX_COMMAND_SEND);
	return 0;
}
