// SPDX-License-Identifier: BSD-3-Clause
/* A VF: it has no contexts of its own to write, so its PF's driver gives it queues, and lends them for it, by messages. */
#include <errno.h>

#include "../include/meridian_regs.h"
#include "../qdma/mailbox/qdma_mailbox.h"
#include "card.h"

/* A message waits as long for its answer as those of the drivers. */
#define ANSWER_MS	10000u
#define LOOK_MS		1u

static int silent(struct meridian *card)
{
	return meridian_say(card, -ETIMEDOUT, "the PF does not answer: look whether its driver is loaded, or its program runs");
}

/* Sends it, and waits until it can be sent. */
static int post(struct meridian *card, const struct qdma_message *request)
{
	unsigned int waited;
	int error = -EBUSY;

	for (waited = 0; error == -EBUSY && waited < ANSWER_MS; waited += LOOK_MS) {
		error = qdma_mailbox_send(&card->qdma, 0, request);
		if (error == -EBUSY)
			qdma_os_delay_us(1000 * LOOK_MS);
	}
	return error == -EBUSY ? silent(card) : error;
}

/* Nobody here wants other messages. Each look counts, so that the wait ends however many of them come. */
static int await(struct meridian *card, u32 op, struct qdma_message *answer)
{
	unsigned int waited;
	u32 source;

	for (waited = 0; waited < ANSWER_MS; waited += LOOK_MS) {
		int error = qdma_mailbox_receive(&card->qdma, answer, &source);

		if (!error && qdma_message_op(answer) == (op | QDMA_RESPONSE))
			return 0;
		if (error && error != -EAGAIN)
			return error;
		if (error)
			qdma_os_delay_us(1000 * LOOK_MS);
	}
	return silent(card);
}

/* Return: 0; -ETIMEDOUT, -ENODEV, or -EACCES if the PF refuses, with its reason in the answer. */
static int ask(struct meridian *card, struct qdma_message *request, struct qdma_message *answer)
{
	int error = post(card, request);

	if (!error)
		error = await(card, qdma_message_op(request), answer);
	if (error == -ENODEV)
		return meridian_say(card, error, "the card is gone");
	if (!error && qdma_message_status(answer))
		return meridian_say(card, -EACCES, "the PF's driver refuses operation %u of its VF, with reason %d",
				    qdma_message_op(request), -qdma_message_status(answer));
	return error;
}

static int ask_range(struct meridian *card, u32 op, u32 base, u32 count, struct qdma_message *answer)
{
	struct qdma_message request;

	qdma_message_init(&request, op, card->qdma.function, 0);
	qdma_message_put_range(&request, base, count);
	return ask(card, &request, answer);
}

static int ask_queue(struct meridian *card, u32 op, u32 queue, bool is_c2h, struct qdma_message *answer)
{
	struct qdma_queue_request wanted = {
		.is_c2h = is_c2h, .queue = queue, .function = card->qdma.function, .bypass = true,
	};
	struct qdma_message request;

	qdma_message_init(&request, op, card->qdma.function, 0);
	qdma_message_put_queue(&request, &wanted);
	return ask(card, &request, answer);
}

/**
 * meridian_vf_start() - have the PF give the VF its queues
 * @card: a VF that is identified
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int meridian_vf_start(struct meridian *card)
{
	struct qdma_message request, answer;
	int error;

	/* Programs of before may have left messages unread. */
	qdma_mailbox_clear(&card->qdma);
	qdma_message_init(&request, QDMA_OP_HELLO, 0, 0);
	error = ask(card, &request, &answer);
	if (error)
		return error;
	card->qdma.function = qdma_message_destination(&answer);
	error = ask_range(card, QDMA_OP_QUEUE_REQUEST, ~0u, MERIDIAN_QUEUES, &answer);
	if (error)
		return error;
	qdma_message_get_range(&answer, &card->queue_base, &card->queues);
	if (card->queues > MERIDIAN_QUEUES)
		card->queues = MERIDIAN_QUEUES;
	if (!card->queues)
		return meridian_say(card, -EBUSY, "the PF has no queue for this VF");
	error = ask_range(card, QDMA_OP_FMAP, card->queue_base, card->queues, &answer);
	if (error)
		return error;
	card->is_open = true;
	return 0;
}

/**
 * meridian_vf_stop() - give the queues back to the PF
 * @card: a VF that was started
 */
void meridian_vf_stop(struct meridian *card)
{
	struct qdma_message bye, unused;
	u32 number;
	int error = 0;

	for (number = 0; !error && number < card->queues; number++)
		if (card->lent & 1u << number)
			error = meridian_vf_take_back(card, card->queue_base + number);
	/* A PF that does not answer hears of nothing else. */
	if (!error)
		error = ask_range(card, QDMA_OP_FMAP, card->queue_base, 0, &unused);
	if (error)
		return;
	qdma_message_init(&bye, QDMA_OP_VF_BYE, card->qdma.function, 0);
	post(card, &bye);
}

/**
 * meridian_vf_take_back() - end both directions of a queue
 * @card: a VF
 * @queue: absolute
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int meridian_vf_take_back(struct meridian *card, u32 queue)
{
	struct qdma_message answer;
	int error = ask_queue(card, QDMA_OP_CONTEXT_INVALIDATE, queue, false, &answer);

	return error ? error : ask_queue(card, QDMA_OP_CONTEXT_INVALIDATE, queue, true, &answer);
}

/**
 * meridian_vf_lend() - have the PF let the card's own logic use a queue, to read and to write
 * @card: a VF
 * @queue: absolute
 *
 * Return: 0 or a negative errno, with a sentence.
 */
int meridian_vf_lend(struct meridian *card, u32 queue)
{
	struct qdma_message answer;
	bool is_c2h = false;
	int error = ask_queue(card, QDMA_OP_CONTEXT_WRITE, queue, is_c2h, &answer);

	if (!error) {
		is_c2h = true;
		error = ask_queue(card, QDMA_OP_CONTEXT_WRITE, queue, is_c2h, &answer);
	}
	if (error == -EACCES && qdma_message_status(&answer) == -QDMA_REFUSE_UNSUPPORTED)
		error = meridian_say(card, -EOPNOTSUPP, "the PF lends no memory of its VF: the card has no module that reads or writes host memory, or the PF's driver is too old");
	return error;
}
