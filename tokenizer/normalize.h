/*
 * normalize.h - text to words.
 *
 * The first half of WordPiece: clean, set CJK characters apart, split at white
 * space, lower-case, strip accents, split at punctuation. Which characters
 * are which is in a table (chars.h), so one pass over the text does all of it.
 *
 *	struct normalizer_opts o = { .chars = chars_google(NULL), .lower = true, .strip_accents = true, .space_cjk = true };
 *	struct normalizer *n = normalizer_new(&o);
 *	struct words w;
 *	normalizer_start(n, line, len, false);
 *	while ((rc = normalizer_next(n, &w)) > 0)
 *		for (size_t i = 0; i < w.count; i++)
 *			... w.text[w.starts[i] .. w.ends[i])
 *	normalizer_free(n);
 *
 * Words come in batches, so that memory depends on the longest word, not on
 * the length of the text. One normalizer a thread; the chars are shared.
 */
#ifndef TOKENIZER_NORMALIZE_H
#define TOKENIZER_NORMALIZE_H

#include "base/buf.h"
#include "tokenizer/chars.h"
#include "tokenizer/ids.h"

#include <stdbool.h>
#include <stddef.h>

struct normalizer_opts {
	const struct chars *chars;
	bool lower;		/* lower-case */
	bool strip_accents;	/* decompose (NFD) and drop category Mn */
	bool space_cjk;		/* each CJK ideograph is a word */
	bool leave;		/* words may be left for normalizer_word to finish, unless spans are asked for */
};

#define WORDS_SLACK 64	/* bytes that may be read beyond the last word */

/* A batch of words, in the order of the text; good until the next call to the normalizer. */
struct words {
	const char *text;		/* the words' bytes, and others between them, and WORDS_SLACK more that mean nothing */
	const uint32_t *starts, *ends;	/* places in TEXT: word i is text[starts[i] .. ends[i]), not empty */
	size_t count;
	const uint32_t *lines;		/* how many of these words came before each \n of the text; not with spans */
	size_t n_lines;
	const struct span *spans;	/* of every code point of the words, when asked for; else NULL */
};

struct normalizer;

struct normalizer *normalizer_new(const struct normalizer_opts *o);	/* NULL: out of memory */
void normalizer_free(struct normalizer *n);				/* accepts NULL */

/* TEXT (valid UTF-8; it stays the caller's) is what the next calls split. SPANS: say where each code point came from. */
void normalizer_start(struct normalizer *n, const char *text, size_t len, bool spans);

/*
 * The next batch: 1 (at least one word or line end), 0 at the end, -1 with the reason set: out of memory, or a word
 * of nearly 4 GiB.
 */
int normalizer_next(struct normalizer *n, struct words *w);

/*
 * What is left to do to a word, if it was left: lower-case and strip each character, in OUT (replaced). It depends on
 * the word's bytes alone, so who knows what becomes of them need not ask; and it does nothing to a word that is
 * finished. Nothing may be left of a word of accents alone.
 */
int normalizer_word(const struct normalizer *n, const char *word, size_t len, struct buf *out);

#endif
