/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive, four frames of one buffer at a time. A completion of 16 bytes is nearly what an mbuf
 * wants: one shuffle makes lengths, tag and hash of it. Anything out of the ordinary is left to
 * meridian_recv_simple().
 */
#include <smmintrin.h>

#include <rte_mbuf.h>

#include "../include/meridian_regs.h"
#include "meridian_queue.h"

#define LANES	4

/* Bits of the last word of a completion. */
#define HASH_TYPE_SHIFT	MERIDIAN_COMPLETION_HASH_TYPE_SHIFT
#define STRIPPED_SHIFT	MERIDIAN_COMPLETION_VLAN_STRIPPED_SHIFT
#define L4_SHIFT	MERIDIAN_COMPLETION_L4_CHECKSUM_SHIFT
#define HASH_TYPE_MASK	(MERIDIAN_COMPLETION_HASH_TYPE_MASK >> HASH_TYPE_SHIFT)
#define STRIPPED_MASK	((MERIDIAN_COMPLETION_VLAN_STRIPPED_MASK | \
			  MERIDIAN_COMPLETION_IP_CHECKSUM_MASK) >> STRIPPED_SHIFT)
#define L4_MASK		(MERIDIAN_COMPLETION_L4_CHECKSUM_MASK >> L4_SHIFT)

static_assert(STRIPPED_MASK == 7, "tag and IP verdict are neighbours");
static_assert(offsetof(struct rte_mbuf, ol_flags) == offsetof(struct rte_mbuf, rearm_data) + 8,
	      "flags are behind what rearms");
static_assert(offsetof(struct rte_mbuf, pkt_len) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 4 &&
	      offsetof(struct rte_mbuf, data_len) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 8 &&
	      offsetof(struct rte_mbuf, vlan_tci) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 10 &&
	      offsetof(struct rte_mbuf, hash) ==
	      offsetof(struct rte_mbuf, rx_descriptor_fields1) + 12,
	      "an mbuf is as the shuffle makes it");

bool
meridian_has_vector(void)
{
	return true;
}

/* Flags of four frames by the last words of their completions. */
static inline __m128i
flags_of(__m128i words, __m128i types)
{
	const __m128i tag_and_ip = _mm_setr_epi8(
		0,
		(char)(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED),
		(char)RTE_MBUF_F_RX_IP_CKSUM_GOOD,
		(char)(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED |
		       RTE_MBUF_F_RX_IP_CKSUM_GOOD),
		(char)RTE_MBUF_F_RX_IP_CKSUM_BAD,
		(char)(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED |
		       RTE_MBUF_F_RX_IP_CKSUM_BAD),
		0, (char)(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED),
		0, 0, 0, 0, 0, 0, 0, 0);
	/* Halved, for they do not fit in a byte. */
	const __m128i l4 = _mm_setr_epi8(
		0, (char)(RTE_MBUF_F_RX_L4_CKSUM_GOOD >> 1), RTE_MBUF_F_RX_L4_CKSUM_BAD >> 1, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	__m128i a = _mm_and_si128(_mm_srli_epi32(words, STRIPPED_SHIFT),
				  _mm_set1_epi32(STRIPPED_MASK));
	__m128i b = _mm_and_si128(_mm_srli_epi32(words, L4_SHIFT), _mm_set1_epi32(L4_MASK));
	__m128i hashed = _mm_andnot_si128(_mm_cmpeq_epi32(types, _mm_setzero_si128()),
					  _mm_set1_epi32(RTE_MBUF_F_RX_RSS_HASH));

	/* Bytes beside the index are 0, and the table's first entry is, too. */
	a = _mm_shuffle_epi8(tag_and_ip, a);
	b = _mm_slli_epi32(_mm_shuffle_epi8(l4, b), 1);
	return _mm_or_si128(_mm_or_si128(a, b), hashed);
}

/* Packet types of four frames. */
static inline __m128i
types_of(__m128i types)
{
	const __m128i low = _mm_setr_epi8(
		RTE_PTYPE_L2_ETHER,
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN),
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN),
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN),
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN),
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN),
		(char)(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN),
		1, 1, 1, 1, 1, 1, 1, 1, 1);
	const __m128i high = _mm_setr_epi8(
		0, 0, RTE_PTYPE_L4_TCP >> 8, RTE_PTYPE_L4_UDP >> 8, 0, RTE_PTYPE_L4_TCP >> 8,
		RTE_PTYPE_L4_UDP >> 8, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	const __m128i byte = _mm_set1_epi32(0xff);

	return _mm_or_si128(_mm_and_si128(_mm_shuffle_epi8(low, types), byte),
			    _mm_slli_epi32(_mm_and_si128(_mm_shuffle_epi8(high, types), byte), 8));
}

/* Four frames, or false: then nothing has happened, and the other way is to be gone. */
static inline bool
receive_four(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint64_t *bytes)
{
	/* Of a completion: length, length and tag, hash. */
	const __m128i shuffle = _mm_setr_epi8(-1, -1, -1, -1, 4, 5, -1, -1, 4, 5, 12, 13, 8, 9, 10,
					      11);
	const __m128i length_mask = _mm_set1_epi32(0xffff);
	const __m128i rearm = _mm_set1_epi64x(rx->mbuf_words);
	const __m128i offloads = _mm_set1_epi32((int)rx->offload_mask);
	const uint32_t color = ~(rx->completed >> rx->color_shift) & 1;
	const __m128i *entries = (const __m128i *)rx->completions +
				 (rx->completed & rx->completion_mask);
	struct rte_mbuf **buffers = &rx->buffer[rx->taken & rx->mask];
	__m128i e[LANES], low, high, odd, words, lengths, flags, types, bad;
	unsigned int i;

	/* The card writes in order, so the last one's colour is that of all. */
	if (qdma_completion_color(*(const volatile uint64_t *)&entries[LANES - 1]) != color)
		return false;
	rte_io_rmb();
	for (i = 0; i < LANES; i++)
		e[i] = _mm_load_si128(&entries[i]);

	/* Transposed: words 0 and 1 of each, then word 3. */
	low = _mm_unpacklo_epi32(e[0], e[1]);
	high = _mm_unpacklo_epi32(e[2], e[3]);
	odd = _mm_unpacklo_epi64(low, high);
	lengths = _mm_and_si128(_mm_unpackhi_epi64(low, high), length_mask);
	low = _mm_unpackhi_epi32(e[0], e[1]);
	high = _mm_unpackhi_epi32(e[2], e[3]);
	words = _mm_unpackhi_epi64(low, high);

	/* Errors, frames of no length, and such that are too long. */
	bad = _mm_slli_epi32(odd, 31 - MERIDIAN_COMPLETION_ERROR_SHIFT);
	bad = _mm_or_si128(bad, _mm_cmpeq_epi32(lengths, _mm_setzero_si128()));
	bad = _mm_or_si128(bad, _mm_cmpgt_epi32(lengths, _mm_set1_epi32((int)rx->max_length)));
	if (unlikely(_mm_movemask_ps(_mm_castsi128_ps(bad))))
		return false;

	types = _mm_and_si128(_mm_srli_epi32(words, HASH_TYPE_SHIFT),
			      _mm_set1_epi32(HASH_TYPE_MASK));
	flags = _mm_and_si128(flags_of(words, types), offloads);
	types = types_of(types);

#define ONE(n) do { \
		struct rte_mbuf *mbuf = buffers[n]; \
		__m128i type = _mm_insert_epi32(_mm_setzero_si128(), \
						_mm_extract_epi32(types, n), 0); \
		__m128i flag = _mm_insert_epi32(rearm, _mm_extract_epi32(flags, n), 2); \
		_mm_storeu_si128((__m128i *)&mbuf->rx_descriptor_fields1, \
				 _mm_or_si128(_mm_shuffle_epi8(e[n], shuffle), type)); \
		_mm_store_si128((__m128i *)&mbuf->rearm_data, \
				_mm_insert_epi32(flag, 0, 3)); \
	} while (0)
	ONE(0);
	ONE(1);
	ONE(2);
	ONE(3);
#undef ONE
	_mm_storeu_si128((__m128i *)&mbufs[0], _mm_loadu_si128((const __m128i *)&buffers[0]));
	_mm_storeu_si128((__m128i *)&mbufs[2], _mm_loadu_si128((const __m128i *)&buffers[2]));
	lengths = _mm_add_epi32(lengths, _mm_srli_si128(lengths, 8));
	*bytes += (uint32_t)_mm_cvtsi128_si32(lengths) + (uint32_t)_mm_extract_epi32(lengths, 1);
	rx->completed += LANES;
	rx->taken += LANES;
	return true;
}

uint16_t
meridian_recv_vector(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	struct meridian_rx *rx = queue;
	uint32_t slots = rx->mask + 1;
	uint16_t frames = 0;
	uint64_t bytes = 0;

	if (unlikely(rx->is_failed))
		return 0;
	/* Both rings have room for four before their end, and there are so many buffers. */
	while (count - frames >= LANES && rx->posted - rx->taken >= LANES &&
	       (rx->taken & rx->mask) <= slots - LANES &&
	       (rx->completed & rx->completion_mask) <= rx->completion_mask + 1 - LANES) {
		if (!receive_four(rx, &mbufs[frames], &bytes))
			break;
		frames += LANES;
	}
	rx->packets += frames;
	rx->bytes += bytes;
	/* What is left is few frames, the end of a ring, or an exception. */
	if (frames == count) {
		meridian_fill_rx(rx);
		meridian_tell_completions(rx);
		return frames;
	}
	return frames + meridian_recv_simple(queue, &mbufs[frames], count - frames);
}
