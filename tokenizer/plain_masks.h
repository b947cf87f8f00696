/*
 * plain_masks.h - the vector forms of plain_words.h, but for the instructions.
 *
 * A block of 64 bytes is looked at as masks, bit i for byte i. Words begin
 * where a letter follows none and at marks; they end behind the last letter
 * and behind marks. Starts and ends come in the same order, so the two lists
 * need not be matched: the i-th start belongs to the i-th end.
 *
 * The including file gives, before it includes this one, struct plain_tables,
 * what it wants to have at hand, and afterwards
 *	plain_masks_of		the masks of the first N <= 64 bytes at P, the rest is not read; they go to O, lower-cased;
 *				64 may be written
 *	plain_places		writes BASE + the place of each bit to TO, up to 64 more numbers too; returns how many
 */
#ifndef TOKENIZER_PLAIN_MASKS_H
#define TOKENIZER_PLAIN_MASKS_H

#include "tokenizer/plain_words.h"

struct plain_masks {
	uint64_t letters;		/* and digits */
	uint64_t first, last;		/* bytes of marks; of most both are one */
	uint64_t newlines;
	uint64_t unknown;		/* bytes to stop at; among them all beyond ASCII, and the N-th, if N < 64 */
	uint64_t two, three;		/* bytes that begin characters of so many */
	uint64_t letters_by_lead, words_by_lead;	/* bytes of THREE after which all are letters, or words */
};

static inline struct plain_masks plain_masks_of(const struct plain_tables *t, const char *p, size_t n, char *o);
static inline size_t plain_places(uint32_t *to, uint32_t base, uint64_t bits);

/* The number of the character at P, of three bytes or of two. */
static inline uint32_t plain_character(const char *p, bool three)
{
	const unsigned char *const b = (const unsigned char *)p;

	return three ? (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3F) :
		       (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3F);
}

/*
 * The characters beyond ASCII that are whole within the first N bytes. Whether the first byte that is still unknown is
 * one of a character that is cut, and may be known later.
 */
static inline bool plain_beyond(struct plain_masks *m, const unsigned char *kinds, const char *p, size_t n)
{
	const uint64_t valid = ~(uint64_t)0 >> (64 - n), whole = (m->two & valid >> 1) | (m->three & valid >> 2);
	uint64_t words = m->words_by_lead & whole, spaces = 0, not = 0, letters, all;

	for (uint64_t left = whole & ~(m->letters_by_lead | m->words_by_lead); left; left &= left - 1) {
		const unsigned at = (unsigned)__builtin_ctzll(left);
		const unsigned kind = kinds[plain_character(p + at, m->three >> at & 1)];

		words |= (uint64_t)(kind == PLAIN_WORD) << at;
		spaces |= (uint64_t)(kind == PLAIN_SPACE) << at;
		not |= (uint64_t)(kind >= PLAIN_NOT) << at;
	}
	letters = whole & ~(words | spaces | not);
	all = whole & ~not;
	m->letters |= letters | letters << 1 | (letters & m->three) << 2;
	m->first |= words;
	m->last |= (words & m->two) << 1 | (words & m->three) << 2;
	m->unknown &= ~(all | all << 1 | (all & m->three) << 2);
	return m->unknown & -m->unknown & (m->two | m->three) & ~whole;
}

/* All that is before the first unknown byte, or before byte N. */
static inline size_t plain_cut(struct plain_masks *m, size_t n)
{
	const size_t known = m->unknown ? (size_t)__builtin_ctzll(m->unknown) : n;
	const uint64_t valid = known < 64 ? ((uint64_t)1 << known) - 1 : ~(uint64_t)0;

	m->letters &= valid;
	m->first &= valid;
	m->last &= valid;
	m->newlines &= valid;
	return known;
}

static inline void plain_lines(struct plain_words *w, size_t words, uint64_t starts, uint64_t newlines)
{
	for (; newlines; newlines &= newlines - 1) {
		const uint64_t before = (newlines & -newlines) - 1;

		w->lines[w->n_lines++] = (uint32_t)(words + (size_t)__builtin_popcountll(starts & before));
	}
}

static inline const char *plain_run(struct plain_words *w, const struct plain_tables *t, const char *p, const char *end)
{
	uint64_t letter = w->len > w->word_start;	/* whether the byte before is a word's, ... */
	uint64_t mark = 0;				/* ... and whether it is a mark's, whose end is not written */
	size_t starts = w->count, ends = w->count, len = w->len;
	bool stop = false;

	if (letter)
		w->starts[starts++] = (uint32_t)w->word_start;
	while (p < end && len < w->stop && !stop) {
		size_t n = (size_t)(end - p) < 64 ? (size_t)(end - p) : 64;
		struct plain_masks m = plain_masks_of(t, p, n, w->out + len);
		uint64_t begun, ended;

		if (__builtin_expect(m.unknown != 0 || n < 64, 0)) {
			const bool is_cut = (m.two | m.three) && plain_beyond(&m, w->rules.kinds, p, n);

			stop = m.unknown && !is_cut;
			n = plain_cut(&m, n);
			if (!n)
				break;
		}
		begun = (m.letters & ~(m.letters << 1 | letter)) | m.first;
		ended = (m.letters << 1 | letter) & ~m.letters;
		ended &= ~(uint64_t)0 >> (64 - n);	/* a word that reaches the end may go on */
		ended |= m.last << 1 | mark;
		if (m.newlines)
			plain_lines(w, starts, begun, m.newlines);
		starts += plain_places(w->starts + starts, (uint32_t)len, begun);
		ends += plain_places(w->ends + ends, (uint32_t)len, ended);
		letter = m.letters >> (n - 1) & 1;
		mark = m.last >> 63;
		len += n;
		p += n;
	}
	if (mark)
		w->ends[ends++] = (uint32_t)len;
	w->word_start = letter ? w->starts[ends] : len;
	w->count = ends;
	w->len = len;
	return p;
}

#endif
