/* SPDX-License-Identifier: BSD-3-Clause */
/* Resets from outside, cards that are away, and resets that the application asks for. */
#include <rte_cycles.h>

#include "qdma/qdma_regs.h"
#include "cases.h"
#include "port.h"

#define LOOK_MS		250	/* between two looks at the link */
#define LONG_MS		3000	/* of a reset that lasts longer than the second it is waited for */
#define AWAY_MS		100	/* that Linux gives a function for its reset */
#define SILENCE_S	4	/* that link_get() may wait for a silent card; for a link it waits 9 s */

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

static void
resets_are_the_application_s(void)
{
	struct rte_eth_dev_info info;

	plug("");
	is(rte_eth_dev_info_get(port, &info), 0);
	is(info.err_handle_mode, RTE_ETH_ERROR_HANDLE_MODE_PASSIVE);
}

static void
reset_brings_back_what_the_card_needs(void)
{
	struct rte_eth_stats stats;

	plug("");
	start_port(&plain);
	*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL) = 1000;
	is(rte_eth_stats_reset(port), 0);
	test_card_reset(test_card);
	is(rte_eth_dev_reset(port), 0);
	is(*shell(MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT),
	   MERIDIAN_FILTER_CREDIT_ENFORCE_MASK);
	/* Another PF's driver has gone, as this one had no queues. */
	*shell(MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT) = 0;
	*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL) = 7;
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.imissed, 7);
	is(extended("card_rx_queue_full"), 7);
	start_port(&plain);
	is(*shell(MERIDIAN_FILTER_BASE + MERIDIAN_FILTER_CREDIT),
	   MERIDIAN_FILTER_CREDIT_ENFORCE_MASK);
	must(receive_frames(0, 10), "none");
}

static void
fatal_error_asks_for_a_reset(void)
{
	int calls = 0;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, count_event, &calls), 0);
	test_card->null->registers[QDMA_C2H_FATAL / 4] = 1u << 3;
	rte_delay_us_sleep(1000000);
	is(calls, 1);
	is(rte_eth_dev_reset(port), 0);
	is(test_card->null->registers[QDMA_C2H_FATAL / 4], 0);
	start_port(&plain);
	rte_delay_us_sleep(500000);
	is(calls, 1);
}

static volatile bool waited;

/* The callback runs in the thread that looks after the card, so link_get() has to see the silence. */
static int
wait_for_the_link(uint16_t id __rte_unused, enum rte_eth_event_type type __rte_unused,
		  void *argument __rte_unused, void *more __rte_unused)
{
	uint64_t start = rte_get_timer_cycles();
	struct rte_eth_link link;

	test_card->is_silent = true;
	is(rte_eth_link_get(port, &link), 0);
	test_card->is_silent = false;
	is(link.link_status, RTE_ETH_LINK_DOWN);
	must(rte_get_timer_cycles() - start < SILENCE_S * rte_get_timer_hz(), "a silent card");
	waited = true;
	return 0;
}

/* Without events of the link, whose status link_get() would only look up. */
static void
callback_waits_for_the_link_of_a_silent_card(void)
{
	int looks;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, wait_for_the_link, NULL), 0);
	test_card->null->registers[QDMA_C2H_FATAL / 4] = 1u << 3;
	for (looks = 0; !waited && looks < 12 * 1000 / LOOK_MS; looks++)
		rte_delay_us_sleep(LOOK_MS * 1000);
	must(waited, "link_get() still waits");
}

const struct test_case reset_cases[] = {
	CASE(pf_that_has_lost_its_queues_is_told),
	CASE(pf_that_was_away_for_a_moment_is_told),
	CASE(long_reset_that_pcie_answers_in_is_no_removal),
	CASE(long_reset_that_pcie_is_silent_in_is_no_removal),
	CASE(card_that_pcie_does_not_find_is_removed_and_may_come_back),
	CASE(pf_that_was_reset_while_it_was_stopped_starts),
	CASE(resets_are_the_application_s),
	CASE(reset_brings_back_what_the_card_needs),
	CASE(fatal_error_asks_for_a_reset),
	CASE(callback_waits_for_the_link_of_a_silent_card),
	{ NULL },
};
