/*
 * never_split.h - tokens of a text that stay as they are.
 *
 * What stands between white space in a text and is one of these becomes one
 * word, whatever its case, accents and punctuation; and a word that is one of
 * these becomes one piece, the vocabulary's token of that text or [UNK].
 * These are the rules of never_split in the slow BertTokenizer of Hugging
 * Face's transformers; the original tokenizer and their fast one have no
 * such thing. Where precisely they are looked for, see encoder.c.
 *
 *	struct never_split n = NEVER_SPLIT_INIT;
 *	if (never_split_add(&n, "C++", 3))
 *		...			(EXIT_USAGE: it cannot stand between white space; or out of memory)
 *	never_split_sort(&n);		(before the first question)
 *	if (never_split_has(&n, word, len))
 *		...
 *	never_split_release(&n);
 */
#ifndef TOKENIZER_NEVER_SPLIT_H
#define TOKENIZER_NEVER_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#define NEVER_SPLIT_BYTES 4096	/* of a token at most */

struct never_split {
	char **tokens;
	size_t count, cap;
};
#define NEVER_SPLIT_INIT { NULL, 0, 0 }

/* Refused: an empty token, a long one, one of ill-formed UTF-8, and one with white space or NUL in it. */
int never_split_add(struct never_split *n, const char *token, size_t len);

/* Sorts them by bytes, and drops those that are there twice. */
void never_split_sort(struct never_split *n);

bool never_split_has(const struct never_split *n, const char *token, size_t len);
void never_split_release(struct never_split *n);

#endif
