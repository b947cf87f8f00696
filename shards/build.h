/*
 * build.h - the documents of one shard to its instances: shards/FORMAT.md,
 * "Instances", "Masks" and "Order". A pure function of documents and recipe.
 *
 *	struct build b;
 *	build_init(&b, &recipe, vocab, &docset, threads, limit)
 *	build_drafts(&b)			(what each instance is made of, in the shard's order)
 *	for (uint64_t block = 0; block < build_blocks(&b); block++)
 *		build_block(&b, worker, block, level, &raw, &packed, &records)	(any order, any thread)
 *	... build_totals(&b) ...
 *	build_release(&b)
 */
#ifndef SHARDS_BUILD_H
#define SHARDS_BUILD_H

#include "shards/docset.h"
#include "shards/instance.h"
#include "shards/mask.h"
#include "shards/shard.h"

#include <stdbool.h>
#include <stdint.h>

/* One instance, before its tokens are copied and masked. */
struct draft {
	uint64_t order;
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
	uint32_t *order;		/* [n] drafts in the shard's order */
};
#define BUILD_DRAFT_BYTES (2 * sizeof(struct draft) + 2 * sizeof(uint32_t))

/* VOCAB is needed for whole-word masks only. RECIPE, VOCAB and DOCS must outlive B. */
int build_init(struct build *b, const struct shard_recipe *recipe, const struct vocab *vocab, const struct docset *docs,
	       unsigned threads, uint64_t limit);
int build_drafts(struct build *b);
uint64_t build_blocks(const struct build *b);

/* Block BLOCK of the shard, by worker WORKER < threads; RAW and PACKED are replaced (instance_columns_flush). */
int build_block(struct build *b, unsigned worker, uint64_t block, int level, struct buf *raw,
		struct buf *packed, uint32_t *records);

/* Adds the sums over all blocks built so far, and over the drafts. */
void build_totals(const struct build *b, struct shard_totals *t);
void build_release(struct build *b);

#endif
