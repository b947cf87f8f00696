/* plain_words.h with AVX-512 BW and VBMI2. */
#include <immintrin.h>

struct plain_tables {
	__m512i class_low, class_high; /* of 128 characters */
	__m512i case_bit;
	__m512i leads; /* four times */
};

#include "tokenizer/plain_masks.h"

enum { LETTER = 1, MARK = 2, SEPARATOR = 4, UPPER = 0x20 };

static const unsigned char classes[128] = {
	['\t'] = SEPARATOR,   ['\n'] = SEPARATOR,     ['\r'] = SEPARATOR,   [' '] = SEPARATOR,
	['!' ... '/'] = MARK, ['0' ... '9'] = LETTER, [':' ... '@'] = MARK, ['A' ... 'Z'] = LETTER | UPPER,
	['[' ... '`'] = MARK, ['a' ... 'z'] = LETTER, ['{' ... '~'] = MARK,
};

static inline struct plain_masks plain_masks_of(const struct plain_tables *t, const char *p, size_t n, char *o)
{
	const __m512i x = n == 64 ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(((uint64_t)1 << n) - 1, p);
	const uint64_t beyond = _mm512_movepi8_mask(x);
	const __m512i class = /* which looks at seven bits of each */
		_mm512_maskz_permutex2var_epi8(~beyond, t->class_low, x, t->class_high);
	const uint64_t marks = _mm512_test_epi8_mask(class, _mm512_set1_epi8(MARK));
	struct plain_masks m = { .letters = _mm512_test_epi8_mask(class, _mm512_set1_epi8(LETTER)),
				 .first = marks,
				 .last = marks,
				 .newlines = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n')),
				 .unknown = _mm512_testn_epi8_mask(class, class) };

	if (beyond) {
		const uint64_t three = _mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)0xE0));

		m.two = _mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)0xC0)) & ~three;
		m.three = three & ~_mm512_cmpge_epu8_mask(x, _mm512_set1_epi8((char)0xF0));
		if (m.three) {
			const __m512i low = _mm512_and_si512(x, _mm512_set1_epi8(0x0F));
			const __m512i kind = _mm512_shuffle_epi8(t->leads, low);

			m.letters_by_lead = _mm512_mask_cmpeq_epi8_mask(m.three, kind, _mm512_set1_epi8(PLAIN_LETTER));
			m.words_by_lead = _mm512_mask_cmpeq_epi8_mask(m.three, kind, _mm512_set1_epi8(PLAIN_WORD));
		}
	}
	_mm512_storeu_si512(o, _mm512_ternarylogic_epi32(x, class, t->case_bit, 0xF8)); /* x | class & case_bit */
	return m;
}

static inline void write_16(uint32_t *to, uint32_t base, __m128i places)
{
	_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_set1_epi32((int)base), _mm512_cvtepu8_epi32(places)));
}

static inline size_t plain_places(uint32_t *to, uint32_t base, uint64_t bits)
{
	static const unsigned char numbers[64] = {
		0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
		22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
		44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
	};
	const __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(numbers));
	const size_t n = (size_t)__builtin_popcountll(bits);

	write_16(to, base, _mm512_castsi512_si128(places));
	write_16(to + 16, base, _mm512_extracti32x4_epi32(places, 1));
	if (n > 32) {
		write_16(to + 32, base, _mm512_extracti32x4_epi32(places, 2));
		write_16(to + 48, base, _mm512_extracti32x4_epi32(places, 3));
	}
	return n;
}

const char *plain_words_avx512(struct plain_words *w, const char *p, const char *end)
{
	const struct plain_tables t = { _mm512_loadu_si512(classes), _mm512_loadu_si512(classes + 64),
					_mm512_set1_epi8(w->rules.lower ? UPPER : 0),
					_mm512_broadcast_i32x4(_mm_loadu_si128((const void *)w->rules.leads)) };

	return plain_run(w, &t, p, end);
}
