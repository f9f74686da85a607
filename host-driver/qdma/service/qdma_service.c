// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* VFs as they come and go: their messages, what those may cost, and their answers. */
#include "qdma_service.h"

#define PATIENCE_NS	20000000u	/* that a VF has to take its answer */
#define RETRY_NS	500000u		/* after which one is tried again */
#define AHEAD		64		/* messages of a VF before it is slowed: bring-up's */
#define HEARD_AT_ONCE	256		/* messages: of each function of a card one */

static struct qdma_vf *find_vf(struct qdma_service *service, u32 function)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		if (service->vf[i].function == function)
			return &service->vf[i];
	}
	return NULL;
}

/*
 * A VF has an account that each message overdraws and time pays back; this is the furthest that it
 * may be overdrawn before the VF's messages wait.
 */
static u64 limit_of(const struct qdma_service *service, u64 now)
{
	return now + (u64)AHEAD * service->message_ns;
}

static u64 charged(const struct qdma_service *service, const struct qdma_vf *vf, u64 now)
{
	return (vf->owed < now ? now : vf->owed) + service->message_ns;
}

static bool is_overdrawn(const struct qdma_service *service, const struct qdma_vf *vf, u64 now)
{
	return vf->owed > limit_of(service, now);
}

/* Another message waits until it is paid for. */
static bool is_at_end(const struct qdma_service *service, const struct qdma_vf *vf, u64 now)
{
	return charged(service, vf, now) > limit_of(service, now);
}

static void lose_answer(struct qdma_service *service, struct qdma_vf *vf)
{
	vf->is_waiting = false;
	vf->is_deaf = true;
	service->untaken++;
	qdma_service_tell(service, vf, QDMA_VF_IS_DEAF);
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
	/* Who says hello is another than who was deaf, or begins anew. */
	if (qdma_message_op(answer) == (QDMA_OP_HELLO | QDMA_RESPONSE))
		vf->is_deaf = false;
	vf->answer = *answer;
	vf->is_waiting = true;
	vf->patience = now + PATIENCE_NS;
	deliver(service, vf, now);
}

static void answer(struct qdma_service *service, struct qdma_vf *vf, u64 now)
{
	u32 op = qdma_message_op(&vf->request);
	struct qdma_message answer;
	int status;

	vf->is_heard = false;
	if (op & QDMA_RESPONSE)
		return;
	qdma_message_init(&answer, op | QDMA_RESPONSE, service->qdma->function, vf->function);
	status = qdma_do_request(service, vf, &vf->request, &answer);
	qdma_message_set_status(&answer, status);
	if (status)
		service->refused++;
	if (op == QDMA_OP_VF_BYE)
		vf->is_waiting = false;
	else
		reply(service, vf, &answer, now);
}

/* Who floods is heard once in a round, so that hearing costs no more than answering. */
static bool may_be_heard(struct qdma_service *service, const struct qdma_vf *vf, u64 now)
{
	u32 i;

	if (now >= service->round_end) {
		service->round_end = now + service->message_ns;
		for (i = 0; i < service->vfs; i++)
			service->vf[i].is_in_round = false;
	}
	if (!vf->is_in_round || !is_at_end(service, vf, now))
		return true;
	service->quiet = service->round_end;
	return false;
}

/*
 * Of two messages of a VF the later one counts: nobody waits for an answer to the first. It waits
 * no longer than the first would have.
 */
static void hear(struct qdma_service *service, struct qdma_vf *vf,
		 const struct qdma_message *request, u64 now)
{
	bool is_first = !vf->is_heard;

	if (!is_first)
		service->refused++;
	vf->request = *request;
	vf->is_heard = true;
	if (is_at_end(service, vf, now)) {
		vf->is_in_round = true;
		service->slowed++;
		qdma_service_tell(service, vf, QDMA_VF_FLOODS);
		if (!is_first)
			return;
	}
	vf->owed = charged(service, vf, now);
}

/*
 * The mailbox gives messages in the order in which they came. All that wait are heard before the
 * next is answered, so that nobody waits behind several of another VF.
 */
static void hear_all(struct qdma_service *service, u64 now)
{
	struct qdma_message request;
	struct qdma_vf *vf;
	u32 source, i;

	for (i = 0; i < HEARD_AT_ONCE && now >= service->quiet; i++) {
		if (qdma_mailbox_peek(service->qdma, &source))
			return;
		vf = find_vf(service, source);
		if (vf && !may_be_heard(service, vf, now))
			return;
		if (qdma_mailbox_receive(service->qdma, &request, &source))
			return;
		service->taken++;
		/* A reset may have taken the first one: this is of who came behind. */
		vf = find_vf(service, source);
		if (vf)
			hear(service, vf, &request, now);
		else
			service->refused++;
	}
}

/* Where the card's list has a service, or its end. */
static struct qdma_service **find_service(struct qdma_service *service)
{
	struct qdma_service **place = service->card;

	while (*place && *place != service)
		place = &(*place)->next;
	return place;
}

static void join_card(struct qdma_service *service)
{
	struct qdma_service **place;

	if (!service->card)
		return;
	place = find_service(service);
	if (*place)
		return;
	service->next = NULL;
	*place = service;
}

static void leave_card(struct qdma_service *service)
{
	struct qdma_service **place;

	if (!service->card)
		return;
	place = find_service(service);
	if (*place)
		*place = service->next;
	service->next = NULL;
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

	join_card(service);
	for (i = 0; i < service->vfs; i++) {
		service->vf[i].is_heard = false;
		service->vf[i].is_waiting = false;
		service->vf[i].h2c = BIT(QDMA_VF_QUEUES) - 1;
		service->vf[i].c2h = BIT(QDMA_VF_QUEUES) - 1;
		qdma_remove_own(service, &service->vf[i]);
		qdma_drop_vf(service, &service->vf[i]);
	}
	qdma_mailbox_clear(service->qdma);
}

/* Who has asked least of late, of these the one behind who was answered last. */
static struct qdma_vf *find_next(struct qdma_service *service, u64 now)
{
	struct qdma_vf *next = NULL;
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[(service->turn + i) % service->vfs];

		if (vf->is_heard && !is_overdrawn(service, vf, now) &&
		    (!next || charged(service, vf, now) < charged(service, next, now)))
			next = vf;
	}
	if (next)
		service->turn = next - service->vf + 1;
	return next;
}

/**
 * qdma_service_suspend() - a reset of the PF is near
 * @service: that was started
 *
 * VFs lose their queues, and their addresses leave the card's filter: the card may forget them.
 */
void qdma_service_suspend(struct qdma_service *service)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		qdma_suspend_vf(service, &service->vf[i]);
		qdma_remove_own(service, &service->vf[i]);
	}
}

/**
 * qdma_service_resume() - undo qdma_service_suspend() on a card that may know nothing
 * @service: that was suspended
 *
 * A VF whose driver asks for its queues again, without a new hello, finds the rest as it was. Until
 * then none of its queues may access memory.
 */
void qdma_service_resume(struct qdma_service *service)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[i];

		vf->h2c = BIT(QDMA_VF_QUEUES) - 1;
		vf->c2h = BIT(QDMA_VF_QUEUES) - 1;
		qdma_suspend_vf(service, vf);
		vf->is_waiting = false;
		if (!vf->has_own)
			qdma_add_own(service, vf);
		service->ops->set_switches(service->owner, vf);
	}
	qdma_mailbox_clear(service->qdma);
}

/**
 * qdma_service_turn() - answer the next VF, and bring answers to VFs
 * @service: that was started
 * @now: ns that go on for ever
 *
 * VFs are answered in turn, a message of each. Takes no longer than what the message asks for, and
 * hearing one of each VF.
 *
 * Return: whether there was a message; else the next call may as well come later.
 */
bool qdma_service_turn(struct qdma_service *service, u64 now)
{
	u64 taken = service->taken;
	struct qdma_vf *next;
	u32 i;

	service->now = now;
	for (i = 0; i < service->vfs; i++) {
		if (service->vf[i].is_waiting)
			deliver(service, &service->vf[i], now);
	}
	hear_all(service, now);
	next = find_next(service, now);
	if (next)
		answer(service, next, now);
	return next || service->taken != taken;
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
	u64 wait = service->quiet > now ? service->quiet - now : 0;
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		const struct qdma_vf *vf = &service->vf[i];
		u64 own = 0;

		if (vf->is_waiting)
			own = RETRY_NS;
		else if (vf->is_heard && is_overdrawn(service, vf, now))
			own = vf->owed - limit_of(service, now);
		if (own && (!wait || own < wait))
			wait = own;
	}
	return wait;
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
	u32 first = service->look, i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[(first + i) % service->vfs];

		service->look = (first + i + 1) % service->vfs;
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
	leave_card(service);
}
