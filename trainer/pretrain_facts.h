/* pretrain_facts.h - what decides the result of a pre-training, as run.json holds it. */
#ifndef TRAINER_PRETRAIN_FACTS_H
#define TRAINER_PRETRAIN_FACTS_H

#include "trainer/pretrain.h"
#include "trainer/shard_source.h"

/*
 * An object of plain values; NULL with the reason set. Threads, backend, micro-batches and all that only
 * says when something is written are not in it: they change sums by rounding at most. Nor is the number of
 * steps where the rate does not depend on it.
 */
json_t *pretrain_facts(const struct pretrain_opts *o, const struct config *c, const struct shard_source *data);

/* The last part of PATH: a set's name, wherever it lies; null where that is not UTF-8. NULL: out of memory. */
json_t *pretrain_set_name(const char *path);

/*
 * tokenizer_config.json for a model of these shards; the caller frees. Where INIT, a model directory or NULL, has one, it is that,
 * with the longest word and the version of Unicode that the shards have.
 */
char *pretrain_tokenizer_config(const struct config *c, const struct shard_source *data, const char *init);

/* Whose ids the shards hold, into C's tokenizer_compat: google's are what goes without saying. */
void pretrain_note_compat(struct config *c, const struct shard_source *data);

#endif
