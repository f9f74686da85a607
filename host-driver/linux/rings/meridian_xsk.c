// SPDX-License-Identifier: GPL-2.0-only
/* AF_XDP without copies: a queue pair's frames are in memory of the socket. */
#include <linux/bpf_trace.h>
#include <net/xdp_sock_drv.h>

#include "compat.h"
#include "compat_netdev.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_frames.h"
#include "meridian_xdp.h"

/* Frames sent in one turn of NAPI. */
#define SEND_BUDGET	64

/**
 * meridian_xsk_begin() - give a queue the socket's memory, if it has a socket
 * @rx: the queue, whose rings are there
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_xsk_begin(struct meridian_rx *rx)
{
	if (!test_bit(rx->index, rx->m->xsk_queues))
		return 0;
	rx->buff = kvcalloc(rx->ring.slots, sizeof(*rx->buff), GFP_KERNEL);
	if (!rx->buff)
		return -ENOMEM;
	rx->xsk = xsk_get_pool_from_qid(rx->m->netdev, rx->index);
	return rx->xsk ? 0 : -ENOENT;
}

/**
 * meridian_xsk_release() - give the socket's buffers back
 * @rx: a queue that the card has no more, and that may have a socket
 *
 * Context: Does not sleep.
 */
void meridian_xsk_release(struct meridian_rx *rx)
{
	u32 i;

	for (i = 0; rx->buff && i < rx->ring.slots; i++) {
		if (rx->buff[i])
			xsk_buff_free(rx->buff[i]);
		rx->buff[i] = NULL;
	}
}

/**
 * meridian_xsk_end() - undo meridian_xsk_begin()
 * @rx: a queue whose buffers are released
 *
 * Context: Does not sleep.
 */
void meridian_xsk_end(struct meridian_rx *rx)
{
	kvfree(rx->buff);
	rx->buff = NULL;
	rx->xsk = NULL;
}

/**
 * meridian_xsk_keep() - keep a socket's memory for ever
 * @pool: of a socket that goes
 *
 * Its pages are the socket's no more then, and stay where they are.
 *
 * Context: Does not sleep.
 */
void meridian_xsk_keep(struct xsk_buff_pool *pool)
{
	u32 i;

	for (i = 0; i < pool->umem->npgs; i++)
		get_page(pool->umem->pgs[i]);
}

int meridian_xsk_register(struct meridian_rx *rx)
{
	return xdp_rxq_info_reg_mem_model(&rx->xdp_rxq, MEM_TYPE_XSK_BUFF_POOL, NULL);
}

/**
 * meridian_xsk_claim() - let the socket's buffers know the queue
 * @rx: a queue with a socket that is about to start
 *
 * Context: Does not sleep.
 */
void meridian_xsk_claim(struct meridian_rx *rx)
{
	xsk_pool_set_rxq_info(rx->xsk, &rx->xdp_rxq);
}

/**
 * meridian_xsk_post() - take a buffer for the next descriptor
 * @rx: a queue with a socket
 * @dma: where the card is to write
 *
 * Context: Does not sleep.
 * Return: false if the socket has none; it is to wake the driver when it has.
 */
bool meridian_xsk_post(struct meridian_rx *rx, dma_addr_t *dma)
{
	struct xdp_buff *xdp = xsk_buff_alloc(rx->xsk);

	if (!xdp) {
		if (xsk_uses_need_wakeup(rx->xsk))
			xsk_set_rx_need_wakeup(rx->xsk);
		return false;
	}
	if (xsk_uses_need_wakeup(rx->xsk))
		xsk_clear_rx_need_wakeup(rx->xsk);
	rx->buff[rx->pidx] = xdp;
	*dma = xsk_buff_xdp_get_dma(xdp);
	return true;
}

static struct xdp_buff *take(struct meridian_rx *rx)
{
	struct xdp_buff *xdp = rx->buff[rx->cidx];

	rx->buff[rx->cidx] = NULL;
	rx->cidx = meridian_next(rx->cidx, rx->ring.slots);
	return xdp;
}

void meridian_xsk_drop(struct meridian_rx *rx, u32 count)
{
	while (count--)
		xsk_buff_free(take(rx));
}

/* For the stack a frame is copied: the socket's memory is the socket's. */
static struct sk_buff *copy(struct napi_struct *napi, struct xdp_buff *xdp)
{
	u32 meta = xdp->data - xdp->data_meta, bytes = xdp->data_end - xdp->data;
	struct sk_buff *skb = napi_alloc_skb(napi, bytes + meta);

	if (unlikely(!skb))
		return NULL;
	memcpy(__skb_put(skb, bytes + meta), xdp->data_meta, bytes + meta);
	if (meta) {
		__skb_pull(skb, meta);
		skb_metadata_set(skb, meta);
	}
	return skb;
}

/**
 * meridian_xsk_receive() - a frame of one buffer
 * @rx: a queue with a socket
 * @napi: that polls
 * @prog: the program, if there is one
 * @bytes: of the frame
 * @hash: of the card
 * @verdicts: of the card
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: what goes up the stack, or NULL.
 */
struct sk_buff *meridian_xsk_receive(struct meridian_rx *rx, struct napi_struct *napi,
				     struct bpf_prog *prog, u32 bytes, u32 hash, u32 verdicts)
{
	struct xdp_buff *xdp = take(rx);
	struct sk_buff *skb;

	xdp->data_end = xdp->data + bytes;
	meridian_note(xdp, hash, verdicts);
	meridian_xsk_sync(xdp, rx->xsk);
	if (prog && !meridian_run_xdp(rx, prog, xdp))
		return NULL;
	skb = copy(napi, xdp);
	xsk_buff_free(xdp);
	return skb;
}

/**
 * meridian_xsk_send() - put the socket's frames into the transmit ring
 * @channel: a queue pair; in NAPI
 *
 * Context: Does not sleep.
 * Return: false if there may be more.
 */
bool meridian_xsk_send(struct meridian_channel *channel)
{
	struct xsk_buff_pool *pool = channel->rx.xsk;
	struct meridian_tx *tx = &channel->tx;
	struct netdev_queue *queue = netdev_get_tx_queue(channel->m->netdev, tx->index);
	struct xdp_desc desc;
	unsigned int sent;

	if (!pool || !netif_carrier_ok(channel->m->netdev))
		return true;
	__netif_tx_lock(queue, smp_processor_id());
	for (sent = 0; sent < SEND_BUDGET && meridian_tx_room(tx); sent++) {
		dma_addr_t dma;

		if (!xsk_tx_peek_desc(pool, &desc))
			break;
		dma = xsk_buff_raw_get_dma(pool, desc.addr);
		xsk_buff_raw_dma_sync_for_device(pool, dma, desc.len);
		/* Frames that are too short are dropped and counted by the card. */
		meridian_send_xsk(tx, dma, max_t(u32, desc.len, 1));
	}
	if (sent) {
		meridian_trans_update(queue);
		meridian_ring_tx(tx);
		xsk_tx_release(pool);
	}
	__netif_tx_unlock(queue);
	/* The socket says when there is more to send. */
	if (xsk_uses_need_wakeup(pool))
		xsk_set_tx_need_wakeup(pool);
	return sent < SEND_BUDGET;
}

/**
 * meridian_xsk_sent() - tell the socket that the card has taken frames
 * @tx: a queue that may have a socket
 * @count: of its frames
 *
 * Context: Does not sleep.
 */
void meridian_xsk_sent(struct meridian_tx *tx, u32 count)
{
	struct meridian_channel *channel = container_of(tx, struct meridian_channel, tx);

	if (count)
		xsk_tx_completed(channel->rx.xsk, count);
}

static void wake(struct meridian_channel *channel)
{
	if (napi_if_scheduled_mark_missed(&channel->napi))
		return;
	local_bh_disable();
	napi_schedule(&channel->napi);
	local_bh_enable();
}

/**
 * meridian_xsk_link_up() - send what sockets have put into their rings while there was no link
 * @m: a function that is up; under RTNL
 *
 * They have woken the driver, in vain, and may be waiting for frames to be sent.
 *
 * Context: Does not sleep.
 */
void meridian_xsk_link_up(struct meridian *m)
{
	unsigned long queue;

	for_each_set_bit(queue, m->xsk_queues, m->channels)
		wake(&m->channel[queue]);
}

int meridian_xsk_wakeup(struct net_device *netdev, u32 queue, u32 flags)
{
	struct meridian *m = netdev_priv(netdev);

	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags))
		return -ENETDOWN;
	if (queue >= m->channels || !m->channel[queue].rx.xsk)
		return -EINVAL;
	wake(&m->channel[queue]);
	return 0;
}
