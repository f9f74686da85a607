/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive where queues interrupt. Who is woken may switch a queue's interrupt while another thread
 * receives from it, as the event adapter does, and both tell the card how far completions were
 * read: it must not hear of an index that is older than one it knows.
 */
#include "meridian_queue.h"

/**
 * meridian_set_mode() - let the card have another mode, and the completions that were read
 * @rx: the queue
 * @mode: of this doorbell and those that follow
 */
void
meridian_set_mode(struct meridian_rx *rx, uint32_t mode)
{
	rte_spinlock_lock(&rx->lock);
	rx->mode = mode;
	meridian_tell_now(rx);
	rte_spinlock_unlock(&rx->lock);
}

static __rte_always_inline uint16_t
locked(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint16_t count, eth_rx_burst_t receive)
{
	uint16_t frames;

	rte_spinlock_lock(&rx->lock);
	frames = receive(rx, mbufs, count);
	rte_spinlock_unlock(&rx->lock);
	return frames;
}

uint16_t
meridian_locked_simple(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return locked(queue, mbufs, count, meridian_recv_simple);
}

uint16_t
meridian_locked_scattered(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return locked(queue, mbufs, count, meridian_recv_scattered);
}

#if defined(RTE_ARCH_X86)
uint16_t
meridian_locked_sse(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return locked(queue, mbufs, count, meridian_recv_sse);
}

uint16_t
meridian_locked_avx2(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return locked(queue, mbufs, count, meridian_recv_avx2);
}
#elif defined(RTE_ARCH_ARM64)
uint16_t
meridian_locked_neon(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return locked(queue, mbufs, count, meridian_recv_neon);
}
#endif
