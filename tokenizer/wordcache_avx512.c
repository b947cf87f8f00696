/* wordcache.h with AVX-512: the keys and places of 16 words at once. */
#include "tokenizer/wordcache.h"

#include <immintrin.h>

/* Four words, one in each 128 bits. */
static inline __m512i four_words(const char *text, const uint32_t *starts)
{
	const __m128i a = _mm_loadu_si128((const void *)(text + starts[0])),
		      b = _mm_loadu_si128((const void *)(text + starts[1]));
	const __m128i c = _mm_loadu_si128((const void *)(text + starts[2])),
		      d = _mm_loadu_si128((const void *)(text + starts[3]));
	const __m256i ab = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
	const __m256i cd = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

	return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

/* Cuts words FIRST to FIRST + 3 of the 16 to their lengths, which are bytes of LENS at every fourth place. */
static inline __m512i cut(__m512i words, __m512i lens, int first)
{
	const __m512i lane = _mm512_set_epi64(0x0C0C0C0C0C0C0C0C, 0x0C0C0C0C0C0C0C0C, 0x0808080808080808,
					      0x0808080808080808, 0x0404040404040404, 0x0404040404040404, 0, 0);
	const __m512i place = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0F0E0D0C0B0A0908, 0x0706050403020100));
	const __m512i len = _mm512_permutexvar_epi8(_mm512_add_epi8(lane, _mm512_set1_epi8((char)(4 * first))), lens);

	return _mm512_maskz_mov_epi8(_mm512_cmplt_epu8_mask(place, len), words);
}

/* wordcache_place without the factor, in both halves of each 128 bits. */
static inline __m512i numbers_of(__m512i keys, __m128i shift)
{
	const __m512i mix =
		_mm512_broadcast_i32x4(_mm_set_epi64x((long long)WORDCACHE_MIX_HIGH, (long long)WORDCACHE_MIX_LOW));
	__m512i x = _mm512_mullo_epi64(keys, mix);

	x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
	x = _mm512_xor_si512(x, _mm512_permutex_epi64(x, 0xB1)); /* halves swapped */
	x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)WORDCACHE_MIX));
	return _mm512_srl_epi64(x, shift);
}

static inline void prepare_16(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends,
			      struct wordkey *keys, uint32_t *sets)
{
	const __m512i pick = _mm512_set_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0);
	const __m128i shift = _mm_cvtsi32_si128((int)c->shift);
	const __m512i lens = _mm512_sub_epi32(_mm512_loadu_si512(ends), _mm512_loadu_si512(starts));
	const __m512i most = _mm512_min_epu32(lens, _mm512_set1_epi32(WORDCACHE_KEY));
	const __mmask16 too_long = _mm512_cmpgt_epu32_mask(lens, _mm512_set1_epi32(WORDCACHE_KEY));
	__m512i k[4], low, high;

	for (int i = 0; i < 4; i++) {
		k[i] = cut(four_words(text, starts + 4 * i), most, 4 * i);
		_mm512_storeu_si512(keys + 4 * i, k[i]);
		k[i] = numbers_of(k[i], shift);
	}
	low = _mm512_permutex2var_epi32(k[0], pick, k[1]);
	high = _mm512_permutex2var_epi32(k[2], pick, k[3]);
	low = _mm512_slli_epi32(_mm512_shuffle_i64x2(low, high, 0x44), 6); /* times sizeof(struct wordcache_set) */
	_mm512_storeu_si512(sets, low);
	for (unsigned left = too_long; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctz(left);

		sets[i] = wordcache_long_place(c, text + starts[i], ends[i] - starts[i]);
	}
	for (int i = 0; i < 16; i++)
		_mm_prefetch((const void *)wordcache_set(c, sets[i]), _MM_HINT_T0);
}

void wordcache_prepare_avx512(const struct wordcache *c, const char *text, const uint32_t *starts, const uint32_t *ends,
			      size_t n, struct wordcache_group *g)
{
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		prepare_16(c, text, starts + i, ends + i, g->keys + i, g->sets + i);
	for (; i < n; i++) {
		const uint32_t len = ends[i] - starts[i];
		const __mmask16 mask = len < WORDCACHE_KEY ? (__mmask16)((1u << len) - 1) : 0xFFFF;
		const __m128i key = _mm_maskz_loadu_epi8(mask, text + starts[i]);
		const uint32_t set =
			wordcache_place(c, (uint64_t)_mm_cvtsi128_si64(key), (uint64_t)_mm_extract_epi64(key, 1));

		_mm_storeu_si128((void *)&g->keys[i], key);
		g->sets[i] = len <= WORDCACHE_KEY ? set : wordcache_long_place(c, text + starts[i], len);
		_mm_prefetch((const void *)wordcache_set(c, g->sets[i]), _MM_HINT_T0);
	}
}
