/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an application may do with a port, in an order that a seed draws.
 *   lifetime_test STEPS SEED [DEVICE ARGUMENTS]
 * Without a device it is the test card. Whatever was done, mbufs and memory come back.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>

#include "qdma/qdma_regs.h"
#include "heap.h"
#include "port.h"

#define QUEUES		4
#define BURST		32
#define SEGMENT		1400
#define GROUPS		8
#define XSTATS		256
#define SILENCE_MS	1600	/* a card that does not answer is given up in it */

/*
 * What the next event makes the callback do. ethdev wants calls that control a port from one thread at a
 * time; the callback is in EAL's, and meanwhile ours leaves the port alone.
 */
enum reaction { NOTHING, STOP, RESET, CLOSE, REMOVE };

static const char *device = DEVICE;
static const char *arguments;
static uint64_t random_state;
static uint64_t steps_done;
static bool is_plugged, is_configured, is_started, is_closed;
static uint16_t queues;
static bool has_segments;
static atomic_int reaction;
static atomic_int reset_error;
static atomic_uint events;

static uint32_t
draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 16) % below;
}

static bool
one_in(uint32_t turns)
{
	return draw(turns) == 0;
}

static int
on_event(uint16_t id, enum rte_eth_event_type type __rte_unused, void *argument __rte_unused,
	 void *more __rte_unused)
{
	int what = atomic_exchange(&reaction, NOTHING);

	if (what != NOTHING)
		rte_eth_dev_stop(id);
	if (what == RESET)
		reset_error = rte_eth_dev_reset(id);
	if (what == CLOSE)
		rte_eth_dev_close(id);
	if (what == REMOVE)
		rte_eal_hotplug_remove("vdev", device);
	events++;
	return 0;
}

static void
forget(void)
{
	is_plugged = is_configured = is_started = false;
	is(held(), 0);
}

static void
plug_in(void)
{
	const char *with = arguments != NULL ? arguments : one_in(2) ? "loop=1" : "";

	if (is_plugged)
		return;
	/* One that was closed is there still, without a port. */
	if (is_closed)
		is(rte_eal_hotplug_remove("vdev", device), 0);
	is_closed = false;
	is(rte_eal_hotplug_add("vdev", device, with), 0);
	is(rte_eth_dev_get_port_by_name(device, &port), 0);
	is_plugged = true;
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, on_event, NULL), 0);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, on_event, NULL), 0);
	is(rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RESET, on_event, NULL), 0);
}

static void
set_up_queue(uint16_t queue, struct rte_eth_dev_info *info)
{
	uint16_t slots = 64 << draw(4);

	info->default_rxconf.rx_deferred_start = one_in(4);
	info->default_txconf.tx_deferred_start = one_in(4);
	info->default_txconf.offloads = 0;
	is(rte_eth_rx_queue_setup(port, queue, slots, 0, &info->default_rxconf, pool), 0);
	is(rte_eth_tx_queue_setup(port, queue, slots, 0, &info->default_txconf), 0);
}

static void
configure(void)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	uint16_t queue;

	if (!is_plugged || is_started)
		return;
	is(rte_eth_dev_info_get(port, &info), 0);
	queues = 1 + draw(QUEUES);
	has_segments = one_in(2);
	conf.intr_conf.lsc = one_in(2);
	conf.rxmode.mtu = one_in(3) ? 9000 : 1500;
	if (queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = one_in(3) ? 0 : info.flow_type_rss_offloads;
	}
	if (one_in(3))
		conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_FILTER;
	if (has_segments)
		conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	else if (one_in(2))
		conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	is(rte_eth_dev_configure(port, queues, queues, &conf), 0);
	for (queue = 0; queue < queues; queue++)
		set_up_queue(queue, &info);
	is_configured = true;
}

static void
start(void)
{
	if (!is_plugged)
		return;
	if (!is_configured) {
		configure();
		if (!is_configured)
			return;
	}
	is(rte_eth_dev_start(port), 0);
	is_started = true;
}

static void
stop(void)
{
	if (!is_plugged)
		return;
	is(rte_eth_dev_stop(port), 0);
	is_started = false;
	is(held(), 0);
}

static void
receive(void)
{
	if (is_started)
		receive_frames(draw(queues), 1 + draw(20));
}

static struct rte_mbuf *
make_frame(void)
{
	struct rte_mbuf *frame = rte_pktmbuf_alloc(pool), *more;
	uint16_t bytes = 60 + draw(SEGMENT - 60);

	if (frame == NULL)
		return NULL;
	memset(rte_pktmbuf_append(frame, bytes), 0x02, bytes);
	more = has_segments && one_in(4) ? rte_pktmbuf_alloc(pool) : NULL;
	if (more != NULL) {
		memset(rte_pktmbuf_append(more, bytes), 0x06, bytes);
		is(rte_pktmbuf_chain(frame, more), 0);
	}
	return frame;
}

static void
transmit(void)
{
	struct rte_mbuf *frames[BURST];
	uint16_t count = 0, done;

	if (!is_started)
		return;
	while (count < BURST) {
		frames[count] = make_frame();
		if (frames[count] == NULL)
			break;
		count++;
	}
	done = rte_eth_tx_burst(port, draw(queues), frames, count);
	rte_pktmbuf_free_bulk(&frames[done], count - done);
}

/* The queue is stopped and set up anew while the port runs. */
static void
set_up_anew(void)
{
	struct rte_eth_dev_info info;
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;
	uint16_t queue;

	if (!is_started)
		return;
	queue = draw(queues);
	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_eth_rx_queue_info_get(port, queue, &rx), 0);
	is(rte_eth_tx_queue_info_get(port, queue, &tx), 0);
	if (rx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED &&
	    tx.queue_state == RTE_ETH_QUEUE_STATE_STOPPED)
		set_up_queue(queue, &info);
}

static void
switch_queue(void)
{
	uint16_t queue;

	if (!is_started)
		return;
	queue = draw(queues);
	switch (draw(5)) {
	case 0:
		is(rte_eth_dev_rx_queue_start(port, queue), 0);
		break;
	case 1:
		is(rte_eth_dev_rx_queue_stop(port, queue), 0);
		break;
	case 2:
		is(rte_eth_dev_tx_queue_start(port, queue), 0);
		break;
	case 3:
		is(rte_eth_dev_tx_queue_stop(port, queue), 0);
		break;
	default:
		rte_eth_tx_done_cleanup(port, queue, draw(64));
		break;
	}
}

static void
change_mtu(void)
{
	int error;

	if (!is_configured)
		return;
	error = rte_eth_dev_set_mtu(port, 68 + draw(9582 - 68));
	must(error == 0 || (is_started && error == -EBUSY), "%d", error);
}

static void
change_addresses(void)
{
	struct rte_ether_addr list[GROUPS] = { 0 }, address = { { 2, 0, 0, 0, 0, draw(GROUPS) } };
	uint32_t i;

	if (!is_plugged)
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

static void
change_flags(void)
{
	if (!is_configured)
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

static void
change_rss(void)
{
	struct rte_eth_rss_reta_entry64 table[2] = { 0 };
	struct rte_eth_rss_conf conf = { 0 };
	unsigned int i;

	if (!is_configured || queues < 2)
		return;
	conf.rss_hf = one_in(2) ? 0 : RTE_ETH_RSS_IPV4;
	is(rte_eth_dev_rss_hash_update(port, &conf), 0);
	for (i = 0; i < RTE_DIM(table); i++) {
		table[i].mask = random_state;
		memset(table[i].reta, 0, sizeof(table[i].reta));
		table[i].reta[draw(RTE_ETH_RETA_GROUP_SIZE)] = draw(queues);
	}
	is(rte_eth_dev_rss_reta_update(port, table, 2 * RTE_ETH_RETA_GROUP_SIZE), 0);
}

static void
ask(void)
{
	struct rte_eth_xstat xstats[XSTATS];
	struct rte_eth_stats stats;
	struct rte_eth_link link;

	if (!is_plugged)
		return;
	is(rte_eth_stats_get(port, &stats), 0);
	must(rte_eth_xstats_get(port, xstats, XSTATS) > 0, "none");
	is(rte_eth_link_get_nowait(port, &link), 0);
	if (one_in(4))
		is(rte_eth_stats_reset(port), 0);
	if (is_started)
		rte_eth_rx_queue_count(port, draw(queues));
}

static void
reset(void)
{
	if (!is_plugged)
		return;
	is(rte_eth_dev_reset(port), 0);
	is_started = is_configured = false;
	is(held(), 0);
}

static void
close_it(void)
{
	if (!is_plugged)
		return;
	stop();
	is(rte_eth_dev_close(port), 0);
	is_closed = true;
	forget();
}

/* Started or not. */
static void
remove_it(void)
{
	struct rte_eth_dev_info info;

	if (!is_plugged)
		return;
	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_dev_remove(info.device), 0);
	forget();
}

static void
unplug(void)
{
	if (!is_plugged)
		return;
	is(rte_eal_hotplug_remove("vdev", device), 0);
	forget();
}

static bool
comes(unsigned int before, unsigned int milliseconds)
{
	while (events == before && milliseconds > 0) {
		rte_delay_us_sleep(10000);
		milliseconds -= 10;
	}
	return events != before;
}

/* The event comes when the card answers again. On a busy computer, a look or two fall behind the silence. */
static void
be_silent_as_in_a_reset(unsigned int before)
{
	unsigned int turns = 0;

	do {
		test_card->is_silent = true;
		rte_delay_us_sleep(SILENCE_MS * 1000);
		/* The port may be closed at its link's event. */
		if (test_card != NULL)
			test_card->is_silent = false;
	} while (!comes(before, SILENCE_MS) && ++turns < 20);
}

/* An event comes while this thread leaves the port alone, and the callback does something to it. */
static void
let_an_event_act(void)
{
	unsigned int before = events;
	int what = 1 + draw(REMOVE);
	bool is_there = true;
	struct rte_eth_conf conf;

	if (!is_started || arguments != NULL || rte_eth_dev_conf_get(port, &conf))
		return;
	reaction = what;
	if (conf.intr_conf.lsc && one_in(4)) {
		test_card->null->shell[(MERIDIAN_FUNCTION_BASE(0) + MERIDIAN_FUNCTION_STATUS) /
				       4] ^= MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK;
	} else if (one_in(2)) {
		test_card->null->registers[QDMA_C2H_FATAL / 4] = 1;
	} else if (one_in(2)) {
		be_silent_as_in_a_reset(before);
		/* The link's event comes in the silence. */
		is_there = !conf.intr_conf.lsc;
	} else {
		test_card->presence = MERIDIAN_UNPLUGGED;
		test_card->is_silent = true;
		is_there = false;
	}
	/* Each of these brings an event, on a busy computer later. One that came unseen would act on the steps behind. */
	must(comes(before, 100 * SILENCE_MS), "no event has come");
	/* The port may be closed at its event. */
	if (test_card != NULL) {
		test_card->is_silent = false;
		test_card->presence = MERIDIAN_PRESENT;
	}
	is(reaction, NOTHING);
	is_started = false;
	is_closed = what == CLOSE;
	if (what == RESET && is_there)
		is(reset_error, 0);
	if (what == CLOSE || what == REMOVE)
		forget();
	else
		/* A card that was given up is looked at again. */
		reset();
}

/* As long as a reset of the function lasts, or shorter than a look. */
static void
be_silent_for_a_moment(void)
{
	if (!is_started || arguments != NULL || !one_in(10))
		return;
	test_card->is_silent = true;
	ask();
	receive();
	rte_delay_us_sleep(1000 * draw(100));
	test_card->is_silent = false;
}

static void
try_something(void)
{
	struct rte_eth_dev_info info;
	uint16_t queue = draw(queues);

	switch (draw(8)) {
	case 0:
		rte_eth_dev_rx_queue_stop(port, queue);
		break;
	case 1:
		rte_eth_dev_tx_queue_stop(port, queue);
		break;
	case 2:
		rte_eth_dev_rx_queue_start(port, queue);
		break;
	case 3:
		rte_eth_dev_tx_queue_start(port, queue);
		break;
	case 4:
		rte_eth_dev_stop(port);
		is_started = false;
		break;
	case 5:
		is_started = rte_eth_dev_start(port) == 0 || is_started;
		break;
	case 6:
		if (is_started || rte_eth_dev_info_get(port, &info))
			break;
		set_up_queue(queue, &info);
		break;
	default:
		receive();
		transmit();
		break;
	}
}

/* Whatever is tried meanwhile, all goes on when the card does. */
static void
try_on_a_busy_card(void)
{
	uint32_t turns = 1 + draw(5);
	bool *fault;

	if (!is_started || arguments != NULL)
		return;
	fault = one_in(3) ? &test_card->is_deaf :
		one_in(2) ? &test_card->is_stuck : &test_card->is_frozen;
	*fault = true;
	while (turns--)
		try_something();
	if (one_in(4)) {
		rte_eth_dev_stop(port);
		is_started = false;
	}
	*fault = false;
	if (one_in(4)) {
		remove_it();
		return;
	}
	rte_eth_dev_stop(port);
	start();
	must(test_card->is_master, "the function may not access memory");
	receive();
	stop();
}

static const struct {
	void (*run)(void);
	uint32_t share;	/* of all steps */
} actions[] = {
	{ plug_in, 10 }, { configure, 6 }, { start, 12 }, { stop, 4 }, { receive, 25 },
	{ transmit, 25 }, { switch_queue, 12 }, { change_mtu, 4 }, { change_addresses, 6 },
	{ change_flags, 5 }, { change_rss, 3 }, { ask, 4 }, { reset, 2 }, { close_it, 1 },
	{ remove_it, 1 }, { unplug, 1 }, { let_an_event_act, 1 }, { be_silent_for_a_moment, 1 },
	{ set_up_anew, 4 }, { try_on_a_busy_card, 2 },
};

static void
step(void)
{
	uint32_t sum = 0, at, i;

	for (i = 0; i < RTE_DIM(actions); i++)
		sum += actions[i].share;
	at = draw(sum);
	for (i = 0; at >= actions[i].share; i++)
		at -= actions[i].share;
	actions[i].run();
	steps_done++;
}

static void
tell(void)
{
	fprintf(stderr, "%" PRIu64 " steps were done\n", steps_done);
}

int
main(int count, char **words)
{
	uint64_t steps;
	long pieces;

	must(count == 3 || count == 5, "lifetime_test STEPS SEED [DEVICE ARGUMENTS]");
	steps = strtoull(words[1], NULL, 0);
	random_state = strtoull(words[2], NULL, 0);
	printf("seed %" PRIu64 "\n", random_state);
	fflush(stdout);
	must(random_state, "a seed is not 0");
	if (count == 5) {
		device = words[3];
		arguments = words[4];
	}
	begin(words[0]);
	atexit(tell);
	/* What EAL keeps of its own for the first port. */
	plug_in();
	unplug();
	pieces = heap_pieces();
	while (steps--)
		step();
	remove_it();
	if (is_closed)
		is(rte_eal_hotplug_remove("vdev", device), 0);
	is(heap_pieces(), pieces);
	puts("all came back");
	return 0;
}
