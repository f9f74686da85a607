/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames, and queues that change while they go. */
#include <string.h>

#include "large.h"
#include "life.h"

#define BURST	32
#define SEGMENT	1400

void
receive(void)
{
	if (life.is_started)
		receive_frames(draw(life.queues), 1 + draw(20));
}

/* Most of them the card can cut; of the others, most the driver refuses. */
static struct rte_mbuf *
make_frame_to_cut(void)
{
	struct large large = {
		.is_v6 = one_in(2),
		.is_udp = one_in(2),
		.is_tagged = one_in(4),
		.ip_words = draw(11),
		.tcp_words = draw(11),
		.payload = one_in(8) ? 0 : draw(4 * SEGMENT),
		.segment = one_in(8) ? draw(UINT16_MAX) : 256 + draw(SEGMENT),
		.pieces = 4 + one_in(8),
		.empty = one_in(8),
	};
	struct rte_mbuf *frame = make_large(pool, &large);

	if (frame != NULL && one_in(8))
		frame->pkt_len += draw(3) - 1;
	if (frame != NULL && !one_in(4))
		rte_eth_tx_prepare(port, 0, &frame, 1);
	return frame;
}

static struct rte_mbuf *
make_frame(void)
{
	struct rte_mbuf *frame, *more;
	uint16_t bytes = 60 + draw(SEGMENT - 60);

	if (life.is_cutting && one_in(4))
		return make_frame_to_cut();
	frame = rte_pktmbuf_alloc(pool);
	if (frame == NULL)
		return NULL;
	memset(rte_pktmbuf_append(frame, bytes), 0x02, bytes);
	/* Up to five, and some are empty. */
	while (life.has_segments && one_in(2) && frame->nb_segs < 5) {
		more = rte_pktmbuf_alloc(pool);
		if (more == NULL)
			break;
		bytes = one_in(4) ? 0 : 1 + draw(SEGMENT);
		memset(rte_pktmbuf_append(more, bytes), 0x06, bytes);
		is(rte_pktmbuf_chain(frame, more), 0);
	}
	return frame;
}

void
transmit(void)
{
	struct rte_mbuf *frames[BURST];
	uint16_t count = 0, done;

	if (!life.is_started)
		return;
	while (count < BURST) {
		frames[count] = make_frame();
		if (frames[count] == NULL)
			break;
		count++;
	}
	done = rte_eth_tx_burst(port, draw(life.queues), frames, count);
	rte_pktmbuf_free_bulk(&frames[done], count - done);
	life.has_gathered |= extended("tx_gathered") != 0;
	life.has_cut |= extended("tx_segmented") != 0;
}

/* The queue is stopped and set up anew while the port runs. */
void
set_up_anew(void)
{
	struct rte_eth_dev_info info;
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;
	uint16_t queue;

	if (!life.is_started)
		return;
	queue = draw(life.queues);
	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_eth_rx_queue_info_get(port, queue, &rx), 0);
	is(rte_eth_tx_queue_info_get(port, queue, &tx), 0);
	if (rx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED &&
	    tx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED)
		set_up_queue(queue, &info);
}

void
switch_queue(void)
{
	uint16_t queue;

	if (!life.is_started)
		return;
	queue = draw(life.queues);
	switch (draw(5)) {
	case 0:
		is(rte_eth_dev_rx_queue_start(port, queue), 0);
		break;
	case 1:
		is(rte_eth_dev_rx_queue_stop(port, queue), 0);
		break;
	case 2:
		is(rte_eth_dev_tx_queue_start(port, queue), 0);
		break;
	case 3:
		is(rte_eth_dev_tx_queue_stop(port, queue), 0);
		break;
	default:
		rte_eth_tx_done_cleanup(port, queue, draw(64));
		break;
	}
}
