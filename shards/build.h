/*
 * build.h - the documents of one shard to its instances: shards/FORMAT.md,
 * "Instances", "Masks" and "Order", or "Google's instances". A pure function of
 * documents and recipe.
 *
 *	struct build b;
 *	build_init(&b, &recipe, vocab, &docset, threads, limit)
 *	build_drafts(&b)			(what each instance is made of, in the shard's order)
 *	or build_google(&b, vocab), then build_google_shard(&b, k, shards) for each shard k
 *	for (uint64_t block = 0; block < build_blocks(&b); block++)
 *		build_block(&b, worker, block, level, &raw, &packed, &records)	(any order, any thread)
 *	... build_totals(&b) ...
 *	build_release(&b)
 */
#ifndef SHARDS_BUILD_H
#define SHARDS_BUILD_H

#include "base/arena.h"
#include "shards/docset.h"
#include "shards/instance.h"
#include "shards/mask.h"
#include "shards/shard.h"

#include <stdbool.h>
#include <stdint.h>

/* One instance, before its tokens are copied and masked. */
struct draft {
	union {
		uint64_t order;
		const uint16_t *masks;	/* of build_google: their number; of each, position, id, the id's upper half */
	};
	uint32_t document[2], first[2];	/* of its segments, as in struct instance_segment */
	uint16_t length[2];
	uint16_t pass;
	uint16_t flags;
};

struct build_worker;
struct build {
	const struct shard_recipe *recipe;
	const struct docset *docs;
	struct instance_shape shape;
	unsigned threads;
	uint64_t limit;			/* bytes that drafts may take */
	struct build_worker *workers;	/* [threads] */
	struct draft *drafts;
	uint64_t n;			/* of drafts; counted even when they were too many to keep */
	bool over;			/* they were: n * BUILD_DRAFT_BYTES > limit */
	bool within;			/* that is an error (EXIT_FAILED), and drafting ends there, or with far more work than that makes */
	uint32_t *order;		/* [n] drafts in the shard's order */
	bool drawn;			/* build_google's: masks are in the drafts, and DOCS are those of all shards */
	struct arena masks;
	uint32_t *all;			/* [n_all] drafts in the order of all shards */
	uint64_t n_all;
};
#define BUILD_DRAFT_BYTES (2 * sizeof(struct draft) + 2 * sizeof(uint32_t))

/* VOCAB is needed for whole-word masks only. RECIPE, VOCAB and DOCS must outlive B. */
int build_init(struct build *b, const struct shard_recipe *recipe, const struct vocab *vocab, const struct docset *docs,
	       unsigned threads, uint64_t limit);
int build_drafts(struct build *b);

/* The same without what blocks need: for build_drafts and build_segments only. DOCS may be outlines. */
int build_init_drafts(struct build *b, const struct shard_recipe *recipe, const struct docset *docs, unsigned threads, uint64_t limit);
/* All of instance K < b->n of the shard but tokens and masks: its segments, pass and flags. */
void build_segments(const struct build *b, uint64_t k, struct instance *i);

/*
 * create_pretraining_data.py's instances instead: the documents in the order of docset_add, all draws from one
 * generator, so on one thread. build_google_shard makes B, of which all blocks were built, that of one shard:
 * instances SHARD, SHARD + SHARDS, ... of the shuffled list.
 */
int build_google(struct build *b, const struct vocab *vocab);
int build_google_shard(struct build *b, uint32_t shard, uint32_t shards);

uint64_t build_blocks(const struct build *b);

/* Block BLOCK of the shard, by worker WORKER < threads; RAW and PACKED are replaced (instance_columns_flush). */
int build_block(struct build *b, unsigned worker, uint64_t block, int level, struct buf *raw,
		struct buf *packed, uint32_t *records);

/* Adds the sums over all blocks built so far, and over the drafts. */
void build_totals(const struct build *b, struct shard_totals *t);
void build_release(struct build *b);

#endif
