/* plain_words.h with AVX2 and BMI. */
#include <immintrin.h>
#include <string.h>

struct plain_tables {
	__m256i case_bit;
	__m256i leads; /* twice */
};

#include "tokenizer/plain_masks.h"

static inline __m256i each(unsigned char byte)
{
	return _mm256_set1_epi8((char)byte);
}

/* Bytes from LOW to HIGH, both below 0x80. */
static inline __m256i within(__m256i x, char low, char high)
{
	return _mm256_andnot_si256(_mm256_cmpgt_epi8(x, _mm256_set1_epi8(high)),
				   _mm256_cmpgt_epi8(x, _mm256_set1_epi8((char)(low - 1))));
}

static inline uint64_t bits_of(__m256i x)
{
	return (uint32_t)_mm256_movemask_epi8(x);
}

static inline uint64_t at_least(__m256i x, unsigned char low)
{
	return bits_of(_mm256_cmpeq_epi8(_mm256_max_epu8(x, each(low)), x));
}

/* Half of a block: masks of 32 bits. */
static inline struct plain_masks half(const struct plain_tables *t, const char *p, char *o)
{
	const __m256i x = _mm256_loadu_si256((const void *)p);
	const __m256i letters = within(_mm256_or_si256(x, each(0x20)), 'a', 'z');
	const __m256i word = _mm256_or_si256(letters, within(x, '0', '9')), graphic = within(x, '!', '~');
	const __m256i newline = _mm256_cmpeq_epi8(x, each('\n'));
	const __m256i separator =
		_mm256_or_si256(_mm256_or_si256(newline, _mm256_cmpeq_epi8(x, each(' '))),
				_mm256_or_si256(_mm256_cmpeq_epi8(x, each('\t')), _mm256_cmpeq_epi8(x, each('\r'))));
	const uint64_t marks = bits_of(_mm256_andnot_si256(word, graphic));
	const __m256i lead = _mm256_shuffle_epi8(t->leads, _mm256_and_si256(x, each(0x0F)));
	const uint64_t three = at_least(x, 0xE0) & ~at_least(x, 0xF0);

	_mm256_storeu_si256((void *)o, _mm256_or_si256(x, _mm256_and_si256(letters, t->case_bit)));
	return (struct plain_masks){ .letters = bits_of(word),
				     .first = marks,
				     .last = marks,
				     .newlines = bits_of(newline),
				     .unknown = bits_of(_mm256_or_si256(graphic, separator)) ^ UINT32_MAX,
				     .two = at_least(x, 0xC0) & ~at_least(x, 0xE0),
				     .three = three,
				     .letters_by_lead = three & bits_of(_mm256_cmpeq_epi8(lead, each(PLAIN_LETTER))),
				     .words_by_lead = three & bits_of(_mm256_cmpeq_epi8(lead, each(PLAIN_WORD))) };
}

static inline struct plain_masks plain_masks_of(const struct plain_tables *t, const char *p, size_t n, char *o)
{
	char padded[64];
	struct plain_masks m, high;

	if (n < 64) {
		memset(padded, 0, sizeof(padded));
		memcpy(padded, p, n);
		p = padded;
	}
	m = half(t, p, o);
	high = half(t, p + 32, o + 32);
	m.letters |= high.letters << 32;
	m.first |= high.first << 32;
	m.last |= high.last << 32;
	m.newlines |= high.newlines << 32;
	m.unknown |= high.unknown << 32;
	m.two |= high.two << 32;
	m.three |= high.three << 32;
	m.letters_by_lead |= high.letters_by_lead << 32;
	m.words_by_lead |= high.words_by_lead << 32;
	return m;
}

/* Eight at a time, most often twice: a branch that is guessed well. */
static inline size_t plain_places(uint32_t *to, uint32_t base, uint64_t bits)
{
	const size_t n = (size_t)__builtin_popcountll(bits);

	for (size_t done = 0; done < n; done += 8)
		for (size_t i = done; i < done + 8; i++) {
			to[i] = base + (uint32_t)_tzcnt_u64(bits);
			bits = _blsr_u64(bits);
		}
	return n;
}

const char *plain_words_avx2(struct plain_words *w, const char *p, const char *end)
{
	const struct plain_tables t = { each(w->rules.lower ? 0x20 : 0),
					_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)w->rules.leads)) };

	return plain_run(w, &t, p, end);
}
