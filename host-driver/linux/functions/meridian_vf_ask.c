// SPDX-License-Identifier: GPL-2.0-only
/* What a VF asks its PF, and how long it waits for the answer. */
#include "compat.h"
#include "meridian.h"
#include "meridian_function.h"
#include "meridian_vf_wishes.h"

/*
 * As long as the public drivers wait for an answer; and for one of a PF that gave none before. Who
 * asks has RTNL most of the time, so it is long, but it comes once: a PF that is in a reset of its
 * own, or on a busy host, is slow and not silent, and who goes down without its answer is kept from
 * memory and cannot come up.
 */
#define ANSWER_WAIT	(10 * HZ)
#define SILENT_WAIT	HZ

static unsigned long patience(const struct meridian *m)
{
	return m->is_pf_silent ? SILENT_WAIT : ANSWER_WAIT;
}

static int send(struct meridian *m, const struct qdma_message *request, unsigned long end)
{
	bool is_last;
	int error;

	do {
		is_last = time_after(jiffies, end);
		error = qdma_mailbox_send(&m->qdma, 0, request);
		if (error != -EBUSY)
			return error;
		usleep_range(500, 1500);
	} while (!is_last);
	return error;
}

/* What else comes meanwhile is thrown away. */
static int wait_answer(struct meridian *m, u32 op, struct qdma_message *answer, unsigned long end)
{
	bool is_last;
	u32 source;

	do {
		int error;

		is_last = time_after(jiffies, end);
		error = qdma_mailbox_receive(&m->qdma, answer, &source);
		if (error == -EAGAIN)
			usleep_range(500, 1500);
		else if (error)
			return error;
		else if (qdma_message_op(answer) == (op | QDMA_RESPONSE))
			return qdma_message_status(answer) ? -EACCES : 0;
	} while (!is_last);
	return -ETIMEDOUT;
}

static void note_silence(struct meridian *m, bool is_silent)
{
	if (is_silent && !m->is_pf_silent)
		dev_err(&m->pdev->dev, "the PF does not answer: is its driver loaded?\n");
	m->is_pf_silent = is_silent;
}

/* The mailbox is locked. wait: for the question to be taken and answered, together. */
static int exchange(struct meridian *m, const struct qdma_message *request,
		    struct qdma_message *answer, unsigned long wait)
{
	unsigned long end = jiffies + wait;
	struct qdma_message unused;
	int error;

	/* The answer to the last question may have come late. */
	if (m->is_pf_silent)
		qdma_mailbox_clear(&m->qdma);
	error = send(m, request, end);
	if (!error)
		error = wait_answer(m, qdma_message_op(request), answer ? answer : &unused, end);
	note_silence(m, error == -EBUSY || error == -ETIMEDOUT);
	return error;
}

/**
 * meridian_ask_pf() - send a question and wait for its answer
 * @m: a VF
 * @request: the question
 * @answer: gets what the PF says; NULL: nobody wants to know
 *
 * Context: May sleep.
 * Return: 0; -EACCES if the PF refuses, -EBUSY or -ETIMEDOUT if it is silent, or another negative
 * error.
 */
int meridian_ask_pf(struct meridian *m, const struct qdma_message *request,
		    struct qdma_message *answer)
{
	int error;

	mutex_lock(&m->mailbox_lock);
	error = exchange(m, request, answer, patience(m));
	mutex_unlock(&m->mailbox_lock);
	return error;
}

/**
 * meridian_ask_pf_briefly() - meridian_ask_pf() for a question that can be put again
 * @m: a VF
 * @request: the question
 * @answer: gets what the PF says
 *
 * Others may have to ask, so a PF gets no longer for it than one that was silent before.
 *
 * Context: May sleep.
 * Return: as meridian_ask_pf().
 */
int meridian_ask_pf_briefly(struct meridian *m, const struct qdma_message *request,
			    struct qdma_message *answer)
{
	int error;

	mutex_lock(&m->mailbox_lock);
	error = exchange(m, request, answer, SILENT_WAIT);
	mutex_unlock(&m->mailbox_lock);
	return error;
}

/**
 * meridian_tell_pf() - send a message that has no answer
 * @m: a VF
 * @message: the message
 *
 * Context: May sleep.
 * Return: 0; -EBUSY if the PF does not take it, or another negative error.
 */
int meridian_tell_pf(struct meridian *m, const struct qdma_message *message)
{
	return send(m, message, jiffies + patience(m));
}

/**
 * meridian_doubt_pf() - expect no answer of the PF, which may be in a reset
 * @m: a VF
 *
 * It is asked as before, but not waited for long.
 *
 * Context: May sleep.
 */
void meridian_doubt_pf(struct meridian *m)
{
	mutex_lock(&m->mailbox_lock);
	m->is_pf_silent = true;
	mutex_unlock(&m->mailbox_lock);
}
