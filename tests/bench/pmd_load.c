/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a frame costs a driver: bursts of one core, timed in short runs so that a run that was
 * interrupted stands out. usage: pmd_load EAL-OPTIONS -- DIRECTION BURST RUNS BYTES
 * DIRECTION: receive and transmit are of port 0; forward is from port 0 to port 0; pair is from
 * port 0 to port 1, whose other end is in this process. Prints cycles and frames of each run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define SLOTS		1024
#define MBUFS		16383
#define CACHE		512
#define BURSTS		256	/* of a run */
#define MOST_BURST	64
#define LINK_MS		5000
#define WARM_UP_FRAMES	20000
#define WARM_UP_SECONDS	20u

static struct rte_mempool *pool;
static uint16_t burst;
static uint16_t bytes;

static void
start_port(uint16_t port)
{
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port, &info))
		rte_exit(EXIT_FAILURE, "port %u says nothing of itself\n", port);
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	if (rte_eth_dev_configure(port, 1, 1, &conf) ||
	    rte_eth_rx_queue_setup(port, 0, SLOTS, SOCKET_ID_ANY, NULL, pool) ||
	    rte_eth_tx_queue_setup(port, 0, SLOTS, SOCKET_ID_ANY, NULL) ||
	    rte_eth_dev_start(port))
		rte_exit(EXIT_FAILURE, "port %u does not start\n", port);
}

static void
wait_link(uint16_t port)
{
	struct rte_eth_link link;
	int i;

	for (i = 0; i < LINK_MS; i++) {
		if (rte_eth_link_get_nowait(port, &link) == 0 &&
		    link.link_status == RTE_ETH_LINK_UP)
			return;
		rte_delay_ms(1);
	}
	rte_exit(EXIT_FAILURE, "port %u has no link\n", port);
}

static void
drop(struct rte_mbuf **mbufs, uint16_t count)
{
	if (count)
		rte_pktmbuf_free_bulk(mbufs, count);
}

static uint32_t
receive(void)
{
	struct rte_mbuf *mbufs[MOST_BURST];
	uint16_t count = rte_eth_rx_burst(0, 0, mbufs, burst);

	drop(mbufs, count);
	return count;
}

static uint16_t
make(struct rte_mbuf **mbufs)
{
	uint16_t i;

	if (rte_pktmbuf_alloc_bulk(pool, mbufs, burst))
		return 0;
	for (i = 0; i < burst; i++) {
		mbufs[i]->data_len = bytes;
		mbufs[i]->pkt_len = bytes;
	}
	return burst;
}

static uint32_t
transmit(void)
{
	struct rte_mbuf *mbufs[MOST_BURST];
	uint16_t count = make(mbufs), sent = rte_eth_tx_burst(0, 0, mbufs, count);

	drop(&mbufs[sent], count - sent);
	return sent;
}

static uint32_t
forward(void)
{
	struct rte_mbuf *mbufs[MOST_BURST];
	uint16_t count = rte_eth_rx_burst(0, 0, mbufs, burst);
	uint16_t sent = rte_eth_tx_burst(0, 0, mbufs, count);

	drop(&mbufs[sent], count - sent);
	return sent;
}

static uint32_t
pair(void)
{
	struct rte_mbuf *mbufs[MOST_BURST];
	uint16_t count = make(mbufs), sent = rte_eth_tx_burst(0, 0, mbufs, count);

	drop(&mbufs[sent], count - sent);
	count = rte_eth_rx_burst(1, 0, mbufs, burst);
	drop(mbufs, count);
	return count;
}

static const struct {
	const char *name;
	uint32_t (*step)(void);
	uint16_t ports;
} directions[] = {
	{ "receive", receive, 1 },
	{ "transmit", transmit, 1 },
	{ "forward", forward, 1 },
	{ "pair", pair, 2 },
};

/* A function of its own for callgrind's sake. */
static __rte_noinline void
measure(uint32_t (*step)(void), unsigned int runs)
{
	unsigned int run, i;

	for (run = 0; run < runs; run++) {
		uint64_t frames = 0, begin = rte_rdtsc_precise();

		for (i = 0; i < BURSTS; i++)
			frames += step();
		begin = rte_rdtsc_precise() - begin;
		if (frames)
			printf("%" PRIu64 " %" PRIu64 "\n", begin, frames);
	}
}

/* The first frames come when the other end is there, and go through memory that is new. */
static void
warm_up(uint32_t (*step)(void))
{
	uint64_t until = rte_get_tsc_cycles() + WARM_UP_SECONDS * rte_get_tsc_hz(), frames = 0;

	while (frames < WARM_UP_FRAMES && rte_get_tsc_cycles() < until)
		frames += step();
	if (!frames)
		rte_exit(EXIT_FAILURE, "no frame in %u s\n", WARM_UP_SECONDS);
}

static unsigned int
number(const char *text, unsigned int most)
{
	unsigned long value = strtoul(text, NULL, 10);

	if (value < 1 || value > most)
		rte_exit(EXIT_FAILURE, "%s: not from 1 to %u\n", text, most);
	return value;
}

int
main(int count, char **arguments)
{
	int used = rte_eal_init(count, arguments);
	unsigned int runs, i;
	uint16_t port;

	if (used < 0 || count - used != 5)
		rte_exit(EXIT_FAILURE, "usage: EAL-OPTIONS -- DIRECTION BURST RUNS BYTES\n");
	arguments += used;
	burst = number(arguments[2], MOST_BURST);
	runs = number(arguments[3], 1000000);
	bytes = number(arguments[4], 1500);
	pool = rte_pktmbuf_pool_create("frames", MBUFS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	for (i = 0; i < RTE_DIM(directions); i++) {
		if (strcmp(directions[i].name, arguments[1]))
			continue;
		if (pool == NULL)
			rte_exit(EXIT_FAILURE, "no memory\n");
		start_port(0);
		if (rte_eth_dev_count_avail() != directions[i].ports)
			rte_exit(EXIT_FAILURE, "%s has %u ports\n", arguments[1],
				 directions[i].ports);
		if (directions[i].ports > 1)
			start_port(1);
		RTE_ETH_FOREACH_DEV(port)
			wait_link(port);
		warm_up(directions[i].step);
		measure(directions[i].step, runs);
		/* Not all drivers close a pair of theirs in good order. */
		fflush(stdout);
		_exit(EXIT_SUCCESS);
	}
	rte_exit(EXIT_FAILURE, "%s: no such direction\n", arguments[1]);
}
