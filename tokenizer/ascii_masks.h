/*
 * ascii_masks.h - the vector forms of ascii_words.h, but for the instructions.
 *
 * A block of 64 bytes is looked at as masks, bit i for byte i. Words begin
 * where a letter follows none and at marks; they end behind the last letter
 * and behind marks. Starts and ends come in the same order, so the two lists
 * need not be matched: the i-th start belongs to the i-th end.
 *
 * The including file gives, before it includes this one, struct ascii_tables,
 * what it wants to have at hand, and afterwards
 *	ascii_masks_of		the masks of the first N <= 64 bytes at P, the rest is not read; they go to O, lower-cased;
 *				64 may be written
 *	ascii_places		writes BASE + the place of each bit to TO, up to 64 more numbers too; returns how many
 */
#ifndef TOKENIZER_ASCII_MASKS_H
#define TOKENIZER_ASCII_MASKS_H

#include "tokenizer/ascii_words.h"

struct ascii_masks {
	uint64_t letters;		/* and digits */
	uint64_t first, last;		/* bytes of marks; of most both are one */
	uint64_t newlines;
	uint64_t unknown;		/* bytes to stop at; among them the N-th, if N < 64 */
	uint64_t general;		/* bytes 0xE2 before 0x80: the block from U+2000 on */
};

static inline struct ascii_masks ascii_masks_of(const struct ascii_tables *t, const char *p, size_t n, char *o);
static inline size_t ascii_places(uint32_t *to, uint32_t base, uint64_t bits);

/* The marks of U+2000 to U+203F that are known, of three bytes each, all of them among the first N. */
static inline void ascii_dashes(struct ascii_masks *m, uint64_t dashes, const char *p, size_t n)
{
	for (uint64_t general = m->general; general; general &= general - 1) {
		const unsigned at = (unsigned)__builtin_ctzll(general);

		if (at + 2 < n && dashes >> ((unsigned char)p[at + 2] & 0x3F) & 1) {
			m->first |= (uint64_t)1 << at;
			m->last |= (uint64_t)4 << at;
			m->unknown &= ~((uint64_t)7 << at);
		}
	}
}

/* All that is before the first unknown byte, or before byte N. */
static inline size_t ascii_cut(struct ascii_masks *m, size_t n)
{
	const size_t known = m->unknown ? (size_t)__builtin_ctzll(m->unknown) : n;
	const uint64_t valid = known < 64 ? ((uint64_t)1 << known) - 1 : ~(uint64_t)0;

	m->letters &= valid;
	m->first &= valid;
	m->last &= valid;
	m->newlines &= valid;
	return known;
}

static inline void ascii_lines(struct ascii_words *w, size_t words, uint64_t starts, uint64_t newlines)
{
	for (; newlines; newlines &= newlines - 1) {
		const uint64_t before = (newlines & -newlines) - 1;

		w->lines[w->n_lines++] = (uint32_t)(words + (size_t)__builtin_popcountll(starts & before));
	}
}

static inline const char *ascii_run(struct ascii_words *w, const struct ascii_tables *t, const char *p, const char *end)
{
	uint64_t letter = w->len > w->word_start;	/* whether the byte before is a word's, ... */
	uint64_t mark = 0;				/* ... and whether it is a mark's, whose end is not written */
	size_t starts = w->count, ends = w->count, len = w->len;
	bool stop = false;

	if (letter)
		w->starts[starts++] = (uint32_t)w->word_start;
	while (p < end && len < w->stop && !stop) {
		size_t n = (size_t)(end - p) < 64 ? (size_t)(end - p) : 64;
		struct ascii_masks m = ascii_masks_of(t, p, n, w->out + len);
		uint64_t begun, ended;

		if (__builtin_expect(m.unknown != 0 || n < 64, 0)) {
			ascii_dashes(&m, w->rules.dashes, p, n);
			stop = m.unknown != 0;
			n = ascii_cut(&m, n);
			if (!n)
				break;
		}
		begun = (m.letters & ~(m.letters << 1 | letter)) | m.first;
		ended = (m.letters << 1 | letter) & ~m.letters;
		ended &= ~(uint64_t)0 >> (64 - n);	/* a word that reaches the end may go on */
		ended |= m.last << 1 | mark;
		if (m.newlines)
			ascii_lines(w, starts, begun, m.newlines);
		starts += ascii_places(w->starts + starts, (uint32_t)len, begun);
		ends += ascii_places(w->ends + ends, (uint32_t)len, ended);
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
