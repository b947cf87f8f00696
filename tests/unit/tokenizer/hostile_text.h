/* hostile_text.h - random texts of what tokenizers stumble over, for tests. */
#ifndef TESTS_UNIT_TOKENIZER_HOSTILE_TEXT_H
#define TESTS_UNIT_TOKENIZER_HOSTILE_TEXT_H

#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <string.h>

/* One of: runs of letters long and short, marks, spaces, controls, dashes, accents, sigmas, ideographs, syllables, anything. */
static inline void add_hostile_piece(struct rng *r, struct buf *b)
{
	static const char *const pieces[] = {
		" ", " ", " ", "\n", "\t", "\r", ".", ", ", "--", "...", "\x01", "\x7F", "\xC2\x85", "\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\x99",
		"\xE2\x80\x9C", "\xE2\x80\x9D", "\xE2\x80\x94", "\xE2\x80\x8B", "\xE2\x80\x84", "\xE2\x80\xA8", "\xE2\x80\xBF", "\xE2\x81\x84", "\xC3\xA9",
		"\xC3\x89", "e\xCC\x81", "\xCC\x81", "\xCC\x81\xCC\xA3", "\xCE\xA3", "\xCF\x83", "\xCE\xB1", "\xC4\xB0", "\xE5\xAD\x97", "\xEA\xB0\x80", "\xED\x9E\xA3",
		"\xE0\xA4\x95\xE0\xA4\xBF", "\xF0\x9D\x85\x98\xF0\x9D\x85\xA5", "\xF0\x9F\x98\x80", "\xEF\xBB\xBF", "\xEF\xBF\xBD", "\xE2\x89\xA0", "\xE2\x82\xAC",
		"[MASK]", "[UNK]", "[", "]", "##", "the ", "of ", "and ", "Unaffable ", "Straße ", "fi\xEF\xAC\x81", "\xE1\xBE\xB3",
	};
	const uint32_t kind = rng_below(r, 16);
	char bytes[UTF8_MAX];

	if (kind < 4) {		/* letters and digits */
		for (uint32_t n = 1 + rng_below(r, kind < 3 ? 9 : 90); n > 0; n--)
			if (buf_add_byte(b, "abcdefgstuxyzABEMZ0159"[rng_below(r, 22)]))
				abort();
	} else if (kind < 5) {	/* any code point */
		uint32_t cp = rng_below(r, rng_below(r, 2) ? 0x800 : 0x110000 - 0x800);

		cp += cp >= 0xD800 ? 0x800 : 0;
		if (buf_add(b, bytes, utf8_write(cp, bytes)))
			abort();
	} else if (buf_adds(b, pieces[rng_below(r, sizeof(pieces) / sizeof(pieces[0]))])) {
		abort();
	}
}

/* At most LEN bytes of text, and NUL bytes now and then; B's memory is cut to size, so that a byte read too far is seen. */
static inline void make_hostile_text(struct rng *r, size_t len, struct buf *b)
{
	buf_clear(b);
	while (b->len < len)
		if (rng_below(r, 60))
			add_hostile_piece(r, b);
		else if (buf_add_byte(b, 0))
			abort();
}

#endif
