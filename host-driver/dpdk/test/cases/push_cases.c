/* SPDX-License-Identifier: BSD-3-Clause */
/* Small frames that the driver writes into the card's window before it tells of them. */
#include <string.h>

#include <ethdev_driver.h>

#include "meridian.h"
#include "cases.h"
#include "large.h"

#define PUSH	MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK
#define ASKS	MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK
#define HEADER	(QDMA_WINDOW_HEADER / sizeof(uint64_t))

static const struct layout small = { .queues = 1, .slots = 64 };

/* A card that takes pushed frames, with a place for its first queue. */
static void
plug_pushing(const char *arguments, uint32_t capabilities)
{
	test_card_capabilities = PUSH | capabilities;
	test_card_places = 1;
	plug(arguments);
}

static void
append(struct rte_mbuf *frame, uint32_t bytes)
{
	struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);
	uint32_t i;

	must(segment != NULL && rte_pktmbuf_append(segment, bytes) != NULL, "no memory");
	for (i = 0; i < bytes; i++)
		*rte_pktmbuf_mtod_offset(segment, uint8_t *, i) = 1 + frame->pkt_len + i;
	is(rte_pktmbuf_chain(frame, segment), 0);
}

/* The frame's bytes are 1, 2, 3 and so on, over all of its segments. */
static struct rte_mbuf *
frame_of(const uint32_t *bytes, unsigned int segments)
{
	struct rte_mbuf *frame = rte_pktmbuf_alloc(pool);
	unsigned int i;
	uint32_t at;

	must(frame != NULL && rte_pktmbuf_append(frame, bytes[0]) != NULL, "no memory");
	for (at = 0; at < bytes[0]; at++)
		*rte_pktmbuf_mtod_offset(frame, uint8_t *, at) = 1 + at;
	for (i = 1; i < segments; i++)
		append(frame, bytes[i]);
	return frame;
}

static void
clear_window(void)
{
	memset(test_card->window, 0xee, sizeof(test_card->window));
	test_card->header = 0;
}

static void
send_one(struct rte_mbuf *frame)
{
	is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
	rte_eth_tx_done_cleanup(port, 0, 0);
}

static bool
is_untouched(const uint64_t *words, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (words[i] != 0xeeeeeeeeeeeeeeee)
			return false;
	}
	return true;
}

static void
must_be_pushed(uint32_t length, uint64_t header)
{
	const uint64_t *place = test_card->window[0];
	const uint8_t *byte = (const uint8_t *)place;
	uint32_t words = (length + 7) / 8, i;

	must(rte_le_to_cpu_64(test_card->header) == header, "%#lx and not %#lx as the card is told",
	     (long)rte_le_to_cpu_64(test_card->header), (long)header);
	for (i = 0; i < 8 * words; i++)
		is(byte[i], i < length ? (uint8_t)(1 + i) : 0);
	must(is_untouched(&place[words], HEADER - words) &&
	     is_untouched(&place[HEADER + 1], TEST_CARD_WORDS - HEADER - 1), "%u bytes", length);
}

static void
must_not_be_pushed(void)
{
	must(is_untouched(test_card->window[0], TEST_CARD_PLACES * TEST_CARD_WORDS), "the window");
}

/* Through the bus and into memory, over the end of the ring. */
static void
small_frame_is_in_the_window_as_the_card_is_told(void)
{
	static const uint32_t lengths[] = { 14, 60, 63, 64, 65, 127, 128 };
	unsigned int turn, number;

	for (turn = 0; turn < 2; turn++) {
		test_card_window_is_memory = turn;
		plug_pushing("push=128", 0);
		start_port(&small);
		for (number = 0; number < 150; number++) {
			uint32_t length = lengths[number % RTE_DIM(lengths)];

			clear_window();
			send_one(frame_of(&length, 1));
			must_be_pushed(length, length | (uint64_t)length << 32 |
					       (uint64_t)(number % small.slots) << 48);
			is(extended("tx_pushed"), number + 1);
		}
		is(test_card->sent, 150);
		close_port();
		is(held(), 0);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	}
}

static void
longer_frame_is_not_pushed(void)
{
	static const uint32_t lengths[] = { 129, 256, 257, 1500 };
	unsigned int i;

	plug_pushing("push=128", 0);
	start_port(&small);
	clear_window();
	for (i = 0; i < RTE_DIM(lengths); i++)
		send_one(frame_of(&lengths[i], 1));
	must_not_be_pushed();
	is(extended("tx_pushed"), 0);
	close_port();
}

/* Others of the ring go by memory, so it would overtake them. */
static void
frame_that_is_not_alone_is_not_pushed(void)
{
	static const uint32_t length = 60;

	plug_pushing("push=256", 0);
	start_port(&small);
	clear_window();
	is(send_frames(0, 2), 2);
	test_card->is_deaf = true;
	is(send_frames(0, 3), 3);
	send_one(frame_of(&length, 1));
	must_not_be_pushed();
	test_card->is_deaf = false;
	send_one(frame_of(&length, 1));
	must_not_be_pushed();
	send_one(frame_of(&length, 1));
	must_be_pushed(60, 60 | 60ull << 32 | 7ull << 48);
	is(extended("tx_pushed"), 1);
	close_port();
	is(held(), 0);
}

/* The card joins up to four that are not empty; the driver copies five. */
static void
frame_of_several_segments_is_pushed_whole(void)
{
	static const uint32_t bytes[] = { 0, 44, 1, 50, 70, 35 };
	struct layout layout = small;
	unsigned int i, j;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS |
				      RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	for (i = 0; i < 2; i++) {
		plug_pushing("push=256", ASKS | (i ? MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK : 0));
		start_port(&layout);
		for (j = 2; j <= RTE_DIM(bytes); j++) {
			struct rte_mbuf *frame = frame_of(bytes, j);
			uint32_t length = frame->pkt_len;

			frame->ol_flags = RTE_MBUF_F_TX_VLAN;
			frame->vlan_tci = 0xe123;
			clear_window();
			send_one(frame);
			must_be_pushed(length, MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | 0xe123 |
					       (uint64_t)length << 32 | (uint64_t)(j - 2) << 48);
		}
		is(extended("tx_pushed"), RTE_DIM(bytes) - 1);
		is(extended("tx_copied"), i ? 1 : RTE_DIM(bytes) - 1);
		close_port();
		is(held(), 0);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	}
}

static void
frame_that_is_to_be_cut_is_not_pushed(void)
{
	static const struct large large = { .payload = 100, .segment = 256, .pieces = 1 };
	static const uint32_t length = 154;
	struct layout layout = small;
	struct rte_mbuf *frame;

	layout.conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	plug_pushing("push=256,segments=1", 0);
	start_port(&layout);
	clear_window();
	frame = make_large(pool, &large);
	must(frame != NULL, "no mbuf");
	is(frame->pkt_len, length);
	send_one(frame);
	is(extended("tx_segmented"), 1);
	must_not_be_pushed();
	send_one(frame_of(&length, 1));
	must_be_pushed(length, (uint64_t)length << 32 | 1ull << 48);
	close_port();
}

/* The wish is none, the card cannot, or the bus. */
static void
nothing_is_pushed_where_that_cannot_be(void)
{
	static const struct { const char *arguments; uint32_t capabilities, places; } each[] = {
		{ "", PUSH, 1 }, { "push=0", PUSH, 1 }, { "push=256", 0, 1 }, { "push=256", PUSH, 0 },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(each); i++) {
		test_card_capabilities = each[i].capabilities;
		test_card_places = each[i].places;
		plug(each[i].arguments);
		start_port(&small);
		clear_window();
		is(send_frames(0, 1), 1);
		must_not_be_pushed();
		is(extended("tx_pushed"), 0);
		is(test_card->sent, 1);
		close_port();
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	}
}

static void
queue_without_a_place_pushes_nothing(void)
{
	struct layout layout = small;

	layout.queues = 2;
	plug_pushing("push=256", 0);
	start_port(&layout);
	clear_window();
	is(send_frames(1, 1), 1);
	must_not_be_pushed();
	is(send_frames(0, 1), 1);
	must(!is_untouched(test_card->window[0], HEADER), "nothing is pushed");
	is(extended("tx_pushed"), 1);
	close_port();
}

/* A VF's PF may get another driver, and its port keeps its wish. */
static void
queue_pushes_as_the_card_can_when_it_starts(void)
{
	static const bool can[] = { true, false, true };
	struct meridian *m;
	unsigned int i;

	plug_pushing("push=100", 0);
	set_up(&small);
	m = meridian_of(&rte_eth_devices[port]);
	for (i = 0; i < RTE_DIM(can); i++) {
		m->capabilities = can[i] ? m->capabilities | PUSH : m->capabilities & ~PUSH;
		is(rte_eth_dev_start(port), 0);
		is(rte_eth_xstats_reset(port), 0);
		is(send_frames(0, 1), 1);
		is(extended("tx_pushed"), can[i]);
		is(rte_eth_dev_stop(port), 0);
	}
}

const struct test_case push_cases[] = {
	CASE(small_frame_is_in_the_window_as_the_card_is_told),
	CASE(longer_frame_is_not_pushed),
	CASE(frame_that_is_not_alone_is_not_pushed),
	CASE(frame_of_several_segments_is_pushed_whole),
	CASE(frame_that_is_to_be_cut_is_not_pushed),
	CASE(nothing_is_pushed_where_that_cannot_be),
	CASE(queue_without_a_place_pushes_nothing),
	CASE(queue_pushes_as_the_card_can_when_it_starts),
	{ NULL },
};
