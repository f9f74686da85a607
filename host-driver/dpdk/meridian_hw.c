/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of the shell in BAR2. */
#include "meridian.h"

/* The MAC clocks see a switch some cycles after it was written; a read of their block is longer. */
#define CROSSING_READS	2

uint32_t
meridian_read(struct meridian *m, uint32_t offset)
{
	return m->bus->ops->read(m->bus, MERIDIAN_BAR_SHELL, offset);
}

void
meridian_write(struct meridian *m, uint32_t offset, uint32_t value)
{
	m->bus->ops->write(m->bus, MERIDIAN_BAR_SHELL, offset, value);
}

/* The low word holds the high one, for all threads of the function. */
uint64_t
meridian_read_counter(struct meridian *m, uint32_t offset)
{
	uint64_t value;

	pthread_mutex_lock(&m->latch);
	value = meridian_read(m, offset);
	value |= (uint64_t)meridian_read(m, offset + 4) << 32;
	pthread_mutex_unlock(&m->latch);
	return value;
}

uint32_t
meridian_read_function(struct meridian *m, uint32_t offset)
{
	return meridian_read(m, MERIDIAN_FUNCTION_BASE(m->function) + offset);
}

void
meridian_write_function(struct meridian *m, uint32_t offset, uint32_t value)
{
	meridian_write(m, MERIDIAN_FUNCTION_BASE(m->function) + offset, value);
}

bool
meridian_present(struct meridian *m)
{
	return qdma_present(&m->qdma);
}

/**
 * meridian_flush() - wait until what was written is in force
 * @m: a PF
 *
 * Writes are posted, and a doorbell may overtake one to BAR2.
 */
void
meridian_flush(struct meridian *m)
{
	int i;

	for (i = 0; i < CROSSING_READS; i++)
		meridian_read(m, MERIDIAN_PORT_BASE(m->port) + MERIDIAN_PORT_HOST_ENABLE);
}

/**
 * meridian_check_map() - look whether this is a card whose registers the driver knows
 * @name: of the port, for the log
 * @magic: that the card has
 * @version: of its register map
 *
 * Return: 0 or -ENODEV, then the log says why in a sentence.
 */
int
meridian_check_map(const char *name, uint32_t magic, uint32_t version)
{
	uint32_t major = version >> MERIDIAN_IDENT_VERSION_MAJOR_SHIFT;
	uint32_t minor = version & MERIDIAN_IDENT_VERSION_MINOR_MASK;

	if (magic == QDMA_ALL_ONES) {
		MERIDIAN_LOG(ERR, "%s: the card does not answer: every read gives all ones", name);
		return -ENODEV;
	}
	if (magic != MERIDIAN_MAGIC) {
		MERIDIAN_LOG(ERR, "%s: this is no Meridian card: its magic is %#010x, not %#010x",
			     name, magic, MERIDIAN_MAGIC);
		return -ENODEV;
	}
	if (major != MERIDIAN_MAP_MAJOR || minor < MERIDIAN_MAP_MINOR) {
		MERIDIAN_LOG(ERR, "%s: the card's register map is version %u.%u, this driver knows %u.%u: take the driver that came with the card's image",
			     name, major, minor, MERIDIAN_MAP_MAJOR, MERIDIAN_MAP_MINOR);
		return -ENODEV;
	}
	return 0;
}

static uint32_t
read_ident(struct meridian *m, uint32_t offset)
{
	return meridian_read(m, MERIDIAN_IDENT_BASE + offset);
}

static uint32_t
ident_field(struct meridian *m, uint32_t offset, uint32_t mask)
{
	return (read_ident(m, offset) & mask) >> rte_bsf32(mask);
}

/* The card is no other function's, as far as queues go. */
static int
find_queues(struct meridian *m, uint32_t wanted)
{
	uint32_t queues = RTE_MIN(m->qdma.queues,
				  ident_field(m, MERIDIAN_IDENT_QUEUES,
					      MERIDIAN_IDENT_QUEUES_QUEUES_MASK));

	m->queue_base = wanted * m->function;
	m->queue_limit = queues > m->queue_base ? RTE_MIN(wanted, queues - m->queue_base) : 0;
	if (m->queue_limit && m->ports <= MERIDIAN_PORTS && m->port < m->ports)
		return 0;
	MERIDIAN_LOG(ERR, "%s: the card has %u queues and %u ports: none is left for function %u",
		     m->data->name, queues, m->ports, m->function);
	return -ENODEV;
}

/**
 * meridian_identify() - take a PF
 * @m: its bus and card are known
 * @queues: of each PF
 *
 * Return: 0 or a negative errno; the log says why.
 */
int
meridian_identify(struct meridian *m, uint32_t queues)
{
	int error = meridian_check_map(m->data->name, read_ident(m, MERIDIAN_IDENT_MAGIC),
				       read_ident(m, MERIDIAN_IDENT_VERSION));

	if (error)
		return error;
	error = qdma_identify(&m->qdma, m->bus);
	if (error) {
		MERIDIAN_LOG(ERR, "%s: BAR 0 is not that of a QDMA with streams: %s",
			     m->data->name, strerror(-error));
		return error;
	}
	m->function = m->qdma.function;
	if (m->function >= MERIDIAN_PFS) {
		MERIDIAN_LOG(ERR, "%s: the card says this is function %u, which is no PF",
			     m->data->name, m->function);
		return -ENODEV;
	}
	m->ports = ident_field(m, MERIDIAN_IDENT_GEOMETRY, MERIDIAN_IDENT_GEOMETRY_PORTS_MASK);
	m->card->groups = RTE_MIN((uint32_t)MERIDIAN_GROUPS,
				  ident_field(m, MERIDIAN_IDENT_QUEUES,
					      MERIDIAN_IDENT_QUEUES_GROUPS_MASK));
	m->max_frame = read_ident(m, MERIDIAN_IDENT_MAX_FRAME);
	m->qdma.user_mhz = ident_field(m, MERIDIAN_IDENT_CLOCKS,
				       MERIDIAN_IDENT_CLOCKS_HOST_MHZ_MASK);
	m->capabilities = read_ident(m, MERIDIAN_IDENT_CAPABILITIES);
	m->port = meridian_read_function(m, MERIDIAN_FUNCTION_PORT) &
		  MERIDIAN_FUNCTION_PORT_PORT_MASK;
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK))
		m->gigabits = (meridian_read(m, MERIDIAN_PORT_BASE(m->port) +
					     MERIDIAN_PORT_LINK_STATUS) &
			       MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK) >>
			      MERIDIAN_PORT_LINK_STATUS_GIGABITS_SHIFT;
	return find_queues(m, queues);
}

/* Frames whose queue has too few buffers are dropped and counted. */
void
meridian_enforce_credit(struct meridian *m)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT,
		       MERIDIAN_FILTER_CREDIT_ENFORCE_MASK);
}

/*
 * Frames of a PF or of its VF may go to so many queues from base on, 0 switches the function off;
 * in force on return. Another PF's driver that goes may have frames without buffers wait, and looks
 * for queues before and after: so this says before and after that they are dropped.
 */
void
meridian_set_queues(struct meridian *m, uint32_t function, uint32_t base, uint32_t count)
{
	if (count)
		meridian_enforce_credit(m);
	meridian_write(m, MERIDIAN_FUNCTION_BASE(function) + MERIDIAN_FUNCTION_QCONF,
		       count ? base << MERIDIAN_FUNCTION_QCONF_BASE_SHIFT | count : 0);
	if (count)
		meridian_enforce_credit(m);
	meridian_flush(m);
}

/* queue: absolute. The shell counts buffers by it. To be flushed before the queue starts. */
static void
set_buffer_size(struct meridian *m, uint32_t queue, uint32_t bytes)
{
	meridian_write(m, MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_BUFFER_SIZE,
		       bytes << MERIDIAN_FILTER_BUFFER_SIZE_BYTES_SHIFT |
		       queue << MERIDIAN_FILTER_BUFFER_SIZE_QUEUE_SHIFT);
}

/* queue: absolute; mask: MERIDIAN_QUEUE_SWITCHES_*. To be flushed before the queue starts. */
static void
set_switch(struct meridian *m, uint32_t queue, uint32_t mask, bool on)
{
	uint32_t offset = MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(queue);
	uint32_t value = meridian_read(m, offset);

	meridian_write(m, offset, on ? value | mask : value & ~mask);
}

/**
 * meridian_set_tx() - how a transmit queue is served
 * @m: a PF, whose card's lock is held
 * @queue: absolute
 * @is_paced: at the rates of its function, then its context must fetch descriptors on credit
 * @offload: which requests its descriptors may have, MERIDIAN_TX_OFFLOAD_*
 *
 * In force on return.
 */
void
meridian_set_tx(struct meridian *m, uint32_t queue, bool is_paced, uint32_t offload)
{
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_PACING_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_PACED_MASK, is_paced);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK,
			   offload != MERIDIAN_TX_OFFLOAD_NONE);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_MASK,
			   offload == MERIDIAN_TX_OFFLOAD_SEGMENTS);
	meridian_flush(m);
}

/**
 * meridian_set_rx() - what a receive queue has
 * @m: a PF, whose card's lock is held
 * @queue: absolute
 * @buffer: bytes of each of its buffers
 * @entry_log2: a completion has 8 << entry_log2 bytes
 *
 * In force on return.
 */
void
meridian_set_rx(struct meridian *m, uint32_t queue, uint32_t buffer, uint32_t entry_log2)
{
	set_buffer_size(m, queue, buffer);
	if (meridian_can(m, MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK))
		set_switch(m, queue, MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK, entry_log2 != 0);
	meridian_flush(m);
}
