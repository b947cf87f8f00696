/* wordcache.h with AVX2 and BMI2. */
#include "tokenizer/wordcache.h"

#include <immintrin.h>

void wordcache_prepare_avx2(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends,
			    size_t n, struct wordcache_group *g)
{
	static const unsigned char kept[2 * WORDCACHE_KEY] = {
		/* from kept + 16 - len on: LEN bytes 255, then zeros */
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	};

	for (size_t i = 0; i < n; i++) {
		const size_t len = ends[i] - starts[i], used = len < WORDCACHE_KEY ? len : WORDCACHE_KEY;
		const __m128i mask = _mm_loadu_si128((const void *)(kept + WORDCACHE_KEY - used));
		const __m128i key = _mm_and_si128(_mm_loadu_si128((const void *)(text + starts[i])), mask);
		const uint32_t set =
			wordcache_place(c, (uint64_t)_mm_cvtsi128_si64(key), (uint64_t)_mm_extract_epi64(key, 1));

		_mm_storeu_si128((void *)&g->keys[i], key);
		g->sets[i] = len <= WORDCACHE_KEY ? set : wordcache_long_place(c, text + starts[i], len);
		_mm_prefetch((const void *)wordcache_set(c, g->sets[i]), _MM_HINT_T0);
	}
}

/* The ids of KEY in SET, or NULL. */
static inline const union wordcache_ids *find(const struct wordcache_set *set, const struct wordkey *key)
{
	const __m256i both = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)key));
	const __m256i same = _mm256_cmpeq_epi64(both, _mm256_load_si256((const void *)set->keys));
	const unsigned halves = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
	const unsigned hit = halves & halves >> 1 & 5; /* 1: the first, 4: the second */

	return hit ? &set->ids[hit >> 2] : NULL;
}

size_t wordcache_take_narrow_avx2(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
				  uint32_t **out)
{
	uint32_t *o = *out;

	for (; from < to; from++) {
		const union wordcache_ids *const ids = find(wordcache_set(c, g->sets[from]), &g->keys[from]);

		if (!ids)
			break;
		_mm256_storeu_si256((void *)o, _mm256_cvtepu16_epi32(_mm_load_si128((const void *)ids)));
		o += ids->narrow[WORDCACHE_NARROW] >> 8;
	}
	*out = o;
	return from;
}

size_t wordcache_take_wide_avx2(const struct wordcache *c, const struct wordcache_group *g, size_t from, size_t to,
				uint32_t **out)
{
	uint32_t *o = *out;

	for (; from < to; from++) {
		const union wordcache_ids *const ids = find(wordcache_set(c, g->sets[from]), &g->keys[from]);

		if (!ids)
			break;
		_mm_storeu_si128((void *)o, _mm_and_si128(_mm_load_si128((const void *)ids), _mm_set1_epi32(0xFFFFFF)));
		o += ids->wide[WORDCACHE_WIDE - 1] >> 24;
	}
	*out = o;
	return from;
}
