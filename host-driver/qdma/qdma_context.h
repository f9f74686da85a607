/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/* Contexts of the QDMA IP: their fields, and how they travel (PG302; the EQDMA layout). */
#ifndef QDMA_CONTEXT_H
#define QDMA_CONTEXT_H

#include "qdma_os.h"

#define QDMA_CONTEXT_WORDS	8

/**
 * struct qdma_context - one context, whichever it is
 * @word: its words, the least significant first
 */
struct qdma_context {
	u32 word[QDMA_CONTEXT_WORDS];
};

enum qdma_context_op {
	QDMA_CONTEXT_CLEAR,
	QDMA_CONTEXT_WRITE,
	QDMA_CONTEXT_READ,
	QDMA_CONTEXT_INVALIDATE,
};

enum qdma_context_select {
	QDMA_SELECT_SW_C2H = 0,
	QDMA_SELECT_SW_H2C = 1,
	QDMA_SELECT_HW_C2H = 2,
	QDMA_SELECT_HW_H2C = 3,
	QDMA_SELECT_CREDIT_C2H = 4,
	QDMA_SELECT_CREDIT_H2C = 5,
	QDMA_SELECT_COMPLETION = 6,
	QDMA_SELECT_PREFETCH = 7,
	QDMA_SELECT_INTERRUPT_RING = 8,
	QDMA_SELECT_FMAP = 12,
};

/* A field: its lowest bit of the 256, its width in bits up to 64. */
#define QDMA_FIELD(lsb, width)			((u32)(lsb) << 8 | (u32)(width))

#define QDMA_SW_PIDX				QDMA_FIELD(0, 16)
#define QDMA_SW_IRQ_ARM				QDMA_FIELD(16, 1)
#define QDMA_SW_FUNCTION			QDMA_FIELD(17, 12)
#define QDMA_SW_ENABLE				QDMA_FIELD(32, 1)
#define QDMA_SW_FETCH_CREDIT			QDMA_FIELD(33, 1)
#define QDMA_SW_WRITE_BACK_PENDING		QDMA_FIELD(34, 1)
#define QDMA_SW_WRITE_BACK_INTERVAL		QDMA_FIELD(35, 1)
#define QDMA_SW_RING_SIZE			QDMA_FIELD(44, 4)
#define QDMA_SW_DESCRIPTOR_SIZE			QDMA_FIELD(48, 2)
#define QDMA_SW_BYPASS				QDMA_FIELD(50, 1)
#define QDMA_SW_WRITE_BACK			QDMA_FIELD(52, 1)
#define QDMA_SW_IRQ_ENABLE			QDMA_FIELD(53, 1)
#define QDMA_SW_PORT				QDMA_FIELD(54, 3)
#define QDMA_SW_ERROR				QDMA_FIELD(58, 2)
#define QDMA_SW_MARKER_DISABLE			QDMA_FIELD(62, 1)
#define QDMA_SW_MEMORY_MAPPED			QDMA_FIELD(63, 1)
#define QDMA_SW_BASE				QDMA_FIELD(64, 64)
#define QDMA_SW_VECTOR				QDMA_FIELD(128, 11)
#define QDMA_SW_AGGREGATE			QDMA_FIELD(139, 1)

#define QDMA_HW_CIDX				QDMA_FIELD(0, 16)
#define QDMA_HW_CREDIT_USED			QDMA_FIELD(16, 16)
#define QDMA_HW_DESCRIPTORS_PENDING		QDMA_FIELD(40, 1)
#define QDMA_HW_IDLE				QDMA_FIELD(41, 1)
#define QDMA_HW_EVENT_PENDING			QDMA_FIELD(42, 1)
#define QDMA_HW_FETCH_PENDING			QDMA_FIELD(43, 4)

#define QDMA_CREDIT_CREDIT			QDMA_FIELD(0, 16)

#define QDMA_PREFETCH_BYPASS			QDMA_FIELD(0, 1)
#define QDMA_PREFETCH_BUFFER_SIZE		QDMA_FIELD(1, 4)
#define QDMA_PREFETCH_PORT			QDMA_FIELD(5, 3)
#define QDMA_PREFETCH_ERROR			QDMA_FIELD(26, 1)
#define QDMA_PREFETCH_ENABLE			QDMA_FIELD(27, 1)
#define QDMA_PREFETCH_ACTIVE			QDMA_FIELD(28, 1)
#define QDMA_PREFETCH_CREDIT			QDMA_FIELD(29, 16)
#define QDMA_PREFETCH_VALID			QDMA_FIELD(45, 1)

#define QDMA_COMPLETION_STATUS_ENABLE		QDMA_FIELD(0, 1)
#define QDMA_COMPLETION_IRQ_ENABLE		QDMA_FIELD(1, 1)
#define QDMA_COMPLETION_TRIGGER			QDMA_FIELD(2, 3)
#define QDMA_COMPLETION_FUNCTION		QDMA_FIELD(5, 12)
#define QDMA_COMPLETION_COUNTER			QDMA_FIELD(17, 4)
#define QDMA_COMPLETION_TIMER			QDMA_FIELD(21, 4)
#define QDMA_COMPLETION_IRQ_STATE		QDMA_FIELD(25, 2)
#define QDMA_COMPLETION_COLOR			QDMA_FIELD(27, 1)
#define QDMA_COMPLETION_RING_SIZE		QDMA_FIELD(28, 4)
#define QDMA_COMPLETION_BASE_HIGH		QDMA_FIELD(32, 58)	/* address bits 63:6 */
#define QDMA_COMPLETION_ENTRY_SIZE		QDMA_FIELD(90, 2)
#define QDMA_COMPLETION_PIDX			QDMA_FIELD(92, 16)
#define QDMA_COMPLETION_CIDX			QDMA_FIELD(108, 16)
#define QDMA_COMPLETION_VALID			QDMA_FIELD(124, 1)
#define QDMA_COMPLETION_ERROR			QDMA_FIELD(125, 2)
#define QDMA_COMPLETION_FULL_UPDATE		QDMA_FIELD(129, 1)
#define QDMA_COMPLETION_NO_OVERFLOW_CHECK	QDMA_FIELD(130, 1)
#define QDMA_COMPLETION_VECTOR			QDMA_FIELD(132, 11)
#define QDMA_COMPLETION_AGGREGATE		QDMA_FIELD(143, 1)
#define QDMA_COMPLETION_IS_C2H			QDMA_FIELD(146, 1)
#define QDMA_COMPLETION_BASE_LOW		QDMA_FIELD(174, 4)	/* address bits 5:2 */

#define QDMA_INTERRUPT_RING_VALID		QDMA_FIELD(0, 1)
#define QDMA_INTERRUPT_RING_VECTOR		QDMA_FIELD(1, 11)
#define QDMA_INTERRUPT_RING_IRQ_STATE		QDMA_FIELD(13, 1)
#define QDMA_INTERRUPT_RING_COLOR		QDMA_FIELD(14, 1)
#define QDMA_INTERRUPT_RING_BASE_4K		QDMA_FIELD(15, 52)
#define QDMA_INTERRUPT_RING_PAGES		QDMA_FIELD(67, 3)	/* less one */
#define QDMA_INTERRUPT_RING_PIDX		QDMA_FIELD(70, 12)
#define QDMA_INTERRUPT_RING_FUNCTION		QDMA_FIELD(114, 12)

#define QDMA_FMAP_BASE				QDMA_FIELD(0, 11)
#define QDMA_FMAP_COUNT				QDMA_FIELD(32, 12)

struct qdma_device;

void qdma_context_set(struct qdma_context *context, u32 field, u64 value);
u64 qdma_context_get(const struct qdma_context *context, u32 field);

int qdma_context_command(struct qdma_device *qdma, enum qdma_context_op op,
			 enum qdma_context_select select, u32 number);
int qdma_context_write(struct qdma_device *qdma, enum qdma_context_select select, u32 number,
		       const struct qdma_context *context);
int qdma_context_read(struct qdma_device *qdma, enum qdma_context_select select, u32 number,
		      struct qdma_context *context);
int qdma_map_function(struct qdma_device *qdma, u32 function, u32 base, u32 count);

#endif
