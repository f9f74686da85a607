/* SPDX-License-Identifier: GPL-2.0-only */
/* A received frame as XDP has it, and what the card says of it. */
#ifndef MERIDIAN_XDP_H
#define MERIDIAN_XDP_H

#include "compat_xdp.h"

/**
 * struct meridian_xdp_buff - a frame while a program looks at it
 * @xdp: what every driver has
 * @hash: of the card, if @verdicts has its type
 * @verdicts: of the card, MERIDIAN_COMPLETION_*
 */
struct meridian_xdp_buff {
	struct xdp_buff xdp;
	u32 hash;
	u32 verdicts;
};

/* Memory of an AF_XDP socket has room behind its xdp_buff only on kernels where it can be asked. */
static inline void meridian_note(struct xdp_buff *xdp, u32 hash, u32 verdicts)
{
#ifdef MERIDIAN_HAS_METADATA
	struct meridian_xdp_buff *buff = container_of(xdp, struct meridian_xdp_buff, xdp);

	buff->hash = hash;
	buff->verdicts = verdicts;
#endif
}

#endif
