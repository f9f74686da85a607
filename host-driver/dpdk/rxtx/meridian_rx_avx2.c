/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive by AVX2, eight frames at a time. Vectors have frames 0 to 3 in their lower half and 4 to
 * 7 in their upper one, for AVX2 moves nearly nothing between halves.
 */
#include <immintrin.h>

#include "meridian_rx_vector.h"

#define LANES	8
#define HALF	4

/* A table of 16 bytes in both halves. */
static inline __m256i
twice(const uint8_t *table)
{
	return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)table));
}

/* Flags of eight frames by the last words of their completions. */
static inline __m256i
flags_of(__m256i words, __m256i types)
{
	static const uint8_t tag_and_ip[16] __rte_aligned(16) = TAG_AND_IP_FLAGS;
	static const uint8_t l4[16] __rte_aligned(16) = L4_FLAGS;
	__m256i a = _mm256_and_si256(_mm256_srli_epi32(words, STRIPPED_SHIFT),
				     _mm256_set1_epi32(STRIPPED_MASK));
	__m256i b = _mm256_and_si256(_mm256_srli_epi32(words, L4_SHIFT),
				     _mm256_set1_epi32(L4_MASK));
	__m256i hashed = _mm256_andnot_si256(_mm256_cmpeq_epi32(types, _mm256_setzero_si256()),
					     _mm256_set1_epi32(RTE_MBUF_F_RX_RSS_HASH));

	/* Bytes beside the index are 0, and the table's first entry is, too. */
	a = _mm256_shuffle_epi8(twice(tag_and_ip), a);
	b = _mm256_slli_epi32(_mm256_shuffle_epi8(twice(l4), b), 1);
	return _mm256_or_si256(_mm256_or_si256(a, b), hashed);
}

/* Packet types of eight frames. */
static inline __m256i
types_of(__m256i types)
{
	static const uint8_t low[16] __rte_aligned(16) = LOW_TYPES;
	static const uint8_t high[16] __rte_aligned(16) = HIGH_TYPES;
	const __m256i byte = _mm256_set1_epi32(0xff);
	__m256i a = _mm256_and_si256(_mm256_shuffle_epi8(twice(low), types), byte);
	__m256i b = _mm256_and_si256(_mm256_shuffle_epi8(twice(high), types), byte);

	return _mm256_or_si256(a, _mm256_slli_epi32(b, 8));
}

static __rte_always_inline bool
receive_eight(struct meridian_rx *rx, struct rte_mbuf **mbufs, uint64_t *bytes)
{
	static const uint8_t shuffle[16] __rte_aligned(16) = FIELDS_SHUFFLE;
	const __m256i fields = twice(shuffle);
	const __m256i rearm = _mm256_set_epi64x(0, rx->mbuf_words, 0, rx->mbuf_words);
	const __m256i offloads = _mm256_set1_epi32((int)rx->offload_mask);
	const __m128i *entries = meridian_next_lanes(rx, LANES);
	struct rte_mbuf **buffers = &rx->buffer[rx->taken & rx->mask];
	__m256i e[HALF], low, high, odd, words, lengths, flags, types, bad;
	__m128i sum;
	unsigned int i;

	if (entries == NULL)
		return false;
	for (i = 0; i < HALF; i++)
		e[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(&entries[i])),
					       _mm_load_si128(&entries[i + HALF]), 1);

	/* Transposed: words 0 and 1 of each, then word 3. */
	low = _mm256_unpacklo_epi32(e[0], e[1]);
	high = _mm256_unpacklo_epi32(e[2], e[3]);
	odd = _mm256_unpacklo_epi64(low, high);
	lengths = _mm256_and_si256(_mm256_unpackhi_epi64(low, high), _mm256_set1_epi32(0xffff));
	low = _mm256_unpackhi_epi32(e[0], e[1]);
	high = _mm256_unpackhi_epi32(e[2], e[3]);
	words = _mm256_unpackhi_epi64(low, high);

	/* Errors, frames of no length, and such that are too long. */
	bad = _mm256_slli_epi32(odd, ERROR_TO_SIGN);
	bad = _mm256_or_si256(bad, _mm256_cmpeq_epi32(lengths, _mm256_setzero_si256()));
	bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(lengths,
						      _mm256_set1_epi32((int)rx->single_length)));
	if (unlikely(_mm256_movemask_ps(_mm256_castsi256_ps(bad))))
		return false;

	types = _mm256_and_si256(_mm256_srli_epi32(words, HASH_TYPE_SHIFT),
				 _mm256_set1_epi32(HASH_TYPE_MASK));
	flags = _mm256_and_si256(flags_of(words, types), offloads);
	types = types_of(types);

	/* What rearms and flags of two frames, what receive fills of both; each in one piece. */
#define TWO(n) do { \
		__m256i head = _mm256_blend_epi32(rearm, _mm256_shuffle_epi32(flags, 0x55 * (n)), \
						  0x44); \
		__m256i tail = _mm256_blend_epi32(_mm256_shuffle_epi8(e[n], fields), \
						  _mm256_shuffle_epi32(types, 0x55 * (n)), 0x11); \
		_mm256_storeu_si256((__m256i *)&buffers[n]->rearm_data, \
				    _mm256_permute2x128_si256(head, tail, 0x20)); \
		_mm256_storeu_si256((__m256i *)&buffers[(n) + HALF]->rearm_data, \
				    _mm256_permute2x128_si256(head, tail, 0x31)); \
	} while (0)
	TWO(0);
	TWO(1);
	TWO(2);
	TWO(3);
#undef TWO
	_mm256_storeu_si256((__m256i *)&mbufs[0], _mm256_loadu_si256((const __m256i *)&buffers[0]));
	_mm256_storeu_si256((__m256i *)&mbufs[HALF],
			    _mm256_loadu_si256((const __m256i *)&buffers[HALF]));
	sum = _mm_add_epi32(_mm256_castsi256_si128(lengths), _mm256_extracti128_si256(lengths, 1));
	sum = _mm_add_epi32(sum, _mm_srli_si128(sum, 8));
	*bytes += (uint32_t)_mm_cvtsi128_si32(sum) + (uint32_t)_mm_extract_epi32(sum, 1);
	return true;
}

uint16_t
meridian_recv_avx2(void *queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return meridian_recv_lanes(queue, mbufs, count, LANES, receive_eight, meridian_recv_sse);
}
