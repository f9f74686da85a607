// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Messages as the public Xilinx drivers lay them out: fields at the offsets that their structures
 * have on x86-64, little endian.
 */
#include "qdma_mailbox.h"

#define AT_OP			0
#define AT_STATUS		1
#define AT_SOURCE		2
#define AT_DESTINATION		4

#define AT_BASE			8
#define AT_COUNT		12
#define AT_CAPABILITY		16

#define AT_RINGS		6
#define AT_BUFFERS		38
#define AT_TIMERS		70
#define AT_COUNTERS		86
#define AT_INTERVAL		102

#define AT_QUEUE		6
#define AT_KIND			8
#define AT_RING			16
#define AT_COMPLETIONS		24
#define AT_FLAGS		32
#define AT_VALUES		36
#define AT_VECTOR		40
#define AT_RING_SIZE		42
#define AT_BUFFER		44
#define AT_COMPLETION_SIZE	46

/* Of AT_KIND. */
#define KIND_STREAM		0x01
#define KIND_C2H		0x02
#define KIND_COMPLETION		0x08	/* with a completion ring for streams */
#define KIND_NO_COMPLETION	0x0c

/* Of AT_FLAGS. */
#define FLAG_FETCH_CREDIT	BIT(0)
#define FLAG_BYPASS		BIT(1)
#define FLAG_IRQ_ARM		BIT(2)
#define FLAG_WRITE_BACK_INTERVAL BIT(3)
#define FLAG_WRITE_BACK_PENDING	BIT(4)
#define FLAG_WRITE_BACK		BIT(6)
#define FLAG_IRQ		BIT(7)
#define FLAG_PREFETCH		BIT(8)
#define FLAG_COMPLETION_IRQ	BIT(11)
#define FLAG_COLOR		BIT(13)
#define FLAG_FULL_UPDATE	BIT(14)
#define FLAG_STATUS		BIT(15)
#define FLAG_DESCRIPTOR_SHIFT	16	/* 2 bits: 8 bytes << n */
#define FLAG_ENTRY_SHIFT	18
#define FLAG_TRIGGER_SHIFT	20

#define DESCRIPTOR_16		1

#define VECTOR_AGGREGATE	0x800

/* Of AT_CAPABILITY + 4: a card with streams, mailbox and function resets, in internal mode. */
#define CAPABILITY_FLAGS	0x93
#define CAPABILITY_MORE		0xfe

static void put(struct qdma_message *message, u32 at, u32 bytes, u64 value)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		message->byte[at + i] = (u8)(value >> 8 * i);
}

static u64 get(const struct qdma_message *message, u32 at, u32 bytes)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)message->byte[at + i] << 8 * i;
	return value;
}

/**
 * qdma_message_init() - begin a message
 * @message: all of it is written
 * @op: enum qdma_message_op
 * @source: function that sends it; a VF that does not know yet says 0
 * @destination: function that gets it
 */
void qdma_message_init(struct qdma_message *message, u32 op, u32 source, u32 destination)
{
	memset(message, 0, sizeof(*message));
	put(message, AT_OP, 1, op);
	put(message, AT_SOURCE, 2, source);
	put(message, AT_DESTINATION, 2, destination);
}

/**
 * qdma_message_answer() - begin the answer to a request
 * @message: all of it is written
 * @request: that is answered
 * @status: 0 or a negative enum qdma_refusal
 */
void qdma_message_answer(struct qdma_message *message, const struct qdma_message *request,
			 int status)
{
	u32 to = qdma_message_source(request), from = qdma_message_destination(request);

	qdma_message_init(message, qdma_message_op(request) | QDMA_RESPONSE, from, to);
	qdma_message_set_status(message, status);
}

/**
 * qdma_message_set_status() - how it went
 * @message: an answer
 * @status: 0 or a negative enum qdma_refusal
 */
void qdma_message_set_status(struct qdma_message *message, int status)
{
	put(message, AT_STATUS, 1, (u8)status);
}

u32 qdma_message_op(const struct qdma_message *message)
{
	return message->byte[AT_OP];
}

int qdma_message_status(const struct qdma_message *message)
{
	return (s8)message->byte[AT_STATUS];
}

u32 qdma_message_source(const struct qdma_message *message)
{
	return get(message, AT_SOURCE, 2);
}

u32 qdma_message_destination(const struct qdma_message *message)
{
	return get(message, AT_DESTINATION, 2);
}

/**
 * qdma_message_put_hello() - the answer to a VF's hello
 * @message: begun by qdma_message_answer()
 * @hello: what it says
 */
void qdma_message_put_hello(struct qdma_message *message, const struct qdma_hello *hello)
{
	put(message, AT_BASE, 4, hello->queue_base);
	put(message, AT_COUNT, 4, hello->queue_count);
	put(message, AT_CAPABILITY, 1, hello->pfs);
	put(message, AT_CAPABILITY + 2, 2, hello->queues);
	put(message, AT_CAPABILITY + 4, 1, CAPABILITY_FLAGS);
	put(message, AT_CAPABILITY + 5, 1, 1);
	put(message, AT_CAPABILITY + 6, 1, CAPABILITY_MORE);
}

/**
 * qdma_message_get_hello() - what a VF is told first
 * @message: the answer to its hello
 * @hello: what it says
 */
void qdma_message_get_hello(const struct qdma_message *message, struct qdma_hello *hello)
{
	hello->queue_base = get(message, AT_BASE, 4);
	hello->queue_count = get(message, AT_COUNT, 4);
	hello->pfs = get(message, AT_CAPABILITY, 1);
	hello->queues = get(message, AT_CAPABILITY + 2, 2);
}

/**
 * qdma_message_put_range() - a range of queues, of a request for queues, its answer, and FMAP
 * @message: begun
 * @base: the first
 * @count: how many
 */
void qdma_message_put_range(struct qdma_message *message, u32 base, u32 count)
{
	put(message, AT_BASE, 4, base);
	put(message, AT_COUNT, 4, count);
}

/**
 * qdma_message_get_range() - what qdma_message_put_range() put
 * @message: that came
 * @base: the first; all ones in a request that leaves the choice
 * @count: how many
 */
void qdma_message_get_range(const struct qdma_message *message, u32 *base, u32 *count)
{
	*base = get(message, AT_BASE, 4);
	*count = get(message, AT_COUNT, 4);
}

/**
 * qdma_message_put_tables() - the answer to a VF that asks for the tables
 * @message: begun by qdma_message_answer()
 * @tables: of the card; timers and counters travel as bytes, sizes as 16 bits
 * @interval: of status entries, as the card's register has it
 */
void qdma_message_put_tables(struct qdma_message *message, const struct qdma_tables *tables,
			     u32 interval)
{
	u32 i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		put(message, AT_RINGS + 2 * i, 2, tables->rings[i]);
		put(message, AT_BUFFERS + 2 * i, 2, tables->buffers[i]);
		put(message, AT_TIMERS + i, 1, tables->timers[i]);
		put(message, AT_COUNTERS + i, 1, tables->counters[i]);
	}
	put(message, AT_INTERVAL, 1, interval);
}

/**
 * qdma_message_get_tables() - the card's tables, for a VF
 * @message: the answer
 * @tables: what it says
 */
void qdma_message_get_tables(const struct qdma_message *message, struct qdma_tables *tables)
{
	u32 i;

	for (i = 0; i < QDMA_TABLE_ENTRIES; i++) {
		tables->rings[i] = get(message, AT_RINGS + 2 * i, 2);
		tables->buffers[i] = get(message, AT_BUFFERS + 2 * i, 2);
		tables->timers[i] = get(message, AT_TIMERS + i, 1);
		tables->counters[i] = get(message, AT_COUNTERS + i, 1);
	}
}

static u32 flags_of(const struct qdma_queue_request *request)
{
	u32 flags = FLAG_COLOR | FLAG_STATUS | request->entry_log2 << FLAG_ENTRY_SHIFT |
		    request->trigger << FLAG_TRIGGER_SHIFT;

	if (request->bypass)
		return FLAG_BYPASS;
	if (request->full_update)
		flags |= FLAG_FULL_UPDATE;
	if (request->is_c2h)
		return flags | FLAG_FETCH_CREDIT | (request->prefetch ? FLAG_PREFETCH : 0) |
		       (request->interrupt ? FLAG_COMPLETION_IRQ : 0);
	return flags | FLAG_WRITE_BACK | FLAG_WRITE_BACK_INTERVAL | FLAG_WRITE_BACK_PENDING |
	       (DESCRIPTOR_16 + request->pieces_log2) << FLAG_DESCRIPTOR_SHIFT |
	       (request->interrupt ? FLAG_IRQ | FLAG_IRQ_ARM : 0);
}

/**
 * qdma_message_put_queue() - a request for one direction of a queue
 * @message: begun, with QDMA_OP_CONTEXT_WRITE
 * @request: what is asked for
 */
void qdma_message_put_queue(struct qdma_message *message, const struct qdma_queue_request *request)
{
	u32 kind = request->is_mapped ? 0 : KIND_STREAM;

	kind |= request->is_c2h ? KIND_C2H | KIND_COMPLETION : KIND_NO_COMPLETION;
	put(message, AT_QUEUE, 2, request->queue);
	put(message, AT_KIND, 1, kind);
	put(message, AT_RING, 8, request->ring);
	put(message, AT_COMPLETIONS, 8, request->completions);
	put(message, AT_FLAGS, 4, flags_of(request));
	put(message, AT_VALUES, 4,
	    request->function | request->counter << 16 | request->timer << 24);
	put(message, AT_VECTOR, 2, request->vector | (request->aggregate ? VECTOR_AGGREGATE : 0));
	put(message, AT_RING_SIZE, 2, request->ring_size);
	put(message, AT_BUFFER, 2, request->buffer);
	put(message, AT_COMPLETION_SIZE, 2, request->completion_size);
}

/**
 * qdma_message_get_queue() - what a VF asks for
 * @message: its request
 * @request: what it says; nothing of it is checked
 */
void qdma_message_get_queue(const struct qdma_message *message, struct qdma_queue_request *request)
{
	u32 flags = get(message, AT_FLAGS, 4), values = get(message, AT_VALUES, 4);
	u32 vector = get(message, AT_VECTOR, 2), size = flags >> FLAG_DESCRIPTOR_SHIFT & 3;

	memset(request, 0, sizeof(*request));
	request->is_c2h = get(message, AT_KIND, 1) & KIND_C2H;
	request->is_mapped = !(get(message, AT_KIND, 1) & KIND_STREAM);
	request->queue = get(message, AT_QUEUE, 2);
	request->function = values & 0xffff;
	request->ring = get(message, AT_RING, 8);
	request->completions = get(message, AT_COMPLETIONS, 8);
	request->ring_size = get(message, AT_RING_SIZE, 2);
	request->completion_size = get(message, AT_COMPLETION_SIZE, 2);
	request->buffer = get(message, AT_BUFFER, 2);
	request->counter = values >> 16 & 0xff;
	request->timer = values >> 24;
	request->trigger = flags >> FLAG_TRIGGER_SHIFT & 7;
	request->entry_log2 = flags >> FLAG_ENTRY_SHIFT & 3;
	request->vector = vector & (VECTOR_AGGREGATE - 1);
	request->aggregate = vector & VECTOR_AGGREGATE;
	request->interrupt = flags & (request->is_c2h ? FLAG_COMPLETION_IRQ : FLAG_IRQ);
	request->full_update = flags & FLAG_FULL_UPDATE;
	request->prefetch = flags & FLAG_PREFETCH;
	request->bypass = flags & FLAG_BYPASS;
	if (!request->is_c2h && size > DESCRIPTOR_16)
		request->pieces_log2 = size - DESCRIPTOR_16;
}

/**
 * qdma_request_setting() - what a request means with the card's tables
 * @request: of a VF
 * @tables: of the card
 * @h2c: filled in if the request is for a transmit queue
 * @c2h: filled in if it is for a receive queue
 *
 * Return: 0 or a negative enum qdma_refusal: the first value that the tables do not have.
 */
int qdma_request_setting(const struct qdma_queue_request *request, const struct qdma_tables *tables,
			 struct qdma_h2c_setting *h2c, struct qdma_c2h_setting *c2h)
{
	int ring = qdma_find(tables->rings, request->ring_size + 1);
	int completions, buffer, counter, timer;

	if (ring < 0)
		return -QDMA_REFUSE_RING;
	if (!request->is_c2h) {
		*h2c = (struct qdma_h2c_setting){
			.queue = request->queue,
			.function = request->function,
			.ring = request->ring,
			.ring_index = ring,
			.interrupt = request->interrupt,
			.vector = request->vector,
			.aggregate = request->aggregate,
			.pieces_log2 = request->pieces_log2,
		};
		return 0;
	}
	completions = qdma_find(tables->rings, request->completion_size + 1);
	buffer = qdma_find(tables->buffers, request->buffer);
	counter = qdma_find(tables->counters, request->counter);
	timer = qdma_find(tables->timers, request->timer);
	if (completions < 0)
		return -QDMA_REFUSE_RING;
	if (buffer < 0)
		return -QDMA_REFUSE_BUFFER;
	if (counter < 0)
		return -QDMA_REFUSE_COUNTER;
	if (timer < 0)
		return -QDMA_REFUSE_TIMER;
	if (request->trigger > QDMA_TRIGGER_USER_TIMER_COUNT)
		return -QDMA_REFUSE_PARAMETER;
	*c2h = (struct qdma_c2h_setting){
		.queue = request->queue,
		.function = request->function,
		.ring = request->ring,
		.ring_index = ring,
		.completions = request->completions,
		.completion_index = completions,
		.entry_log2 = request->entry_log2,
		.buffer_index = buffer,
		.trigger = request->trigger,
		.timer_index = timer,
		.counter_index = counter,
		.interrupt = request->interrupt,
		.vector = request->vector,
		.aggregate = request->aggregate,
		.prefetch = request->prefetch,
		.full_update = request->full_update,
	};
	return 0;
}
