// SPDX-License-Identifier: GPL-2.0-only
/* The self-test of ethtool. */
#include "meridian_ps_selftest.h"

static const char names[][ETH_GSTRING_LEN] = { "link", "port_loops" };

enum { LINK, LOOPS };

/**
 * meridian_ps_test_count() - how many results the self-test has
 * @port: whose
 *
 * Context: Does not sleep.
 * Return: the number. The loops need the self-test block.
 */
int meridian_ps_test_count(struct meridian_ps_port *port)
{
	bool has_block = port->card->capabilities & MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK;

	return has_block ? LOOPS + 1 : LINK + 1;
}

/**
 * meridian_ps_test_strings() - what the results are called
 * @port: whose
 * @data: to be filled
 *
 * Context: Does not sleep.
 */
void meridian_ps_test_strings(struct meridian_ps_port *port, u8 *data)
{
	memcpy(data, names, meridian_ps_test_count(port) * ETH_GSTRING_LEN);
}

static int test_link(struct meridian_ps_port *port)
{
	u32 status = meridian_ps_port_read(port, MERIDIAN_PORT_LINK_STATUS);

	if (!meridian_ps_present(port->card))
		return -ENODEV;
	return status & MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK ? 0 : -ENOLINK;
}

/**
 * meridian_ps_self_test() - run all tests, and those that take the port if they are asked for
 * @netdev: of a port, up or not; under RTNL
 * @test: what is asked for, and how it went
 * @data: errors by test, 0 for one that is good or was left out
 *
 * Context: May sleep.
 */
void meridian_ps_self_test(struct net_device *netdev, struct ethtool_test *test, u64 *data)
{
	struct meridian_ps_port *port = netdev_priv(netdev);
	bool is_external = test->flags & ETH_TEST_FL_EXTERNAL_LB;
	bool was_external = false;
	int i, count = meridian_ps_test_count(port);

	data[LINK] = -test_link(port);
	if (count > LOOPS)
		data[LOOPS] = test->flags & ETH_TEST_FL_OFFLINE ?
			      -meridian_ps_test_loops(port, is_external, &was_external) : 0;
	for (i = 0; i < count; i++) {
		if (data[i])
			test->flags |= ETH_TEST_FL_FAILED;
	}
	if (was_external)
		test->flags |= ETH_TEST_FL_EXTERNAL_LB_DONE;
}
