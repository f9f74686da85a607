/* SPDX-License-Identifier: BSD-3-Clause */
/* Large frames that the card cuts into segments of TCP or UDP. */
#include <netinet/in.h>

#include <rte_errno.h>
#include <rte_ip.h>

#include <ethdev_driver.h>

#include "meridian.h"
#include "cases.h"
#include "large.h"

#define TSO		(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_UDP_TSO)
#define CUTS		(MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK | \
			 MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK)
#define ROOM		UINT16_MAX	/* with the headroom: the longest frame takes two */
#define SEQUENCE	0xfffffc00u

static struct rte_mempool *large_pool;

/* A port that cuts frames, and mbufs for them. */
static void
start_cutting(const char *arguments, uint64_t offloads)
{
	struct layout layout = plain;

	large_pool = rte_pktmbuf_pool_create("large", 31, 0, 0, ROOM, SOCKET_ID_ANY);
	must(large_pool != NULL, "%s", rte_strerror(rte_errno));
	layout.conf.rxmode.mtu = 9000;
	layout.conf.txmode.offloads = offloads;
	plug(arguments);
	start_port(&layout);
}

static void
end_cutting(void)
{
	close_port();
	is(held(), 0);
	is(rte_mempool_in_use_count(large_pool), 0);
}

static struct rte_mbuf *
made(const struct large *large)
{
	struct rte_mbuf *frame = make_large(large_pool, large);

	must(frame != NULL, "no mbuf");
	return frame;
}

static void
card_has_it_all(bool can)
{
	struct rte_eth_dev_info info;

	is(rte_eth_dev_info_get(port, &info), 0);
	is(info.tx_offload_capa & TSO, can ? TSO : 0);
	is(info.tx_desc_lim.nb_seg_max, can ? 4 : 255);
	is(info.tx_desc_lim.nb_mtu_seg_max, 255);
}

static void
port_cuts_if_the_card_joins_pieces_cuts_and_is_asked(void)
{
	static const uint32_t needed[] = {
		MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK,
		MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK,
		MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK,
	};
	unsigned int i, j;

	for (i = 0; i < 1u << RTE_DIM(needed); i++) {
		test_card_capabilities = 0;
		for (j = 0; j < RTE_DIM(needed); j++)
			test_card_capabilities |= i >> j & 1 ? needed[j] : 0;
		plug("");
		card_has_it_all(test_card_capabilities == CUTS);
		is(rte_eal_hotplug_remove("vdev", DEVICE), 0);
	}
}

/* The switch bounds how many frames may be under way, so a port without TSO has it off. */
static void
queue_is_switched_to_segments_while_it_runs(void)
{
	const uint32_t both = MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_MASK |
			      MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK;
	const uint64_t offloads[] = { RTE_ETH_TX_OFFLOAD_MULTI_SEGS, RTE_ETH_TX_OFFLOAD_UDP_TSO };
	struct layout layout = plain;
	const uint32_t *switches;
	unsigned int i;

	plug("segments=1");
	switches = shell(MERIDIAN_QUEUE_BASE + MERIDIAN_QUEUE_SWITCHES(0));
	for (i = 0; i < RTE_DIM(offloads); i++) {
		layout.conf.txmode.offloads = offloads[i];
		start_port(&layout);
		is(*switches & both, i ? both : MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK);
		is(rte_eth_dev_stop(port), 0);
		is(*switches & both, 0);
	}
}

static uint32_t
word_at(const uint8_t *byte)
{
	return byte[0] << 8 | byte[1];
}

/* What comes back of one frame; of checksums, tests/dpdk/test_null.py knows. */
static void
must_be_segments(const struct large *large, struct rte_mbuf **back, uint16_t count)
{
	uint32_t headers = headers_of(large), at = 0, i, j;
	uint32_t l3 = large->is_tagged ? 18 : 14;

	is(count, (large->payload + large->segment - 1) / large->segment);
	for (i = 0; i < count; i++) {
		uint32_t bytes = RTE_MIN(large->segment, large->payload - at);
		const uint8_t *frame;
		uint8_t copy[9600];

		is(back[i]->pkt_len, headers + bytes);
		frame = rte_pktmbuf_read(back[i], 0, headers + bytes, copy);
		is(word_at(&frame[l3 + (large->is_v6 ? 4 : 2)]),
		   headers + bytes - l3 - (large->is_v6 ? sizeof(struct rte_ipv6_hdr) : 0));
		if (!large->is_udp)
			is(word_at(&frame[headers - 20 - 4 * large->tcp_words + 4]) << 16 |
			   word_at(&frame[headers - 20 - 4 * large->tcp_words + 6]),
			   (uint32_t)(SEQUENCE + at));
		for (j = 0; j < bytes; j++, at++)
			is(frame[headers + j], payload_byte(at));
	}
	is(at, large->payload);
}

static void
send_and_look(const struct large *large)
{
	struct rte_mbuf *frame = made(large), *piece = frame, *back[255];
	uint16_t count;

	while (!piece->data_len)
		piece = piece->next;
	/* Headers behind an empty piece are not looked for. */
	if (piece == frame)
		is(rte_eth_tx_prepare(port, 0, &frame, 1), 1);
	else
		*rte_pktmbuf_mtod_offset(piece, rte_be16_t *, 16) =
			rte_cpu_to_be_16(frame->pkt_len - 14);
	is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
	count = rte_eth_rx_burst(port, 0, back, RTE_DIM(back));
	must_be_segments(large, back, count);
	rte_pktmbuf_free_bulk(back, count);
	is(rte_eth_tx_done_cleanup(port, 0, 0), 1);
}

static void
large_frames_come_back_in_segments(void)
{
	static const struct large each[] = {
		{ .payload = 1, .segment = 256, .pieces = 1 },
		{ .payload = 256, .segment = 256, .pieces = 1 },
		{ .payload = 257, .segment = 256, .pieces = 2 },
		{ .payload = 20000, .segment = 1460, .pieces = 4 },
		{ .payload = 65481, .segment = 8191, .pieces = 4 },
		{ .payload = 65353, .segment = 1460, .pieces = 1 },
		{ .payload = 9000, .segment = 1000, .pieces = 3, .empty = 2 },
		{ .payload = 9001, .segment = 1000, .pieces = 1, .empty = 1 },
		{ .payload = 5000, .segment = 999, .pieces = 3, .ip_words = 10, .tcp_words = 10 },
		{ .payload = 5000, .segment = 1001, .pieces = 3, .is_tagged = true },
		{ .payload = 5000, .segment = 1440, .pieces = 2, .is_v6 = true, .tcp_words = 3 },
		{ .payload = 30000, .segment = 1472, .pieces = 2, .is_udp = true },
		{ .payload = 5000, .segment = 5000, .pieces = 2, .is_udp = true, .is_v6 = true },
	};
	unsigned int i, gathered = 0;

	start_cutting("segments=1,loop=1", TSO);
	for (i = 0; i < RTE_DIM(each); i++) {
		send_and_look(&each[i]);
		gathered += each[i].pieces + each[i].empty > 1;
	}
	is(extended("tx_segmented"), RTE_DIM(each));
	is(extended("tx_gathered"), gathered);
	is(extended("tx_copied"), 0);
	is(extended("tx_refused"), 0);
	end_cutting();
}

/* The first piece has the request, the card gets checksums right without being asked. */
static void
large_frame_asks_for_segments_and_its_tag(void)
{
	static const struct large large = { .payload = 4000, .segment = 1234, .pieces = 4 };
	struct rte_mbuf *frame;
	const uint64_t *entry;

	start_cutting("segments=1", RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_VLAN_INSERT);
	frame = made(&large);
	frame->ol_flags |= RTE_MBUF_F_TX_VLAN;
	frame->vlan_tci = 0xe123;
	is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
	entry = test_card->null->queue[0].h2c;
	is(rte_le_to_cpu_64(entry[0]), 1054ull << 32 | QDMA_H2C_START | 1234u << 19 |
				       MERIDIAN_H2C_REQUEST_IP_CHECKSUM_MASK |
				       MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK | 0xe123);
	is(rte_le_to_cpu_64(entry[2]), 1000ull << 32);
	is(rte_le_to_cpu_64(entry[4]), 1000ull << 32);
	is(rte_le_to_cpu_64(entry[6]), 1000ull << 32 | QDMA_H2C_END);
	end_cutting();
}

static uint16_t *
l3_word(struct rte_mbuf *frame, uint32_t at)
{
	return rte_pktmbuf_mtod_offset(frame, uint16_t *, frame->l2_len + at);
}

static void
lengths_are_written_before_the_frame_is_sent(void)
{
	struct large large = { .payload = 65481, .segment = 1460, .pieces = 2 };
	struct rte_mbuf *frame;

	start_cutting("segments=1", TSO);
	frame = made(&large);
	is(rte_eth_tx_prepare(port, 0, &frame, 1), 1);
	is(rte_be_to_cpu_16(*l3_word(frame, 2)), 65521);
	rte_pktmbuf_free(frame);
	large = (struct large){ .payload = 700, .segment = 256, .pieces = 1, .is_v6 = true,
				.is_tagged = true };
	frame = made(&large);
	is(rte_eth_tx_prepare(port, 0, &frame, 1), 1);
	is(rte_be_to_cpu_16(*l3_word(frame, 4)), 720);
	rte_pktmbuf_free(frame);
	end_cutting();
}

/* What is wrong with a frame that would be good otherwise. */
enum fault {
	NO_SEGMENT, SMALL_SEGMENTS, LARGE_SEGMENTS, BOTH_PROTOCOLS, TUNNEL, NO_PAYLOAD, TOO_LONG,
	LENGTHS_DIFFER, MANY_PIECES,
	OTHER_VERSION, NO_VERSION, OTHER_PROTOCOL, OTHER_TYPE, TWO_TAGS, LONGER_IP, LONGER_TCP,
	FRAGMENT, FIRST_FRAGMENT, SPLIT_HEADERS, NO_LENGTHS,
};

static const struct {
	enum fault fault;
	int error;
	bool is_seen;	/* by who sends, who does not look into frames */
} faults[] = {
	{ NO_SEGMENT, EINVAL, true },
	{ SMALL_SEGMENTS, EINVAL, true },
	{ LARGE_SEGMENTS, EINVAL, true },
	{ BOTH_PROTOCOLS, EINVAL, true },
	{ TUNNEL, ENOTSUP, true },
	{ NO_PAYLOAD, EINVAL, true },
	{ TOO_LONG, EINVAL, true },
	{ LENGTHS_DIFFER, EINVAL, true },
	{ MANY_PIECES, EINVAL, true },
	{ OTHER_VERSION, EINVAL, false },
	{ NO_VERSION, EINVAL, false },
	{ OTHER_PROTOCOL, EINVAL, false },
	{ OTHER_TYPE, EINVAL, false },
	{ TWO_TAGS, ENOTSUP, false },
	{ LONGER_IP, EINVAL, false },
	{ LONGER_TCP, EINVAL, false },
	{ FRAGMENT, ENOTSUP, false },
	{ FIRST_FRAGMENT, ENOTSUP, false },
	{ SPLIT_HEADERS, ENOTSUP, false },
	{ NO_LENGTHS, EINVAL, false },
};

static void
spoil(struct rte_mbuf *frame, enum fault fault)
{
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(frame, struct rte_ipv4_hdr *, 14);

	switch (fault) {
	case NO_SEGMENT:
		frame->tso_segsz = 0;
		break;
	case SMALL_SEGMENTS:
		frame->tso_segsz = 255;
		break;
	case LARGE_SEGMENTS:
		frame->tso_segsz = 8192;
		break;
	case BOTH_PROTOCOLS:
		frame->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_UDP_SEG;
		break;
	case TUNNEL:
		frame->ol_flags |= RTE_MBUF_F_TX_TUNNEL_VXLAN;
		break;
	case NO_PAYLOAD:
		rte_pktmbuf_trim(frame, frame->data_len - 54);
		break;
	case TOO_LONG:
		frame->pkt_len = 65536;
		break;
	case LENGTHS_DIFFER:
		frame->pkt_len++;
		break;
	case OTHER_VERSION:
		frame->ol_flags ^= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_IP_CKSUM;
		break;
	case NO_VERSION:
		frame->ol_flags &= ~(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM);
		break;
	case OTHER_PROTOCOL:
		ip->next_proto_id = IPPROTO_UDP;
		break;
	case OTHER_TYPE:
		*rte_pktmbuf_mtod_offset(frame, uint16_t *, 12) = 0;
		break;
	case NO_LENGTHS:
		frame->l2_len = frame->l3_len = frame->l4_len = 0;
		break;
	case TWO_TAGS:
		frame->l2_len = 22;
		break;
	case LONGER_IP:
		frame->l3_len += 4;
		break;
	case LONGER_TCP:
		frame->l4_len += 4;
		break;
	case FRAGMENT:
		ip->fragment_offset = rte_cpu_to_be_16(1);
		break;
	case FIRST_FRAGMENT:
		ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG);
		break;
	default:
		break;
	}
}

static struct rte_mbuf *
spoilt(enum fault fault)
{
	struct large large = { .payload = 2000, .segment = 1000, .pieces = 1 };
	struct rte_mbuf *frame;

	if (fault == MANY_PIECES)
		large.pieces = 5;
	if (fault == SPLIT_HEADERS)
		large.empty = 1;
	if (fault == TOO_LONG)
		large.payload = 65536 - headers_of(&large), large.pieces = 2;
	frame = made(&large);
	spoil(frame, fault);
	return frame;
}

/* None of them is copied over a buffer, and a good one behind it is sent. */
static void
large_frames_that_cannot_be_cut_are_refused(void)
{
	static const struct large good = { .payload = 2000, .segment = 1000, .pieces = 2 };
	unsigned int i, refused = 0, sent = 0;

	start_cutting("segments=1", TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	for (i = 0; i < RTE_DIM(faults); i++) {
		struct rte_mbuf *frames[2] = { spoilt(faults[i].fault), made(&good) };

		rte_errno = 0;
		is(rte_eth_tx_prepare(port, 0, frames, 2), 0);
		must(rte_errno == faults[i].error, "fault %d: %s", faults[i].fault,
		     rte_strerror(rte_errno));
		if (faults[i].is_seen)
			refused++;
		sent += 1 + !faults[i].is_seen;
		is(rte_eth_tx_burst(port, 0, frames, 2), 2);
		must(extended("tx_refused") == refused, "fault %d", faults[i].fault);
		is(test_card->sent, sent);
		rte_eth_tx_done_cleanup(port, 0, 0);
	}
	is(extended("tx_copied"), 0);
	is(extended("tx_segmented"), sent);
	end_cutting();
}

/* With its tag a segment has as many bytes as the card's longest frame, or one more. */
static void
segments_fit_the_cards_longest_frame(void)
{
	static const struct { uint16_t segment; bool is_tagged, fits; } each[] = {
		{ 1464, false, true }, { 1465, false, false }, { 1460, true, true },
		{ 1461, true, false },
	};
	struct large large = { .payload = 5000, .pieces = 2 };
	struct layout layout = plain;
	struct rte_mbuf *frame;
	unsigned int i;

	large_pool = rte_pktmbuf_pool_create("large", 31, 0, 0, ROOM, SOCKET_ID_ANY);
	must(large_pool != NULL, "%s", rte_strerror(rte_errno));
	layout.conf.txmode.offloads = TSO | RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	plug("segments=1");
	meridian_of(&rte_eth_devices[port])->max_frame = 1518;
	start_port(&layout);
	for (i = 0; i < RTE_DIM(each); i++) {
		large.segment = each[i].segment;
		frame = made(&large);
		frame->ol_flags |= each[i].is_tagged ? RTE_MBUF_F_TX_VLAN : 0;
		is(rte_eth_tx_prepare(port, 0, &frame, 1), each[i].fits);
		rte_pktmbuf_free(frame);
	}
	/* What fits in one segment need not be as long as that may be. */
	large.payload = 100;
	large.segment = 8191;
	frame = made(&large);
	is(rte_eth_tx_prepare(port, 0, &frame, 1), 1);
	rte_pktmbuf_free(frame);
	end_cutting();
}

/* A VF's PF may get another driver, and its port keeps the memory of its queues. */
static void
queue_cuts_large_frames_as_the_card_can_when_it_starts(void)
{
	static const struct large good = { .payload = 2000, .segment = 1000, .pieces = 2 };
	static const uint32_t lost[] = {
		0, MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK,
		MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK, 0,
	};
	unsigned int i, refused = 0;
	struct rte_mbuf *frame;
	struct meridian *m;

	start_cutting("segments=1,loop=1", TSO);
	m = meridian_of(&rte_eth_devices[port]);
	for (i = 0; i < RTE_DIM(lost); i++) {
		is(rte_eth_dev_stop(port), 0);
		m->capabilities |= CUTS;
		m->capabilities &= ~lost[i];
		is(rte_eth_dev_start(port), 0);
		if (!lost[i]) {
			send_and_look(&good);
			continue;
		}
		frame = made(&good);
		is(rte_eth_tx_prepare(port, 0, &frame, 1), 0);
		is(rte_errno, ENOTSUP);
		is(rte_eth_tx_burst(port, 0, &frame, 1), 1);
		is(extended("tx_refused"), ++refused);
	}
	end_cutting();
}

static void
port_without_the_offload_refuses_large_frames(void)
{
	static const struct large good = { .payload = 2000, .segment = 1000, .pieces = 2 };
	struct rte_mbuf *frame;

	start_cutting("segments=1", RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	frame = made(&good);
	is(rte_eth_tx_prepare(port, 0, &frame, 1), 0);
	is(rte_errno, ENOTSUP);
	rte_pktmbuf_free(frame);
	end_cutting();
}

/* Of five pieces, which the driver copies, and others in between. */
static void
other_frames_pass_between_large_ones(void)
{
	static const struct large large = { .payload = 3000, .segment = 1000, .pieces = 2 };
	struct large small = { .payload = 500, .pieces = 5 };
	struct rte_mbuf *frames[3], *back[8];
	unsigned int turn;

	start_cutting("segments=1,loop=1", TSO);
	for (turn = 0; turn < 300; turn++) {
		small.pieces = 1 + turn % 5;
		frames[0] = made(&small);
		frames[1] = made(&large);
		frames[2] = made(&small);
		frames[0]->ol_flags = frames[2]->ol_flags = 0;
		is(rte_eth_tx_prepare(port, 0, frames, RTE_DIM(frames)), RTE_DIM(frames));
		is(rte_eth_tx_burst(port, 0, frames, RTE_DIM(frames)), RTE_DIM(frames));
		is(rte_eth_rx_burst(port, 0, back, RTE_DIM(back)), 5);
		is(back[0]->pkt_len, 554);
		must_be_segments(&large, &back[1], 3);
		is(back[4]->pkt_len, 554);
		rte_pktmbuf_free_bulk(back, 5);
		is(rte_eth_tx_done_cleanup(port, 0, 0), 3);
	}
	is(extended("tx_segmented"), 300);
	is(extended("tx_copied"), 120);
	is(extended("tx_gathered"), 300 + 360);
	end_cutting();
}

const struct test_case segment_cases[] = {
	CASE(port_cuts_if_the_card_joins_pieces_cuts_and_is_asked),
	CASE(queue_is_switched_to_segments_while_it_runs),
	CASE(large_frames_come_back_in_segments),
	CASE(large_frame_asks_for_segments_and_its_tag),
	CASE(lengths_are_written_before_the_frame_is_sent),
	CASE(large_frames_that_cannot_be_cut_are_refused),
	CASE(segments_fit_the_cards_longest_frame),
	CASE(queue_cuts_large_frames_as_the_card_can_when_it_starts),
	CASE(port_without_the_offload_refuses_large_frames),
	CASE(other_frames_pass_between_large_ones),
	{ NULL },
};
