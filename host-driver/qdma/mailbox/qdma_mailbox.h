/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* The mailbox between a PF and its VFs, and the messages of the public Xilinx drivers in it. */
#ifndef QDMA_MAILBOX_H
#define QDMA_MAILBOX_H

#include "../qdma_device.h"
#include "../qdma_queue.h"

#define QDMA_MESSAGE_BYTES	128
#define QDMA_RESPONSE		0x80	/* added to the operation that is answered */

enum qdma_message_op {
	QDMA_OP_VF_BYE = 0,
	QDMA_OP_HELLO = 1,
	QDMA_OP_FMAP = 2,
	QDMA_OP_TABLES = 3,
	QDMA_OP_QUEUE_REQUEST = 4,
	QDMA_OP_QUEUE_ADD = 5,
	QDMA_OP_QUEUE_DELETE = 6,
	QDMA_OP_ACTIVE_COUNT = 7,
	QDMA_OP_CONTEXT_WRITE = 8,
	QDMA_OP_CONTEXT_READ = 9,
	QDMA_OP_CONTEXT_CLEAR = 10,
	QDMA_OP_CONTEXT_INVALIDATE = 11,
	QDMA_OP_RING_WRITE = 12,
	QDMA_OP_RING_READ = 13,
	QDMA_OP_RING_CLEAR = 14,
	QDMA_OP_RING_INVALIDATE = 15,
	QDMA_OP_RESET_PREPARE = 16,
	QDMA_OP_RESET_DONE = 17,
	QDMA_OP_REGISTERS = 18,
	QDMA_OP_PF_BYE = 19,
	QDMA_OP_PF_RESET_VF_BYE = 20,
};

/* Why a request is refused; travels negative. */
enum qdma_refusal {
	QDMA_REFUSE_PARAMETER = 1,
	QDMA_REFUSE_BUSY = 3,
	QDMA_REFUSE_UNSUPPORTED = 7,
	QDMA_REFUSE_NOT_THERE = 9,
	QDMA_REFUSE_NO_QUEUES = 12,
	QDMA_REFUSE_COUNT = 15,
	QDMA_REFUSE_QUEUE = 16,
	QDMA_REFUSE_RING = 17,
	QDMA_REFUSE_BUFFER = 18,
	QDMA_REFUSE_COUNTER = 19,
	QDMA_REFUSE_TIMER = 20,
	QDMA_REFUSE_MESSAGE = 21,
};

/**
 * struct qdma_message - what the mailbox carries
 * @byte: little endian, as it travels
 */
struct qdma_message {
	u8 byte[QDMA_MESSAGE_BYTES];
};

/**
 * struct qdma_hello - what a VF is told first
 * @queue_base: first of its queues
 * @queue_count: how many; 0 until it asks
 * @pfs: of the card
 * @queues: of the card
 */
struct qdma_hello {
	u32 queue_base;
	u32 queue_count;
	u32 pfs;
	u32 queues;
};

/**
 * struct qdma_queue_request - one direction of a queue, in values instead of indices
 * @is_c2h: receive
 * @is_mapped: memory mapped, no stream
 * @queue: absolute
 * @function: whose
 * @ring: address of the descriptor ring
 * @completions: address of the completion ring
 * @ring_size: descriptors, without the status entry
 * @completion_size: completions, without the status entry
 * @buffer: bytes
 * @counter: completions
 * @timer: ticks
 * @trigger: enum qdma_trigger
 * @entry_log2: a completion has 8 << entry_log2 bytes
 * @vector: or interrupt ring
 * @aggregate: it is an interrupt ring
 * @interrupt: the queue may interrupt
 * @full_update: of completions
 * @prefetch: of descriptors
 * @pieces_log2: a transmit descriptor has 16 << pieces_log2 bytes
 * @bypass: it is for commands of the card's own logic, and has no rings
 */
struct qdma_queue_request {
	bool is_c2h;
	bool is_mapped;
	u32 queue;
	u32 function;
	u64 ring;
	u64 completions;
	u32 ring_size;
	u32 completion_size;
	u32 buffer;
	u32 counter;
	u32 timer;
	u32 trigger;
	u32 entry_log2;
	u32 vector;
	bool aggregate;
	bool interrupt;
	bool full_update;
	bool prefetch;
	u32 pieces_log2;
	bool bypass;
};

/* Transport. */
void qdma_mailbox_interrupt(struct qdma_device *qdma, u32 vector, bool on);
void qdma_mailbox_clear(struct qdma_device *qdma);
int qdma_mailbox_peek(struct qdma_device *qdma, u32 *source);
int qdma_mailbox_receive(struct qdma_device *qdma, struct qdma_message *message, u32 *source);
int qdma_mailbox_send(struct qdma_device *qdma, u32 target, const struct qdma_message *message);

/* Messages. */
void qdma_message_init(struct qdma_message *message, u32 op, u32 source, u32 destination);
void qdma_message_answer(struct qdma_message *message, const struct qdma_message *request,
			 int status);
void qdma_message_set_status(struct qdma_message *message, int status);
u32 qdma_message_op(const struct qdma_message *message);
int qdma_message_status(const struct qdma_message *message);
u32 qdma_message_source(const struct qdma_message *message);
u32 qdma_message_destination(const struct qdma_message *message);

void qdma_message_put_hello(struct qdma_message *message, const struct qdma_hello *hello);
void qdma_message_get_hello(const struct qdma_message *message, struct qdma_hello *hello);
void qdma_message_put_range(struct qdma_message *message, u32 base, u32 count);
void qdma_message_get_range(const struct qdma_message *message, u32 *base, u32 *count);
void qdma_message_put_tables(struct qdma_message *message, const struct qdma_tables *tables,
			     u32 interval);
void qdma_message_get_tables(const struct qdma_message *message, struct qdma_tables *tables);
void qdma_message_put_queue(struct qdma_message *message, const struct qdma_queue_request *request);
void qdma_message_get_queue(const struct qdma_message *message, struct qdma_queue_request *request);
int qdma_request_setting(const struct qdma_queue_request *request, const struct qdma_tables *tables,
			 struct qdma_h2c_setting *h2c, struct qdma_c2h_setting *c2h);

#endif
