// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* What each message of a VF asks for, whether it may have it, and how it gets it. */
#include "../../include/meridian_regs.h"
#include "../mailbox/meridian_mailbox.h"
#include "../qdma_context.h"
#include "qdma_service.h"

#define STATUS_INTERVAL	3	/* as qdma_write_tables() has it */
#define RING_ALIGN	64

#define CAN(name)	MERIDIAN_IDENT_CAPABILITIES_ ## name ## _MASK

/* Of the card's capabilities, those that a VF can make use of. */
#define VF_CAPABILITIES	(CAN(COMPLETION16) | CAN(TRANSMIT_OFFLOAD) | CAN(MICROSOFT_HASH) | \
			 CAN(VLAN_STRIP) | CAN(HASH_FIELDS) | CAN(PIECES) | CAN(SEGMENTS) | \
			 CAN(PUSH))

/* That a VF may have if it is trusted. */
#define WIDE_FLAGS	(MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK | \
			 MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK)

/* A request under way. */
struct asked {
	struct qdma_service *service;
	struct qdma_vf *vf;
	const struct qdma_message *request;
	struct qdma_message *answer;
};

static bool can(const struct asked *asked, u32 capability)
{
	return asked->service->capabilities & capability;
}

static u32 word_at(const struct qdma_message *message, u32 at)
{
	const u8 *byte = &message->byte[at];

	return byte[0] | (u32)byte[1] << 8 | (u32)byte[2] << 16 | (u32)byte[3] << 24;
}

static void put_word(struct qdma_message *message, u32 at, u32 word)
{
	u32 i;

	for (i = 0; i < 4; i++)
		message->byte[at + i] = word >> 8 * i;
}

/* A queue that does not end stays the VF's to end: qdma_service_look() tries again. */
static int stop_queue(struct qdma_service *service, struct qdma_vf *vf, u32 index, bool is_c2h)
{
	u32 queue = vf->base + index;
	int error;

	if (is_c2h) {
		error = qdma_c2h_stop(service->qdma, queue);
		if (!error)
			vf->c2h &= ~BIT(index);
		service->ops->set_rx(service->owner, queue, 0, 0);
		return error;
	}
	error = qdma_h2c_stop(service->qdma, queue);
	if (!error)
		vf->h2c &= ~BIT(index);
	service->ops->set_tx(service->owner, queue, false, MERIDIAN_TX_OFFLOAD_NONE);
	return error;
}

/* After the first that does not end none is tried: each may take as long. */
static int stop_queues_from(struct qdma_service *service, struct qdma_vf *vf, u32 first)
{
	int error = 0;
	u32 i;

	for (i = first; i < QDMA_VF_QUEUES && !error; i++) {
		if (vf->h2c & BIT(i))
			error = stop_queue(service, vf, i, false);
		if (!error && vf->c2h & BIT(i))
			error = stop_queue(service, vf, i, true);
	}
	return error;
}

/* No frames come any more before queues go. */
static void take_queues(struct qdma_service *service, struct qdma_vf *vf)
{
	service->ops->set_queues(service->owner, vf, 0);
	stop_queues_from(service, vf, 0);
	qdma_map_function(service->qdma, vf->function, 0, 0);
	vf->mapped = 0;
}

/**
 * qdma_drop_vf() - take all from a VF that it has asked for
 * @service: its PF's
 * @vf: the VF
 *
 * What the administrator says of it stays. Its address is the administrator's choice, or the one
 * that it had at first: the next driver is another VM's.
 */
void qdma_drop_vf(struct qdma_service *service, struct qdma_vf *vf)
{
	take_queues(service, vf);
	qdma_remove_addresses(service, vf);
	vf->count = 0;
	vf->addresses = 0;
	vf->is_away = true;
	qdma_reset_address(service, vf);
	if (!vf->has_own)
		qdma_add_own(service, vf);
	vf->flags = MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK;
	vf->strip = false;
	vf->tx_offload = MERIDIAN_TX_OFFLOAD_NONE;
	vf->is_known = false;
	service->ops->set_switches(service->owner, vf);
}

/**
 * qdma_suspend_vf() - take from the card what a VF had that was reset or gave up its queues
 * @service: its PF's
 * @vf: the VF
 *
 * Its own address stays. A driver that asks for its queues again without a new hello finds the rest
 * as it was.
 */
void qdma_suspend_vf(struct qdma_service *service, struct qdma_vf *vf)
{
	take_queues(service, vf);
	qdma_remove_addresses(service, vf);
	vf->is_away = true;
}

/**
 * qdma_trust_vf() - say whether a VF is trusted
 * @service: its PF's
 * @vf: the VF
 * @is_trusted: if not, it loses what it has asked for as one that is; addresses beside its own stay
 */
void qdma_trust_vf(struct qdma_service *service, struct qdma_vf *vf, bool is_trusted)
{
	vf->is_trusted = is_trusted;
	if (!is_trusted) {
		vf->flags = MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK;
		qdma_restore_address(service, vf);
	}
	service->ops->set_switches(service->owner, vf);
}

static int hello(const struct asked *asked)
{
	const struct qdma_hello hello = {
		.pfs = asked->service->pfs, .queues = asked->service->qdma->queues,
	};

	qdma_drop_vf(asked->service, asked->vf);
	if (qdma_has_queues(asked->vf))
		return -QDMA_REFUSE_BUSY;
	asked->vf->is_known = true;
	asked->vf->lost = 0;
	qdma_message_put_hello(asked->answer, &hello);
	return 0;
}

static int bye(const struct asked *asked)
{
	qdma_drop_vf(asked->service, asked->vf);
	return 0;
}

/* Those that it had before are taken first: none is to run on that is not its own any more. */
static int give_queues(const struct asked *asked)
{
	struct qdma_vf *vf = asked->vf;
	u32 base, count;

	qdma_message_get_range(asked->request, &base, &count);
	if (vf->mapped || qdma_has_queues(vf))
		qdma_suspend_vf(asked->service, vf);
	if (qdma_has_queues(vf))
		return -QDMA_REFUSE_BUSY;
	vf->count = count < QDMA_VF_QUEUES ? count : QDMA_VF_QUEUES;
	qdma_message_put_range(asked->answer, vf->base, vf->count);
	return 0;
}

/* The queues are the VF's, and the shell may send frames to them: that is what FMAP asks for. */
static int map_queues(const struct asked *asked)
{
	struct qdma_service *service = asked->service;
	struct qdma_vf *vf = asked->vf;
	u32 base, count;

	qdma_message_get_range(asked->request, &base, &count);
	if (count > vf->count || (count && base != vf->base))
		return -QDMA_REFUSE_COUNT;
	if (!count) {
		qdma_suspend_vf(service, vf);
		return qdma_has_queues(vf) ? -QDMA_REFUSE_BUSY : 0;
	}
	if (count < vf->mapped) {
		service->ops->set_queues(service->owner, vf, count);
		vf->mapped = count;
	}
	if (stop_queues_from(service, vf, count))
		return -QDMA_REFUSE_BUSY;
	if (qdma_map_function(service->qdma, vf->function, vf->base, count))
		return -QDMA_REFUSE_BUSY;
	service->ops->set_queues(service->owner, vf, count);
	vf->mapped = count;
	if (!vf->has_own)
		qdma_add_own(service, vf);
	if (vf->is_away)
		qdma_resume_addresses(service, vf);
	/* A reset has taken them. */
	service->ops->set_switches(service->owner, vf);
	return 0;
}

static int tell_tables(const struct asked *asked)
{
	qdma_message_put_tables(asked->answer, &asked->service->qdma->tables, STATUS_INTERVAL);
	return 0;
}

/* The public drivers count their queues with their PF; we do not. */
static int count_queue(const struct asked *asked)
{
	(void)asked;
	return 0;
}

static bool owns(const struct qdma_vf *vf, u32 queue)
{
	return queue >= vf->base && queue < vf->base + vf->count;
}

/* One that runs is stopped first: the card counts what it has until then. */
static void stop_before_start(struct qdma_service *service, struct qdma_vf *vf, u32 index,
			      bool is_c2h)
{
	if ((is_c2h ? vf->c2h : vf->h2c) & BIT(index))
		stop_queue(service, vf, index, is_c2h);
}

static int start_h2c(const struct asked *asked, struct qdma_h2c_setting *setting)
{
	struct qdma_service *service = asked->service;
	struct qdma_vf *vf = asked->vf;

	stop_before_start(service, vf, setting->queue - vf->base, false);
	setting->on_credit = can(asked, CAN(PACING));
	service->ops->set_tx(service->owner, setting->queue, true, vf->tx_offload);
	vf->h2c |= BIT(setting->queue - vf->base);
	return qdma_h2c_start(service->qdma, setting) ? -QDMA_REFUSE_BUSY : 0;
}

/* The card sends a frame to the queue whatever its driver's MTU is. */
static int start_c2h(const struct asked *asked, const struct qdma_c2h_setting *setting, u32 buffer)
{
	struct qdma_service *service = asked->service;
	struct qdma_vf *vf = asked->vf;

	if (QDMA_FRAME_BUFFERS * buffer < service->max_frame)
		return -QDMA_REFUSE_BUFFER;
	stop_before_start(service, vf, setting->queue - vf->base, true);
	service->ops->set_rx(service->owner, setting->queue, buffer, setting->entry_log2);
	vf->c2h |= BIT(setting->queue - vf->base);
	return qdma_c2h_start(service->qdma, setting) ? -QDMA_REFUSE_BUSY : 0;
}

/* The VF's memory becomes the card's own logic's, too; the queue has no frames. */
static int start_commands(const struct asked *asked, const struct qdma_queue_request *queue)
{
	struct qdma_vf *vf = asked->vf;
	u32 index = queue->queue - vf->base;

	if (queue->is_mapped || !asked->service->has_commands)
		return -QDMA_REFUSE_UNSUPPORTED;
	stop_before_start(asked->service, vf, index, queue->is_c2h);
	*(queue->is_c2h ? &vf->c2h : &vf->h2c) |= BIT(index);
	return qdma_commands_start(asked->service->qdma, queue->queue, vf->function,
				   queue->is_c2h) ? -QDMA_REFUSE_BUSY : 0;
}

static int start_queue(const struct asked *asked)
{
	struct qdma_queue_request queue;
	struct qdma_h2c_setting h2c;
	struct qdma_c2h_setting c2h;
	int refusal;

	qdma_message_get_queue(asked->request, &queue);
	if (!owns(asked->vf, queue.queue) || queue.queue - asked->vf->base >= asked->vf->mapped)
		return -QDMA_REFUSE_QUEUE;
	if (queue.bypass)
		return start_commands(asked, &queue);
	if (queue.interrupt && queue.vector >= QDMA_VF_VECTORS)
		return -QDMA_REFUSE_PARAMETER;
	/* Nobody looks at the vector of a queue without interrupts: it is none that others have. */
	if (!queue.interrupt)
		queue.vector = 0;
	/* Interrupt rings are not served; the shell has streams; completions of 8 or 16 bytes. */
	if (queue.aggregate || queue.is_mapped || queue.entry_log2 > can(asked, CAN(COMPLETION16)))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (queue.pieces_log2 && !can(asked, CAN(PIECES)))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (queue.ring % RING_ALIGN || (queue.is_c2h && queue.completions % RING_ALIGN))
		return -QDMA_REFUSE_PARAMETER;
	queue.function = asked->vf->function;
	refusal = qdma_request_setting(&queue, &asked->service->qdma->tables, &h2c, &c2h);
	if (refusal)
		return refusal;
	return queue.is_c2h ? start_c2h(asked, &c2h, queue.buffer) : start_h2c(asked, &h2c);
}

static int end_queue(const struct asked *asked)
{
	struct qdma_queue_request queue;
	struct qdma_vf *vf = asked->vf;

	qdma_message_get_queue(asked->request, &queue);
	if (!owns(vf, queue.queue))
		return -QDMA_REFUSE_QUEUE;
	return stop_queue(asked->service, vf, queue.queue - vf->base, queue.is_c2h) ?
	       -QDMA_REFUSE_BUSY : 0;
}

static int tell_config(const struct asked *asked)
{
	struct qdma_message *answer = asked->answer;

	memcpy(&answer->byte[MERIDIAN_CONFIG_ADDRESS], asked->vf->own, QDMA_ADDRESS_BYTES);
	answer->byte[MERIDIAN_CONFIG_TRUSTED] = asked->vf->is_trusted;
	answer->byte[MERIDIAN_CONFIG_VERSION] = MERIDIAN_MAILBOX_VERSION;
	put_word(answer, MERIDIAN_CONFIG_MAX_FRAME, asked->service->max_frame);
	put_word(answer, MERIDIAN_CONFIG_CAPABILITIES,
		 asked->service->capabilities & VF_CAPABILITIES);
	put_word(answer, MERIDIAN_CONFIG_LOST, asked->vf->lost);
	return 0;
}

static int set_address(const struct asked *asked)
{
	return qdma_set_address(asked->service, asked->vf, asked->request);
}

static int set_flags(const struct asked *asked)
{
	u32 flags = word_at(asked->request, MERIDIAN_FLAGS_FLAGS);
	struct qdma_vf *vf = asked->vf;

	if (flags & ~WIDE_FLAGS || (flags && !vf->is_trusted))
		return -QDMA_REFUSE_PARAMETER;
	vf->flags = MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK | flags;
	asked->service->ops->set_switches(asked->service->owner, vf);
	return 0;
}

static int set_strip(const struct asked *asked)
{
	u8 on = asked->request->byte[MERIDIAN_STRIP_ON];

	if (!can(asked, CAN(VLAN_STRIP)))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (on > 1)
		return -QDMA_REFUSE_PARAMETER;
	asked->vf->strip = on;
	asked->service->ops->set_switches(asked->service->owner, asked->vf);
	return 0;
}

static int set_tx_offload(const struct asked *asked)
{
	u32 most = can(asked, CAN(SEGMENTS)) ? MERIDIAN_TX_OFFLOAD_SEGMENTS :
					       MERIDIAN_TX_OFFLOAD_REQUESTS;
	u8 on = asked->request->byte[MERIDIAN_TX_OFFLOAD_ON];

	if (!can(asked, CAN(TRANSMIT_OFFLOAD)))
		return -QDMA_REFUSE_UNSUPPORTED;
	if (on > most)
		return -QDMA_REFUSE_PARAMETER;
	asked->vf->tx_offload = on;
	return 0;
}

static int set_rss(const struct asked *asked)
{
	struct qdma_rss rss;

	if (!qdma_message_get_rss(asked->request, &rss, asked->vf->mapped))
		return -QDMA_REFUSE_PARAMETER;
	if (!qdma_rss_can(&rss, asked->service->capabilities & VF_CAPABILITIES))
		return -QDMA_REFUSE_UNSUPPORTED;
	asked->service->ops->set_rss(asked->service->owner, asked->vf, &rss);
	return 0;
}

static const struct {
	u32 op;
	int (*answer)(const struct asked *asked);
} requests[] = {
	{ QDMA_OP_VF_BYE, bye },
	{ QDMA_OP_HELLO, hello },
	{ QDMA_OP_FMAP, map_queues },
	{ QDMA_OP_TABLES, tell_tables },
	{ QDMA_OP_QUEUE_REQUEST, give_queues },
	{ QDMA_OP_QUEUE_ADD, count_queue },
	{ QDMA_OP_QUEUE_DELETE, count_queue },
	{ QDMA_OP_CONTEXT_WRITE, start_queue },
	{ QDMA_OP_CONTEXT_CLEAR, end_queue },
	{ QDMA_OP_CONTEXT_INVALIDATE, end_queue },
	{ QDMA_OP_PF_RESET_VF_BYE, bye },
	{ MERIDIAN_OP_CONFIG, tell_config },
	{ MERIDIAN_OP_ADDRESS, set_address },
	{ MERIDIAN_OP_FLAGS, set_flags },
	{ MERIDIAN_OP_STRIP, set_strip },
	{ MERIDIAN_OP_RSS, set_rss },
	{ MERIDIAN_OP_TX_OFFLOAD, set_tx_offload },
};

/**
 * qdma_do_request() - do what a VF asks for, as far as it may
 * @service: its PF's
 * @vf: the VF
 * @request: what it says
 * @answer: begun; gets what the VF is told beside the status
 *
 * Return: 0 or a negative enum qdma_refusal.
 */
int qdma_do_request(struct qdma_service *service, struct qdma_vf *vf,
		    const struct qdma_message *request, struct qdma_message *answer)
{
	const struct asked asked = {
		.service = service, .vf = vf, .request = request, .answer = answer,
	};
	u32 op = qdma_message_op(request), i;

	if (!vf->is_known && op != QDMA_OP_HELLO)
		return -QDMA_REFUSE_NOT_THERE;
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		if (requests[i].op == op)
			return requests[i].answer(&asked);
	}
	return -QDMA_REFUSE_UNSUPPORTED;
}
