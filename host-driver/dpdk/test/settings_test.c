/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ports are told and tell, on the test card: each case is a program run of its own.
 *   settings_test CASE
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_pause.h>
#include <rte_version.h>

#include "qdma/qdma_regs.h"
#include "meridian.h"
#include "port.h"

#define RESETS	20000
#define POOL	127
#define READS	2000
#define VF	4	/* the first VF of a card is this function */

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

static void
resets_are_the_application_s(void)
{
	struct rte_eth_dev_info info;

	plug("");
	is(rte_eth_dev_info_get(port, &info), 0);
	is(info.err_handle_mode, RTE_ETH_ERROR_HANDLE_MODE_PASSIVE);
}

/* A register of the shell. */
static uint32_t *
shell(uint32_t offset)
{
	return &test_card->null->shell[offset / 4];
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
	*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL) = 7;
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.imissed, 7);
	is(extended("card_rx_queue_full"), 7);
	start_port(&plain);
	must(receive_frames(0, 10), "none");
}

static int
on_event(uint16_t id __rte_unused, enum rte_eth_event_type type __rte_unused, void *argument,
	 void *more __rte_unused)
{
	++*(int *)argument;
	return 0;
}

static void
fatal_error_asks_for_a_reset(void)
{
	int calls = 0;

	plug("");
	start_port(&plain);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, on_event, &calls), 0);
	test_card->null->registers[QDMA_C2H_FATAL / 4] = 1u << 3;
	rte_delay_us_sleep(1000000);
	is(calls, 1);
	is(rte_eth_dev_reset(port), 0);
	is(test_card->null->registers[QDMA_C2H_FATAL / 4], 0);
	start_port(&plain);
	rte_delay_us_sleep(500000);
	is(calls, 1);
}

static uint64_t
hashed_types(void)
{
	struct rte_eth_rss_conf conf = { 0 };

	is(rte_eth_dev_rss_hash_conf_get(port, &conf), 0);
	return conf.rss_hf;
}

/* That the card spreads frames over. */
static unsigned int
queues_in_force(void)
{
	uint32_t most = 0, i;

	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		most = RTE_MAX(most, *shell(MERIDIAN_FUNCTION_BASE(0) +
					    MERIDIAN_FUNCTION_INDIRECTION(i)));
	return most + 1;
}

static const struct layout spread = {
	.queues = 4,
	.slots = 64,
	.conf = {
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4,
	},
};

static void
hash_is_switched_off_and_on(void)
{
	struct rte_eth_rss_conf conf = { 0 };

	plug("");
	start_port(&spread);
	is(queues_in_force(), 4);
	must(hashed_types() & RTE_ETH_RSS_IPV4, "nothing is hashed");
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
	conf.rss_hf = RTE_ETH_RSS_IPV4;
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	is(queues_in_force(), 4);
	must(hashed_types() & RTE_ETH_RSS_IPV4, "nothing is hashed");
}

static void
hash_is_off_without_types(void)
{
	struct layout layout = spread;

	layout.conf.rx_adv_conf.rss_conf.rss_hf = 0;
	plug("");
	start_port(&layout);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
	is(rte_eth_dev_stop(port), 0);
	layout.conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	start_port(&layout);
	is(queues_in_force(), 1);
	is(hashed_types(), 0);
}

/* Of the whole table, then of one entry in its second half. */
static void
entries_of_the_hash_table_are_where_they_were_put(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = { [0 ... 1] = { .mask = UINT64_MAX } };
	struct rte_eth_rss_reta_entry64 one[2] = { { .mask = 0 }, { .mask = 1ull << 36 } };
	uint32_t i;

	plug("");
	start_port(&spread);
	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		table[i / 64].reta[i % 64] = (i ^ i >> 6) & 3;
	is(rte_eth_dev_rss_reta_update(port, table, MERIDIAN_FUNCTION_INDIRECTION_MAX), 0);
	one[1].reta[36] = (table[1].reta[36] + 1) & 3;
	is(rte_eth_dev_rss_reta_update(port, one, MERIDIAN_FUNCTION_INDIRECTION_MAX), 0);
	table[1].reta[36] = one[1].reta[36];
	for (i = 0; i < MERIDIAN_FUNCTION_INDIRECTION_MAX; i++)
		must(*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_INDIRECTION(i)) ==
		     table[i / 64].reta[i % 64], "entry %u", i);
}

static void
key_without_a_length_is_of_40_bytes(void)
{
	static uint8_t key[40] = { [0 ... 39] = 0x6d };
	struct layout layout = spread;

	layout.conf.rx_adv_conf.rss_conf.rss_key = key;
	/* DPDK 23.07 and newer refuse it themselves. */
	layout.conf.rx_adv_conf.rss_conf.rss_key_len =
		RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0) ? sizeof(key) : 0;
	plug("");
	start_port(&layout);
	is(*shell(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_HASH_KEY(0)), 0x6d6d6d6d);
}

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

#define DELIVERED	(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED)
#define FULL		(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL)

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

/* Of two buffers, and of one. */
static void
send_two(void)
{
	struct rte_mbuf *frames[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		frames[i] = rte_pktmbuf_alloc(pool);
		must(frames[i] != NULL, "no mbuf");
		memset(rte_pktmbuf_append(frames[i], 1500), 2 + i, 1500);
	}
	is(rte_pktmbuf_chain(frames[0], rte_pktmbuf_copy(frames[0], pool, 0, UINT32_MAX)), 0);
	is(rte_eth_tx_burst(port, 0, frames, 2), 2);
}

static void
must_be_two(struct rte_mbuf **frames, unsigned int count)
{
	is(count, 2);
	is(frames[0]->pkt_len, 3000);
	is(frames[0]->nb_segs, 2);
	is(*rte_pktmbuf_mtod_offset(frames[0]->next, char *, frames[0]->next->data_len - 1), 2);
	is(frames[1]->pkt_len, 1500);
	is(frames[1]->nb_segs, 1);
	is(*rte_pktmbuf_mtod(frames[1], char *), 3);
	rte_pktmbuf_free_bulk(frames, 2);
}

/* A secondary process has chosen its function before the primary configured the port. */
static void
every_function_takes_frames_of_several_buffers(void)
{
	static const eth_rx_burst_t functions[] = {
		meridian_recv_simple, meridian_locked_simple, meridian_recv_scattered,
#if defined(RTE_ARCH_X86)
		meridian_recv_sse, meridian_locked_sse,
#elif defined(RTE_ARCH_ARM64)
		meridian_recv_neon, meridian_locked_neon,
#endif
	};
	struct layout layout = plain;
	unsigned int turn, i;

	layout.conf.rxmode.mtu = 9000;
	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	plug("loop=1");
	start_port(&layout);
	for (turn = 0; turn < 300; turn++) {
		for (i = 0; i < RTE_DIM(functions); i++) {
			struct rte_mbuf *frames[8];

			send_two();
			must_be_two(frames, functions[i](rte_eth_devices[port].data->rx_queues[0],
							 frames, RTE_DIM(frames)));
		}
	}
	close_port();
	is(held(), 0);
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

#define ADDRESS_LOW	(MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_HOST_ADDRESS_LOW(0))
#define ADDRESS_HIGH	(MERIDIAN_PORT_BASE(0) + MERIDIAN_PORT_HOST_ADDRESS_HIGH(0))

/* What it has been told for the PF stays; if it has nothing, it is not to keep one by chance. */
/* The lower half of a descriptor's first word. */
static void
frame_asks_for_its_whole_tag_and_its_checksums(void)
{
	static const struct layout asking = {
		.queues = 1,
		.slots = 64,
		.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_VLAN_INSERT |
					RTE_ETH_TX_OFFLOAD_IPV4_CKSUM |
					RTE_ETH_TX_OFFLOAD_UDP_CKSUM,
	};
	static const struct {
		uint64_t flags;
		uint32_t request;
	} wishes[] = {
		{ 0, 0 },
		{ RTE_MBUF_F_TX_VLAN, MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | 0xe123 },
		{ RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM,
		  MERIDIAN_H2C_REQUEST_IP_CHECKSUM_MASK },
		{ RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_UDP_CKSUM,
		  MERIDIAN_H2C_REQUEST_L4_CHECKSUM_MASK },
	};
	unsigned int i;

	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK;
	plug("");
	start_port(&asking);
	for (i = 0; i < RTE_DIM(wishes); i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

		must(mbuf != NULL && rte_pktmbuf_append(mbuf, 60) != NULL, "no memory");
		mbuf->ol_flags = wishes[i].flags;
		mbuf->vlan_tci = 0xe123;
		is(rte_eth_tx_burst(port, 0, &mbuf, 1), 1);
		is((uint32_t)rte_le_to_cpu_64(test_card->null->queue[0].h2c[2 * i]),
		   wishes[i].request);
	}
}

/* Of frames that it was not told of: none of them is the driver's to free. */
static void
status_that_cannot_be_is_no_progress(void)
{
	static const uint64_t wrong[] = { 11, 255, 256, UINT16_MAX };
	volatile uint64_t *status;
	unsigned int before, i;

	plug("");
	start_port(&plain);
	before = held();
	is(send_frames(0, 10), 10);
	status = &test_card->null->queue[0].h2c[2 * plain.slots];
	for (i = 0; i < RTE_DIM(wrong); i++) {
		*status = rte_cpu_to_le_64(wrong[i] << 16);
		is(rte_eth_tx_done_cleanup(port, 0, 0), 0);
		is(held(), before + 10);
	}
	*status = rte_cpu_to_le_64(10ull << 16);
	is(rte_eth_tx_done_cleanup(port, 0, 0), 10);
	is(held(), before);
}

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

static void
arguments_that_cannot_be_are_invalid(void)
{
	static const char * const bad[] = {
		"queues=0", "queues=257", "mac=01:00:5e:00:00:01", "mac=", "vfs=33", "vf_messages=0",
		"trusted=x", "queues",
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

static const struct test_case cases[] = {
	CASE(port_tells_its_socket),
	CASE(queue_that_was_never_set_up_does_not_start),
	CASE(ring_sizes_are_rounded_up),
	CASE(queue_tells_offloads_of_its_own),
	CASE(link_of_a_stopped_port_is_told_at_once),
	CASE(resets_are_the_application_s),
	CASE(reset_brings_back_what_the_card_needs),
	CASE(fatal_error_asks_for_a_reset),
	CASE(hash_is_switched_off_and_on),
	CASE(hash_is_off_without_types),
	CASE(entries_of_the_hash_table_are_where_they_were_put),
	CASE(key_without_a_length_is_of_40_bytes),
	CASE(statistics_are_reset_while_frames_come),
	CASE(counters_are_read_by_several_threads),
	CASE(frames_of_nobody_are_counted),
	CASE(every_function_takes_frames_of_several_buffers),
	CASE(buffers_of_which_a_frame_takes_more_than_31_are_refused),
	CASE(card_that_does_not_answer_counts_nothing),
	CASE(frame_asks_for_its_whole_tag_and_its_checksums),
	CASE(status_that_cannot_be_is_no_progress),
	CASE(address_that_is_given_is_not_the_card_s),
	CASE(address_that_the_ps_writes_meanwhile_is_whole),
	CASE(address_is_the_port_s_before_ethdev_has_it),
	CASE(vlans_without_room_are_told_once),
	CASE(arguments_that_cannot_be_are_invalid),
	CASE(bus_of_another_version_is_refused_and_closed),
};

int
main(int count, char **words)
{
	return run_case(count, words, cases, RTE_DIM(cases));
}
