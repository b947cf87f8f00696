/* verify_chain_impl.h - what the verify_chain*.c files share and nobody else includes. */
#ifndef SHARDS_VERIFY_CHAIN_IMPL_H
#define SHARDS_VERIFY_CHAIN_IMPL_H

#include "base/rng.h"
#include "shards/verify_chain.h"

#include <stdbool.h>

/* What is kept of an instance: its lead, and what else is needed. Where pairs are none, of each of its segments. */
struct link {
	uint32_t document, first;
	uint32_t other;			/* the other segment's first token; of a random next its document */
	uint16_t pass, length, other_length;
	uint16_t flags;			/* enum instance_flags */
};

struct verify_chain {
	struct shard_recipe recipe;	/* its plain members */
	uint32_t most;			/* tokens of an instance's segments */
	unsigned threads, shift;	/* shift: bits below document and pass in prefix() */
	struct spill *spill;
	const struct verify_table *table;
	uint32_t *ring;			/* documents with tokens, one of each key, by key */
	size_t ring_size;
	uint32_t *places;		/* [documents] in the ring; others' mean nothing */
	bool others;			/* there are some for random nexts */
};

/*
 * Tokens where an instance can begin, or end: of CHAIN_NEAR from BASE on those whose bits are set; and all of FIRST .. LAST,
 * none where FIRST > LAST.
 */
#define CHAIN_NEAR 256
struct chain_places {
	uint64_t near[CHAIN_NEAR / 64];
	uint32_t base, first, last;
};

/* One document's pass. */
struct chain_pass {
	const struct verify_chain *c;
	const struct documents_entry *document;
	struct rng_key key;
	uint32_t number, pass;
	uint32_t target;		/* with document_lengths */
	bool careful;			/* a draw may have been made again: that its number is below what, the shard does not say */
	struct chain_places starts;	/* of the next instance */
	uint32_t second;		/* the last one's second segment begins there at the earliest */
};

/* P at its first token; its target is drawn. */
void chain_begin(struct chain_pass *p);

/* L, a pair, is P's next instance: -1 where that cannot be. */
int chain_follow(struct chain_pass *p, const struct link *l);

int chain_end(const struct chain_pass *p);	/* the last one was followed: -1 where it cannot end with the document */

#endif
