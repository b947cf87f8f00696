/*
 * sequence_source.h - sequences in memory as samples of a training loop, and as batches.
 *
 *	struct sequence_source s;
 *	sequence_source_init(&s, &sequences, seed, true);
 *	... s.samples is the struct sample_source
 *
 * Each epoch has another order, a permutation of all sequences that follows from
 * (seed, epoch); or, for evaluation, they come as they stand. Nothing is to be released.
 */
#ifndef FINETUNE_SEQUENCE_SOURCE_H
#define FINETUNE_SEQUENCE_SOURCE_H

#include "finetune/sequences.h"
#include "trainer/sample_source.h"

#include <stdbool.h>

struct sequence_source {
	struct sample_source samples;
	const struct sequences *sequences;
	uint64_t seed;
	bool shuffled;
};

/* SEQUENCES must outlive it, and there must be one. */
void sequence_source_init(struct sequence_source *s, const struct sequences *sequences, uint64_t seed, bool shuffled);

/* Adds sequence I to B, which has room, with its label; KEY as sample_source's. */
void sequence_add_to_batch(const struct sequences *s, size_t i, uint64_t key, struct batch *b);

#endif
