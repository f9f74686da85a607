/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: of queues, of the card, and of a card that does not answer. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include <rte_pause.h>

#include "cases.h"
#include "port.h"

#define RESETS		20000
#define READS		2000
#define DELIVERED	(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED)
#define FULL		(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL)

static atomic_bool is_over;
static atomic_ulong received;

static void *
go_on_receiving(void *argument __rte_unused)
{
	while (!is_over)
		received += receive_frames(0, 1);
	return NULL;
}

static void
statistics_are_reset_while_frames_come(void)
{
	struct rte_eth_stats stats;
	unsigned int turn;
	pthread_t thread;

	plug("");
	start_port(&plain);
	is(pthread_create(&thread, NULL, go_on_receiving, NULL), 0);
	while (received < 100000)
		rte_pause();
	for (turn = 0; turn < RESETS; turn++) {
		unsigned long before = received;

		is(rte_eth_stats_reset(port), 0);
		is(rte_eth_stats_get(port, &stats), 0);
		/* A burst may be counted before this thread sees it, or be under way. */
		must(stats.ipackets <= received - before + 64,
		     "%" PRIu64 " frames, of %lu since the reset", stats.ipackets,
		     received - before);
	}
	is_over = true;
	pthread_join(thread, NULL);
}

static void *
go_on_reading(void *argument __rte_unused)
{
	while (!is_over)
		is(extended("card_rx_delivered"), 1ul << 32);
	return NULL;
}

static void
counters_are_read_by_several_threads(void)
{
	struct rte_eth_stats stats;
	pthread_t thread;
	unsigned int turn;

	plug("");
	start_port(&plain);
	*shell(DELIVERED + 4) = 1;
	*shell(FULL + 4) = 2;
	is(pthread_create(&thread, NULL, go_on_reading, NULL), 0);
	for (turn = 0; turn < READS; turn++) {
		is(rte_eth_stats_get(port, &stats), 0);
		is(stats.imissed, 2ul << 32);
	}
	is_over = true;
	pthread_join(thread, NULL);
}

/* Each has a counter of its own, of the port that the PF is bound to. */
static void
frames_of_nobody_are_counted(void)
{
	static const struct {
		const char *name;
		uint32_t offset;
	} counters[] = {
		{ "port_rx_no_match", MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_NO_MATCH },
		{ "port_rx_no_listener", MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_NO_LISTENER },
		{ "port_rx_host_disabled", MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_HOST_DISABLED },
		{ "port_rx_copying", MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_COPYING },
		{ "port_rx_copy_cut", MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_COPY_CUT },
		{ "port_rx_frames", MERIDIAN_PORT_COUNTERS_COUNTER_RX_FRAMES },
	};
	unsigned int i;

	test_card_port = 1;
	plug("");
	for (i = 0; i < RTE_DIM(counters); i++) {
		uint32_t base = i + 1 < RTE_DIM(counters) ? MERIDIAN_HOST_PORT_COUNTERS_BASE(1) :
							    MERIDIAN_PORT_COUNTERS_BASE(1);

		*shell(base + counters[i].offset) = 7 + i;
		is(extended(counters[i].name), 7 + i);
	}
}

static void
card_that_does_not_answer_counts_nothing(void)
{
	struct rte_eth_stats stats;

	plug("");
	start_port(&plain);
	*shell(DELIVERED) = 1000;
	*shell(FULL) = 10;
	is(rte_eth_stats_reset(port), 0);
	*shell(DELIVERED) = 1007;
	*shell(FULL) = 13;
	test_card->is_silent = true;
	is(extended("card_rx_delivered"), 0);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.imissed, 0);
	is(rte_eth_stats_reset(port), 0);
	test_card->is_silent = false;
	is(extended("card_rx_delivered"), 7);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.imissed, 3);
}

const struct test_case statistics_cases[] = {
	CASE(statistics_are_reset_while_frames_come),
	CASE(counters_are_read_by_several_threads),
	CASE(frames_of_nobody_are_counted),
	CASE(card_that_does_not_answer_counts_nothing),
	{ NULL },
};
