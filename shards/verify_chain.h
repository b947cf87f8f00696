/*
 * verify_chain.h - whether instances go through their documents from the first token to the last, in every
 * pass, without a gap: what shows that one was left out, though every checksum agrees.
 *
 *	struct verify_chain *c = verify_chain_new(&recipe, threads);
 *	verify_chain_note(c, &instance, &links)		(any thread: what is kept of it, added to LINKS)
 *	verify_chain_add(c, documents, &links)		(of a table of so many; one thread at a time)
 *	verify_chain_check(c, &table, dropped)		(once all were added)
 *	verify_chain_free(c);				(accepts NULL)
 *
 * Where pairs are none each token is in one instance of each pass: that is checked as it stands.
 *
 * Of pairs the shard does not say where sentences end, nor what was cut off to fit. Where an instance is not of full
 * length nothing was, and the next one of its document and pass begins where it ends. Where it is, the lengths of
 * the two segments tell which one was cut: always the longer. What was cut off before a segment can be
 * seen where the other one, or the instance before, is whole; and by SHARD_OWN the stream of the instance, which is
 * named by the token that it begins at, says how much was cut in front for each token behind. So the beginning of
 * nearly every instance is known from the one before to the token or within a few. It is not behind one with a random
 * next of which both segments were cut, which are of equal length then, give or take a token: where the first one's sentences end
 * is anybody's guess within half an instance. The stream says as well whether the next sentence is a random one, and of which document.
 *
 * SHARD_GOOGLE has no streams: of all its shards together the same is checked without them.
 *
 * Memory: 45 bytes an instance, up to 256 MiB; more is sorted in $TMPDIR. Beside it 8 bytes a document, and for each thread 20
 * an instance of one document's pass. Time: of an instance, whatever the shard says, at most 512 beginnings are tried and about 2^17
 * coins counted; where that does not do it can end anywhere.
 */
#ifndef SHARDS_VERIFY_CHAIN_H
#define SHARDS_VERIFY_CHAIN_H

#include "base/buf.h"
#include "shards/documents.h"
#include "shards/instance.h"
#include "shards/shard.h"

#include <stddef.h>
#include <stdint.h>

/* The documents, in the order of their numbers. */
struct verify_table {
	const struct documents_entry *documents;
	const uint32_t *sentences;	/* of each, empty ones included */
	size_t n;
	uint32_t shard, shards;		/* whose they are: k of N */
};

struct verify_chain;
struct verify_chain *verify_chain_new(const struct shard_recipe *r, unsigned threads);
int verify_chain_note(const struct verify_chain *c, const struct instance *i, struct buf *links);
int verify_chain_add(struct verify_chain *c, size_t documents, const char *links, size_t bytes);
/* DROPPED is what the totals say; a broken chain is EXIT_CORRUPT. */
int verify_chain_check(struct verify_chain *c, const struct verify_table *t, uint64_t dropped);
void verify_chain_free(struct verify_chain *c);

#endif
