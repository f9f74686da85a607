/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive by SSE 4.2, four frames at a time. */
#include <smmintrin.h>

#include "meridian_rx_vector.h"

#define LANES	4

/* Flags of four frames by the last words of their completions. */
static inline __m128i
flags_of(__m128i words, __m128i types)
{
	static const uint8_t tag_and_ip[16] __rte_aligned(16) = TAG_AND_IP_FLAGS;
	static const uint8_t l4[16] __rte_aligned(16) = L4_FLAGS;
	__m128i a = _mm_and_si128(_mm_srli_epi32(words, STRIPPED_SHIFT),
				  _mm_set1_epi32(STRIPPED_MASK));
	__m128i b = _mm_and_si128(_mm_srli_epi32(words, L4_SHIFT), _mm_set1_epi32(L4_MASK));
	__m128i hashed = _mm_andnot_si128(_mm_cmpeq_epi32(types, _mm_setzero_si128()),
					  _mm_set1_epi32(RTE_MBUF_F_RX_RSS_HASH));

	/* Bytes beside the index are 0, and the table's first entry is, too. */
	a = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)tag_and_ip), a);
	b = _mm_slli_epi32(_mm_shuffle_epi8(_mm_load_si128((const __m128i *)l4), b), 1);
	return _mm_or_si128(_mm_or_si128(a, b), hashed);
}

/* Packet types of four frames. */
static inline __m128i
types_of(__m128i types)
{
	static const uint8_t low[16] __rte_aligned(16) = LOW_TYPES;
	static const uint8_t high[16] __rte_aligned(16) = HIGH_TYPES;
	const __m128i byte = _mm_set1_epi32(0xff);
	__m128i a = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)low), types);
	__m128i b = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)high), types);

	return _mm_or_si128(_mm_and_si128(a, byte), _mm_slli_epi32(_mm_and_si128(b, byte), 8));
}

static __rte_always_inline bool
receive_four(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint64_t *bytes)
{
	static const uint8_t shuffle[16] __rte_aligned(16) = FIELDS_SHUFFLE;
	const __m128i fields = _mm_load_si128((const __m128i *)shuffle);
	const __m128i length_mask = _mm_set1_epi32(0xffff);
	const __m128i rearm = _mm_set1_epi64x(rx->mbuf_words);
	const __m128i offloads = _mm_set1_epi32((int)rx->offload_mask);
	const __m128i *entries = meridian_next_lanes(rx, LANES);
	struct rte_mbuf **buffers = &rx->buffer[rx->taken & rx->mask];
	__m128i e[LANES], low, high, odd, words, lengths, flags, types, bad;
	unsigned int i;

	if (entries == NULL)
		return false;
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
	bad = _mm_slli_epi32(odd, ERROR_TO_SIGN);
	bad = _mm_or_si128(bad, _mm_cmpeq_epi32(lengths, _mm_setzero_si128()));
	bad = _mm_or_si128(bad, _mm_cmpgt_epi32(lengths, _mm_set1_epi32((int)rx->single_length)));
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
				 _mm_or_si128(_mm_shuffle_epi8(e[n], fields), type)); \
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
	return true;
}

uint16_t
meridian_recv_sse(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return meridian_recv_lanes(queue, mbufs, count, LANES, receive_four, meridian_recv_simple);
}
