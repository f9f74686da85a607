/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Registers of the QDMA IP (EQDMA 4.0 and 5.0) in BAR0, as PG302 and its public drivers use them.
 */
#ifndef QDMA_REGS_H
#define QDMA_REGS_H

#define QDMA_TABLE_ENTRIES		16
#define QDMA_ALL_ONES			0xffffffffu

/* Identification. */
#define QDMA_IDENTIFIER			0x000
#define QDMA_IDENTIFIER_MAGIC		0x1fd3u		/* bits 31:16 */
#define QDMA_CHANNEL_STREAM		0x118		/* bit 17: C2H, bit 16: H2C */
#define QDMA_STREAMS			0x00030000u
#define QDMA_CHANNEL_CAPABILITY		0x120		/* bits 11:0: queues */
#define QDMA_FUNCTION_NUMBER		0x12c		/* bits 7:0: who asks */
#define QDMA_MISC_CAPABILITY		0x134
#define QDMA_VF_VERSION			0x5014

/* Tables, 16 words each, that contexts choose from by index, and what goes with them. */
#define QDMA_RING_SIZE(i)		(0x204 + 4 * (i))	/* entries and status */
#define QDMA_TIMER(i)			(0xa00 + 4 * (i))	/* ticks */
#define QDMA_COUNTER(i)			(0xa40 + 4 * (i))	/* completions */
#define QDMA_BUFFER_SIZE(i)		(0xab0 + 4 * (i))	/* bytes */
#define QDMA_TIMER_TICK			0xb0c			/* cycles of the user clock */
#define QDMA_DESCRIPTOR_CONFIG		0x250
#define QDMA_PREFETCH_CONFIG_1		0xa80
#define QDMA_PREFETCH_CONFIG_2		0xa84
#define QDMA_PREFETCH_CACHE		0xbe0			/* bits 7:0: depth */
#define QDMA_COALESCE_CONFIG		0xb50
#define QDMA_COALESCE_DEPTH		0xbe4			/* bits 7:0: buffers */
#define QDMA_H2C_THROTTLE		0xe24

/* Contexts. */
#define QDMA_CONTEXT_DATA(i)		(0x804 + 4 * (i))
#define QDMA_CONTEXT_MASK(i)		(0x824 + 4 * (i))
#define QDMA_CONTEXT_COMMAND		0x844
#define QDMA_CONTEXT_BUSY		0x00000001u

/*
 * Errors: a summary, and a status and a mask for each leaf. A written 1 clears. The mask is the
 * next word, but that of the IP's memory is the one before.
 */
#define QDMA_ERROR_STATUS		0x248
#define QDMA_ERROR_MASK			0x24c
#define QDMA_ERROR_INTERRUPT		0xb04
#define QDMA_ERROR_INTERRUPT_ARM	0x01000000u
#define QDMA_DESCRIPTOR_ERROR		0x254
#define QDMA_DOORBELL_ERROR		0x264
#define QDMA_C2H_ERROR			0xaf0
#define QDMA_C2H_FATAL			0xaf8
#define QDMA_H2C_ERROR			0xe00
#define QDMA_RAM_SINGLE_ERROR		0x0f4
#define QDMA_RAM_DOUBLE_ERROR		0x0fc
#define QDMA_RAM_SINGLE_ERROR_1		0x0e4
#define QDMA_RAM_DOUBLE_ERROR_1		0x0ec

/* Doorbells, 16 bytes a queue, counted from the function's first. */
#define QDMA_PF_DOORBELLS		0x18000
#define QDMA_VF_DOORBELLS		0x3000
#define QDMA_DOORBELL_RING_CIDX		0x0
#define QDMA_DOORBELL_H2C_PIDX		0x4
#define QDMA_DOORBELL_C2H_PIDX		0x8
#define QDMA_DOORBELL_CMPT_CIDX		0xc
#define QDMA_DOORBELL_ARM		0x00010000u	/* of a PIDX */
#define QDMA_DOORBELL_CMPT_STATUS	0x08000000u
#define QDMA_DOORBELL_CMPT_ARM		0x10000000u

/* Mailbox. */
#define QDMA_PF_MAILBOX			0x22400
#define QDMA_VF_MAILBOX			0x5000
#define QDMA_MAILBOX_STATUS		0x00
#define QDMA_MAILBOX_STATUS_IN		0x00000001u
#define QDMA_MAILBOX_STATUS_OUT		0x00000002u
#define QDMA_MAILBOX_STATUS_ACK		0x00000004u
#define QDMA_MAILBOX_COMMAND		0x04
#define QDMA_MAILBOX_COMMAND_SEND	0x00000001u
#define QDMA_MAILBOX_COMMAND_RECEIVE	0x00000002u
#define QDMA_MAILBOX_VECTOR		0x08
#define QDMA_MAILBOX_TARGET		0x0c
#define QDMA_MAILBOX_INTERRUPT		0x10
#define QDMA_MAILBOX_ACK(i)		(0x20 + 4 * (i))
#define QDMA_MAILBOX_ACK_WORDS		8
#define QDMA_MAILBOX_RESET		0x100
#define QDMA_MAILBOX_IN(i)		(0x800 + 4 * (i))
#define QDMA_MAILBOX_OUT(i)		(0xc00 + 4 * (i))
#define QDMA_MAILBOX_WORDS		32
/* PG347 "FMAP Programming" */
#define QDMA_MAILBOX_MAP(function)	(0xd00 + 4 * (function))

#endif
