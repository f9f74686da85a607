/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive by NEON, four frames at a time. */
#include <rte_vect.h>

#include "meridian_rx_vector.h"

#define LANES	4

/* A byte of each word by the word's lowest one. Bytes beside it are 0, and so is 0's entry here. */
static inline uint32x4_t
look_up(const uint8_t *table, uint32x4_t words)
{
	return vreinterpretq_u32_u8(vqtbl1q_u8(vld1q_u8(table), vreinterpretq_u8_u32(words)));
}

/* Two pairs of words, joined. */
static inline uint32x4_t
join_low(uint32x4_t a, uint32x4_t b)
{
	return vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(a),
						  vreinterpretq_u64_u32(b)));
}

static inline uint32x4_t
join_high(uint32x4_t a, uint32x4_t b)
{
	return vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(a),
						  vreinterpretq_u64_u32(b)));
}

/* Flags of four frames by the last words of their completions. */
static inline uint32x4_t
flags_of(uint32x4_t words, uint32x4_t types)
{
	static const uint8_t tag_and_ip[16] = TAG_AND_IP_FLAGS;
	static const uint8_t l4[16] = L4_FLAGS;
	uint32x4_t a = vandq_u32(vshrq_n_u32(words, STRIPPED_SHIFT), vdupq_n_u32(STRIPPED_MASK));
	uint32x4_t b = vandq_u32(vshrq_n_u32(words, L4_SHIFT), vdupq_n_u32(L4_MASK));
	uint32x4_t hashed = vandq_u32(vtstq_u32(types, types), vdupq_n_u32(RTE_MBUF_F_RX_RSS_HASH));

	a = look_up(tag_and_ip, a);
	b = vshlq_n_u32(look_up(l4, b), 1);
	return vorrq_u32(vorrq_u32(a, b), hashed);
}

/* Packet types of four frames. */
static inline uint32x4_t
types_of(uint32x4_t types)
{
	static const uint8_t low[16] = LOW_TYPES;
	static const uint8_t high[16] = HIGH_TYPES;
	const uint32x4_t byte = vdupq_n_u32(0xff);
	uint32x4_t a = vandq_u32(look_up(low, types), byte);
	uint32x4_t b = vandq_u32(look_up(high, types), byte);

	return vorrq_u32(a, vshlq_n_u32(b, 8));
}

static __rte_always_inline bool
receive_four(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint64_t *bytes)
{
	static const uint8_t shuffle[16] = FIELDS_SHUFFLE;
	const uint8x16_t fields = vld1q_u8(shuffle);
	const uint32x4_t rearm = vreinterpretq_u32_u64(vsetq_lane_u64(rx->mbuf_words,
								      vdupq_n_u64(0), 0));
	const uint32x4_t offloads = vdupq_n_u32((uint32_t)rx->offload_mask);
	const uint32_t *entries = meridian_next_lanes(rx, LANES);
	struct rte_mbuf **buffers = &rx->buffer[rx->taken & rx->mask];
	uint32x4_t e[LANES], low, high, odd, words, lengths, flags, types, bad;
	unsigned int i;

	if (entries == NULL)
		return false;
	for (i = 0; i < LANES; i++)
		e[i] = vld1q_u32(&entries[4 * i]);

	/* Transposed: words 0 and 1 of each, then word 3. */
	low = vzip1q_u32(e[0], e[1]);
	high = vzip1q_u32(e[2], e[3]);
	odd = join_low(low, high);
	lengths = vandq_u32(join_high(low, high), vdupq_n_u32(0xffff));
	low = vzip2q_u32(e[0], e[1]);
	high = vzip2q_u32(e[2], e[3]);
	words = join_high(low, high);

	/* Errors, frames of no length, and such that are too long. */
	bad = vshrq_n_u32(vshlq_n_u32(odd, ERROR_TO_SIGN), 31);
	bad = vorrq_u32(bad, vceqzq_u32(lengths));
	bad = vorrq_u32(bad, vcgtq_u32(lengths, vdupq_n_u32(rx->single_length)));
	if (unlikely(vmaxvq_u32(bad)))
		return false;

	types = vandq_u32(vshrq_n_u32(words, HASH_TYPE_SHIFT), vdupq_n_u32(HASH_TYPE_MASK));
	flags = vandq_u32(flags_of(words, types), offloads);
	types = types_of(types);

#define ONE(n) do { \
		uint32_t *mbuf = (uint32_t *)&buffers[n]->rearm_data; \
		uint32x4_t tail = vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(e[n]), \
								  fields)); \
		vst1q_u32(mbuf, vsetq_lane_u32(vgetq_lane_u32(flags, n), rearm, 2)); \
		vst1q_u32(mbuf + 4, vsetq_lane_u32(vgetq_lane_u32(types, n), tail, 0)); \
		mbufs[n] = buffers[n]; \
	} while (0)
	ONE(0);
	ONE(1);
	ONE(2);
	ONE(3);
#undef ONE
	*bytes += vaddvq_u32(lengths);
	return true;
}

uint16_t
meridian_recv_neon(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return meridian_recv_lanes(queue, mbufs, count, LANES, receive_four, meridian_recv_simple);
}
