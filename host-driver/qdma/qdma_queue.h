/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Queues: a PF makes their contexts, whoever owns them rings the doorbells. */
#ifndef QDMA_QUEUE_H
#define QDMA_QUEUE_H

#include "qdma_device.h"
#include "qdma_os.h"
#include "qdma_regs.h"

/* Receive buffers that the IP spreads a frame over at most (PG302). */
#define QDMA_FRAME_BUFFERS	31

enum qdma_trigger {
	QDMA_TRIGGER_DISABLED = 0,
	QDMA_TRIGGER_EVERY = 1,
	QDMA_TRIGGER_USER_COUNT = 2,
	QDMA_TRIGGER_USER = 3,
	QDMA_TRIGGER_USER_TIMER = 4,
	QDMA_TRIGGER_USER_TIMER_COUNT = 5,
};

/**
 * struct qdma_h2c_setting - a transmit queue
 * @queue: absolute
 * @function: whose
 * @ring: address of the descriptor ring, aligned to 64 bytes
 * @ring_index: of its size in the table of rings
 * @interrupt: the queue may interrupt
 * @vector: of the function, or the interrupt ring if @aggregate
 * @aggregate: interrupts go through an interrupt ring
 * @on_credit: descriptors are fetched as the card's own logic grants them, not as they come
 * @pieces_log2: a descriptor has 16 << pieces_log2 bytes, for as many pieces of a frame
 */
struct qdma_h2c_setting {
	u32 queue;
	u32 function;
	u64 ring;
	u32 ring_index;
	bool interrupt;
	u32 vector;
	bool aggregate;
	bool on_credit;
	u32 pieces_log2;
};

/**
 * struct qdma_c2h_setting - a receive queue
 * @queue: absolute
 * @function: whose
 * @ring: address of the descriptor ring, aligned to 64 bytes
 * @ring_index: of its size in the table of rings
 * @completions: address of the completion ring, aligned to 64 bytes
 * @completion_index: of its size in the table of rings; never fewer entries than the descriptor
 *   ring has
 * @entry_log2: a completion has 8 << entry_log2 bytes
 * @buffer_index: in the table of buffers
 * @trigger: when to interrupt (enum qdma_trigger)
 * @timer_index: in the table of timers
 * @counter_index: in the table of counters
 * @interrupt: the queue may interrupt
 * @vector: of the function, or the interrupt ring if @aggregate
 * @aggregate: interrupts go through an interrupt ring
 * @prefetch: descriptors are fetched before frames come
 * @full_update: doorbells change @trigger, @timer_index and @counter_index
 */
struct qdma_c2h_setting {
	u32 queue;
	u32 function;
	u64 ring;
	u32 ring_index;
	u64 completions;
	u32 completion_index;
	u32 entry_log2;
	u32 buffer_index;
	u32 trigger;
	u32 timer_index;
	u32 counter_index;
	bool interrupt;
	u32 vector;
	bool aggregate;
	bool prefetch;
	bool full_update;
};

int qdma_h2c_start(struct qdma_device *qdma, const struct qdma_h2c_setting *setting);
int qdma_h2c_stop(struct qdma_device *qdma, u32 queue);
int qdma_c2h_start(struct qdma_device *qdma, const struct qdma_c2h_setting *setting);
int qdma_c2h_stop(struct qdma_device *qdma, u32 queue);
int qdma_commands_start(struct qdma_device *qdma, u32 queue, u32 function, bool is_c2h);

/*
 * Doorbells. queue: counted from the function's first. pidx: index behind the last descriptor that
 * is ready.
 */
static inline void qdma_doorbell(struct qdma_device *qdma, u32 queue, u32 doorbell, u32 value)
{
	qdma_os_write(qdma->bar, qdma->doorbells + 16 * queue + doorbell, value);
}

/* arm: interrupt when the card has taken frames up to there. */
static inline void qdma_h2c_doorbell(struct qdma_device *qdma, u32 queue, u32 pidx, bool arm)
{
	qdma_doorbell(qdma, queue, QDMA_DOORBELL_H2C_PIDX, pidx | (arm ? QDMA_DOORBELL_ARM : 0));
}

static inline void qdma_c2h_doorbell(struct qdma_device *qdma, u32 queue, u32 pidx)
{
	qdma_doorbell(qdma, queue, QDMA_DOORBELL_C2H_PIDX, pidx);
}

/*
 * mode: of qdma_completion_mode(). cidx: the first entry that is not read. arm: interrupt at the
 * next.
 */
static inline void qdma_completion_doorbell(struct qdma_device *qdma, u32 queue, u32 cidx,
					    u32 mode, bool arm)
{
	qdma_doorbell(qdma, queue, QDMA_DOORBELL_CMPT_CIDX,
		      cidx | mode | (arm ? QDMA_DOORBELL_CMPT_ARM : 0));
}

static inline u32 qdma_completion_mode(u32 trigger, u32 timer_index, u32 counter_index)
{
	return counter_index << 16 | timer_index << 20 | trigger << 24 | QDMA_DOORBELL_CMPT_STATUS;
}

#endif
