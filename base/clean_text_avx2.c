/* clean_text.h with AVX2. */
#include "base/clean_masks.h"

#include <immintrin.h>

static inline __m256i each(unsigned char byte)
{
	return _mm256_set1_epi8((char)byte);
}

static inline __m256i load(const char *p)
{
	return _mm256_loadu_si256((const void *)p);
}

static inline uint64_t bits_of(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* Signed comparison: bytes beyond ASCII are below all. */
static inline __m256i is_plain(__m256i x)
{
	return _mm256_andnot_si256(_mm256_cmpeq_epi8(x, each(0x7F)), _mm256_cmpgt_epi8(x, each(' ')));
}

static inline struct clean_masks clean_masks_of(const char *p)
{
	const __m256i low = load(p), high = load(p + 32);

	return (struct clean_masks){
		.newlines = bits_of(_mm256_cmpeq_epi8(low, each('\n')), _mm256_cmpeq_epi8(high, each('\n'))),
		.returns = bits_of(_mm256_cmpeq_epi8(low, each('\r')), _mm256_cmpeq_epi8(high, each('\r'))),
		.plain = bits_of(is_plain(low), is_plain(high)),
		.beyond = bits_of(low, high)
	};
}

/* TABLE by the low halves of X. */
static inline __m256i look_up(const unsigned char table[16], __m256i x)
{
	const __m256i t = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table));

	return _mm256_shuffle_epi8(t, _mm256_and_si256(x, each(0x0F)));
}

static inline __m256i faults_of(const char *p)
{
	const __m256i before = load(p - 1);
	const __m256i third = _mm256_subs_epu8(load(p - 2), each(0xE0 - 0x80));
	const __m256i fourth = _mm256_subs_epu8(load(p - 3), each(0xF0 - 0x80));
	const __m256i faults =
		_mm256_and_si256(look_up(faults_of_high_before, _mm256_srli_epi16(before, 4)),
				 _mm256_and_si256(look_up(faults_of_low_before, before),
						  look_up(faults_of_high, _mm256_srli_epi16(load(p), 4))));

	return _mm256_xor_si256(faults, _mm256_and_si256(_mm256_or_si256(third, fourth), each(0x80)));
}

static inline bool clean_is_valid(const char *p)
{
	const __m256i faults = _mm256_or_si256(faults_of(p), faults_of(p + 32));

	return _mm256_testz_si256(faults, faults);
}

size_t clean_text_avx2(const char *text, size_t len, uint32_t *doubtful, size_t max, size_t *n_doubtful)
{
	return clean_run(text, len, doubtful, max, n_doubtful);
}
