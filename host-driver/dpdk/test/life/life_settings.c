/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a port, and questions. */
#include <string.h>

#include "life.h"

#define GROUPS	8
#define XSTATS	256

void
change_mtu(void)
{
	int error;

	if (!life.is_configured)
		return;
	error = rte_eth_dev_set_mtu(port, 68 + draw(9582 - 68));
	must(error == 0 || (life.is_started && error == -EBUSY), "%d", error);
}

void
change_addresses(void)
{
	struct rte_ether_addr list[GROUPS] = { 0 }, address = { { 2, 0, 0, 0, 0, draw(GROUPS) } };
	uint32_t i;

	if (!life.is_plugged)
		return;
	for (i = 0; i < GROUPS; i++)
		list[i] = (struct rte_ether_addr){ { 1, 0, 0x5e, 0, 0, draw(64) } };
	/* Of a card that has other functions, some may be refused. */
	switch (draw(4)) {
	case 0:
		rte_eth_dev_mac_addr_add(port, &address, 0);
		break;
	case 1:
		rte_eth_dev_mac_addr_remove(port, &address);
		break;
	case 2:
		rte_eth_dev_default_mac_addr_set(port, &address);
		break;
	default:
		rte_eth_dev_set_mc_addr_list(port, list, draw(GROUPS + 1));
		break;
	}
}

void
change_flags(void)
{
	if (!life.is_configured)
		return;
	switch (draw(5)) {
	case 0:
		rte_eth_promiscuous_enable(port);
		break;
	case 1:
		rte_eth_promiscuous_disable(port);
		break;
	case 2:
		rte_eth_allmulticast_enable(port);
		break;
	case 3:
		rte_eth_allmulticast_disable(port);
		break;
	default:
		rte_eth_dev_vlan_filter(port, draw(4096), draw(2));
		break;
	}
}

void
change_rss(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = { 0 };
	struct rte_eth_rss_conf conf = { 0 };
	unsigned int i;

	if (!life.is_configured || life.queues < 2)
		return;
	conf.rss_hf = one_in(2) ? 0 : RTE_ETH_RSS_IPV4;
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	for (i = 0; i < RTE_DIM(table); i++) {
		table[i].mask = life.random_state;
		memset(table[i].reta, 0, sizeof(table[i].reta));
		table[i].reta[draw(RTE_ETH_RETA_GROUP_SIZE)] = draw(life.queues);
	}
	is(rte_eth_dev_rss_reta_update(port, table, 2 * RTE_ETH_RETA_GROUP_SIZE), 0);
}

void
ask(void)
{
	struct rte_eth_xstat xstats[XSTATS];
	struct rte_eth_stats stats;
	struct rte_eth_link link;

	if (!life.is_plugged)
		return;
	is(rte_eth_stats_get(port, &stats), 0);
	must(rte_eth_xstats_get(port, xstats, XSTATS) > 0, "none");
	is(rte_eth_link_get_nowait(port, &link), 0);
	if (one_in(4))
		is(rte_eth_stats_reset(port), 0);
	if (life.is_started)
		rte_eth_rx_queue_count(port, draw(life.queues));
}
