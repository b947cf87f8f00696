/*
 * chars.h - what each Unicode code point is to a tokenizer.
 *
 * One table holds, for one reference (google's rules under one version of
 * Unicode, or Hugging Face's), what becomes of every code point. The tables
 * are generated, see tables/make_tables.py. They are constant data: nothing
 * is built or freed.
 *
 *	const struct chars *c = chars_google("14.0");
 *	const struct char_entry *e = chars_entry(c, 0x301);
 *	if (e->flags & CHAR_DELETE)
 *		...
 *
 * "Bare" means: decomposed (NFD), and rid of category Mn. Lower-casing comes
 * before that in google's rules and after it in Hugging Face's; the table has
 * the result.
 */
#ifndef TOKENIZER_CHARS_H
#define TOKENIZER_CHARS_H

#include <stdint.h>

enum char_flag {
	CHAR_DELETE = 1 << 0,		/* dropped by cleaning: NUL, U+FFFD, control and format characters */
	CHAR_SPACE = 1 << 1,		/* separates words */
	CHAR_CJK = 1 << 2,		/* a word of its own */
	CHAR_PUNCT = 1 << 3,		/* punctuation, a word of its own */
	CHAR_PUNCT_BARE = 1 << 4,	/* punctuation once it is bare: U+2260 is "=" then */
	CHAR_HANGUL = 1 << 5,		/* a syllable: decomposed by arithmetic */
	CHAR_NONSTARTER = 1 << 6,	/* ccc is not 0: NFD sorts it among its neighbours */
	CHAR_TAIL = 1 << 7,		/* its bare form ends in nonstarters */
	CHAR_CASED = 1 << 8,		/* Cased and not Case_Ignorable: decides the form of a sigma beside it */
	CHAR_IGNORABLE = 1 << 9,	/* Case_Ignorable: passed over in looking for that one */
	CHAR_SIGMA = 1 << 10,		/* U+03A3 where it has a final form */
};

enum char_form { CHAR_AS_IT_IS, CHAR_LOWER, CHAR_BARE, CHAR_LOWER_BARE };

struct char_entry {
	uint16_t flags;
	uint8_t ccc;			/* canonical combining class of the decomposition's first code point */
	uint16_t forms[4];		/* what it becomes (enum char_form): a place in chars.forms, 0: it stays */
};

#define CHARS_BLOCK 128			/* code points of a block */
#define CHARS_FORM_MAX 16		/* bytes of a form at most */

struct chars {
	const char *unicode;		/* "14.0"; NULL for Hugging Face's, which is of no one version */
	const uint8_t *blocks;		/* [0x110000 / CHARS_BLOCK]: which block */
	const uint16_t (*entries_of)[CHARS_BLOCK];	/* [block]: which entry */
	const struct char_entry *entries;
	const unsigned char *forms;	/* each a length, then so many bytes of UTF-8; CHARS_FORM_MAX may be read of each */
};

/* google-research/bert's rules under a version of Unicode: "14.0" (NULL too) or "15.0". NULL, reason set: no such version. */
const struct chars *chars_google(const char *unicode);

/* The rules of Hugging Face's tokenizers package. */
const struct chars *chars_hf(void);

/* CP is at most 0x10FFFF. */
static inline const struct char_entry *chars_entry(const struct chars *c, uint32_t cp)
{
	return &c->entries[c->entries_of[c->blocks[cp / CHARS_BLOCK]][cp % CHARS_BLOCK]];
}

#endif
