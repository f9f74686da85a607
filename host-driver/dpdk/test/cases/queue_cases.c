/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues that stop while the port runs, what they have accepted, and queues that cannot start. */
#include <string.h>

#include <ethdev_driver.h>

#include "meridian.h"
#include "cases.h"
#include "port.h"

static void
queue_that_is_stopped_takes_no_buffers(void)
{
	unsigned int before, cycle;

	plug("");
	start_port(&deferred);
	before = held();
	is(receive_frames(1, 100), 0);
	is(held(), before);
	is(rte_eth_rx_queue_count(port, 1), 0);
	for (cycle = 0; cycle < 3; cycle++) {
		is(rte_eth_dev_rx_queue_start(port, 1), 0);
		must(receive_frames(1, 10), "none");
		is(rte_eth_dev_rx_queue_stop(port, 1), 0);
		is(receive_frames(1, 100), 0);
		is(held(), before);
	}
	close_port();
	is(held(), 0);
}

static void
queue_that_is_stopped_takes_no_frames(void)
{
	unsigned int cycle;

	plug("");
	start_port(&deferred);
	for (cycle = 0; cycle < 3; cycle++) {
		is(send_frames(1, 40), 0);
		is(rte_eth_tx_done_cleanup(port, 1, 0), 0);
		is(rte_eth_dev_tx_queue_start(port, 1), 0);
		is(send_frames(1, 40), 40);
		is(rte_eth_dev_tx_queue_stop(port, 1), 0);
	}
	is(test_card->sent, 120);
	close_port();
	is(held(), 0);
}

/* While the port runs, with another ring; the other queue goes on meanwhile. */
static void
queue_that_is_stopped_is_set_up_anew(void)
{
	struct rte_mempool *small = rte_pktmbuf_pool_create("small", MBUFS, 0, 0,
							    RTE_PKTMBUF_HEADROOM + 1024, 0);
	struct rte_eth_rxq_info info;
	uint16_t slots;

	must(small != NULL, "no memory");
	plug("");
	start_port(&deferred);
	is(rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool), -EBUSY);
	is(rte_eth_tx_queue_setup(port, 0, 64, 0, NULL), -EBUSY);
	for (slots = 64; slots <= 256; slots *= 2) {
		is(rte_eth_rx_queue_setup(port, 1, slots, 0, NULL, pool), 0);
		is(rte_eth_tx_queue_setup(port, 1, slots, 0, NULL), 0);
		is(receive_frames(1, 10), 0);
		is(send_frames(1, 40), 0);
		must(receive_frames(0, 10), "none");
		is(rte_eth_dev_rx_queue_start(port, 1), 0);
		is(rte_eth_dev_tx_queue_start(port, 1), 0);
		is(rte_eth_rx_queue_info_get(port, 1, &info), 0);
		is(info.nb_desc, slots);
		must(receive_frames(1, 2 * slots) > slots, "less than a ring");
		is(send_frames(1, 40), 40);
		is(rte_eth_dev_rx_queue_stop(port, 1), 0);
		is(rte_eth_dev_tx_queue_stop(port, 1), 0);
	}
	/* Frames would take two of these buffers, and the port receives without. */
	is(rte_eth_rx_queue_setup(port, 1, 64, 0, NULL, small), -EBUSY);
	is(rte_eth_dev_set_mtu(port, 1000), 0);
	must(rte_eth_dev_rx_queue_start(port, 1) < 0, "there is no such queue");
	must(receive_frames(0, 10), "none");
	close_port();
	is(held(), 0);
	is(rte_mempool_in_use_count(small), 0);
}

static void
stop_sends_what_was_accepted(void)
{
	struct rte_eth_stats stats;
	unsigned int count;

	plug("");
	start_port(&plain);
	test_card->is_slow = true;
	count = send_frames(0, 250);
	must(count > 200, "%u", count);
	is(rte_eth_dev_stop(port), 0);
	is(test_card->sent, count);
	is(test_card->lost, 0);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.opackets, count);
	is(rte_eth_dev_close(port), 0);
	is(held(), 0);
}

static void
frames_that_are_not_sent_are_counted(void)
{
	struct rte_eth_stats stats;

	plug("");
	start_port(&plain);
	is(send_frames(0, 10), 10);
	test_card->is_deaf = true;
	is(send_frames(0, 30), 30);
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.opackets, 10);
	is(stats.obytes, 600);
	is(extended("tx_discarded"), 30);
	is(rte_eth_dev_close(port), 0);
	is(held(), 0);
}

static void
discarded_frames_of_before_a_reset_of_statistics_are_not_counted(void)
{
	struct rte_eth_stats stats;

	plug("");
	start_port(&plain);
	test_card->is_deaf = true;
	is(send_frames(0, 30), 30);
	is(rte_eth_stats_reset(port), 0);
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.opackets, 0);
	is(stats.obytes, 0);
	is(rte_eth_dev_close(port), 0);
}

/* As a VF does that finds another PF's driver after a reset. */
static void
queue_whose_size_the_tables_have_no_more_does_not_start(void)
{
	struct qdma_tables *tables;
	uint32_t ring;
	int index;

	plug("");
	set_up(&plain);
	tables = &meridian_of(&rte_eth_devices[port])->qdma.tables;
	index = qdma_find(tables->rings, plain.slots + 1);
	must(index >= 0, "%d", index);
	ring = tables->rings[index];
	tables->rings[index] = 1;
	is(rte_eth_dev_start(port), -EINVAL);
	is(held(), 0);
	tables->rings[index] = ring;
	memset(tables->buffers, 0, sizeof(tables->buffers));
	is(rte_eth_dev_start(port), -EINVAL);
	*tables = qdma_default_tables;
	is(rte_eth_dev_start(port), 0);
	must(receive_frames(0, 10), "none");
	close_port();
}

const struct test_case queue_cases[] = {
	CASE(queue_that_is_stopped_takes_no_buffers),
	CASE(queue_that_is_stopped_takes_no_frames),
	CASE(queue_that_is_stopped_is_set_up_anew),
	CASE(stop_sends_what_was_accepted),
	CASE(frames_that_are_not_sent_are_counted),
	CASE(discarded_frames_of_before_a_reset_of_statistics_are_not_counted),
	CASE(queue_whose_size_the_tables_have_no_more_does_not_start),
	{ NULL },
};
