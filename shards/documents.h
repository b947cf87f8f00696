/*
 * documents.h - a shard's table of documents in memory: whose tokens the
 * instances are made of, and whose keys open the streams of their masks.
 *
 *	struct documents t = DOCUMENTS_INIT;
 *	documents_add(&t, header, &frame_block)		(the blocks of type 1, in order)
 *	documents_draw(&t, &mask, &recipe, RNG_STATIC_MASK, 0, &instance)
 *	documents_release(&t);
 *
 * What is wrong with a table is EXIT_CORRUPT; the reasons name no file.
 */
#ifndef SHARDS_DOCUMENTS_H
#define SHARDS_DOCUMENTS_H

#include "base/frame.h"
#include "base/rng.h"
#include "shards/instance.h"
#include "shards/mask.h"
#include "shards/shard.h"

#include <stddef.h>
#include <stdint.h>

struct documents_entry {
	struct key key;
	uint32_t occurrence;
	uint32_t tokens;
};

struct documents {
	struct documents_entry *items;
	size_t n, cap;
	struct shard_totals totals;	/* what the entries add up to; of instances nothing */
	struct key keys;		/* their sum modulo 2^128 */
};
#define DOCUMENTS_INIT { .items = NULL }

/*
 * Adds the entries of block B of the shard with HEADER, calling EACH (may be
 * NULL) with every one. Refused: entries that do not fill the block, a key
 * outside the shard's interval (SHARD_OWN), another order than (key, occurrence), an
 * occurrence that does not follow.
 */
int documents_add(struct documents *t, const struct shard_header *header, const struct frame_block *b,
		  int (*each)(void *ctx, const struct shard_document *d), void *ctx);
void documents_release(struct documents *t);

/*
 * Whether masks of RECIPE can be drawn with VOCAB, which is the recipe's or NULL: whole words need it, and where
 * some are listed the list too (RECIPE->words.list, folder_words); and vocabularies of more than 2^24 need it, since a
 * header's word alone is not to take that much memory.
 */
bool documents_can_draw(const struct shard_recipe *recipe, const struct vocab *vocab);

/* mask_init for RECIPE. */
int documents_mask_init(struct mask *m, const struct shard_recipe *recipe, const struct vocab *vocab);

/* Masks I, which has no masks, from its stream of PURPOSE; EPOCH, below 2^32, is for RNG_DYNAMIC_MASK. */
void documents_draw(const struct documents *t, struct mask *m, const struct shard_recipe *recipe,
		    enum rng_purpose purpose, uint64_t epoch, struct instance *i);

#endif
