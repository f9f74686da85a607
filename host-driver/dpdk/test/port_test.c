/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ports and queues begin and end, on the test card: each case is a program run of its own.
 *   port_test CASE
 */
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_memzone.h>

#include <ethdev_driver.h>

#include "qdma/qdma_rss.h"
#include "port.h"

#define LOOK_MS		250	/* between two looks at the link */
#define LONG_MS		3000	/* of a reset that lasts longer than the second it is waited for */
#define AWAY_MS		100	/* that Linux gives a function for its reset */
#define MAC_WORDS	2	/* of the MAC table's key, which has half a word more */
#define PATTERN		0x5a
#define PATTERN_BYTES	60

static const struct layout deferred = { .queues = 2, .slots = 256, .is_deferred = true };

static void
remove_device(void)
{
	struct rte_eth_dev_info info;

	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_dev_remove(info.device), 0);
}

static void
must_be_gone(void)
{
	must(!rte_eth_dev_is_valid_port(port), "port %u is still there", port);
	must(test_card == NULL, "the card is still open");
	is(held(), 0);
}

static void
started_port_is_removed(void)
{
	plug("");
	start_port(&plain);
	must(receive_frames(0, 10), "none");
	remove_device();
	must_be_gone();
}

static void
started_port_is_unplugged(void)
{
	plug("");
	start_port(&plain);
	is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	must_be_gone();
	plug("");
	start_port(&plain);
	must(receive_frames(0, 10), "none");
}

static void
card_rests_after_cleanup(void)
{
	plug("");
	start_port(&plain);
	is(rte_eal_cleanup(), 0);
	must(test_card == NULL, "its queues run");
}

static int
on_event(uint16_t id, enum rte_eth_event_type type __rte_unused, void *argument,
	 void *more __rte_unused)
{
	int *calls = argument;

	must(id == port, "%u", id);
	if (++*calls > 1)
		return 0;
	close_port();
	return 0;
}

static int
on_event_stop(uint16_t id __rte_unused, enum rte_eth_event_type type __rte_unused, void *argument,
	      void *more __rte_unused)
{
	++*(int *)argument;
	is(rte_eth_dev_stop(port), 0);
	return 0;
}

static void
link_goes_down(void)
{
	uint32_t *status = &test_card->null->shell[(MERIDIAN_FUNCTION_BASE(0) +
						    MERIDIAN_FUNCTION_STATUS) / 4];

	*status &= ~MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK;
}

static void
start_with_link_events(rte_eth_dev_cb_fn callback, int *calls)
{
	struct layout layout = plain;

	layout.conf.intr_conf.lsc = 1;
	plug("");
	start_port(&layout);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, callback, calls), 0);
	link_goes_down();
	rte_delay_us_sleep(2 * LOOK_MS * 1000);
	is(*calls, 1);
}

static void
link_event_closes_the_port(void)
{
	int calls = 0;

	start_with_link_events(on_event, &calls);
	rte_delay_us_sleep(3 * LOOK_MS * 1000);
	is(calls, 1);
	is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	must_be_gone();
}

static void
link_event_stops_the_port_that_is_closed_later(void)
{
	int calls = 0;

	start_with_link_events(on_event_stop, &calls);
	is(rte_eth_dev_close(port), 0);
	rte_delay_us_sleep(3 * LOOK_MS * 1000);
	is(calls, 1);
}

static void
removal_event_closes_the_port(void)
{
	int calls = 0;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, on_event, &calls), 0);
	test_card->presence = MERIDIAN_UNPLUGGED;
	test_card->is_silent = true;
	rte_delay_us_sleep(8 * LOOK_MS * 1000);
	is(calls, 1);
	is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	must_be_gone();
}

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

/* Of the hash of the card's MAC table, and of the one that spreads frames over queues. */
static void
look_at_keys(uint32_t *key)
{
	const uint32_t *shell = test_card->null->shell;

	memcpy(key, &shell[(MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_HASH_KEY_0) / 4],
	       MAC_WORDS * sizeof(*key));
	memcpy(&key[MAC_WORDS], &shell[(MERIDIAN_FUNCTION_BASE(0) +
					MERIDIAN_FUNCTION_HASH_KEY(0)) / 4],
	       QDMA_RSS_WORDS * sizeof(*key));
}

static void
keys_are_drawn_anew_for_each_card(void)
{
	uint32_t key[4][MAC_WORDS + QDMA_RSS_WORDS];
	unsigned int one, other, word;

	for (one = 0; one < RTE_DIM(key); one++) {
		plug("");
		start_port(&plain);
		look_at_keys(key[one]);
		remove_device();
		for (word = 0; word < RTE_DIM(key[0]); word++) {
			for (other = 0; other < one; other++)
				must(key[one][word] != key[other][word], "word %u is as before",
				     word);
		}
	}
}

static int
count_event(uint16_t id __rte_unused, enum rte_eth_event_type type __rte_unused, void *argument,
	    void *more __rte_unused)
{
	++*(int *)argument;
	return 0;
}

/* The application resets the port after the one event, and frames come again. */
static void
reset_is_told(void (*reset)(void))
{
	int calls = 0;

	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, count_event, &calls), 0);
	rte_delay_us_sleep(4 * LOOK_MS * 1000);
	is(calls, 0);
	reset();
	rte_delay_us_sleep(4 * LOOK_MS * 1000);
	is(calls, 1);
	is(rte_eth_dev_reset(port), 0);
	must(test_card->is_master, "the function may not access memory");
	start_port(&plain);
	must(receive_frames(0, 10), "none");
	rte_delay_us_sleep(4 * LOOK_MS * 1000);
	is(calls, 1);
	close_port();
	is(held(), 0);
}

/* After a reset of the slot the card knows no queues, and the function may not access memory. */
static void
lose_all(void)
{
	test_card_reset(test_card);
	test_card->is_master = false;
}

static void
reset_from_outside_is_told(void (*reset)(void))
{
	plug("");
	reset_is_told(reset);
}

static void
pf_that_has_lost_its_queues_is_told(void)
{
	reset_from_outside_is_told(lose_all);
}

/* PCIe resets the function alone, which takes as long as Linux allows: the card keeps its settings. */
static void
be_away(void)
{
	test_card->is_silent = true;
	rte_delay_us_sleep(AWAY_MS * 1000);
	test_card->is_silent = false;
}

static void
pf_that_was_away_for_a_moment_is_told(void)
{
	reset_from_outside_is_told(be_away);
}

/* Of the whole card, which then begins as at power on. */
static void
be_away_for_long(void)
{
	test_card->is_silent = true;
	rte_delay_us_sleep(LONG_MS * 1000);
	lose_all();
	test_card->is_silent = false;
}

static void
long_reset_is_no_removal(enum meridian_presence presence)
{
	int removals = 0;

	plug("");
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, count_event, &removals);
	test_card->presence = presence;
	reset_is_told(be_away_for_long);
	is(removals, 0);
}

static void
long_reset_that_pcie_answers_in_is_no_removal(void)
{
	long_reset_is_no_removal(MERIDIAN_PRESENT);
}

static void
long_reset_that_pcie_is_silent_in_is_no_removal(void)
{
	long_reset_is_no_removal(MERIDIAN_SILENT);
}

/* Nobody has closed the port in between, and it goes on. */
static void
card_that_pcie_does_not_find_is_removed_and_may_come_back(void)
{
	int removals = 0, resets = 0;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, count_event, &removals), 0);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, count_event, &resets), 0);
	test_card->presence = MERIDIAN_SILENT;
	test_card->is_silent = true;
	rte_delay_us_sleep(2 * LONG_MS * 1000);
	is(removals, 0);
	rte_delay_us_sleep(4 * LONG_MS * 1000);
	is(removals, 1);
	is(resets, 0);
	test_card->is_silent = false;
	rte_delay_us_sleep(4 * LOOK_MS * 1000);
	is(removals, 1);
	is(resets, 1);
	is(rte_eth_dev_reset(port), 0);
	start_port(&plain);
	must(receive_frames(0, 10), "none");
	close_port();
	is(held(), 0);
}

/* While the port is stopped there is nothing to lose. */
static void
pf_that_was_reset_while_it_was_stopped_starts(void)
{
	int calls = 0;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, count_event, &calls), 0);
	is(rte_eth_dev_stop(port), 0);
	be_away();
	is(rte_eth_dev_start(port), 0);
	rte_delay_us_sleep(4 * LOOK_MS * 1000);
	is(calls, 0);
	must(receive_frames(0, 10), "none");
	close_port();
}

static uint32_t *
host_enable(void)
{
	return &test_card->null->shell[(MERIDIAN_PORT_BASE(test_card_port) +
					MERIDIAN_PORT_HOST_ENABLE) / 4];
}

/* A reset of the card's ARM closes it; while that side has no clock, its registers read 0xdeadbeef. */
static void
port_that_is_closed_behind_the_driver_is_opened_again(void)
{
	test_card_port = 2;
	plug("");
	start_port(&plain);
	is(*host_enable(), 3);
	*host_enable() = 0;
	rte_delay_us_sleep(6 * LOOK_MS * 1000);
	is(*host_enable(), 3);
	*host_enable() = 0xdeadbeef;
	rte_delay_us_sleep(6 * LOOK_MS * 1000);
	is(*host_enable(), 0xdeadbeef);
	is(rte_eth_dev_stop(port), 0);
	is(*host_enable(), 0);
	rte_delay_us_sleep(6 * LOOK_MS * 1000);
	is(*host_enable(), 0);
	close_port();
}

/* The card's ARM side tests the port: frames would come back. */
static void
port_in_a_loopback_is_opened_behind_it(void)
{
	uint32_t *loopback;

	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK;
	plug("");
	loopback = &test_card->null->shell[(MERIDIAN_TRANSCEIVER_BASE(test_card_port) +
					    MERIDIAN_TRANSCEIVER_LOOPBACK) / 4];
	start_port(&plain);
	is(*host_enable(), 3);
	*loopback = 2;
	*host_enable() = 1;
	rte_delay_us_sleep(6 * LOOK_MS * 1000);
	is(*host_enable(), 1);
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_dev_start(port), 0);
	is(*host_enable(), 0);
	*loopback = 0;
	rte_delay_us_sleep(6 * LOOK_MS * 1000);
	is(*host_enable(), 3);
	close_port();
}

static const struct test_case cases[] = {
	CASE(started_port_is_removed),
	CASE(started_port_is_unplugged),
	CASE(card_rests_after_cleanup),
	CASE(link_event_closes_the_port),
	CASE(link_event_stops_the_port_that_is_closed_later),
	CASE(removal_event_closes_the_port),
	CASE(queue_that_is_stopped_takes_no_buffers),
	CASE(queue_that_is_stopped_takes_no_frames),
	CASE(queue_that_is_stopped_is_set_up_anew),
	CASE(queues_that_do_not_end_are_kept_from_memory),
	CASE(queues_that_neither_end_nor_are_kept_from_memory_keep_theirs),
	CASE(queue_that_does_not_end_keeps_its_buffers),
	CASE(card_that_is_silent_while_the_port_stops_is_kept_from_memory),
	CASE(stop_sends_what_was_accepted),
	CASE(frames_that_are_not_sent_are_counted),
	CASE(discarded_frames_of_before_a_reset_of_statistics_are_not_counted),
	CASE(queue_that_neither_starts_nor_ends_has_nothing_to_be_freed),
	CASE(port_that_does_not_start_has_no_queue_that_counts_as_started),
	CASE(queue_that_is_kept_from_memory_takes_no_buffers),
	CASE(queue_for_several_segments_is_set_up_in_the_place_of_one_that_is_kept),
	CASE(keys_are_drawn_anew_for_each_card),
	CASE(pf_that_has_lost_its_queues_is_told),
	CASE(pf_that_was_away_for_a_moment_is_told),
	CASE(long_reset_that_pcie_answers_in_is_no_removal),
	CASE(long_reset_that_pcie_is_silent_in_is_no_removal),
	CASE(card_that_pcie_does_not_find_is_removed_and_may_come_back),
	CASE(pf_that_was_reset_while_it_was_stopped_starts),
	CASE(port_that_is_closed_behind_the_driver_is_opened_again),
	CASE(port_in_a_loopback_is_opened_behind_it),
};

int
main(int count, char **words)
{
	return run_case(count, words, cases, RTE_DIM(cases));
}
