/* SPDX-License-Identifier: BSD-3-Clause */
/* A VF: all that is not its own rings it asks its PF for, in the messages of the public drivers. */
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_random.h>

#include "meridian.h"

/* As long as the public drivers wait for an answer; and for one of a PF that gave none before. */
#define ANSWER_SECONDS	10
#define SILENT_SECONDS	1
#define ANSWER_POLL_US	1000

#define PROMISCUOUS	MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK
#define ALL_MULTICAST	MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK

static_assert(PROMISCUOUS == MERIDIAN_VF_FLAGS_PROMISCUOUS_MASK,
	      "a VF sees where its PF writes whether it is promiscuous");
static_assert(ALL_MULTICAST == MERIDIAN_VF_FLAGS_ALL_MULTICAST_MASK,
	      "a VF sees where its PF writes whether it receives all multicast");

static uint64_t
end_of_wait(const struct meridian *m)
{
	return rte_get_timer_cycles() +
	       rte_get_timer_hz() * (m->is_pf_silent ? SILENT_SECONDS : ANSWER_SECONDS);
}

static int
post(struct meridian *m, const struct qdma_message *request)
{
	uint64_t end = end_of_wait(m);
	bool is_last;
	int error;

	do {
		is_last = rte_get_timer_cycles() >= end;
		error = qdma_mailbox_send(&m->qdma, 0, request);
		if (error != -EBUSY)
			return error;
		rte_delay_us_sleep(ANSWER_POLL_US);
	} while (!is_last);
	return error;
}

/* What else comes meanwhile is thrown away. */
static int
wait_answer(struct meridian *m, uint32_t op, struct qdma_message *answer)
{
	uint64_t end = end_of_wait(m);
	uint32_t source;
	bool is_last;

	do {
		int error;

		is_last = rte_get_timer_cycles() >= end;
		error = qdma_mailbox_receive(&m->qdma, answer, &source);
		if (error == -EAGAIN)
			rte_delay_us_sleep(ANSWER_POLL_US);
		else if (error)
			return error;
		else if (qdma_message_op(answer) == (op | QDMA_RESPONSE))
			return qdma_message_status(answer) ? -EACCES : 0;
	} while (!is_last);
	return -ETIMEDOUT;
}

static void
begin(struct meridian *m, struct qdma_message *request, uint32_t op)
{
	qdma_message_init(request, op, m->function, 0);
}

/* Returns 0; -EACCES if the PF refuses, -EBUSY or -ETIMEDOUT if it is silent. */
static int
ask(struct meridian *m, const struct qdma_message *request, struct qdma_message *answer)
{
	struct qdma_message unused;
	int error;

	if (answer == NULL)
		answer = &unused;
	/* The answer to the last question may have come late. */
	if (m->is_pf_silent)
		qdma_mailbox_clear(&m->qdma);
	error = post(m, request);
	if (!error)
		error = wait_answer(m, qdma_message_op(request), answer);
	if (error == -EACCES)
		MERIDIAN_LOG(WARNING, "%s: the PF refuses operation %#x: %d", m->data->name,
			     qdma_message_op(request), qdma_message_status(answer));
	m->is_pf_silent = error == -EBUSY || error == -ETIMEDOUT;
	if (m->is_pf_silent)
		MERIDIAN_LOG(ERR, "%s: the PF does not answer operation %#x", m->data->name,
			     qdma_message_op(request));
	return error;
}

static int
map_queues(struct meridian *m, uint32_t count)
{
	struct qdma_message request;

	begin(m, &request, QDMA_OP_FMAP);
	qdma_message_put_range(&request, m->queue_base, count);
	return ask(m, &request, NULL);
}

static int
ask_queue(struct meridian *m, uint32_t op, const struct qdma_queue_request *queue)
{
	struct qdma_message request;

	begin(m, &request, op);
	qdma_message_put_queue(&request, queue);
	return ask(m, &request, NULL);
}

/* What the queues that start next have in their descriptors. */
static int
ask_tx_offload(struct meridian *m, uint32_t offload)
{
	struct qdma_message request;
	int error;

	if (m->tx_offload == offload)
		return 0;
	begin(m, &request, MERIDIAN_OP_TX_OFFLOAD);
	request.byte[MERIDIAN_TX_OFFLOAD_ON] = offload;
	error = ask(m, &request, NULL);
	if (!error)
		m->tx_offload = offload;
	return error;
}

static int
start_tx(struct meridian *m, struct qdma_h2c_setting *setting, bool cuts)
{
	struct qdma_queue_request queue = {
		.queue = setting->queue,
		.function = m->function,
		.ring = setting->ring,
		.ring_size = m->qdma.tables.rings[setting->ring_index] - 1,
		.pieces_log2 = setting->pieces_log2,
	};
	int error = 0;

	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		error = ask_tx_offload(m, cuts ? MERIDIAN_TX_OFFLOAD_SEGMENTS :
						 MERIDIAN_TX_OFFLOAD_REQUESTS);
	if (error)
		return error;
	return ask_queue(m, QDMA_OP_CONTEXT_WRITE, &queue);
}

static int
start_rx(struct meridian *m, struct qdma_c2h_setting *setting, uint32_t buffer)
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
		.buffer = buffer,
		.counter = tables->counters[setting->counter_index],
		.timer = tables->timers[setting->timer_index],
		.trigger = setting->trigger,
		.entry_log2 = setting->entry_log2,
		.vector = setting->vector,
		.interrupt = setting->interrupt,
		.full_update = setting->full_update,
		.prefetch = setting->prefetch,
	};

	return ask_queue(m, QDMA_OP_CONTEXT_WRITE, &queue);
}

static int
stop(struct meridian *m, uint32_t queue, bool is_rx)
{
	struct qdma_queue_request end = {
		.is_c2h = is_rx, .queue = queue, .function = m->function,
	};

	if (!meridian_present(m))
		return -EIO;
	return ask_queue(m, QDMA_OP_CONTEXT_INVALIDATE, &end);
}

static int
end_queues(struct meridian *m)
{
	return map_queues(m, 0);
}

static void
put_word(struct qdma_message *message, uint32_t at, uint32_t value)
{
	value = rte_cpu_to_le_32(value);
	memcpy(&message->byte[at], &value, sizeof(value));
}

static uint32_t
get_word(const struct qdma_message *message, uint32_t at)
{
	uint32_t value;

	memcpy(&value, &message->byte[at], sizeof(value));
	return rte_le_to_cpu_32(value);
}

/* A PF that does not know the question spreads the frames evenly. */
static int
write_rss(struct meridian *m)
{
	struct qdma_message request;
	struct qdma_rss rss;

	if (!meridian_can_spread(m))
		return 0;
	meridian_rss_in_force(m, &rss);
	begin(m, &request, MERIDIAN_OP_RSS);
	qdma_message_put_rss(&request, &rss);
	return ask(m, &request, NULL);
}

static int
set_strip(struct meridian *m, bool on)
{
	struct qdma_message request;

	begin(m, &request, MERIDIAN_OP_STRIP);
	request.byte[MERIDIAN_STRIP_ON] = on;
	return ask(m, &request, NULL);
}

/* Those that the PF has taken. */
static uint32_t
taken_entries(const struct meridian *m)
{
	uint32_t taken = 0, i;

	for (i = 0; i < m->entry_count; i++)
		taken += !m->entries[i].is_refused;
	return taken;
}

static bool
is_refusal(int error)
{
	return error == -EPERM || error == -ENOSPC;
}

/* Groups are for any VF, so one that is refused found no room. */
static int
ask_address(struct meridian *m, const struct rte_ether_addr *address, bool is_added, bool is_own)
{
	bool is_full = rte_is_multicast_ether_addr(address) ||
		       (!is_own && taken_entries(m) == QDMA_VF_ADDRESSES);
	struct qdma_message request;
	int error;

	begin(m, &request, MERIDIAN_OP_ADDRESS);
	memcpy(&request.byte[MERIDIAN_ADDRESS_ADDRESS], address, RTE_ETHER_ADDR_LEN);
	request.byte[MERIDIAN_ADDRESS_ADD] = is_added;
	request.byte[MERIDIAN_ADDRESS_OWN] = is_own;
	error = ask(m, &request, NULL);
	if (error != -EACCES)
		return error;
	return is_full ? -ENOSPC : -EPERM;
}

/**
 * meridian_set_own_address() - take another address
 * @m: a VF
 * @address: of ethdev's choice
 *
 * Return: 0; -EPERM if the PF refuses.
 */
int
meridian_set_own_address(struct meridian *m, const struct rte_ether_addr *address)
{
	return ask_address(m, address, true, true);
}

static bool
is_in(const struct rte_ether_addr *list, uint32_t count, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (rte_is_same_ether_addr(&list[i], address))
			return true;
	}
	return false;
}

static bool
is_known(const struct meridian *m, const struct rte_ether_addr *address)
{
	uint32_t i;

	for (i = 0; i < m->entry_count; i++) {
		if (rte_is_same_ether_addr(&m->entries[i].address, address))
			return true;
	}
	return false;
}

static bool
is_wanted(const struct meridian *m, const struct meridian_entry *entry)
{
	/* As the port starts, the PF is asked again for what it has refused. */
	if (entry->is_refused && !m->is_started)
		return false;
	return is_in(&m->data->mac_addrs[1], MERIDIAN_ADDRESSES - 1, &entry->address) ||
	       is_in(m->multicast, m->multicasts, &entry->address);
}

static void
forget(struct meridian *m)
{
	struct rte_ether_addr gone[QDMA_VF_ADDRESSES];
	uint32_t kept = 0, goes = 0, i;

	for (i = 0; i < m->entry_count; i++) {
		if (is_wanted(m, &m->entries[i]))
			m->entries[kept++] = m->entries[i];
		else if (!m->entries[i].is_refused && goes < RTE_DIM(gone))
			gone[goes++] = m->entries[i].address;
	}
	m->entry_count = kept;
	for (i = 0; i < goes; i++)
		ask_address(m, &gone[i], false, false);
}

/* A port that starts does without what the PF refuses. */
static int
learn(struct meridian *m, const struct rte_ether_addr *list, uint32_t count)
{
	int error = 0;
	uint32_t i;

	for (i = 0; i < count && !error; i++) {
		struct meridian_entry entry = { .address = list[i] };

		if (rte_is_zero_ether_addr(&list[i]) || is_known(m, &list[i]))
			continue;
		error = ask_address(m, &list[i], true, false);
		entry.is_refused = is_refusal(error) && !m->is_started;
		if (entry.is_refused) {
			MERIDIAN_LOG(WARNING, "%s: starts without " RTE_ETHER_ADDR_PRT_FMT ", which its PF refuses: %s",
				     m->data->name, RTE_ETHER_ADDR_BYTES(&list[i]),
				     strerror(-error));
			error = 0;
		}
		if (!error)
			m->entries[m->entry_count++] = entry;
	}
	return error;
}

/**
 * meridian_ask_flags() - receive what ethdev's flags say
 * @m: a VF
 *
 * Return: 0; -EPERM if the PF does not trust the VF, then the log says so.
 */
int
meridian_ask_flags(struct meridian *m)
{
	struct qdma_message request;
	uint32_t flags = 0;
	int error;

	if (m->data->promiscuous)
		flags |= PROMISCUOUS;
	if (m->data->promiscuous || m->data->all_multicast)
		flags |= ALL_MULTICAST;
	/* What the PF has taken back with its trust is not there any more. */
	if (flags == (meridian_read(m, MERIDIAN_VF_FLAGS) & (PROMISCUOUS | ALL_MULTICAST)))
		return 0;
	begin(m, &request, MERIDIAN_OP_FLAGS);
	put_word(&request, MERIDIAN_FLAGS_FLAGS, flags);
	error = ask(m, &request, NULL);
	if (error != -EACCES)
		return error;
	MERIDIAN_LOG(WARNING, "%s: promiscuous and all multicast are for a VF that its PF trusts: ip link set DEVICE vf NUMBER trust on",
		     m->data->name);
	return -EPERM;
}

/* Trust may have gone since they were set: the port starts without them. */
static int
restore_flags(struct meridian *m)
{
	int error = meridian_ask_flags(m);

	if (error != -EPERM)
		return error;
	m->data->promiscuous = 0;
	m->data->all_multicast = 0;
	return 0;
}

/* The first address is the VF's own, which the PF knows. */
static int
sync_filter(struct meridian *m)
{
	int error;

	forget(m);
	error = learn(m, &m->data->mac_addrs[1], MERIDIAN_ADDRESSES - 1);
	if (!error)
		error = learn(m, m->multicast, m->multicasts);
	return error ? error : restore_flags(m);
}

static bool
is_link_up(struct meridian *m)
{
	uint32_t status = meridian_read(m, MERIDIAN_VF_STATUS);

	return status != QDMA_ALL_ONES && status & MERIDIAN_VF_STATUS_LINK_UP_MASK;
}

static uint64_t
counter(struct meridian *m, uint32_t offset)
{
	return meridian_read_counter(m, offset);
}

static_assert((uint32_t)MERIDIAN_VF_COUNTER_RX_QUEUE_FULL ==
	      (uint32_t)MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL &&
	      (uint32_t)MERIDIAN_VF_COUNTER_TX_COPIES_PS_FULL ==
	      (uint32_t)MERIDIAN_FUNCTION_COUNTER_TX_COPIES_PS_FULL,
	      "a VF has its counters where a PF has them of it");

const struct meridian_ops meridian_vf_ops = {
	.map_queues = map_queues,
	.start_tx = start_tx,
	.start_rx = start_rx,
	.stop = stop,
	.end_queues = end_queues,
	.write_rss = write_rss,
	.set_strip = set_strip,
	.sync_filter = sync_filter,
	.is_link_up = is_link_up,
	.counter = counter,
};

static int
say_hello(struct meridian *m)
{
	struct qdma_message request, answer;
	int error;

	begin(m, &request, QDMA_OP_HELLO);
	error = ask(m, &request, &answer);
	if (!error)
		m->function = qdma_message_destination(&answer);
	return error;
}

static int
ask_queues(struct meridian *m)
{
	struct qdma_message request, answer;
	uint32_t base, count;
	int error;

	begin(m, &request, QDMA_OP_QUEUE_REQUEST);
	qdma_message_put_range(&request, QDMA_ALL_ONES, MERIDIAN_QUEUES_OF_VF);
	error = ask(m, &request, &answer);
	if (error)
		return error;
	qdma_message_get_range(&answer, &base, &count);
	if (!count || count > MERIDIAN_QUEUES_OF_VF)
		return -EPROTO;
	m->queue_base = base;
	m->queue_limit = count;
	begin(m, &request, QDMA_OP_TABLES);
	error = ask(m, &request, &answer);
	if (!error)
		qdma_message_get_tables(&answer, &m->qdma.tables);
	return error;
}

/* Sizes of memory depend on it, and no register of a VF tells it. */
static int
take_max_frame(struct meridian *m, uint32_t bytes)
{
	if (bytes >= MERIDIAN_CONFIG_FRAME_LEAST && bytes <= MERIDIAN_CONFIG_FRAME_MOST) {
		m->max_frame = bytes;
		return 0;
	}
	MERIDIAN_LOG(ERR, "%s: the PF says that the longest frame has %u bytes, which no card has",
		     m->data->name, bytes);
	return -EPROTO;
}

static int
ask_config(struct meridian *m)
{
	struct qdma_message request, answer;
	int error;

	begin(m, &request, MERIDIAN_OP_CONFIG);
	error = ask(m, &request, &answer);
	if (!error)
		error = take_max_frame(m, get_word(&answer, MERIDIAN_CONFIG_MAX_FRAME));
	if (error)
		return error;
	memcpy(&m->data->mac_addrs[0], &answer.byte[MERIDIAN_CONFIG_ADDRESS], RTE_ETHER_ADDR_LEN);
	m->pf_version = answer.byte[MERIDIAN_CONFIG_VERSION];
	m->capabilities = m->pf_version >= 2 ? get_word(&answer, MERIDIAN_CONFIG_CAPABILITIES) : 0;
	meridian_default_rss(m);
	m->tx_offload = MERIDIAN_TX_OFFLOAD_NONE;
	return 0;
}

static int
join_pf(struct meridian *m)
{
	int error;

	qdma_mailbox_clear(&m->qdma);
	error = say_hello(m);
	if (!error)
		error = ask_queues(m);
	if (!error)
		error = ask_config(m);
	if (error)
		MERIDIAN_LOG(ERR, "%s: the PF does not answer as it should: %s", m->data->name,
			     strerror(-error));
	return error;
}

/**
 * meridian_join_pf_again() - begin anew with a PF that need not know this VF any more
 * @m: a VF that is stopped
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_join_pf_again(struct meridian *m)
{
	m->entry_count = 0;
	return join_pf(m);
}

/* The number that every VF has tells that the count is one: during a reset, reads give anything. */
static bool
has_lost_queues(struct meridian *m)
{
	return !(meridian_read(m, MERIDIAN_VF_QUEUES) & MERIDIAN_VF_QUEUES_COUNT_MASK) &&
	       meridian_read(m, MERIDIAN_VF_MAGIC) == MERIDIAN_MAGIC;
}

/**
 * meridian_was_reset() - whether a VF has lost the queues that it was given
 * @m: a VF that is started
 *
 * A function level reset takes them, and so does a PF that begins anew. A reset may last 100 ms, in
 * which what is sent to the PF is lost: call this less often, and a loss is told at the second
 * sight.
 */
bool
meridian_was_reset(struct meridian *m)
{
	bool was_seen = m->is_loss_seen, is_lost = has_lost_queues(m);

	m->is_loss_seen = is_lost && !was_seen;
	return is_lost && was_seen;
}

/**
 * meridian_identify_vf() - take a VF
 * @m: its bus is known
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_identify_vf(struct meridian *m)
{
	int error = meridian_check_map(m->data->name, meridian_read(m, MERIDIAN_VF_MAGIC),
				       meridian_read(m, MERIDIAN_VF_VERSION));
	uint32_t word;

	if (error)
		return error;
	error = qdma_identify_vf(&m->qdma, m->bus);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: BAR 0 is not that of a QDMA's VF: %s", m->data->name,
			     strerror(-error));
		return error;
	}
	m->entries = calloc(MERIDIAN_ADDRESSES + MERIDIAN_MULTICAST, sizeof(*m->entries));
	if (m->entries == NULL)
		return -ENOMEM;
	/* An IP may not have it; the hello takes the queues of a driver before in any case. */
	if (qdma_reset_function(&m->qdma))
		MERIDIAN_LOG(WARNING, "%s: the card does not end a reset of the function",
			     m->data->name);
	word = meridian_read(m, MERIDIAN_VF_FUNCTION);
	m->function = word & MERIDIAN_VF_FUNCTION_FUNCTION_MASK;
	m->port = (word & MERIDIAN_VF_FUNCTION_PORT_MASK) >> MERIDIAN_VF_FUNCTION_PORT_SHIFT;
	m->ports = m->port + 1;
	m->gigabits = (meridian_read(m, MERIDIAN_VF_STATUS) & MERIDIAN_VF_STATUS_GIGABITS_MASK) >>
		      MERIDIAN_VF_STATUS_GIGABITS_SHIFT;
	return join_pf(m);
}

/* The PF need not know this VF any more. */
void
meridian_leave_pf(struct meridian *m)
{
	struct qdma_message bye;

	free(m->entries);
	m->entries = NULL;
	m->entry_count = 0;
	/* One that was never taken has no mailbox. */
	if (m->qdma.bar == NULL || !meridian_present(m))
		return;
	begin(m, &bye, QDMA_OP_VF_BYE);
	post(m, &bye);
}
