/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames of a file on a device, some of which the card is to cut into segments.
 *   segment_test DEVICE ARGUMENTS FILE [alone]     alone: each when the card has taken those before
 * Each frame is a struct wanted, as this machine has it, and its bytes. For each one a line says
 * what rte_eth_tx_prepare() says of it, 0 or an errno; what that refuses is not sent.
 */
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "port.h"

#define OFFLOADS	(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO | \
			 RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_TCP_CKSUM | \
			 RTE_ETH_TX_OFFLOAD_UDP_CKSUM | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM)
#define LARGE_MBUFS	63
#define PATIENCE_MS	60000
#define XSTATS		256

/**
 * struct wanted - a frame, and what is asked for
 * @flags: of the mbuf
 * @bytes: of the frame
 * @segment, @l2, @l3, @l4: of the mbuf
 * @tci: of a tag, if @flags ask for it
 * @pieces: segments of memory
 */
struct wanted {
	uint64_t flags;
	uint32_t bytes;
	uint16_t segment;
	uint16_t l2;
	uint16_t l3;
	uint16_t l4;
	uint16_t tci;
	uint16_t pieces;
};

static struct rte_mempool *large_pool;

static void
start(const char *device, const char *arguments)
{
	struct layout layout = { .queues = 1, .slots = 64, .conf.txmode.offloads = OFFLOADS };
	struct rte_eth_link link = { 0 };
	unsigned int ms;

	large_pool = rte_pktmbuf_pool_create("large", LARGE_MBUFS, 0, 0, UINT16_MAX, SOCKET_ID_ANY);
	must(large_pool != NULL, "%s", rte_strerror(rte_errno));
	is(rte_eal_hotplug_add("vdev", device, arguments), 0);
	is(rte_eth_dev_get_port_by_name(device, &port), 0);
	start_port(&layout);
	for (ms = 0; ms < PATIENCE_MS && link.link_status != RTE_ETH_LINK_UP; ms++) {
		is(rte_eth_link_get_nowait(port, &link), 0);
		rte_delay_us_sleep(1000);
	}
	must(link.link_status == RTE_ETH_LINK_UP, "no link");
}

/* When the card has taken some, their mbufs are there again. */
static struct rte_mbuf *
alloc(void)
{
	struct rte_mbuf *mbuf;
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS; ms++) {
		mbuf = rte_pktmbuf_alloc(large_pool);
		if (mbuf != NULL)
			return mbuf;
		rte_eth_tx_done_cleanup(port, 0, 0);
		rte_delay_us_sleep(1000);
	}
	must(false, "the card takes no frames");
	return NULL;
}

/* All headers are in the first piece; if there is little payload, some pieces have none. */
static struct rte_mbuf *
read_frame(FILE *file, const struct wanted *wanted)
{
	uint32_t headers = wanted->l2 + wanted->l3 + wanted->l4;
	uint32_t left = wanted->bytes - headers;
	struct rte_mbuf *frame = NULL, *piece;
	uint16_t i;

	for (i = 0; i < wanted->pieces; i++) {
		uint32_t bytes = left / (wanted->pieces - i);
		char *at;

		left -= bytes;
		bytes += i ? 0 : headers;
		piece = alloc();
		at = rte_pktmbuf_append(piece, bytes);
		must(at != NULL && fread(at, 1, bytes, file) == bytes, "no %u bytes", bytes);
		if (frame == NULL)
			frame = piece;
		else
			is(rte_pktmbuf_chain(frame, piece), 0);
	}
	frame->ol_flags = wanted->flags;
	frame->tso_segsz = wanted->segment;
	frame->l2_len = wanted->l2;
	frame->l3_len = wanted->l3;
	frame->l4_len = wanted->l4;
	frame->vlan_tci = wanted->tci;
	return frame;
}

static void
wait_for_the_card(void)
{
	unsigned int ms;

	for (ms = 0; rte_mempool_in_use_count(large_pool); ms++) {
		must(ms < PATIENCE_MS, "the card does not take the last frames");
		rte_eth_tx_done_cleanup(port, 0, 0);
		rte_delay_us_sleep(1000);
	}
}

static void
send_frame(struct rte_mbuf *frame)
{
	unsigned int ms;

	if (rte_eth_tx_prepare(port, 0, &frame, 1) != 1) {
		printf("%d\n", rte_errno);
		rte_pktmbuf_free(frame);
		return;
	}
	puts("0");
	for (ms = 0; rte_eth_tx_burst(port, 0, &frame, 1) != 1; ms++) {
		must(ms < PATIENCE_MS, "the ring stays full");
		rte_delay_us_sleep(1000);
	}
}

static void
tell_counts(void)
{
	struct rte_eth_xstat_name names[XSTATS];
	struct rte_eth_xstat counts[XSTATS];
	int count = rte_eth_xstats_get_names(port, names, XSTATS), i;

	must(count > 0 && count <= XSTATS, "%d counters", count);
	is(rte_eth_xstats_get(port, counts, XSTATS), count);
	for (i = 0; i < count; i++)
		printf("%s: %" PRIu64 "\n", names[i].name, counts[i].value);
}

int
main(int count, char **words)
{
	struct wanted wanted;
	FILE *file;

	bool is_alone = count == 5 && strcmp(words[4], "alone") == 0;

	must(count == 4 || is_alone, "segment_test DEVICE ARGUMENTS FILE [alone]");
	begin(words[0]);
	file = fopen(words[3], "rb");
	must(file != NULL, "%s", words[3]);
	start(words[1], words[2]);
	while (fread(&wanted, sizeof(wanted), 1, file) == 1) {
		send_frame(read_frame(file, &wanted));
		if (is_alone)
			wait_for_the_card();
	}
	fclose(file);
	wait_for_the_card();
	tell_counts();
	close_port();
	return 0;
}
