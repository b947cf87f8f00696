/*
 * mask_words.h - words that are masked whole although each of their characters
 * is a token of its own, as in Chinese: a list of them, and finding them.
 *
 *	struct mask_words *w;
 *	mask_words_gather(&w, path, tokenizer)		(a list as people keep it, a word a line)
 *	or mask_words_load(&w, path, vocab)		(as it lies beside shards)
 *	n = mask_words_match(w, ids, count);
 *	mask_words_free(w);				(accepts NULL)
 *
 * Beside shards the list has one form only, FORMAT.md's "Words of characters": the words as the tokenizer
 * spells them, in the order of their bytes, none twice. So its SHA-256 does not depend on how the list that
 * was given is ordered, or on what in it can never be met. A list is read-only, so threads may share it.
 *
 * Memory is some twenty times the file, which may have 64 MiB.
 */
#ifndef SHARDS_MASK_WORDS_H
#define SHARDS_MASK_WORDS_H

#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

#define MASK_WORDS_STANDARD_INPUT "-"
#define MASK_WORDS_NAME "masking-words.txt"
#define MASK_WORDS_LENGTH 64		/* characters of a word at most */

struct mask_words;

/*
 * The words of PATH, which may be a pipe, or - for standard input, that TOKENIZER makes two or more tokens of a character
 * each of; the others are counted.
 * Blank lines are passed over. Refused, with the line's number (EXIT_CORRUPT): ill-formed UTF-8, NUL bytes,
 * white space inside a line, a word that is too long; and a list of which no word is left.
 */
int mask_words_gather(struct mask_words **w, const char *path, const struct tokenizer *tokenizer);

/* Refused likewise: anything but that one form, and a character that is no token of VOCAB. */
int mask_words_load(struct mask_words **w, const char *path, const struct vocab *vocab);
void mask_words_free(struct mask_words *w);

uint64_t mask_words_count(const struct mask_words *w);
uint64_t mask_words_passed(const struct mask_words *w);		/* lines of the list that was given that are of no use */
const char *mask_words_sha256(const struct mask_words *w);	/* of the text, 64 hexadecimal digits */
const char *mask_words_text(const struct mask_words *w, size_t *len);

/* How many of the N tokens IDS the longest word has that they begin with; 0: they begin with none. */
uint32_t mask_words_match(const struct mask_words *w, const uint32_t *ids, uint32_t n);

#endif
