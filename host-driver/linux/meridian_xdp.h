/* SPDX-License-Identifier: GPL-2.0-only */
/* A received frame as XDP has it, and what the card says of it. */
#ifndef MERIDIAN_XDP_H
#define MERIDIAN_XDP_H

#include "compat.h"

/**
 * struct meridian_completion - what the card says of a received frame
 * @length: bytes
 * @is_bad: this cannot be
 * @hash: if @verdicts has its type
 * @verdicts: MERIDIAN_COMPLETION_*; 0 in an entry of 8 bytes
 */
struct meridian_completion {
	u32 length;
	bool is_bad;
	u32 hash;
	u32 verdicts;
};

/**
 * struct meridian_xdp_buff - a frame while a program looks at it
 * @xdp: what every driver has
 * @completion: what programs ask for
 */
struct meridian_xdp_buff {
	struct xdp_buff xdp;
	const struct meridian_completion *completion;
};

/* Memory of an AF_XDP socket has room behind its xdp_buff only on kernels where it can be asked. */
static inline void meridian_note_completion(struct xdp_buff *xdp,
					    const struct meridian_completion *completion)
{
#ifdef MERIDIAN_HAS_METADATA
	container_of(xdp, struct meridian_xdp_buff, xdp)->completion = completion;
#endif
}

#endif
