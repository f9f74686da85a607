/* SPDX-License-Identifier: BSD-3-Clause */
/* What an application does to a port as a whole. */
#include <rte_dev.h>

#include "life.h"

#define QUEUES	4

static int
on_event(uint16_t id, enum rte_eth_event_type type __rte_unused, void *argument __rte_unused,
	 void *more __rte_unused)
{
	int what = atomic_exchange(&life.reaction, NOTHING);

	if (what != NOTHING)
		rte_eth_dev_stop(id);
	if (what == RESET)
		life.reset_error = rte_eth_dev_reset(id);
	if (what == CLOSE)
		rte_eth_dev_close(id);
	if (what == REMOVE)
		rte_eal_hotplug_remove("vdev", life.device);
	life.events++;
	return 0;
}

void
forget(void)
{
	life.is_plugged = life.is_configured = life.is_started = false;
	is(held(), 0);
}

void
plug_in(void)
{
	const char *with = life.arguments != NULL ? life.arguments : one_in(2) ? "loop=1" : "";

	if (life.arguments == NULL && one_in(2))
		with = *with ? "loop=1,pieces=1" : "pieces=1";
	else if (life.arguments == NULL && one_in(2))
		with = *with ? "loop=1,segments=1" : "segments=1";

	if (life.is_plugged)
		return;
	/* One that was closed is there still, without a port. */
	if (life.is_closed)
		is(rte_eal_hotplug_remove("vdev", life.device), 0);
	life.is_closed = false;
	is(rte_eal_hotplug_add("vdev", life.device, with), 0);
	is(rte_eth_dev_get_port_by_name(life.device, &port), 0);
	life.is_plugged = true;
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, on_event, NULL), 0);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, on_event, NULL), 0);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, on_event, NULL), 0);
}

void
set_up_queue(uint16_t queue, struct rte_eth_dev_info *info)
{
	uint16_t slots = 64 << draw(4);

	info->default_rxconf.rx_deferred_start = one_in(4);
	info->default_txconf.tx_deferred_start = one_in(4);
	info->default_txconf.offloads = 0;
	is(rte_eth_rx_queue_setup(port, queue, slots, 0, &info->default_rxconf, pool), 0);
	is(rte_eth_tx_queue_setup(port, queue, slots, 0, &info->default_txconf), 0);
}

void
configure(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t queue;

	if (!life.is_plugged || life.is_started)
		return;
	is(rte_eth_dev_info_get(port, &info), 0);
	life.queues = 1 + draw(QUEUES);
	life.is_cutting = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_TCP_TSO && one_in(2);
	life.has_segments = life.is_cutting || one_in(2);
	conf.intr_conf.lsc = one_in(2);
	conf.rxmode.mtu = one_in(3) ? 9000 : 1500;
	if (life.queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = one_in(3) ? 0 : info.flow_type_rss_offloads;
	}
	if (one_in(3))
		conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	if (life.is_cutting)
		conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO;
	else if (life.has_segments)
		conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	else if (one_in(2))
		conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	is(rte_eth_dev_configure(port, life.queues, life.queues, &conf), 0);
	for (queue = 0; queue < life.queues; queue++)
		set_up_queue(queue, &info);
	life.is_configured = true;
}

void
start(void)
{
	if (!life.is_plugged)
		return;
	if (!life.is_configured) {
		configure();
		if (!life.is_configured)
			return;
	}
	is(rte_eth_dev_start(port), 0);
	life.is_started = true;
}

void
stop(void)
{
	if (!life.is_plugged)
		return;
	is(rte_eth_dev_stop(port), 0);
	life.is_started = false;
	is(held(), 0);
}

void
reset(void)
{
	if (!life.is_plugged)
		return;
	is(rte_eth_dev_reset(port), 0);
	life.is_started = life.is_configured = false;
	is(held(), 0);
}

void
close_it(void)
{
	if (!life.is_plugged)
		return;
	stop();
	is(rte_eth_dev_close(port), 0);
	life.is_closed = true;
	forget();
}

/* Started or not. */
void
remove_it(void)
{
	struct rte_eth_dev_info info;

	if (!life.is_plugged)
		return;
	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_dev_remove(info.device), 0);
	forget();
}

void
unplug(void)
{
	if (!life.is_plugged)
		return;
	is(rte_eal_hotplug_remove("vdev", life.device), 0);
	forget();
}
