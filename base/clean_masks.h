/*
 * clean_masks.h - the vector forms of clean_text.h, but for the instructions.
 *
 * Ill-formed UTF-8 is found as in Keiser and Lemire, "Validating UTF-8 in less
 * than one instruction per byte" (Software: Practice and Experience 51, 2021):
 * for each byte three tables, of the high and the low half of the byte before and
 * of the high half of its own, tell which faults are possible; a fault
 * that all three allow is one. What they leave is whether a byte must
 * be the third or fourth of a sequence, by the bytes two and three before.
 *
 * The including file gives
 *	clean_masks_of		the masks of 64 bytes
 *	clean_is_valid		whether none of 64 bytes is at fault with the three before, which can be read
 */
#ifndef BASE_CLEAN_MASKS_H
#define BASE_CLEAN_MASKS_H

#include "base/clean_text.h"

#include <stdbool.h>
#include <string.h>

enum {
	TOO_SHORT = 1 << 0,		/* a lead byte, and no continuation after it */
	TOO_LONG = 1 << 1,		/* ASCII, and a continuation after it */
	OVERLONG_3 = 1 << 2,		/* E0 80 to E0 9F */
	TOO_LARGE = 1 << 3,		/* F4 90 and above */
	SURROGATE = 1 << 4,		/* ED A0 and above */
	OVERLONG_2 = 1 << 5,		/* C0, C1 */
	TOO_LARGE_1000 = 1 << 6,	/* F5 80 to FF 8F */
	OVERLONG_4 = 1 << 6,		/* F0 80 to F0 8F */
	TWO_CONTS = 1 << 7,		/* two continuations: right only where the second is a third or fourth byte */
	CARRY = TOO_SHORT | TOO_LONG | TWO_CONTS,
};

static const unsigned char faults_of_high_before[16] = {
	TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
	TWO_CONTS, TWO_CONTS, TWO_CONTS, TWO_CONTS,
	TOO_SHORT | OVERLONG_2, TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
};
static const unsigned char faults_of_low_before[16] = {
	CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY, CARRY | TOO_LARGE,
	CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
	CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
	CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
	CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE, CARRY | TOO_LARGE | TOO_LARGE_1000, CARRY | TOO_LARGE | TOO_LARGE_1000,
};
static const unsigned char faults_of_high[16] = {
	TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
	TOO_LONG | OVERLONG_2 | TWO_CONTS | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
	TOO_LONG | OVERLONG_2 | TWO_CONTS | OVERLONG_3 | TOO_LARGE,
	TOO_LONG | OVERLONG_2 | TWO_CONTS | SURROGATE | TOO_LARGE, TOO_LONG | OVERLONG_2 | TWO_CONTS | SURROGATE | TOO_LARGE,
	TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
};

/* Bit i for byte i. */
struct clean_masks {
	uint64_t newlines, returns;
	uint64_t plain;			/* printing ASCII */
	uint64_t beyond;		/* not ASCII */
};

static inline struct clean_masks clean_masks_of(const char *p);
static inline bool clean_is_valid(const char *p);

/* Whether a sequence is cut at END, which three bytes stand before. */
static inline bool is_cut(const char *end)
{
	return (unsigned char)end[-1] >= 0xC0 || (unsigned char)end[-2] >= 0xE0 || (unsigned char)end[-3] >= 0xF0;
}

/* As clean_is_valid, where nothing stands before P. */
static inline bool is_first_valid(const char *p)
{
	char padded[4 + 64] = { 0 };

	memcpy(padded + 4, p, 64);
	return clean_is_valid(padded + 4);
}

static inline size_t clean_run(const char *text, size_t len, uint32_t *doubtful, size_t max, size_t *n_doubtful)
{
	uint64_t newline = 1, ret = 0;	/* whether the byte before is one */
	size_t clean = 0, n = 0;
	bool cut = false;

	for (size_t i = 0; len - i >= 64 && n + 64 <= max; i += 64) {
		const struct clean_masks m = clean_masks_of(text + i);
		uint64_t starts = (m.newlines << 1 | newline) & ~m.plain;

		if (m.beyond || cut) {
			if (!(i ? clean_is_valid(text + i) : is_first_valid(text)))
				break;
			cut = is_cut(text + i + 64);
		}
		if ((m.returns << 1 | ret) & m.newlines)
			break;
		newline = m.newlines >> 63;
		ret = m.returns >> 63;
		for (; starts; starts &= starts - 1)
			doubtful[n++] = (uint32_t)i + (uint32_t)__builtin_ctzll(starts);
		if (m.newlines)
			clean = i + 64 - (size_t)__builtin_clzll(m.newlines);
	}
	while (n && doubtful[n - 1] >= clean)
		n--;
	*n_doubtful = n;
	return clean;
}

#endif
