/*
 * wordpiece.h - a word to pieces: greedy longest match, first to last.
 *
 * From the word's beginning take the longest token of the vocabulary that the
 * word begins with; from there on the longest token written with a leading
 * "##"; and so on to the word's end. If nothing fits at some point, or the
 * word has more than max_word code points, the whole word is [UNK].
 *
 * The longest token at some place is found by token_table.h in one pass over
 * its bytes.
 */
#ifndef TOKENIZER_WORDPIECE_H
#define TOKENIZER_WORDPIECE_H

#include "tokenizer/ids.h"
#include "tokenizer/vocab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wordpiece;

/* The references' own max_word. */
#define WORDPIECE_MAX_WORD_GOOGLE 200
#define WORDPIECE_MAX_WORD_HF 100

/* V must outlive it. Read-only from then on, so threads may share it. NULL: out of memory. */
struct wordpiece *wordpiece_new(const struct vocab *v, uint64_t max_word);
void wordpiece_free(struct wordpiece *w);					/* accepts NULL */

/* From now on words that N (never_split.h) has are one piece, their token or [UNK]. N must outlive W. */
struct never_split;
void wordpiece_keep(struct wordpiece *w, const struct never_split *n);
bool wordpiece_keeps(const struct wordpiece *w, const char *word, size_t len);	/* whether this is one */

/* Adds the pieces of WORD (valid UTF-8, len > 0) to IDS. */
int wordpiece_encode(const struct wordpiece *w, const char *word, size_t len, struct ids *ids);

/* One step of it: the longest token at TEXT, CONTINUED when it is not a word's beginning. Its bytes of TEXT, 0: none fits. */
size_t wordpiece_match(const struct wordpiece *w, const char *text, size_t len, bool continued, uint32_t *id);

/* Whether a word has more code points than max_word. */
bool wordpiece_too_long(const struct wordpiece *w, const char *word, size_t len);

#endif
