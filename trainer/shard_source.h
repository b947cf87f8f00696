/*
 * shard_source.h - pre-training instances as samples: sets of shards by weight,
 * static or dynamic, in the order of trainer/order.h or, for evaluation, as they stand.
 *
 *	struct shard_source *s;
 *	const struct mixture_set set = { "shards", 1 };
 *	if (shard_source_open(&s, &set, 1, &(struct shard_source_opts){ .seed = 1, .ordered = true, .exponent = 1, ... }))
 *		...
 *	... shard_source_samples(s) is the struct sample_source
 *	shard_source_close(s);
 *
 * It reads a window of the order at a time, some 4,096 instances, on the thread that asks and on
 * SHARD_SOURCE_THREADS of its own, each taking a block after the other; and while a window is
 * used, they read the next one. So requests overlap, and waiting for one is hidden: at 10 ms each, 16 of them are 4 times 10 ms.
 * Two windows are in memory, 5.2 MB at 128 tokens.
 */
#ifndef TRAINER_SHARD_SOURCE_H
#define TRAINER_SHARD_SOURCE_H

#include "shards/mixture.h"
#include "trainer/sample_source.h"

#include <stdbool.h>

struct shard_source_opts {
	uint64_t seed;			/* of the order */
	bool ordered;			/* else instances come as they stand, and masks are those of epoch 0 */
	bool map;			/* shards are mapped, not read (shards/reader.h) */
	double exponent;		/* of the sets' sizes (shards/mixture.h); 1: their weights say all */
	const struct mask_choice *masks;	/* of dynamic shards (shards/reader.h); NULL: as their recipe has it */
	const struct config *config;	/* what shards must fit; read in the call only */
};

#define SHARD_SOURCE_THREADS 4

/* The order (trainer/order.h) of M's instances. */
struct order;
int shard_source_order(struct order **o, uint64_t seed, const struct mixture *m);

struct shard_source;
/* An epoch has of the N SETS what their weights say (shards/mixture.h). */
int shard_source_open(struct shard_source **s, const struct mixture_set *sets, size_t n, const struct shard_source_opts *o);
struct sample_source *shard_source_samples(struct shard_source *s);
const struct mixture *shard_source_mixture(const struct shard_source *s);
int shard_source_order_version(const struct shard_source *s);	/* order_version; where it is ordered */
void shard_source_close(struct shard_source *s);	/* accepts NULL */

/*
 * *FOLDER is a copy, which the caller frees, of the first folder with a vocab.txt: INIT, which may be NULL, and those that
 * the sets are or stand in; NULL where none has one. Refused is one that the shards were not made with (EXIT_FAILED).
 */
int shard_source_find_vocab(const struct shard_source *s, const char *init, char **folder);

/* Refuses shards whose text was cut into tokens otherwise than FOLDER/tokenizer_config.json says; a folder without one says nothing. */
int shard_source_check_rules(const struct shard_source *s, const char *folder);

#endif
