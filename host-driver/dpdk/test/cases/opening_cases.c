/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that somebody else closes, or has in a loopback. */
#include <rte_cycles.h>

#include "cases.h"
#include "port.h"

#define LOOK_MS		250	/* between two looks at the link */

static uint32_t *
host_enable(void)
{
	return shell(MERIDIAN_PORT_BASE(test_card_port) + MERIDIAN_PORT_HOST_ENABLE);
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
	loopback = shell(MERIDIAN_TRANSCEIVER_BASE(test_card_port) + MERIDIAN_TRANSCEIVER_LOOPBACK);
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

const struct test_case opening_cases[] = {
	CASE(port_that_is_closed_behind_the_driver_is_opened_again),
	CASE(port_in_a_loopback_is_opened_behind_it),
	{ NULL },
};
