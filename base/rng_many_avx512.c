/* rng_many.h with AVX-512. */
#include <immintrin.h>
#include <stdint.h>

#define LANES 8
typedef __m512i lanes;

static inline lanes lanes_all(uint32_t x) { return _mm512_set1_epi64(x); }

static inline lanes lanes_of(const uint32_t *p) { return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)p)); }

static inline lanes lanes_count(uint64_t n)
{
	return _mm512_add_epi64(_mm512_set1_epi64((long long)n), _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline lanes lanes_mul(lanes a, lanes b) { return _mm512_mul_epu32(a, b); }

static inline lanes lanes_add(lanes a, lanes b) { return _mm512_add_epi64(a, b); }

static inline lanes lanes_high(lanes a) { return _mm512_srli_epi64(a, 32); }

static inline lanes lanes_xor3(lanes a, lanes b, lanes c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }

static inline lanes lanes_pair(lanes a, lanes b)
{
	return _mm512_mask_blend_epi32(0xAAAA, a, _mm512_slli_epi64(b, 32));
}

static inline void lanes_store(uint64_t *p, lanes a) { _mm512_storeu_si512(p, a); }

static inline void lanes_put(uint32_t *p, lanes a, lanes b)
{
	_mm512_storeu_si512(p, _mm512_unpacklo_epi64(a, b));
	_mm512_storeu_si512(p + 16, _mm512_unpackhi_epi64(a, b));
}

#include "base/rng_lanes.h"

static unsigned blocks(const uint32_t key[2], const uint32_t high[2], uint64_t from, unsigned n, uint32_t *out)
{
	return lanes_blocks(key, high, from, n, out);
}

static void firsts(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		   const uint32_t *item, uint64_t *out)
{
	lanes_firsts(k, purpose, occurrence, pass, item, out);
}

const struct rng_many rng_many_avx512 = { blocks, firsts };
