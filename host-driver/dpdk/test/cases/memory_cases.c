/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues that the card does not end: which memory it may access, and whose that is. */
#include <string.h>

#include <rte_memzone.h>

#include <ethdev_driver.h>

#include "cases.h"
#include "port.h"

#define PATTERN		0x5a
#define PATTERN_BYTES	60

/* All that the driver does not have, with a pattern in it. */
static unsigned int
take_mbufs(struct rte_mbuf **mbufs)
{
	unsigned int count = 0;

	for (; count < MBUFS; count++) {
		mbufs[count] = rte_pktmbuf_alloc(pool);
		if (mbufs[count] == NULL)
			break;
		memset(rte_pktmbuf_mtod(mbufs[count], char *), PATTERN, PATTERN_BYTES);
	}
	return count;
}

static void
give_mbufs_back(struct rte_mbuf **mbufs, unsigned int count)
{
	static const char pattern[PATTERN_BYTES] = { [0 ... PATTERN_BYTES - 1] = PATTERN };
	unsigned int i;

	for (i = 0; i < count; i++)
		must(memcmp(rte_pktmbuf_mtod(mbufs[i], char *), pattern, PATTERN_BYTES) == 0,
		     "the card has written to mbuf %u, which was the application's", i);
	rte_pktmbuf_free_bulk(mbufs, count);
}

static void
card_goes_on_writing(void)
{
	struct rte_mbuf *mbufs[MBUFS];
	unsigned int count = take_mbufs(mbufs);

	test_card_receive(test_card, 0);
	give_mbufs_back(mbufs, count);
}

/* However its stop went. */
static void
none_counts_as_started(uint16_t queues)
{
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;
	uint16_t queue;

	for (queue = 0; queue < queues; queue++) {
		is(rte_eth_rx_queue_info_get(port, queue, &rx), 0);
		is(rx.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
		is(rte_eth_tx_queue_info_get(port, queue, &tx), 0);
		is(tx.queue_state, RTE_ETH_QUEUE_STATE_STOPPED);
	}
}

static void
queues_that_do_not_end_are_kept_from_memory(void)
{
	plug("");
	start_port(&plain);
	test_card->is_stuck = true;
	is(rte_eth_dev_stop(port), -EBUSY);
	must(!test_card->is_master, "the function may access memory");
	is(held(), 0);
	none_counts_as_started(1);
	card_goes_on_writing();
	must(rte_eth_dev_start(port) < 0, "with queues of before that run");
	none_counts_as_started(1);
	must(!test_card->is_master, "the function may access memory");
	test_card->is_stuck = false;
	is(rte_eth_dev_start(port), 0);
	must(test_card->is_master, "the function may not access memory");
	must(receive_frames(0, 10), "none");
	close_port();
	is(held(), 0);
}

static void
queues_that_neither_end_nor_are_kept_from_memory_keep_theirs(void)
{
	unsigned int before;

	test_card_has_no_fence = true;
	plug("");
	start_port(&plain);
	before = held();
	test_card->is_stuck = true;
	is(rte_eth_dev_stop(port), -EBUSY);
	is(held(), before);
	none_counts_as_started(1);
	card_goes_on_writing();
	must(rte_eth_dev_start(port) < 0, "with queues of before that run");
	none_counts_as_started(1);
	test_card->is_stuck = false;
	is(rte_eth_dev_start(port), 0);
	is(held(), before);
	must(receive_frames(0, 10), "none");
	test_card->is_stuck = true;
	is(rte_eth_dev_stop(port), -EBUSY);
	/* Rings, too, whatever is set up in their place. */
	set_up(&deferred);
	card_goes_on_writing();
	is(rte_eth_dev_close(port), 0);
	is(held(), before);
	must(rte_memzone_lookup("eth_p0_q0_rx_ring") != NULL, "the ring is free for others");
}

static void
queue_that_does_not_end_keeps_its_buffers(void)
{
	unsigned int before;

	plug("");
	start_port(&plain);
	before = held();
	test_card->is_stuck = true;
	is(rte_eth_dev_rx_queue_stop(port, 0), -EBUSY);
	is(held(), before);
	is(rte_eth_dev_tx_queue_stop(port, 0), -EBUSY);
	card_goes_on_writing();
	test_card->is_stuck = false;
	close_port();
	is(held(), 0);
}

static void
card_that_is_silent_while_the_port_stops_is_kept_from_memory(void)
{
	plug("");
	start_port(&plain);
	test_card->is_silent = true;
	is(rte_eth_dev_stop(port), -ENODEV);
	must(!test_card->is_master, "the function may access memory");
	test_card->is_silent = false;
	card_goes_on_writing();
	is(rte_eth_dev_start(port), 0);
	must(receive_frames(0, 10), "none");
	close_port();
	is(held(), 0);
}

/* The last queue of each direction is neither started nor, as far as the card says, ended. */
static void
queue_that_neither_starts_nor_ends_has_nothing_to_be_freed(void)
{
	plug("");
	start_port(&deferred);
	test_card->is_frozen = true;
	is(rte_eth_dev_tx_queue_start(port, 1), -EBUSY);
	is(rte_eth_dev_rx_queue_start(port, 1), -EBUSY);
	is(send_frames(1, 1), 0);
	is(rte_eth_dev_stop(port), -EBUSY);
	is(held(), 0);
	none_counts_as_started(2);
	test_card->is_frozen = false;
	is(rte_eth_dev_start(port), 0);
	must(receive_frames(0, 10), "none");
	close_port();
	is(held(), 0);
}

static void
port_that_does_not_start_has_no_queue_that_counts_as_started(void)
{
	plug("");
	set_up(&deferred);
	test_card->is_frozen = true;
	must(rte_eth_dev_start(port) < 0, "on a card that does nothing");
	none_counts_as_started(2);
	is(held(), 0);
}

static void
queue_that_is_kept_from_memory_takes_no_buffers(void)
{
	plug("");
	start_port(&plain);
	test_card->is_stuck = true;
	is(rte_eth_dev_stop(port), -EBUSY);
	/* As a process does that was not told of the stop. */
	is(rte_eth_devices[port].rx_pkt_burst(rte_eth_devices[port].data->rx_queues[0], NULL, 0), 0);
	is(held(), 0);
}

static void
queue_for_several_segments_is_set_up_in_the_place_of_one_that_is_kept(void)
{
	struct layout layout = plain;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	test_card_has_no_fence = true;
	plug("");
	start_port(&layout);
	test_card->is_stuck = true;
	is(rte_eth_dev_stop(port), -EBUSY);
	set_up(&layout);
	is(rte_eth_dev_close(port), 0);
}

const struct test_case memory_cases[] = {
	CASE(queues_that_do_not_end_are_kept_from_memory),
	CASE(queues_that_neither_end_nor_are_kept_from_memory_keep_theirs),
	CASE(queue_that_does_not_end_keeps_its_buffers),
	CASE(card_that_is_silent_while_the_port_stops_is_kept_from_memory),
	CASE(queue_that_neither_starts_nor_ends_has_nothing_to_be_freed),
	CASE(port_that_does_not_start_has_no_queue_that_counts_as_started),
	CASE(queue_that_is_kept_from_memory_takes_no_buffers),
	CASE(queue_for_several_segments_is_set_up_in_the_place_of_one_that_is_kept),
	{ NULL },
};
