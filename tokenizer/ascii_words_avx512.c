/* ascii_words.h with AVX-512 BW and VBMI2. */
#include <immintrin.h>

struct ascii_tables {
	__m512i class_low, class_high; /* of 128 characters */
	__m512i case_bit;
};

#include "tokenizer/ascii_masks.h"

enum { LETTER = 1, MARK = 2, SEPARATOR = 4, UPPER = 0x20 };

static const unsigned char classes[128] = {
	['\t'] = SEPARATOR,   ['\n'] = SEPARATOR,     ['\r'] = SEPARATOR,   [' '] = SEPARATOR,
	['!' ... '/'] = MARK, ['0' ... '9'] = LETTER, [':' ... '@'] = MARK, ['A' ... 'Z'] = LETTER | UPPER,
	['[' ... '`'] = MARK, ['a' ... 'z'] = LETTER, ['{' ... '~'] = MARK,
};

static inline struct ascii_masks ascii_masks_of(const struct ascii_tables *t, const char *p, size_t n, char *o)
{
	const __m512i x = n == 64 ? _mm512_loadu_si512(p) : _mm512_maskz_loadu_epi8(((uint64_t)1 << n) - 1, p);
	const __m512i class =
		_mm512_permutex2var_epi8(t->class_low, x, t->class_high); /* looks at seven bits of each */
	const uint64_t beyond = _mm512_movepi8_mask(x);
	const uint64_t marks = _mm512_test_epi8_mask(class, _mm512_set1_epi8(MARK)) & ~beyond;
	struct ascii_masks m = { .letters = _mm512_test_epi8_mask(class, _mm512_set1_epi8(LETTER)) & ~beyond,
				 .first = marks,
				 .last = marks,
				 .newlines = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n')),
				 .unknown = beyond | _mm512_testn_epi8_mask(class, class) };

	if (beyond)
		m.general = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8((char)0xE2)) &
			    _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8((char)0x80)) >> 1;
	/* x | class & case_bit; of bytes beyond ASCII those of U+2000 to U+203F alone are kept, and stay as they are. */
	_mm512_storeu_si512(o, _mm512_ternarylogic_epi32(x, class, t->case_bit, 0xF8));
	return m;
}

static inline void write_16(uint32_t *to, uint32_t base, __m128i places)
{
	_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_set1_epi32((int)base), _mm512_cvtepu8_epi32(places)));
}

static inline size_t ascii_places(uint32_t *to, uint32_t base, uint64_t bits)
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

const char *ascii_words_avx512(struct ascii_words *w, const char *p, const char *end)
{
	const struct ascii_tables t = { _mm512_loadu_si512(classes), _mm512_loadu_si512(classes + 64),
					_mm512_set1_epi8(w->rules.lower ? UPPER : 0) };

	return ascii_run(w, &t, p, end);
}
