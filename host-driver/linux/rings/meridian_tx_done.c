// SPDX-License-Identifier: GPL-2.0-only
/* Frames that the card has taken, and queues of which it takes none. */
#include "compat_pool.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_fault.h"
#include "meridian_frames.h"

/* A stopped queue goes on when it has this part of its descriptors free again. */
#define WAKE_PART	4
/*
 * Looks of the service without progress until it tells of a queue. The card tells of a queue's
 * frames when all are taken, or 32, so a slow one goes on unseen. Five seconds are enough if the
 * card sends nothing of the function meanwhile, and twenty if it has sent 32 of the longest frames
 * of each queue. Five minutes are enough in any case.
 */
#define STILL_LOOKS	20
#define SLOW_LOOKS	80
#define LOST_LOOKS	1200
#define STATUS_FRAMES	32

static void release(struct meridian_tx *tx, u32 index, int budget)
{
	struct meridian_tx_buffer *buffer = &tx->buffer[index];

	/* The socket is told of all at once. */
	if (buffer->is_xsk)
		return;
	if (buffer->is_mapped) {
		dma_unmap_single(&tx->m->pdev->dev, buffer->dma, buffer->first, DMA_TO_DEVICE);
		if (unlikely(buffer->more))
			meridian_unmap_more(tx, index, buffer->more);
	}
	if (!buffer->is_xdp)
		napi_consume_skb(buffer->skb, budget);
	else if (buffer->is_joined)
		kfree(buffer->joined);
	else
		xdp_return_frame(buffer->frame);
}

/**
 * meridian_clean_tx() - free what the card has taken
 * @tx: the queue
 * @budget: of NAPI; 0: netpoll asks, maybe with interrupts off, where no frame of XDP may be freed
 *
 * Context: NAPI poll (softirq). Does not sleep.
 * Return: false if NAPI is to come again at once.
 */
bool meridian_clean_tx(struct meridian_tx *tx, int budget)
{
	u32 until = meridian_tx_taken(tx), cidx = tx->cidx, packets = 0, bytes = 0, frames = 0;
	struct netdev_queue *queue = meridian_queue_of(tx);
	u32 xdp_bytes = 0, cuts = 0, xsk = 0;
	u32 limit = tx->ring.slots;

	/* Nothing of an entry is to be read before its index. */
	dma_rmb();
	while (cidx != until && limit--) {
		struct meridian_tx_buffer *buffer = &tx->buffer[cidx];

		if (!budget && buffer->is_xdp)
			break;
		if (!buffer->is_xdp) {
			packets++;
			cuts += buffer->cuts;
			bytes += buffer->length;
		} else {
			xdp_bytes += buffer->length;
		}
		frames++;
		xsk += buffer->is_xsk;
		release(tx, cidx, budget);
		cidx = meridian_next(cidx, tx->ring.slots);
	}
	tx->rest.cleaned = frames;
	if (!frames)
		return true;
	meridian_xsk_sent(tx, xsk);
	WRITE_ONCE(tx->cidx, cidx);
	u64_stats_update_begin(&tx->done.sync);
	u64_stats_add(&tx->done.packets, frames + cuts);
	u64_stats_add(&tx->done.bytes, bytes + xdp_bytes);
	u64_stats_add(&tx->done.xdp, frames - packets);
	u64_stats_update_end(&tx->done.sync);
	netdev_tx_completed_queue(queue, packets, bytes);
	/* Pairs with the one in stop(). */
	smp_mb();
	if (unlikely(netif_tx_queue_stopped(queue)) &&
	    meridian_tx_room(tx) >= tx->ring.slots / WAKE_PART &&
	    test_bit(MERIDIAN_FLAG_UP, &tx->m->flags)) {
		netif_tx_wake_queue(queue);
		u64_stats_update_begin(&tx->done.sync);
		u64_stats_inc(&tx->done.woken);
		u64_stats_update_end(&tx->done.sync);
	}
	return true;
}

/**
 * meridian_tx_has_own() - whether the ring has frames in memory of the pair's receive queue
 * @tx: a queue whose NAPI is disabled, as NAPI alone puts such frames there
 *
 * They are an AF_XDP socket's, or in pages of the pool that XDP sends back.
 *
 * Context: Does not sleep.
 * Return: whether there is one.
 */
bool meridian_tx_has_own(const struct meridian_tx *tx)
{
	u32 i, pidx = READ_ONCE(tx->pidx);

	for (i = tx->cidx; i != pidx; i = meridian_next(i, tx->ring.slots)) {
		if (tx->buffer[i].is_xdp && !tx->buffer[i].is_mapped)
			return true;
	}
	return false;
}

/**
 * meridian_release_tx() - free every frame, taken or not
 * @tx: a queue that the card has no more
 *
 * Context: Does not sleep.
 */
void meridian_release_tx(struct meridian_tx *tx)
{
	u32 xsk = 0;

	while (tx->cidx != tx->pidx) {
		xsk += tx->buffer[tx->cidx].is_xsk;
		release(tx, tx->cidx, 0);
		tx->cidx = meridian_next(tx->cidx, tx->ring.slots);
	}
	meridian_xsk_sent(tx, xsk);
	netdev_tx_reset_queue(meridian_queue_of(tx));
}

static void report_still(struct meridian_tx *tx)
{
	WRITE_ONCE(tx->looks, 0);
	netdev_warn(tx->m->netdev, "transmit queue %u stands still with %u frames: resetting\n",
		    tx->index, meridian_tx_pending(tx));
	meridian_report(tx->m, MERIDIAN_FAULT_TX, tx->index);
}

/* Linux judges by time alone. While the queue has frames, the service knows better. */
void meridian_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_tx *tx = &m->channel[queue].tx;

	if (READ_ONCE(tx->cidx) == READ_ONCE(tx->pidx))
		report_still(tx);
}

/**
 * meridian_tx_is_still() - whether a queue has frames, and none has got done since the last look
 * @tx: a queue of a function with a link; under RTNL
 *
 * Context: Does not sleep.
 * Return: whether it is so.
 */
bool meridian_tx_is_still(const struct meridian_tx *tx)
{
	u32 cidx = READ_ONCE(tx->cidx);

	return cidx == tx->seen && cidx != READ_ONCE(tx->pidx);
}

/* Bytes that the function sends until each queue has sent as many as the card tells of at once. */
static u64 share_of_all(const struct meridian *m)
{
	bool cuts = m->netdev->features & (NETIF_F_ALL_TSO | NETIF_F_GSO_UDP_L4);

	return (u64)m->channels * STATUS_FRAMES * (cuts ? MERIDIAN_TX_LONGEST : m->netdev->mtu);
}

/**
 * meridian_look_after_tx() - tell of a queue whose frames do not get done
 * @tx: a queue of a function with a link; under RTNL, in equal intervals
 * @idle_looks: so many in a row have found that the card sent nothing of the function
 *
 * Linux's watchdog looks at queues only that the stack has stopped, as XDP and AF_XDP never do.
 * Looks are counted, not time: a look that comes late finds the index where it was by chance.
 *
 * Context: Does not sleep.
 */
void meridian_look_after_tx(struct meridian_tx *tx, u32 idle_looks)
{
	u64 sent = tx->m->bytes_seen;
	u32 looks = 0;

	if (meridian_tx_is_still(tx))
		looks = READ_ONCE(tx->looks) + 1;
	tx->seen = READ_ONCE(tx->cidx);
	WRITE_ONCE(tx->looks, looks);
	if (looks == 1)
		tx->sent = sent;
	if (min(looks, idle_looks) >= STILL_LOOKS || looks >= LOST_LOOKS ||
	    (looks >= SLOW_LOOKS && sent - tx->sent >= share_of_all(tx->m)))
		report_still(tx);
}
