/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and VLANs: whose they are, and what of them the card has. */
#include <string.h>

#include <ethdev_driver.h>

#include "meridian.h"
#include "cases.h"
#include "port.h"

#define VF		4	/* the first VF of a card is this function */
#define ADDRESS_LOW	(MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_HOST_ADDRESS_LOW(0))
#define ADDRESS_HIGH	(MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_HOST_ADDRESS_HIGH(0))

/* What it has been told for the PF stays; if it has nothing, it is not to keep one by chance. */
static void
address_that_is_given_is_not_the_card_s(void)
{
	struct rte_ether_addr address;

	plug("mac=02:00:00:00:00:77");
	is(rte_eth_macaddr_get(port, &address), 0);
	is(address.addr_bytes[5], 0x77);
	is(*shell(ADDRESS_LOW), 0);
	is(*shell(ADDRESS_HIGH), 0);
}

static void
address_that_the_ps_writes_meanwhile_is_whole(void)
{
	static const uint8_t expected[] = { 0x02, 0x50, 0x60, 0x70, 0x80, 0x90 };
	struct rte_ether_addr address;

	test_card_address[0][0] = 0x03020102;
	test_card_address[0][1] = MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK | 0x0504;
	test_card_address[1][0] = 0x70605002;
	test_card_address[1][1] = MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK | 0x9080;
	for (; test_card_port < MERIDIAN_PORTS; test_card_port++) {
		plug("");
		is(rte_eth_macaddr_get(port, &address), 0);
		is(memcmp(&address, expected, sizeof(expected)), 0);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	}
}

/* ethdev writes its list when the driver has returned: whoever asks before then is refused. */
static void
address_is_the_port_s_before_ethdev_has_it(void)
{
	struct rte_ether_addr one = { { 2, 0, 0, 0, 0, 1 } }, two = { { 2, 0, 0, 0, 0, 2 } };
	struct rte_eth_dev *dev;
	struct meridian *m;

	plug("");
	dev = &rte_eth_devices[port];
	m = meridian_of(dev);
	is(meridian_claim(m, VF, &one), 0);
	is(dev->dev_ops->mac_addr_set(dev, &one), 0);
	is(meridian_claim(m, VF, &one), -EADDRINUSE);
	is(rte_eth_dev_default_mac_addr_set(port, &one), 0);
	is(meridian_claim(m, VF, &one), -EADDRINUSE);
	is(dev->dev_ops->mac_addr_add(dev, &two, 1, 0), 0);
	is(meridian_claim(m, VF, &two), -EADDRINUSE);
	is(rte_eth_dev_mac_addr_add(port, &two, 0), 0);
	is(rte_eth_dev_mac_addr_remove(port, &two), 0);
	is(meridian_claim(m, VF, &two), 0);
	is(rte_eth_dev_default_mac_addr_set(port, &two), 0);
	is(meridian_claim(m, VF, &one), 0);
	/* What the card does not do, ethdev does not write. */
	start_port(&plain);
	test_card->is_silent = true;
	must(rte_eth_dev_default_mac_addr_set(port, &one) < 0, "on a card that does not answer");
	test_card->is_silent = false;
	is(meridian_claim(m, VF, &one), 0);
	is(meridian_claim(m, VF, &two), -EADDRINUSE);
}

/* Lines of the log about addresses. */
static unsigned int
refusals_in(FILE *log)
{
	unsigned int count = 0;
	char line[256];

	rewind(log);
	while (fgets(line, sizeof(line), log) != NULL)
		count += strstr(line, "does not take") != NULL;
	return count;
}

static bool
is_promiscuous_in_the_card(void)
{
	return *shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_FLAGS) &
	       MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK;
}

/* As many as the card's filter has, and more; then so few again that they find room. */
static void
vlans_without_room_are_told_once(void)
{
	struct layout layout = plain;
	FILE *log = tmpfile();
	uint16_t vid;

	layout.conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	plug("");
	start_port(&layout);
	must(log != NULL, "no file");
	is(rte_openlog_stream(log), 0);
	for (vid = 1; vid < MERIDIAN_NULL_ADDRESSES + 40; vid++)
		is(rte_eth_dev_vlan_filter(port, vid, 1), 0);
	is(test_card->null->addresses, MERIDIAN_NULL_ADDRESSES);
	must(is_promiscuous_in_the_card(), "VLANs are missing");
	for (vid = 1; vid < 80; vid++)
		is(rte_eth_dev_vlan_filter(port, vid, 0), 0);
	must(!is_promiscuous_in_the_card(), "there is room");
	is(test_card->null->addresses, MERIDIAN_NULL_ADDRESSES + 40 - 79);
	close_port();
	is(rte_openlog_stream(NULL), 0);
	is(refusals_in(log), 1);
	fclose(log);
}

const struct test_case address_cases[] = {
	CASE(address_that_is_given_is_not_the_card_s),
	CASE(address_that_the_ps_writes_meanwhile_is_whole),
	CASE(address_is_the_port_s_before_ethdev_has_it),
	CASE(vlans_without_room_are_told_once),
	{ NULL },
};
