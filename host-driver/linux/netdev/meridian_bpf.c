// SPDX-License-Identifier: GPL-2.0-only
/* What Linux sets up of XDP: programs, and sockets that have a queue to themselves. */
#include <linux/netdevice.h>
#include <net/xdp_sock_drv.h>

#include "compat.h"
#include "compat_xdp.h"
#include "meridian.h"
#include "meridian_configure.h"
#include "meridian_frames.h"

/**
 * meridian_xdp_allows() - whether a program, AF_XDP sockets and an MTU go together
 * @m: the function
 * @prog: the program, if there is one
 * @mtu: of the interface
 *
 * Context: Does not sleep.
 * Return: whether every frame that the MTU lets through fits a buffer, or has no need to.
 */
bool meridian_xdp_allows(struct meridian *m, struct bpf_prog *prog, int mtu)
{
	bool takes_long = !prog || meridian_takes_parts(prog);

	return mtu <= MERIDIAN_XDP_MTU ||
	       (takes_long && bitmap_empty(m->xsk_queues, MERIDIAN_QUEUES));
}

/* What can be refused is, before the queues are touched. */
static int prepare(struct meridian *m, struct xsk_buff_pool *pool, u32 queue)
{
	/* It would be kept, see give_up_pool(), although no queue starts any more. */
	if (test_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags))
		return -EIO;
	if (xsk_pool_get_rx_frame_size(pool) < MERIDIAN_RX_BUFFER) {
		netdev_info(m->netdev, "AF_XDP without copies: frames of %u bytes, not %u\n",
			    MERIDIAN_RX_BUFFER, xsk_pool_get_rx_frame_size(pool));
		return -EOPNOTSUPP;
	}
	if (m->netdev->mtu > MERIDIAN_XDP_MTU) {
		netdev_info(m->netdev, "AF_XDP without copies: an MTU of %d at most\n",
			    MERIDIAN_XDP_MTU);
		return -EOPNOTSUPP;
	}
	if (test_bit(queue, m->xsk_queues))
		return -EBUSY;
	return xsk_pool_dma_map(pool, &m->pdev->dev, 0);
}

/* Memory that the card may still write to stays mapped, and is nobody else's, ever. */
static void give_up_pool(struct meridian *m, struct xsk_buff_pool *pool)
{
	if (test_bit(MERIDIAN_FLAG_RUNAWAY, &m->flags))
		meridian_xsk_keep(pool);
	else
		xsk_pool_dma_unmap(pool, 0);
}

static bool has_queue(const struct meridian *m, u32 queue)
{
	return test_bit(MERIDIAN_FLAG_UP, &m->flags) && queue < m->channels;
}

/* The queue starts anew with the socket's memory, or goes on as it is. */
static int join(struct meridian *m, u32 queue)
{
	int error;

	set_bit(queue, m->xsk_queues);
	error = has_queue(m, queue) ? meridian_restart_rx(m, queue) : 0;
	if (!error)
		return 0;
	netdev_err(m->netdev, "queue %u does not start with an AF_XDP socket: %d\n", queue, error);
	clear_bit(queue, m->xsk_queues);
	return error;
}

/*
 * A socket that goes is gone in any case, so its queue goes on with what it has beside it. If it
 * does not, the log has it; Linux would warn of an error as of a fault of the driver.
 */
static void part(struct meridian *m, u32 queue)
{
	clear_bit(queue, m->xsk_queues);
	if (has_queue(m, queue))
		meridian_renew_rx(m, queue);
}

/**
 * setup_xsk() - a socket has come to a queue, or goes
 * @m: the function; under RTNL
 * @pool: of the socket; NULL: it goes
 * @queue: index of the queue pair
 *
 * Return: 0; a negative error if it has come and cannot be there.
 */
static int setup_xsk(struct meridian *m, struct xsk_buff_pool *pool, u32 queue)
{
	int error;

	if (queue >= m->queue_limit)
		return -EINVAL;
	if (pool) {
		error = prepare(m, pool, queue);
		if (error)
			return error;
		error = join(m, queue);
		if (error)
			give_up_pool(m, pool);
		return error;
	}
	if (!test_bit(queue, m->xsk_queues))
		return 0;
	pool = xsk_get_pool_from_qid(m->netdev, queue);
	part(m, queue);
	if (pool)
		give_up_pool(m, pool);
	return 0;
}

/* Buffers have room for XDP in any case, so the queues run on. */
static int setup_prog(struct meridian *m, struct netdev_bpf *bpf)
{
	struct bpf_prog *old;

	if (meridian_xdp_allows(m, bpf->prog, m->netdev->mtu)) {
		old = xchg(&m->xdp, bpf->prog);
		if (old)
			bpf_prog_put(old);
		return 0;
	}
	NL_SET_ERR_MSG_MOD(bpf->extack,
			   "without frags the MTU is " __stringify(MERIDIAN_XDP_MTU) " at most");
	return -EINVAL;
}

int meridian_bpf(struct net_device *netdev, struct netdev_bpf *bpf)
{
	switch (bpf->command) {
	case XDP_SETUP_PROG:
		return setup_prog(netdev_priv(netdev), bpf);
	case XDP_SETUP_XSK_POOL:
		return setup_xsk(netdev_priv(netdev), bpf->xsk.pool, bpf->xsk.queue_id);
	default:
		return -EINVAL;
	}
}
