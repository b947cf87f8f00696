/* rng_many.h with AVX2. */
#include <immintrin.h>
#include <stdint.h>

#define LANES 4
typedef __m256i lanes;

static inline lanes lanes_all(uint32_t x) { return _mm256_set1_epi64x(x); }

static inline lanes lanes_of(const uint32_t *p) { return _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)p)); }

static inline lanes lanes_count(uint64_t n)
{
	return _mm256_add_epi64(_mm256_set1_epi64x((long long)n), _mm256_setr_epi64x(0, 2, 1, 3));
}

static inline lanes lanes_mul(lanes a, lanes b) { return _mm256_mul_epu32(a, b); }

static inline lanes lanes_add(lanes a, lanes b) { return _mm256_add_epi64(a, b); }

static inline lanes lanes_high(lanes a) { return _mm256_srli_epi64(a, 32); }

static inline lanes lanes_xor3(lanes a, lanes b, lanes c) { return _mm256_xor_si256(_mm256_xor_si256(a, b), c); }

static inline lanes lanes_pair(lanes a, lanes b) { return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xAA); }

static inline void lanes_store(uint64_t *p, lanes a) { _mm256_storeu_si256((void *)p, a); }

static inline void lanes_put(uint32_t *p, lanes a, lanes b)
{
	_mm256_storeu_si256((void *)p, _mm256_unpacklo_epi64(a, b));
	_mm256_storeu_si256((void *)(p + 8), _mm256_unpackhi_epi64(a, b));
}

#include "base/rng_lanes.h"

static unsigned blocks(const uint32_t key[2], const uint32_t high[2], uint64_t from, unsigned n, uint32_t *out)
{
	return lanes_blocks(key, high, from, n, out);
}

static void firsts(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		   const uint32_t *item, uint64_t *out)
{
	for (unsigned i = 0; i < RNG_LANES; i += LANES)
		lanes_firsts(k, purpose, occurrence, pass + i, item + i, out + i);
}

const struct rng_many rng_many_avx2 = { blocks, firsts };
