// SPDX-License-Identifier: GPL-2.0-only
/* XDP: programs on received frames, and frames that other interfaces redirect here. */
#include <linux/bpf_trace.h>

#include "compat.h"
#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_frames.h"

int meridian_xdp_xmit(struct net_device *netdev, int count, struct xdp_frame **frames, u32 flags)
{
	struct meridian *m = netdev_priv(netdev);
	struct netdev_queue *queue;
	struct meridian_tx *tx;
	int sent;

	if (flags & ~XDP_XMIT_FLAGS_MASK)
		return -EINVAL;
	if (!test_bit(MERIDIAN_FLAG_UP, &m->flags) || !netif_carrier_ok(netdev))
		return -ENETDOWN;
	tx = &m->channel[smp_processor_id() % m->channels].tx;
	queue = netdev_get_tx_queue(netdev, tx->index);
	__netif_tx_lock(queue, smp_processor_id());
	for (sent = 0; sent < count; sent++) {
		if (meridian_send_xdp(tx, frames[sent], false))
			break;
	}
	if (sent)
		meridian_trans_update(queue);
	if (flags & XDP_XMIT_FLUSH)
		meridian_ring_tx(tx);
	__netif_tx_unlock(queue);
	return meridian_xdp_not_sent(frames, sent, count);
}

/**
 * meridian_give_back() - have done with a frame's memory; in NAPI
 * @rx: the queue it came by
 * @xdp: the frame
 *
 * Context: Does not sleep.
 */
void meridian_give_back(struct meridian_rx *rx, struct xdp_buff *xdp)
{
	u32 i;

	if (rx->xsk) {
		xsk_buff_free(xdp);
		return;
	}
	if (xdp_buff_has_frags(xdp)) {
		struct skb_shared_info *shared = xdp_get_shared_info_from_buff(xdp);

		for (i = 0; i < shared->nr_frags; i++)
			page_pool_put_full_page(rx->pool, skb_frag_page(&shared->frags[i]), true);
	}
	page_pool_put_full_page(rx->pool, virt_to_head_page(xdp->data), true);
}

/* The frame of a socket is copied into a page for it. It is taken care of in any case. */
static int bounce(struct meridian_channel *channel, struct xdp_buff *xdp)
{
	struct xdp_frame *frame = xdp_convert_buff_to_frame(xdp);
	struct meridian_tx *tx = &channel->tx;
	struct netdev_queue *queue = netdev_get_tx_queue(channel->m->netdev, tx->index);
	bool is_own = !channel->rx.xsk;
	int error;

	if (unlikely(!frame)) {
		meridian_give_back(&channel->rx, xdp);
		return -ENOSPC;
	}
	__netif_tx_lock(queue, smp_processor_id());
	error = meridian_send_xdp(tx, frame, is_own);
	if (!error) {
		meridian_trans_update(queue);
		meridian_ring_tx(tx);
	}
	__netif_tx_unlock(queue);
	if (unlikely(error))
		xdp_return_frame_rx_napi(frame);
	return error;
}

static void count(struct meridian_rx *rx, u64_stats_t *counter)
{
	u64_stats_update_begin(&rx->stats.sync);
	u64_stats_inc(counter);
	u64_stats_update_end(&rx->stats.sync);
}

/**
 * meridian_run_xdp() - let the program decide about a frame
 * @rx: the queue it came by
 * @prog: the program
 * @xdp: the frame, in pages of the queue's pool or in memory of its AF_XDP socket
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: true if it goes up the stack; else its memory is taken care of.
 */
bool meridian_run_xdp(struct meridian_rx *rx, struct bpf_prog *prog, struct xdp_buff *xdp)
{
	struct meridian_channel *channel = container_of(rx, struct meridian_channel, rx);
	u32 action = bpf_prog_run_xdp(prog, xdp);

	switch (action) {
	case XDP_PASS:
		return true;
	case XDP_TX:
		if (!bounce(channel, xdp)) {
			count(rx, &rx->stats.xdp_tx);
			return false;
		}
		trace_xdp_exception(rx->m->netdev, prog, action);
		count(rx, &rx->stats.xdp_error);
		return false;
	case XDP_REDIRECT:
		if (xdp_do_redirect(rx->m->netdev, xdp, prog))
			break;
		rx->must_flush = true;
		count(rx, &rx->stats.xdp_redirect);
		return false;
	case XDP_DROP:
		count(rx, &rx->stats.xdp_drop);
		meridian_give_back(rx, xdp);
		return false;
	case XDP_ABORTED:
		break;
	default:
		meridian_bad_action(rx->m->netdev, prog, action);
		break;
	}
	trace_xdp_exception(rx->m->netdev, prog, action);
	count(rx, &rx->stats.xdp_error);
	meridian_give_back(rx, xdp);
	return false;
}
