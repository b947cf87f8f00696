#include "tokenizer/ascii_words.h"

#include "base/cpu.h"

#include <endian.h>
#include <string.h>

#define EACH(byte) ((uint64_t)0x0101010101010101u * (byte))

ascii_words_take *ascii_words_best(void)
{
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512_VBMI2))
		return ascii_words_avx512;
#endif
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2))
		return ascii_words_avx2;
#endif
	return ascii_words_plain;
}

/* In each of eight bytes below 0x80: whether it is LOW to HIGH, as bit 7. */
static uint64_t bytes_within(uint64_t x, unsigned char low, unsigned char high)
{
	return (x + EACH(0x80 - low)) & ~(x + EACH(0x7F - high)) & EACH(0x80);
}

/* How many of the eight bytes at P, from the first on, are letters and digits; all eight go to O, letters with CASE_BITS set. */
static size_t copy_letters(const char *p, char *o, uint64_t case_bits)
{
	uint64_t x, low, letters, others;

	memcpy(&x, p, sizeof(x));
	x = le64toh(x);
	low = x & EACH(0x7F);
	letters = bytes_within(low | EACH(0x20), 'a', 'z') & ~x;
	others = ~(letters | bytes_within(low, '0', '9')) & EACH(0x80);
	others |= x & EACH(0x80);
	x |= letters >> 2 & case_bits;
	x = htole64(x);
	memcpy(o, &x, sizeof(x));
	return others ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

static bool is_letter_or_digit(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void end_word(struct ascii_words *w)
{
	if (w->len > w->word_start) {
		w->starts[w->count] = (uint32_t)w->word_start;
		w->ends[w->count++] = (uint32_t)w->len;
	}
	w->word_start = w->len;
}

/* A character that is neither letter nor digit. */
static void take_other(struct ascii_words *w, char c)
{
	end_word(w);
	if (c == '\n')
		w->lines[w->n_lines++] = (uint32_t)w->count;
	w->out[w->len++] = c;
	if (c > ' ')
		end_word(w);
	w->word_start = w->len;
}

const char *ascii_words_plain(struct ascii_words *w, const char *p, const char *end)
{
	const uint64_t case_bits = w->rules.lower ? EACH(0x20) : 0;

	while (p < end && w->len < w->stop) {
		const size_t letters = end - p >= 8 ? copy_letters(p, w->out + w->len, case_bits) : 0;

		w->len += letters;
		p += letters;
		if (letters == 8)
			continue;
		if (!ascii_words_knows((unsigned char)*p))
			break;
		if (is_letter_or_digit((unsigned char)*p)) /* near the end */
			w->out[w->len++] = (char)(w->rules.lower && *p <= 'Z' && *p >= 'A' ? *p | 0x20 : *p);
		else
			take_other(w, *p);
		p++;
	}
	return p;
}
