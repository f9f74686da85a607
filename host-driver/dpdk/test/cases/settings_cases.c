/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports and queues are told and tell, and what the driver refuses. */
#include <rte_cycles.h>
#include <rte_dev.h>

#include "cases.h"
#include "port.h"

#define POOL	127

static void
port_tells_its_socket(void)
{
	struct rte_eth_dev_info info;

	plug("");
	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_eth_dev_socket_id(port), rte_dev_numa_node(info.device));
}

static void
queue_that_was_never_set_up_does_not_start(void)
{
	struct rte_eth_conf conf = { 0 };

	plug("");
	is(rte_eth_dev_configure(port, 2, 1, &conf), 0);
	is(rte_eth_rx_queue_setup(port, 0, 256, 0, NULL, pool), 0);
	is(rte_eth_tx_queue_setup(port, 0, 256, 0, NULL), 0);
	is(rte_eth_dev_start(port), -EINVAL);
	is(rte_eth_rx_queue_setup(port, 1, 256, 0, NULL, pool), 0);
	is(rte_eth_dev_start(port), 0);
}

static void
ring_sizes_are_rounded_up(void)
{
	uint16_t receive = 1500, transmit = 65;
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;

	plug("");
	is(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	is(rte_eth_dev_adjust_nb_rx_tx_desc(port, &receive, &transmit), 0);
	is(rte_eth_rx_queue_setup(port, 0, receive, 0, NULL, pool), 0);
	is(rte_eth_tx_queue_setup(port, 0, transmit, 0, NULL), 0);
	is(rte_eth_rx_queue_info_get(port, 0, &rx), 0);
	is(rte_eth_tx_queue_info_get(port, 0, &tx), 0);
	is(rx.nb_desc, 2048);
	is(tx.nb_desc, 128);
}

static void
queue_tells_offloads_of_its_own(void)
{
	const struct layout two = {
		.queues = 2, .slots = 64, .conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
	};
	struct rte_eth_dev_info info;
	struct rte_eth_txq_info tx;

	plug("");
	set_up(&two);
	is(rte_eth_dev_info_get(port, &info), 0);
	info.default_txconf.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	is(rte_eth_tx_queue_setup(port, 1, 64, 0, &info.default_txconf), 0);
	is(rte_eth_tx_queue_info_get(port, 0, &tx), 0);
	is(tx.conf.offloads, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	is(rte_eth_tx_queue_info_get(port, 1, &tx), 0);
	is(tx.conf.offloads, RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
}

static void
link_of_a_stopped_port_is_told_at_once(void)
{
	uint64_t began = rte_get_timer_cycles();
	struct rte_eth_link link;

	plug("");
	set_up(&plain);
	is(rte_eth_link_get(port, &link), 0);
	is(link.link_status, RTE_ETH_LINK_DOWN);
	must(rte_get_timer_cycles() - began < rte_get_timer_hz(), "a second or more");
}

static struct rte_mempool *
pool_with_room(const char *name, uint16_t bytes)
{
	struct rte_mempool *made = rte_pktmbuf_pool_create(name, POOL, 0, 0,
							   RTE_PKTMBUF_HEADROOM + bytes, 0);

	must(made != NULL, "no memory");
	return made;
}

/* The IP spreads a frame over 31 buffers at most, and the longest frame of the card is for any queue. */
static void
buffers_of_which_a_frame_takes_more_than_31_are_refused(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;

	plug("");
	is(rte_eth_dev_info_get(port, &info), 0);
	is(info.min_rx_bufsize, 512);
	is(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	is(rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool_with_room("small", 256)), -EINVAL);
	is(rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool_with_room("odd", 511)), -EINVAL);
	is(rte_eth_rx_queue_setup(port, 0, 64, 0, NULL, pool_with_room("large", 512)), 0);
}

static void
arguments_that_cannot_be_are_invalid(void)
{
	static const char * const bad[] = {
		"queues=0", "queues=257", "mac=01:00:5e:00:00:01", "mac=", "vfs=33", "vf_messages=0",
		"trusted=x", "queues", "push=257", "push=-1", "push=64 bytes", "push",
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(bad); i++)
		is(rte_eal_hotplug_add("vdev", DEVICE, bad[i]), -EINVAL);
	for (i = 0; i < RTE_DIM(bad); i++)
		is(rte_eal_hotplug_add("vdev", "net_meridian_null0", bad[i]), -EINVAL);
	is(rte_eal_hotplug_add("vdev", "net_meridian_null0", "length=9"), -EINVAL);
}

static void
bus_of_another_version_is_refused_and_closed(void)
{
	test_card_is_of_another_version = true;
	is(rte_eal_hotplug_add("vdev", DEVICE, ""), -EPROTO);
	must(test_card == NULL, "the bus is open");
	test_card_is_of_another_version = false;
	plug("");
	close_port();
}

const struct test_case settings_cases[] = {
	CASE(port_tells_its_socket),
	CASE(queue_that_was_never_set_up_does_not_start),
	CASE(ring_sizes_are_rounded_up),
	CASE(queue_tells_offloads_of_its_own),
	CASE(link_of_a_stopped_port_is_told_at_once),
	CASE(buffers_of_which_a_frame_takes_more_than_31_are_refused),
	CASE(arguments_that_cannot_be_are_invalid),
	CASE(bus_of_another_version_is_refused_and_closed),
	{ NULL },
};
