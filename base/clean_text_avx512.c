/* clean_text.h with AVX-512 BW. */
#include "base/clean_masks.h"

#include <immintrin.h>

static inline __m512i each(unsigned char byte)
{
	return _mm512_set1_epi8((char)byte);
}

static inline struct clean_masks clean_masks_of(const char *p)
{
	const __m512i x = _mm512_loadu_si512(p);

	return (struct clean_masks){ .newlines = _mm512_cmpeq_epi8_mask(x, each('\n')),
				     .returns = _mm512_cmpeq_epi8_mask(x, each('\r')),
				     .plain =
					     _mm512_cmplt_epu8_mask(_mm512_sub_epi8(x, each('!')), each('~' + 1 - '!')),
				     .beyond = _mm512_movepi8_mask(x) };
}

/* TABLE by the low halves of X. */
static inline __m512i look_up(const unsigned char table[16], __m512i x)
{
	const __m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)table));

	return _mm512_shuffle_epi8(t, _mm512_and_si512(x, each(0x0F)));
}

static inline bool clean_is_valid(const char *p)
{
	const __m512i x = _mm512_loadu_si512(p), before = _mm512_loadu_si512(p - 1);
	const __m512i third = _mm512_subs_epu8(_mm512_loadu_si512(p - 2), each(0xE0 - 0x80));
	const __m512i fourth = _mm512_subs_epu8(_mm512_loadu_si512(p - 3), each(0xF0 - 0x80));
	const __m512i faults = _mm512_and_si512(look_up(faults_of_high_before, _mm512_srli_epi16(before, 4)),
						_mm512_and_si512(look_up(faults_of_low_before, before),
								 look_up(faults_of_high, _mm512_srli_epi16(x, 4))));
	const __m512i must = _mm512_and_si512(_mm512_or_si512(third, fourth), each(0x80));

	return !_mm512_test_epi8_mask(_mm512_xor_si512(faults, must), each(0xFF));
}

size_t clean_text_avx512(const char *text, size_t len, uint32_t *doubtful, size_t max, size_t *n_doubtful)
{
	return clean_run(text, len, doubtful, max, n_doubtful);
}
