/*
 * described.h - a tokenizer from what a file's header says of it.
 *
 *	if (described_open(&t, "vocab.txt", is, false))
 *		...
 *	... json_equal(tokenizer_describe(t), is)	(not so: VOCAB is another, or IS says what no tokenizer does)
 *	tokenizer_close(t);
 */
#ifndef SHARDS_DESCRIBED_H
#define SHARDS_DESCRIBED_H

#include "tokenizer/tokenizer.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * The tokenizer that tokenizer_describe() described as IS, of which nothing is believed, with the vocabulary at VOCAB. A
 * segmenter is taken over only where texts come CUT by it, or none come.
 */
int described_open(struct tokenizer **t, const char *vocab, const json_t *is, bool cut);

#endif
