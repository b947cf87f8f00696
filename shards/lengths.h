/*
 * lengths.h - how long the sentences of a shard's documents are: blocks of type 2 of a shard, shards/FORMAT.md, "Sentences".
 *
 *	lengths_put(&raw, document.lengths, document.n_sentences)	(one document after the other, in the table's order)
 *	lengths_get(&p, end, tokens, &ends)				(the same back)
 *
 * From them, and keys, recipe and seed, follows what every instance is made of: bert-verify draws it again.
 */
#ifndef SHARDS_LENGTHS_H
#define SHARDS_LENGTHS_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Ends of sentences, of one document after the other. */
struct lengths_ends {
	uint32_t *items;
	size_t n, cap;
	size_t most;			/* of them; 0: any number */
};

/* Adds the lengths of a document's N sentences; those of 0 tokens are left out. */
int lengths_put(struct buf *raw, const uint32_t *lengths, size_t n);

/*
 * Reads those of a document of TOKENS tokens at *P, before END: adds its tokens up to the end of each sentence to ENDS. EXIT_CORRUPT: they are cut
 * short, one is 0, or they add up to more. EXIT_FAILED: there are more than ENDS may hold.
 */
int lengths_get(const unsigned char **p, const unsigned char *end, uint32_t tokens, struct lengths_ends *ends);

#endif
