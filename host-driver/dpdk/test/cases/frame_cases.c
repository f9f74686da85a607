/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: their buffers, what they ask of the card, and what the card says of them. */
#include <string.h>

#include <ethdev_driver.h>

#include "meridian.h"
#include "cases.h"
#include "port.h"

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

#define SEGMENTS	6

/* The frame's bytes begin with a number and go on by threes. */
static struct rte_mbuf *
segments(unsigned int number)
{
	unsigned int count = 1 + number % SEGMENTS, i, j;
	struct rte_mbuf *frame = NULL;
	uint8_t byte = number;

	for (i = 0; i < count; i++) {
		struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);
		/* The first or the second has the least that a frame has, and others may be empty. */
		uint16_t bytes = i == number / 7 % 2 ? 60 + number : (number * (i + 3)) % 5 * 67;
		uint8_t *at;

		must(segment != NULL, "no mbuf");
		if (count == 1)
			bytes = 60 + number;
		at = (uint8_t *)rte_pktmbuf_append(segment, bytes);
		for (j = 0; j < bytes; j++, byte += 3)
			at[j] = byte;
		if (frame == NULL)
			frame = segment;
		else
			is(rte_pktmbuf_chain(frame, segment), 0);
	}
	return frame;
}

static unsigned int
filled(const struct rte_mbuf *frame)
{
	unsigned int count = 0;

	for (; frame != NULL; frame = frame->next)
		count += frame->data_len != 0;
	return count;
}

static void
must_be(const struct rte_mbuf *frame, unsigned int number, uint32_t length)
{
	uint8_t byte = number;
	uint32_t i;

	is(frame->pkt_len, length);
	for (; frame != NULL; frame = frame->next) {
		for (i = 0; i < frame->data_len; i++, byte += 3)
			is(*rte_pktmbuf_mtod_offset(frame, uint8_t *, i), byte);
	}
}

/* A card with the capability joins up to four segments; the driver copies all other frames. */
static void
frames_of_several_segments_come_back_whole(void)
{
	struct layout layout = plain;
	unsigned int number, copied, gathered;
	bool joins = false;

	layout.conf.rxmode.mtu = 9000;
	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	do {
		copied = gathered = 0;
		test_card_capabilities = joins ? MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK : 0;
		plug("loop=1");
		start_port(&layout);
		for (number = 0; number < 700; number++) {
			struct rte_mbuf *frame = segments(number), *back[8];
			uint32_t length = frame->pkt_len;

			if (frame->nb_segs > 1)
				++*(joins && filled(frame) <= QDMA_H2C_PIECES ? &gathered : &copied);
			is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
			is(rte_eth_rx_burst(port, 0, back, RTE_DIM(back)), 1);
			must_be(back[0], number, length);
			rte_pktmbuf_free(back[0]);
		}
		is(extended("tx_copied"), copied);
		is(extended("tx_gathered"), gathered);
		must(copied && !!gathered == joins, "%u and %u", copied, gathered);
		close_port();
		is(held(), 0);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
		joins = !joins;
	} while (joins);
}

/* The first piece has the request, which the empty head carries; the others have none. */
static void
frame_of_several_segments_asks_once(void)
{
	const uint64_t *entry;
	struct rte_mbuf *frame = rte_pktmbuf_alloc(pool);
	struct layout layout = plain;
	unsigned int i;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS |
				      RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK |
				 MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK;
	plug("");
	start_port(&layout);
	for (i = 1; i < 4; i++) {
		struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);

		rte_pktmbuf_append(segment, 60 * i);
		is(rte_pktmbuf_chain(frame, segment), 0);
	}
	frame->ol_flags = RTE_MBUF_F_TX_VLAN;
	frame->vlan_tci = 0xe123;
	is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
	entry = test_card->null->queue[0].h2c;
	is(rte_le_to_cpu_64(entry[0]), 60ull << 32 | QDMA_H2C_START |
				       MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | 0xe123);
	is(rte_le_to_cpu_64(entry[2]), 120ull << 32);
	is(rte_le_to_cpu_64(entry[4]), 180ull << 32 | QDMA_H2C_END);
}

static void
frames_of_several_segments_that_are_not_sent_are_counted(void)
{
	struct rte_mbuf *frames[12];
	struct rte_eth_stats stats;
	struct layout layout = plain;
	uint64_t bytes = 0;
	unsigned int i;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK;
	plug("");
	start_port(&layout);
	for (i = 0; i < RTE_DIM(frames); i++) {
		if (i == 5)
			test_card->is_deaf = true;
		frames[i] = segments(i);
		bytes += i < 5 ? frames[i]->pkt_len : 0;
		is(rte_eth_tx_burst(port, 0, &frames[i], 1), 1);
	}
	is(rte_eth_dev_stop(port), 0);
	is(rte_eth_stats_get(port, &stats), 0);
	is(stats.opackets, 5);
	is(stats.obytes, bytes);
	is(extended("tx_discarded"), 7);
	is(rte_eth_dev_close(port), 0);
	is(held(), 0);
}

/* A VF's PF may get another driver, and its port keeps the memory of its queues. */
static void
queue_joins_segments_as_the_card_can_when_it_starts(void)
{
	static const bool can[] = { true, false, true, true, false, false, true };
	struct rte_mbuf *frame, *back[8];
	struct layout layout = plain;
	unsigned int i, gathered = 0;
	struct meridian *m;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK;
	plug("loop=1");
	set_up(&layout);
	m = meridian_of(&rte_eth_devices[port]);
	for (i = 0; i < 10 * RTE_DIM(can); i++) {
		bool now = can[i % RTE_DIM(can)];
		unsigned int j;

		m->capabilities &= ~MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK;
		m->capabilities |= now ? MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK : 0;
		is(rte_eth_dev_start(port), 0);
		for (j = 0; j < 40; j++) {
			uint32_t length;

			frame = segments(3);
			length = frame->pkt_len;
			gathered += now;
			is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
			is(rte_eth_rx_burst(port, 0, back, RTE_DIM(back)), 1);
			must_be(back[0], 3, length);
			rte_pktmbuf_free(back[0]);
		}
		is(extended("tx_gathered"), gathered);
		is(rte_eth_dev_stop(port), 0);
	}
	is(rte_eth_dev_close(port), 0);
	is(held(), 0);
}

static void
frame_whose_segments_do_not_add_up_is_not_sent(void)
{
	struct layout layout = plain;
	unsigned int i;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	test_card_capabilities = MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK;
	plug("");
	start_port(&layout);
	for (i = 0; i < 4; i++) {
		struct rte_mbuf *frame = segments(7 + i);

		frame->pkt_len += i % 2 ? 1 : -1;
		is(rte_eth_tx_prepare(port, 0, &frame, 1), 0);
		is(rte_errno, EINVAL);
		is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
	}
	is(extended("tx_refused"), 4);
	is(test_card->sent + test_card->lost, 0);
	close_port();
	is(held(), 0);
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

const struct test_case frame_cases[] = {
	CASE(every_function_takes_frames_of_several_buffers),
	CASE(frame_asks_for_its_whole_tag_and_its_checksums),
	CASE(frames_of_several_segments_come_back_whole),
	CASE(frame_of_several_segments_asks_once),
	CASE(frames_of_several_segments_that_are_not_sent_are_counted),
	CASE(queue_joins_segments_as_the_card_can_when_it_starts),
	CASE(frame_whose_segments_do_not_add_up_is_not_sent),
	CASE(status_that_cannot_be_is_no_progress),
	{ NULL },
};
