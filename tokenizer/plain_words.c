#include "tokenizer/plain_words.h"

#include "base/cpu.h"

#include <endian.h>
#include <string.h>

#define EACH(byte) ((uint64_t)0x0101010101010101u * (byte))

plain_words_take *plain_words_best(void)
{
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512_VBMI2))
		return plain_words_avx512;
#endif
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2))
		return plain_words_avx2;
#endif
	return plain_words_single;
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

/* Whether the next eight bytes are ASCII. */
static bool is_run(const char *p, const char *end)
{
	uint64_t x;

	if (end - p < 8)
		return false;
	memcpy(&x, p, sizeof(x));
	return !(x & EACH(0x80));
}

static void end_word(struct plain_words *w)
{
	if (w->len > w->word_start) {
		w->starts[w->count] = (uint32_t)w->word_start;
		w->ends[w->count++] = (uint32_t)w->len;
	}
	w->word_start = w->len;
}

/* A character that is neither letter nor digit. */
static void take_other(struct plain_words *w, char c)
{
	end_word(w);
	if (c == '\n')
		w->lines[w->n_lines++] = (uint32_t)w->count;
	w->out[w->len++] = c;
	if (c > ' ')
		end_word(w);
	w->word_start = w->len;
}

/*
 * The characters beyond ASCII, and what ASCII is among them, up to one that is not taken or a run of ASCII. What comes
 * next cannot be foretold in Chinese and Japanese, so no branch asks what a character is.
 */
static const char *take_beyond(struct plain_words *w, const char *p, const char *end)
{
	size_t len = w->len, starts = w->count, ends = w->count;
	size_t open = len > w->word_start;

	w->starts[starts] = (uint32_t)w->word_start;
	starts += open;
	while (p < end && len < w->stop && !is_run(p, end)) {
		const unsigned char *const s = (const unsigned char *)p;
		char *const o = w->out + len;
		unsigned size = 1, kind;
		uint32_t cp = s[0];

		if (cp >= 0xF0)
			break;
		o[0] = (char)(w->rules.lower && cp >= 'A' && cp <= 'Z' ? cp | 0x20 : cp);
		if (cp >= 0xE0) {
			size = 3;
			memcpy(o + 1, p + 1, 2);
			cp = (cp & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
		} else if (cp >= 0x80) {
			size = 2;
			o[1] = p[1];
			cp = (cp & 0x1F) << 6 | (s[1] & 0x3F);
		}
		kind = w->rules.kinds[cp];
		if (kind >= PLAIN_NOT)
			break;
		w->ends[ends] = (uint32_t)len;
		ends += open & (kind != PLAIN_LETTER);
		w->starts[starts] = (uint32_t)len;
		starts += (kind == PLAIN_WORD) | (!open & (kind == PLAIN_LETTER));
		len += size;
		p += size;
		w->ends[ends] = (uint32_t)len;
		ends += kind == PLAIN_WORD;
		open = kind == PLAIN_LETTER;
	}
	w->word_start = open ? w->starts[ends] : len;
	w->count = ends;
	w->len = len;
	return p;
}

const char *plain_words_single(struct plain_words *w, const char *p, const char *end)
{
	const uint64_t case_bits = w->rules.lower ? EACH(0x20) : 0;

	while (p < end && w->len < w->stop) {
		const size_t letters = end - p >= 8 ? copy_letters(p, w->out + w->len, case_bits) : 0;

		w->len += letters;
		p += letters;
		if (letters == 8)
			continue;
		if ((unsigned char)*p >= 0x80) {
			const char *const from = p;

			p = take_beyond(w, p, end);
			if (p == from)
				break;
			continue;
		}
		if (!plain_words_has_ascii((unsigned char)*p))
			break;
		if (is_letter_or_digit((unsigned char)*p)) /* near the end */
			w->out[w->len++] = (char)(w->rules.lower && *p <= 'Z' && *p >= 'A' ? *p | 0x20 : *p);
		else
			take_other(w, *p);
		p++;
	}
	return p;
}
