/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "port.h"

#define BURST	32
#define LENGTH	60

const struct layout plain = { .queues = 1, .slots = 256 };
const struct layout deferred = { .queues = 2, .slots = 256, .is_deferred = true };
struct rte_mempool *pool;
uint16_t port;

/* EAL by itself, without huge pages or devices; one pool. */
void
begin(const char *program)
{
	char prefix[64];
	char *words[] = {
		(char *)(uintptr_t)program, prefix, "--no-huge", "-m", "128", "--no-pci",
		"--no-shconf", "--no-telemetry", "-l", "0", "--log-level=lib.eal:error",
	};

	snprintf(prefix, sizeof(prefix), "--file-prefix=meridian-test-%d", getpid());
	must(rte_eal_init(RTE_DIM(words), words) >= 0, "%s", rte_strerror(rte_errno));
	pool = rte_pktmbuf_pool_create("pool", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	must(pool != NULL, "%s", rte_strerror(rte_errno));
}

/* A new test card. */
void
plug(const char *arguments)
{
	is(rte_eal_hotplug_add("vdev", DEVICE, arguments), 0);
	is(rte_eth_dev_get_port_by_name(DEVICE, &port), 0);
}

/* Configures the port, and sets its queues up. */
void
set_up(const struct layout *layout)
{
	struct rte_eth_dev_info info;
	uint16_t queue;

	is(rte_eth_dev_info_get(port, &info), 0);
	is(rte_eth_dev_configure(port, layout->queues, layout->queues, &layout->conf), 0);
	for (queue = 0; queue < layout->queues; queue++) {
		bool is_deferred = layout->is_deferred && queue == layout->queues - 1;

		info.default_rxconf.rx_deferred_start = is_deferred;
		info.default_txconf.tx_deferred_start = is_deferred;
		info.default_txconf.offloads = 0;
		is(rte_eth_rx_queue_setup(port, queue, layout->slots, 0, &info.default_rxconf,
					  pool), 0);
		is(rte_eth_tx_queue_setup(port, queue, layout->slots, 0, &info.default_txconf), 0);
	}
}

void
start_port(const struct layout *layout)
{
	set_up(layout);
	is(rte_eth_dev_start(port), 0);
}

/* Returns how many were accepted; the others go back. */
unsigned int
send_frames(uint16_t queue, unsigned int count)
{
	unsigned int sent = 0;

	while (sent < count) {
		struct rte_mbuf *mbufs[BURST];
		unsigned int wanted = RTE_MIN(count - sent, (unsigned int)BURST), done, i;

		if (rte_pktmbuf_alloc_bulk(pool, mbufs, wanted))
			break;
		for (i = 0; i < wanted; i++)
			memset(rte_pktmbuf_append(mbufs[i], LENGTH), 0x02, LENGTH);
		done = rte_eth_tx_burst(port, queue, mbufs, wanted);
		rte_pktmbuf_free_bulk(&mbufs[done], wanted - done);
		sent += done;
		if (done < wanted)
			break;
	}
	return sent;
}

/* Returns how many came, all of which are given back. */
unsigned int
receive_frames(uint16_t queue, unsigned int polls)
{
	unsigned int frames = 0;

	while (polls--) {
		struct rte_mbuf *mbufs[BURST];
		unsigned int count = rte_eth_rx_burst(port, queue, mbufs, BURST);

		rte_pktmbuf_free_bulk(mbufs, count);
		frames += count;
	}
	return frames;
}

/* A register of the card's shell. */
uint32_t *
shell(uint32_t offset)
{
	return &test_card->null->shell[offset / 4];
}

/* Mbufs that the driver has. */
unsigned int
held(void)
{
	return rte_mempool_in_use_count(pool);
}

/* One of the extended statistics. */
uint64_t
extended(const char *name)
{
	uint64_t id, value;

	is(rte_eth_xstats_get_id_by_name(port, name, &id), 0);
	is(rte_eth_xstats_get_by_id(port, &id, &value, 1), 1);
	return value;
}

void
close_port(void)
{
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_dev_close(port), 0);
}
