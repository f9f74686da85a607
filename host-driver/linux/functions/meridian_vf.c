// SPDX-License-Identifier: GPL-2.0-only
/* A VF: all that is not its own rings it asks its PF for, in the messages of the public drivers. */
#include <linux/bitfield.h>
#include <linux/etherdevice.h>

#include "compat.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_frames.h"
#include "meridian_function.h"
#include "meridian_hw.h"
#include "meridian_rss.h"
#include "meridian_vf_wishes.h"

static void begin(struct meridian *m, struct qdma_message *request, u32 op)
{
	qdma_message_init(request, op, m->function, 0);
}

/* For what the PF is not expected to refuse. */
static int ask(struct meridian *m, const struct qdma_message *request, struct qdma_message *answer)
{
	struct qdma_message unused;
	int error;

	answer = answer ? answer : &unused;
	error = meridian_ask_pf(m, request, answer);
	if (error == -EACCES)
		dev_warn_ratelimited(&m->pdev->dev, "the PF refuses operation %#x: %d\n",
				     qdma_message_op(request), qdma_message_status(answer));
	return error;
}

static int say_hello(struct meridian *m)
{
	struct qdma_message request, answer;
	int error;

	begin(m, &request, QDMA_OP_HELLO);
	error = ask(m, &request, &answer);
	if (!error)
		m->function = qdma_message_destination(&answer);
	return error;
}

/* count: how many the PF grants. */
static int ask_queues(struct meridian *m, u32 *count)
{
	struct qdma_message request, answer;
	u32 base;
	int error;

	begin(m, &request, QDMA_OP_QUEUE_REQUEST);
	qdma_message_put_range(&request, QDMA_ALL_ONES, QDMA_VF_QUEUES);
	error = ask(m, &request, &answer);
	if (error)
		return error;
	qdma_message_get_range(&answer, &base, count);
	/* The message has room for an indirection table of 16 queues at most. */
	if (!*count || *count > QDMA_VF_QUEUES)
		return -EPROTO;
	m->queue_base = base;
	begin(m, &request, QDMA_OP_TABLES);
	error = ask(m, &request, &answer);
	if (error)
		return error;
	qdma_message_get_tables(&answer, &m->qdma.tables);
	/* A PF of another driver may have other tables. */
	return qdma_find(m->qdma.tables.buffers, MERIDIAN_RX_BUFFER) < 0 ? -EPROTO : 0;
}

/* Linux's longest MTU depends on it, and no register of a VF tells it. */
static int take_max_frame(struct meridian *m, u32 bytes)
{
	if (bytes >= MERIDIAN_CONFIG_FRAME_LEAST && bytes <= MERIDIAN_CONFIG_FRAME_MOST) {
		m->max_frame = bytes;
		return 0;
	}
	dev_err(&m->pdev->dev,
		"the PF says that the longest frame has %u bytes, which no card has\n", bytes);
	return -EPROTO;
}

static int ask_config(struct meridian *m)
{
	struct qdma_message request, answer;
	const u8 *byte = answer.byte;
	int error;

	begin(m, &request, MERIDIAN_OP_CONFIG);
	error = ask(m, &request, &answer);
	if (!error)
		error = take_max_frame(m, get_unaligned_le32(&byte[MERIDIAN_CONFIG_MAX_FRAME]));
	if (error)
		return error;
	error = meridian_settle_address(m, &byte[MERIDIAN_CONFIG_ADDRESS]);
	if (error)
		return error;
	m->pf_version = byte[MERIDIAN_CONFIG_VERSION];
	/* What an earlier PF had says nothing of one that does not tell. */
	m->capabilities = m->pf_version < 2 ? 0 :
			  get_unaligned_le32(&byte[MERIDIAN_CONFIG_CAPABILITIES]);
	meridian_settle_push(m);
	if (!meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		return 0;
	begin(m, &request, MERIDIAN_OP_TX_OFFLOAD);
	request.byte[MERIDIAN_TX_OFFLOAD_ON] =
		meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK) ?
			MERIDIAN_TX_OFFLOAD_SEGMENTS : MERIDIAN_TX_OFFLOAD_REQUESTS;
	return ask(m, &request, NULL);
}

/*
 * Whatever the PF knew of this VF before, it knows no more when it has heard hello. If only its
 * answer is lost, it gives no queues before the next hello.
 */
static int introduce(struct meridian *m, u32 *queues)
{
	int error;

	m->is_introduced = false;
	error = say_hello(m);
	if (!error) {
		mutex_lock(&m->card->lock);
		meridian_forget_addresses(m);
		m->lost = 0;
		mutex_unlock(&m->card->lock);
	}
	if (!error)
		error = ask_queues(m, queues);
	if (!error)
		error = ask_config(m);
	m->is_introduced = !error;
	/* What another PF's driver has granted, this one may not know. */
	if (!error && !qdma_rss_can(&m->rss, m->capabilities)) {
		dev_warn(&m->pdev->dev, "the PF's driver does not hash as was chosen\n");
		meridian_default_order(m);
	}
	return error;
}

static bool link_up(struct meridian *m)
{
	u32 status = meridian_read(m, MERIDIAN_VF_STATUS);

	return status != QDMA_ALL_ONES && (status & MERIDIAN_VF_STATUS_LINK_UP_MASK);
}

/* The PF does it as it takes the queues. */
static void close_queues(struct meridian *m)
{
}

static int ask_map(struct meridian *m, u32 count)
{
	struct qdma_message request;

	begin(m, &request, QDMA_OP_FMAP);
	qdma_message_put_range(&request, m->queue_base, count);
	return meridian_ask_pf(m, &request, NULL);
}

static int map_queues(struct meridian *m, u32 count)
{
	u32 granted;
	int error;

	/* What the PF grants can have changed while the VF was down. */
	WRITE_ONCE(m->seen_flags, QDMA_ALL_ONES);
	error = m->is_introduced ? ask_map(m, count) : -EACCES;
	/*
	 * The PF's driver may be another than the one that has heard hello. Who says it again has
	 * no queues that run, or is refused.
	 */
	if (error == -EACCES) {
		error = introduce(m, &granted);
		/* Interrupts and NAPIs are as many as at the probe, whatever is granted now. */
		if (!error && granted < count)
			error = -ERANGE;
		if (!error && count)
			error = ask_map(m, count);
	}
	if (error == -EACCES)
		dev_warn_ratelimited(&m->pdev->dev, "the PF refuses the queues\n");
	return error;
}

static int start_tx(struct meridian *m, const struct qdma_h2c_setting *setting)
{
	struct qdma_queue_request queue = {
		.queue = setting->queue,
		.function = m->function,
		.ring = setting->ring,
		.ring_size = m->qdma.tables.rings[setting->ring_index] - 1,
		.vector = setting->vector,
		.interrupt = setting->interrupt,
		.pieces_log2 = setting->pieces_log2,
	};
	struct qdma_message request;

	begin(m, &request, QDMA_OP_CONTEXT_WRITE);
	qdma_message_put_queue(&request, &queue);
	return ask(m, &request, NULL);
}

static int start_rx(struct meridian *m, const struct qdma_c2h_setting *setting)
{
	const struct qdma_tables *tables = &m->qdma.tables;
	struct qdma_queue_request queue = {
		.is_c2h = true,
		.queue = setting->queue,
		.function = m->function,
		.ring = setting->ring,
		.completions = setting->completions,
		.ring_size = tables->rings[setting->ring_index] - 1,
		.completion_size = tables->rings[setting->completion_index] - 1,
		.buffer = tables->buffers[setting->buffer_index],
		.counter = tables->counters[setting->counter_index],
		.timer = tables->timers[setting->timer_index],
		.trigger = setting->trigger,
		.entry_log2 = setting->entry_log2,
		.vector = setting->vector,
		.interrupt = setting->interrupt,
		.full_update = setting->full_update,
		.prefetch = setting->prefetch,
	};
	struct qdma_message request;

	begin(m, &request, QDMA_OP_CONTEXT_WRITE);
	qdma_message_put_queue(&request, &queue);
	return ask(m, &request, NULL);
}

static int stop_queue(struct meridian *m, u32 queue, bool is_c2h)
{
	struct qdma_queue_request end = {
		.is_c2h = is_c2h, .queue = queue, .function = m->function,
	};
	struct qdma_message request;

	begin(m, &request, QDMA_OP_CONTEXT_INVALIDATE);
	qdma_message_put_queue(&request, &end);
	return ask(m, &request, NULL);
}

static int stop_tx(struct meridian *m, u32 queue)
{
	return stop_queue(m, queue, false);
}

static int stop_rx(struct meridian *m, u32 queue)
{
	return stop_queue(m, queue, true);
}

static int end_queues(struct meridian *m)
{
	return map_queues(m, 0);
}

/* A PF that does not know the question spreads the frames evenly. */
static int write_rss(struct meridian *m)
{
	struct qdma_message request;

	if (m->pf_version < 2)
		return 0;
	begin(m, &request, MERIDIAN_OP_RSS);
	qdma_message_put_rss(&request, &m->rss);
	return ask(m, &request, NULL);
}

static int set_strip(struct meridian *m, bool on)
{
	struct qdma_message request;

	begin(m, &request, MERIDIAN_OP_STRIP);
	request.byte[MERIDIAN_STRIP_ON] = on;
	return ask(m, &request, NULL);
}

static void read_missed(struct meridian *m)
{
	struct meridian_missed now = {
		.no_buffer = meridian_read_counter(m, MERIDIAN_VF_COUNTER_RX_QUEUE_FULL) +
			     meridian_read_counter(m, MERIDIAN_VF_COUNTER_RX_COPY_CUT),
	};

	if (!meridian_present(m))
		return;
	spin_lock_bh(&m->stats_lock);
	m->missed = now;
	spin_unlock_bh(&m->stats_lock);
}

const struct meridian_ops meridian_vf_ops = {
	.link_up = link_up,
	.map_queues = map_queues,
	.close_queues = close_queues,
	.start_tx = start_tx,
	.start_rx = start_rx,
	.stop_tx = stop_tx,
	.stop_rx = stop_rx,
	.end_queues = end_queues,
	.write_rss = write_rss,
	.set_strip = set_strip,
	.sync_filter = meridian_sync_vf,
	.read_missed = read_missed,
};

/**
 * meridian_identify_vf() - look whether this is a VF of a card that the driver knows
 * @m: a VF with the magic
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_identify_vf(struct meridian *m)
{
	struct device *dev = &m->pdev->dev;
	u32 version, word;
	int error;

	error = qdma_identify_vf(&m->qdma, m->qdma.bar);
	if (error) {
		dev_err(dev, "BAR 0 is not that of a QDMA: %d\n", error);
		return error;
	}
	version = meridian_read(m, MERIDIAN_VF_VERSION);
	if (version >> 16 != MERIDIAN_MAP_MAJOR) {
		dev_err(dev, "the card's register map is version %u.%u, this driver knows %u.%u\n",
			version >> 16, version & 0xffff, MERIDIAN_MAP_MAJOR, MERIDIAN_MAP_MINOR);
		return -ENODEV;
	}
	/*
	 * Queues of a driver before write to memory of its choice. An IP may not have this reset;
	 * the PF takes them when it sees that the Bus Master bit is clear.
	 */
	if (qdma_reset_function(&m->qdma))
		dev_warn(dev, "the card does not end a reset of the function\n");
	pci_set_master(m->pdev);
	word = meridian_read(m, MERIDIAN_VF_FUNCTION);
	m->function = FIELD_GET(MERIDIAN_VF_FUNCTION_FUNCTION_MASK, word);
	m->port = FIELD_GET(MERIDIAN_VF_FUNCTION_PORT_MASK, word);
	m->ports = m->port + 1;
	m->gigabits = FIELD_GET(MERIDIAN_VF_STATUS_GIGABITS_MASK,
				meridian_read(m, MERIDIAN_VF_STATUS));
	qdma_mailbox_clear(&m->qdma);
	error = introduce(m, &m->queue_limit);
	if (!error)
		meridian_default_hash(m);
	if (error)
		dev_err(dev, "the PF does not answer as it should: %d\n", error);
	return error;
}

/* The number that every VF has tells that the count is one: during a reset, reads give anything. */
static bool has_lost_queues(struct meridian *m)
{
	u32 queues = meridian_read(m, MERIDIAN_VF_QUEUES);

	return !FIELD_GET(MERIDIAN_VF_QUEUES_COUNT_MASK, queues) &&
	       meridian_read(m, MERIDIAN_VF_MAGIC) == MERIDIAN_MAGIC;
}

/**
 * meridian_was_reset() - whether a VF has lost the queues that it was given
 * @m: a VF that is up
 *
 * A function level reset from outside its driver takes them, and one of its PF. It may last 100 ms,
 * in which what is sent to the PF is lost: call this less often, and a loss is told at the second
 * sight. A PF that does not answer even then is not waited for long.
 *
 * Context: May sleep.
 */
bool meridian_was_reset(struct meridian *m)
{
	bool was_seen = m->is_loss_seen, is_lost = has_lost_queues(m);

	m->is_loss_seen = is_lost && !was_seen;
	if (!is_lost || !was_seen)
		return false;
	meridian_doubt_pf(m);
	return true;
}

/**
 * meridian_leave_pf() - the PF need not know this VF any more
 * @m: a VF whose queues are stopped
 *
 * Context: May sleep.
 */
void meridian_leave_pf(struct meridian *m)
{
	struct qdma_message bye;

	meridian_forget_addresses(m);
	begin(m, &bye, QDMA_OP_VF_BYE);
	meridian_tell_pf(m, &bye);
}
