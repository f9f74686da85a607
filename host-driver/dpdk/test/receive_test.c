/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive functions without EAL and a card: completions of every kind, written as a card does, and
 * each mbuf beside what its completion says. So it runs for any machine, emulated or not.
 *   receive_test [locked-]simple|scattered|sse|avx2|neon ROUNDS SEED
 * locked: as where queues interrupt. What is no vector has completions of 8 bytes, too; what is
 * scattered has small buffers, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "include/meridian_regs.h"
#include "meridian_log.h"
#include "meridian_queue.h"

#define SLOTS		256
#define ENTRIES		512
#define ENTRIES_LOG2	9
#define MBUFS		(2 * SLOTS)
#define BUFFER_BYTES	2048
#define MAX_LENGTH	1518
#define PORT		5
#define BURST		70
#define UNLIKELY	400	/* one frame of so many is out of the ordinary */
#define SMALL_BUFFER	256
#define MAX_BUFFERS	(BUFFER_BYTES / SMALL_BUFFER)

#define must(what, ...) do { \
		if (!(what)) { \
			fprintf(stderr, "round %u: not %s: ", round_number, #what); \
			fprintf(stderr, __VA_ARGS__); \
			fputc('\n', stderr); \
			exit(1); \
		} \
	} while (0)

struct frame {
	struct rte_mbuf *mbuf[MAX_BUFFERS];
	uint32_t buffers, length, hash;
	uint16_t tci;
	uint8_t type, ip, l4;
	bool is_tagged, is_bad;
};

static unsigned int round_number;
static uint64_t random_state;
static struct rte_mbuf mbufs[MBUFS];
static struct rte_mbuf *unused[MBUFS];
static unsigned int unused_count;
static uint64_t ring[SLOTS];
static uint64_t completions[2 * ENTRIES] __rte_aligned(64);
static struct rte_mbuf *buffer[SLOTS];
static volatile uint32_t doorbells[16];
static struct rte_mempool pool;
static struct meridian_rx rx;
static bool is_locked, is_vector, is_scattered;

/*
 * Of the card: completions written, buffers used; of the frames, which come next; how far the card
 * knows them to be read.
 */
static uint32_t written, used, read_next, heard;
static struct frame frames[ENTRIES];

/* What the functions under test call of EAL. */
struct rte_eth_dev rte_eth_devices[RTE_MAX_ETHPORTS];
RTE_DEFINE_PER_LCORE(unsigned int, _lcore_id) = LCORE_ID_ANY;
struct rte_mempool_ops_table rte_mempool_ops_table;
int meridian_logtype;

int
rte_log(uint32_t level __rte_unused, uint32_t type __rte_unused, const char *format __rte_unused,
	...)
{
	return 0;
}

void
__rte_panic(const char *where, const char *format __rte_unused, ...)
{
	fprintf(stderr, "panic in %s\n", where);
	abort();
}

static uint64_t
random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1d;
}

static uint32_t
random_below(uint32_t limit)
{
	return (uint32_t)(random_word() >> 33) % limit;
}

static int
pool_take(struct rte_mempool *mp __rte_unused, void **table, unsigned int count)
{
	if (unused_count < count)
		return -ENOBUFS;
	unused_count -= count;
	memcpy(table, &unused[unused_count], count * sizeof(*table));
	return 0;
}

static int
pool_give(struct rte_mempool *mp __rte_unused, void *const *table, unsigned int count)
{
	must(unused_count + count <= MBUFS, "an mbuf is given back twice");
	memcpy(&unused[unused_count], table, count * sizeof(*table));
	unused_count += count;
	return 0;
}

/* As an application leaves it, with anything in what receive is to fill, and alone. */
static void
give_back(struct rte_mbuf *mbuf)
{
	uint64_t *words = (uint64_t *)&mbuf->rearm_data;
	void *table = mbuf;
	unsigned int i;

	for (i = 0; i < 4; i++)
		words[i] = random_word();
	mbuf->next = NULL;
	pool_give(&pool, &table, 1);
}

static void
ring_bell(struct meridian_bus *unused_bus __rte_unused, uint32_t offset, uint32_t value)
{
	must(offset != QDMA_DOORBELL_CMPT_CIDX || rte_spinlock_is_locked(&rx.lock), "another may");
	doorbells[offset / 4] = value;
}

static void
begin(void)
{
	static const struct meridian_bus_ops ops = { .doorbell = ring_bell };
	static struct meridian_bus bus = { .ops = &ops };
	static struct rte_eth_dev_data data;
	struct rte_mbuf like = { .data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = PORT };
	unsigned int i;

	rte_mbuf_refcnt_set(&like, 1);
	rte_eth_devices[PORT].data = &data;
	rte_eth_devices[PORT].process_private = &bus;
	rte_mempool_ops_table.num_ops = 1;
	rte_mempool_ops_table.ops[0].enqueue = pool_give;
	rte_mempool_ops_table.ops[0].dequeue = pool_take;
	memset(&rx, 0, sizeof(rx));
	memset(completions, 0, sizeof(completions));
	doorbells[QDMA_DOORBELL_CMPT_CIDX / 4] = 0;
	written = used = read_next = heard = unused_count = 0;
	for (i = 0; i < MBUFS; i++) {
		mbufs[i].pool = &pool;
		mbufs[i].next = NULL;
		mbufs[i].buf_iova = 0x10000 * (i + 1);
		mbufs[i].buf_len = RTE_PKTMBUF_HEADROOM + BUFFER_BYTES;
		give_back(&mbufs[i]);
	}
	rx.ring = ring;
	rx.completions = completions;
	rx.buffer = buffer;
	rx.doorbells = is_locked ? NULL : doorbells;
	memcpy(&rx.mbuf_words, &like.rearm_data, sizeof(rx.mbuf_words));
	rx.offload_mask = random_below(2) ? UINT64_MAX : RTE_MBUF_F_RX_RSS_HASH;
	rx.pool = &pool;
	rx.mask = SLOTS - 1;
	rx.completion_mask = ENTRIES - 1;
	rx.buffer_bytes = is_scattered && random_below(2) ? SMALL_BUFFER : BUFFER_BYTES;
	meridian_limit_length(&rx, MAX_LENGTH);
	rx.entry_log2 = is_vector || random_below(2);
	rx.color_shift = ENTRIES_LOG2;
	rx.port_id = PORT;
	meridian_fill_rx(&rx);
}

/* Those that fill their buffers to the last byte are as frequent as others. */
static uint32_t
random_length(void)
{
	if (is_scattered && random_below(2))
		return SMALL_BUFFER * (1 + random_below(MAX_LENGTH / SMALL_BUFFER));
	if (random_below(UNLIKELY) == 0)
		return MAX_LENGTH + 1 + random_below(BUFFER_BYTES - MAX_LENGTH);
	return random_below(4) ? 60 + random_below(MAX_LENGTH - 59) : MAX_LENGTH;
}

/* A frame of the card, if it has buffers and room for the completion. */
static bool
card_writes(bool may_be_bad)
{
	uint32_t posted = doorbells[QDMA_DOORBELL_C2H_PIDX / 4];
	uint32_t told = doorbells[QDMA_DOORBELL_CMPT_CIDX / 4] & (ENTRIES - 1);
	uint64_t *entry = &completions[(written & (ENTRIES - 1)) << rx.entry_log2], word;
	struct frame *frame = &frames[written & (ENTRIES - 1)];
	uint32_t i;

	frame->length = random_length();
	frame->buffers = (frame->length + rx.buffer_bytes - 1) / rx.buffer_bytes;
	if (((posted - used) & rx.mask) < frame->buffers ||
	    ((written + 1) & (ENTRIES - 1)) == told)
		return false;
	frame->is_bad = may_be_bad && random_below(UNLIKELY) == 0;
	if (frame->is_bad && random_below(2))
		frame->length = 0;
	frame->hash = (uint32_t)random_word();
	frame->tci = (uint16_t)random_word();
	frame->type = random_below(2) ? random_below(7) : random_below(16);
	frame->ip = random_below(4);
	frame->l4 = random_below(4);
	frame->is_tagged = random_below(2);
	for (i = 0; i < frame->buffers; i++, used++)
		frame->mbuf[i] = &mbufs[(ring[used & rx.mask] - RTE_PKTMBUF_HEADROOM) / 0x10000 - 1];
	if (rx.entry_log2)
		entry[1] = frame->hash | (uint64_t)(frame->tci |
		(uint32_t)frame->type << MERIDIAN_COMPLETION_HASH_TYPE_SHIFT |
		(uint32_t)frame->is_tagged << MERIDIAN_COMPLETION_VLAN_STRIPPED_SHIFT |
		(uint32_t)frame->ip << MERIDIAN_COMPLETION_IP_CHECKSUM_SHIFT |
		(uint32_t)frame->l4 << MERIDIAN_COMPLETION_L4_CHECKSUM_SHIFT |
		random_below(4) << MERIDIAN_COMPLETION_L4_KIND_SHIFT) << 32;
	word = (uint64_t)(frame->length | written << 16) << 32 |
		(uint64_t)frame->length << MERIDIAN_COMPLETION_LENGTH_SHIFT |
		MERIDIAN_COMPLETION_USED_MASK | MERIDIAN_COMPLETION_END_OF_FRAME_MASK;
	if (frame->is_bad && frame->length)
		word |= MERIDIAN_COMPLETION_ERROR_MASK;
	if (!(written >> ENTRIES_LOG2 & 1))
		word |= MERIDIAN_COMPLETION_COLOR_MASK;
	entry[0] = word;
	written++;
	return true;
}

static uint32_t
type_of(const struct frame *frame)
{
	if (!rx.entry_log2)
		return RTE_PTYPE_L2_ETHER;
	switch (frame->type) {
	case MERIDIAN_HASH_TYPE_IPV4:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN;
	case MERIDIAN_HASH_TYPE_IPV4_TCP:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_TCP;
	case MERIDIAN_HASH_TYPE_IPV4_UDP:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_UDP;
	case MERIDIAN_HASH_TYPE_IPV6:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN;
	case MERIDIAN_HASH_TYPE_IPV6_TCP:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_TCP;
	case MERIDIAN_HASH_TYPE_IPV6_UDP:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN | RTE_PTYPE_L4_UDP;
	default:
		return RTE_PTYPE_L2_ETHER;
	}
}

static uint64_t
flags_of(const struct frame *frame)
{
	uint64_t flags = 0;

	if (!rx.entry_log2)
		return 0;
	if (frame->is_tagged)
		flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	if (frame->ip == 1)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	if (frame->ip == 2)
		flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
	if (frame->l4 == 1)
		flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	if (frame->l4 == 2)
		flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	if (frame->type)
		flags |= RTE_MBUF_F_RX_RSS_HASH;
	return flags & rx.offload_mask;
}

/* A segment of so many bytes. */
static void
check_segment(const struct rte_mbuf *mbuf, uint32_t bytes)
{
	must(mbuf->data_off == RTE_PKTMBUF_HEADROOM, "%u", mbuf->data_off);
	must(rte_mbuf_refcnt_read(mbuf) == 1, "%u", rte_mbuf_refcnt_read(mbuf));
	must(mbuf->port == PORT, "%u", mbuf->port);
	must(mbuf->data_len == bytes, "%u of %u", mbuf->data_len, bytes);
}

static void
check(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	const struct rte_mbuf *segment = mbuf;
	uint32_t left = frame->length, i;

	for (i = 0; i < frame->buffers; i++, segment = segment->next) {
		must(segment == frame->mbuf[i], "another buffer is segment %u", i);
		check_segment(segment, RTE_MIN(left, rx.buffer_bytes));
		left -= segment->data_len;
	}
	must(segment == NULL, "%u segments and more", i);
	must(mbuf->nb_segs == frame->buffers, "%u", mbuf->nb_segs);
	must(mbuf->ol_flags == flags_of(frame), "%#" PRIx64 ", ip %u l4 %u type %u tag %d",
	     mbuf->ol_flags, frame->ip, frame->l4, frame->type, frame->is_tagged);
	must(mbuf->packet_type == type_of(frame), "%#x of %u", mbuf->packet_type, frame->type);
	must(mbuf->pkt_len == frame->length, "%u", mbuf->pkt_len);
	must(!rx.entry_log2 || mbuf->vlan_tci == frame->tci, "%#x", mbuf->vlan_tci);
	must(!rx.entry_log2 || mbuf->hash.rss == frame->hash, "%#x", mbuf->hash.rss);
}

/* One burst. False: there was a completion that cannot be, and the queue has said so. */
static bool
burst(eth_rx_burst_t receive, uint64_t *packets, uint64_t *bytes)
{
	struct rte_mbuf *taken[BURST + 1];
	uint16_t count = 1 + random_below(BURST), got, i = 0;
	uint64_t too_long = rx.counts.too_long;
	bool is_bad = false;
	uint32_t j;

	taken[count] = &mbufs[0];
	got = receive(&rx, taken, count);
	must(got <= count && taken[count] == &mbufs[0], "more than asked for: %u", got);
	while (read_next != written && (i < got || frames[read_next & (ENTRIES - 1)].length >
						   MAX_LENGTH)) {
		struct frame *frame = &frames[read_next & (ENTRIES - 1)];

		/* What stands behind the last frame may have been looked at, or not. */
		if (frame->length > MAX_LENGTH && !frame->is_bad) {
			if (i == got && rx.counts.too_long == too_long)
				break;
			too_long++;
			read_next++;
			continue;
		}
		if (i == got)
			break;
		must(!frame->is_bad, "a bad one is received");
		check(taken[i++], frame);
		*bytes += frame->length;
		for (j = 0; j < frame->buffers; j++)
			give_back(frame->mbuf[j]);
		read_next++;
	}
	must(i == got, "%u received, %u there", got, i);
	must(rx.counts.too_long == too_long, "%" PRIu64 " too long", rx.counts.too_long);
	*packets += got;
	must(rx.counts.packets == *packets && rx.counts.bytes == *bytes, "counters");
	if (got < count && read_next != written) {
		is_bad = frames[read_next & (ENTRIES - 1)].is_bad;
		must(is_bad, "%u of %u, and more there", got, count);
	}
	must(rx.is_off == is_bad, "the queue says nothing");
	must(rx.completed == read_next, "%u completed", rx.completed);
	return !is_bad;
}

/* The card hears of what was read, and never of less than before. */
static void
check_told(void)
{
	uint32_t told = doorbells[QDMA_DOORBELL_CMPT_CIDX / 4] & (ENTRIES - 1);

	must(((told - heard) & (ENTRIES - 1)) <= ((read_next - heard) & (ENTRIES - 1)),
	     "told %u after %u, of %u", told, heard, read_next & (ENTRIES - 1));
	heard = told;
}

/* Where queues interrupt, another thread may do so at any time but while this one tells the card. */
static void
change_mode(void)
{
	uint32_t mode = random_below(2) ? QDMA_DOORBELL_CMPT_ARM : 0;

	must(!rte_spinlock_is_locked(&rx.lock), "the lock is kept");
	meridian_set_mode(&rx, mode);
	must(doorbells[QDMA_DOORBELL_CMPT_CIDX / 4] == (mode | (read_next & (ENTRIES - 1))),
	     "%#x", doorbells[QDMA_DOORBELL_CMPT_CIDX / 4]);
}

/* Return: frames. */
static uint64_t
run(eth_rx_burst_t receive, unsigned int rounds)
{
	uint64_t packets = 0, bytes = 0, all = 0;
	bool may_be_bad = false;

	begin();
	for (round_number = 0; round_number < rounds; round_number++) {
		unsigned int count = random_below(3) ? random_below(BURST) : random_below(ENTRIES);

		while (count-- && card_writes(may_be_bad))
			;
		if (burst(receive, &packets, &bytes)) {
			check_told();
			if (is_locked && random_below(4) == 0)
				change_mode();
			/* Long ways without a fault, too. */
			may_be_bad = round_number % 4096 > 2048;
			continue;
		}
		must(receive(&rx, (struct rte_mbuf *[1]){ NULL }, 1) == 0, "a failed queue");
		must(rx.counts.bad_completion == 1, "%" PRIu64, rx.counts.bad_completion);
		begin();
		all += packets;
		packets = bytes = 0;
	}
	return all + packets;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		eth_rx_burst_t receive;
		bool is_locked;
	} ways[] = {
		{ "simple", meridian_recv_simple, false },
		{ "scattered", meridian_recv_scattered, false },
		{ "locked-simple", meridian_locked_simple, true },
		{ "locked-scattered", meridian_locked_scattered, true },
#if defined(RTE_ARCH_X86)
		{ "sse", meridian_recv_sse, false },
		{ "avx2", meridian_recv_avx2, false },
		{ "locked-sse", meridian_locked_sse, true },
		{ "locked-avx2", meridian_locked_avx2, true },
#elif defined(RTE_ARCH_ARM64)
		{ "neon", meridian_recv_neon, false },
		{ "locked-neon", meridian_locked_neon, true },
#endif
	};
	unsigned int i;

	for (i = 0; argc == 4 && i < RTE_DIM(ways); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		random_state = strtoull(argv[3], NULL, 10) | 1;
		is_locked = ways[i].is_locked;
		is_scattered = strstr(ways[i].name, "scattered") != NULL;
		is_vector = !is_scattered && strstr(ways[i].name, "simple") == NULL;
		printf("%" PRIu64 " frames\n", run(ways[i].receive, strtoul(argv[2], NULL, 10)));
		return 0;
	}
	fprintf(stderr, "usage: receive_test WAY ROUNDS SEED, this machine's ways:");
	for (i = 0; i < RTE_DIM(ways); i++)
		fprintf(stderr, " %s", ways[i].name);
	fputc('\n', stderr);
	return 2;
}
