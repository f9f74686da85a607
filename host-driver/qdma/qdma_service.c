// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* VFs as they come and go: their messages, what those may cost, and their answers. */
#include "qdma_service.h"

#define PATIENCE_NS	20000000u	/* that a VF has to take its answer */
#define RETRY_NS	500000u		/* after which one is tried again */
#define AHEAD		64		/* messages of a VF before it is slowed: bring-up's */

static struct qdma_vf *find_vf(struct qdma_service *service, u32 function)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		if (service->vf[i].function == function)
			return &service->vf[i];
	}
	return NULL;
}

/* An account that each message overdraws and time pays back. Who is at its end silences all. */
static void charge(struct qdma_service *service, struct qdma_vf *vf, u64 now)
{
	u64 most = now + (u64)AHEAD * service->message_ns;

	if (vf->owed < now)
		vf->owed = now;
	vf->owed += service->message_ns;
	if (vf->owed < most)
		return;
	vf->owed = most;
	service->quiet = now + service->message_ns;
	service->slowed++;
	service->ops->tell(service->owner, vf, QDMA_VF_FLOODS);
}

static void lose_answer(struct qdma_service *service, struct qdma_vf *vf)
{
	vf->is_waiting = false;
	vf->is_deaf = true;
	service->untaken++;
	service->ops->tell(service->owner, vf, QDMA_VF_IS_DEAF);
}

/* One that did not take the last answer is not waited for before it takes one. */
static void deliver(struct qdma_service *service, struct qdma_vf *vf, u64 now)
{
	if (qdma_mailbox_send(service->qdma, vf->function, &vf->answer) != -EBUSY) {
		vf->is_waiting = false;
		vf->is_deaf = false;
	} else if (vf->is_deaf || now >= vf->patience) {
		lose_answer(service, vf);
	}
}

static void reply(struct qdma_service *service, struct qdma_vf *vf,
		  const struct qdma_message *answer, u64 now)
{
	if (vf->is_waiting)
		lose_answer(service, vf);
	vf->answer = *answer;
	vf->is_waiting = true;
	vf->patience = now + PATIENCE_NS;
	deliver(service, vf, now);
}

static void take(struct qdma_service *service, const struct qdma_message *request, u32 source,
		 u64 now)
{
	struct qdma_vf *vf = find_vf(service, source);
	u32 op = qdma_message_op(request);
	struct qdma_message answer;
	int status;

	service->taken++;
	if (!vf) {
		service->refused++;
		return;
	}
	charge(service, vf, now);
	if (op & QDMA_RESPONSE)
		return;
	qdma_message_init(&answer, op | QDMA_RESPONSE, service->qdma->function, source);
	status = qdma_do_request(service, vf, request, &answer);
	qdma_message_set_status(&answer, status);
	if (status)
		service->refused++;
	if (op == QDMA_OP_VF_BYE)
		vf->is_waiting = false;
	else
		reply(service, vf, &answer, now);
}

/**
 * qdma_service_start() - VFs may come
 * @service: filled in but for what is counted
 *
 * They begin without queues: those that a driver before has left are stopped, for the card counts
 * the buffers of a queue until then. Their own addresses come into the card's filter, anew if they
 * were there.
 */
void qdma_service_start(struct qdma_service *service)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		service->vf[i].h2c = BIT(QDMA_VF_QUEUES) - 1;
		service->vf[i].c2h = BIT(QDMA_VF_QUEUES) - 1;
		qdma_remove_own(service, &service->vf[i]);
		qdma_drop_vf(service, &service->vf[i]);
	}
	qdma_mailbox_clear(service->qdma);
}

/**
 * qdma_service_turn() - hear the next message, and bring answers to VFs
 * @service: that was started
 * @now: ns that go on for ever
 *
 * Takes no longer than what the message asks for.
 *
 * Return: whether there was one; else the next call may as well come later.
 */
bool qdma_service_turn(struct qdma_service *service, u64 now)
{
	struct qdma_message request;
	u32 source, i;

	for (i = 0; i < service->vfs; i++) {
		if (service->vf[i].is_waiting)
			deliver(service, &service->vf[i], now);
	}
	if (now < service->quiet || qdma_mailbox_receive(service->qdma, &request, &source))
		return false;
	take(service, &request, source, now);
	return true;
}

/**
 * qdma_service_wait() - when a turn may do what it could not
 * @service: that was started
 * @now: as for qdma_service_turn()
 *
 * Return: ns until then; 0: nothing is held up.
 */
u64 qdma_service_wait(const struct qdma_service *service, u64 now)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		if (service->vf[i].is_waiting)
			return RETRY_NS;
	}
	return service->quiet > now ? service->quiet - now : 0;
}

static bool was_reset(struct qdma_service *service, struct qdma_vf *vf)
{
	return !service->ops->may_access(service->owner, vf) ||
	       !service->ops->has_queues(service->owner, vf);
}

/**
 * qdma_service_look() - find VFs that were reset, and take from the card what they had
 * @service: that was started
 *
 * A reset by the mailbox has taken a VF's queues from the shell. PCIe's reset has only cleared its
 * Bus Master bit: its contexts wait for the next who sets that. Linux's PCI core leaves 100 ms
 * between the two; to be called often enough to see the VF meanwhile. A queue that has not ended is
 * tried again; if it still does not, the other VFs' wait for the next call.
 */
void qdma_service_look(struct qdma_service *service)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[i];

		if ((vf->mapped && was_reset(service, vf)) || (vf->is_away && qdma_has_queues(vf)))
			qdma_suspend_vf(service, vf);
		if (vf->is_away && qdma_has_queues(vf))
			return;
	}
}

/**
 * qdma_service_stop() - no VFs any more
 * @service: that was started
 */
void qdma_service_stop(struct qdma_service *service)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		service->vf[i].is_trusted = false;
		qdma_drop_vf(service, &service->vf[i]);
		qdma_remove_own(service, &service->vf[i]);
	}
}
