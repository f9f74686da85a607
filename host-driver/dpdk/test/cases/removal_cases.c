/* SPDX-License-Identifier: BSD-3-Clause */
/* How a port goes: the application, or its callback of an event, removes, unplugs or closes it. */
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>

#include "cases.h"
#include "port.h"

#define LOOK_MS		250	/* between two looks at the link */

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

const struct test_case removal_cases[] = {
	CASE(started_port_is_removed),
	CASE(started_port_is_unplugged),
	CASE(card_rests_after_cleanup),
	CASE(link_event_closes_the_port),
	CASE(link_event_stops_the_port_that_is_closed_later),
	CASE(removal_event_closes_the_port),
	{ NULL },
};
