/*
 * docset.h - the documents of one shard, in memory.
 *
 *	struct docset s;
 *	docset_init(&s, shard, shards, id_bytes, vocab_size, limit)
 *	docset_add(&s, body, len)		(of tokdoc_split, in any order; copies it)
 *	or docset_borrow(&s, threads, n, record, ctx)	(all at once, sorted already; does not copy them)
 *	docset_finish(&s)			(sorts, numbers occurrences)
 *	... s.docs[0 .. s.n-1], docset_follow() ...
 *	docset_release(&s)
 *
 * Past LIMIT bytes nothing more is kept, only counted: s.over is true, and
 * s.bytes says how much it would have taken.
 */
#ifndef SHARDS_DOCSET_H
#define SHARDS_DOCSET_H

#include "base/arena.h"
#include "base/key.h"
#include "shards/tokdoc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct docset_document {
	struct key key;
	const unsigned char *body;	/* its record (tokdoc.h), ... */
	const unsigned char *ids;	/* ... the ids in it */
	size_t len;			/* of body */
	const uint32_t *ends;		/* of sentences that have tokens: the document's tokens up to the end of each */
	uint32_t sentences;		/* of these */
	uint32_t tokens;
	uint32_t occurrence;
	uint32_t place;			/* in the order of docset_add, from 0 */
};

/* What one thread cuts sentences with, and where it lays them. */
struct docset_lane {
	struct arena lengths;
	struct tokdoc scratch;
};

struct docset {
	uint32_t shard, shards;
	unsigned id_bytes;
	uint32_t vocab_size;
	uint64_t limit, bytes;		/* of memory; taken, or what would be */
	bool over;
	struct docset_document *docs;	/* by (key, occurrence) */
	size_t n, cap;
	struct arena bodies;
	/* The ring of keys with tokens: their documents, and the first of them at or after each of ring_size points. */
	uint32_t *ring, *ring_from;
	uint32_t ring_size;
	struct docset_lane lane, *more;	/* of the first thread, and of others that have helped */
	unsigned n_more;
};

void docset_init(struct docset *s, uint32_t shard, uint32_t shards, unsigned id_bytes, uint32_t vocab_size,
		 uint64_t limit);
int docset_add(struct docset *s, const unsigned char *body, size_t len);
/* RECORD gives number I < N in the order of their bytes, to several threads at once; what it gives must outlive S. */
int docset_borrow(struct docset *s, unsigned threads, size_t n,
		  const unsigned char *(*record)(const void *ctx, size_t i, size_t *len), const void *ctx);
int docset_finish(struct docset *s);

/*
 * In place of all these: N documents of which no more is known than key, occurrence, and ends of sentences, which D is filled with. They are in
 * order. S then is as after docset_finish, but has no ids.
 */
int docset_outline(struct docset *s, size_t n, void (*fill)(const void *ctx, size_t i, struct docset_document *d), const void *ctx);
void docset_clear(struct docset *s);		/* holds nothing, as after docset_init; keeps its memory */
void docset_release(struct docset *s);

/* Ids FIRST .. FIRST+N-1 of document D. */
void docset_ids(const struct docset *s, uint32_t d, uint32_t first, uint32_t n, uint32_t *out);

/*
 * The document that follows the point at fraction U / 2^64 of this shard's
 * part of the ring: docset_at that one, which must be there (ring_size > 0), docset_follow the one after it if that
 * has the key of document D (ring_size > 1).
 */
uint32_t docset_at(const struct docset *s, uint64_t u);
uint32_t docset_follow(const struct docset *s, uint64_t u, uint32_t d);

#endif
