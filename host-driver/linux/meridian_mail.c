// SPDX-License-Identifier: GPL-2.0-only
/* Messages of VFs as they come to their PF, and what a VF that sends too many may cost. */
#include <linux/ktime.h>
#include <linux/ratelimit.h>

#include "compat.h"
#include "meridian.h"

#define SEND_POLLS	20
#define TURNS		16	/* messages of one interrupt */
#define BURST		64	/* messages that a VF may be ahead by: as many as bring-up takes */
#define TELL_INTERVAL	(60 * HZ)	/* of what may go on for hours */
#define TELL_BURST	4

static struct meridian_vf *find_vf(struct meridian *m, u32 function)
{
	unsigned int i;

	for (i = 0; i < m->vfs; i++) {
		if (m->vf[i].function == function)
			return &m->vf[i];
	}
	return NULL;
}

/*
 * Bounds what a VF costs: each message is charged so much time, and who owes more than the limit
 * makes its PF wait before the next. VFs beside it wait as long for an answer, and no longer, as a
 * VF has one message in the mailbox at most. Returns whether it is to wait.
 */
static bool charge(struct meridian *m, struct meridian_vf *vf)
{
	static DEFINE_RATELIMIT_STATE(told, TELL_INTERVAL, TELL_BURST);
	u64 cost = (u64)m->message_us * NSEC_PER_USEC;
	u64 now = ktime_get_ns();
	u64 limit = now + BURST * cost;

	vf->owed = min(max(vf->owed, now) + cost, limit);
	if (vf->owed < limit)
		return false;
	WRITE_ONCE(m->mail.slowed, m->mail.slowed + 1);
	if (__ratelimit(&told))
		dev_warn(&m->pdev->dev, "function %u floods its PF with messages\n", vf->function);
	return true;
}

/* Returns whether this was all: the VF has the answer, or will not get it. */
static bool try_reply(struct meridian *m, u32 function, const struct qdma_message *answer,
		      bool is_last)
{
	static DEFINE_RATELIMIT_STATE(told, TELL_INTERVAL, TELL_BURST);
	struct meridian_vf *vf;
	bool is_over = true;

	mutex_lock(&m->card->lock);
	vf = find_vf(m, function);
	if (vf && qdma_mailbox_send(&m->qdma, function, answer) != -EBUSY) {
		vf->is_deaf = false;
	} else if (vf && !vf->is_deaf && !is_last) {
		is_over = false;
	} else if (vf) {
		vf->is_deaf = true;
		WRITE_ONCE(m->mail.untaken, m->mail.untaken + 1);
		if (__ratelimit(&told))
			dev_warn(&m->pdev->dev, "function %u does not take its messages\n",
				 function);
	}
	mutex_unlock(&m->card->lock);
	return is_over;
}

/*
 * A VF that has not taken the last answer has itself to blame if it misses this one, and is not
 * waited for again before it has.
 */
static void reply(struct meridian *m, u32 function, const struct qdma_message *answer)
{
	unsigned int polls;

	for (polls = 1; !try_reply(m, function, answer, polls == SEND_POLLS); polls++)
		usleep_range(500, 1000);
}

/* What a VF has asked, answered but not sent. Returns whether there is an answer. */
static bool take(struct meridian *m, u32 source, const struct qdma_message *request,
		 struct qdma_message *answer, bool *is_flood)
{
	struct meridian_vf *vf = find_vf(m, source);
	u8 op = qdma_message_op(request);
	int status;

	if (!vf)
		return false;
	*is_flood = charge(m, vf);
	WRITE_ONCE(m->mail.taken, m->mail.taken + 1);
	if (op & QDMA_RESPONSE)
		return false;
	qdma_message_init(answer, op | QDMA_RESPONSE, m->function, source);
	status = meridian_answer_vf(m, vf, request, answer);
	qdma_message_set_status(answer, status);
	if (status)
		WRITE_ONCE(m->mail.refused, m->mail.refused + 1);
	return op != QDMA_OP_VF_BYE;
}

/**
 * meridian_serve_vfs() - answer what VFs have asked
 * @m: their PF
 *
 * May sleep. What is left after some turns, or after a message of a VF that floods, is answered
 * when it is called next.
 */
void meridian_serve_vfs(struct meridian *m)
{
	struct qdma_message request, answer;
	unsigned int turn;
	u32 source;

	for (turn = 0; turn < TURNS; turn++) {
		bool is_flood = false, is_answered = false, is_there;

		mutex_lock(&m->card->lock);
		is_there = m->vfs && !qdma_mailbox_receive(&m->qdma, &request, &source);
		if (is_there)
			is_answered = take(m, source, &request, &answer, &is_flood);
		mutex_unlock(&m->card->lock);
		if (!is_there)
			break;
		if (is_answered)
			reply(m, source, &answer);
		if (is_flood) {
			fsleep(m->message_us);
			break;
		}
	}
}
