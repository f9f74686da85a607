/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine without a vector receiver. */
#include "meridian_queue.h"

bool
meridian_has_vector(void)
{
	return false;
}

uint16_t
meridian_recv_vector(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return meridian_recv_simple(queue, mbufs, count);
}
