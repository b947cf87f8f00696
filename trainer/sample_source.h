/*
 * sample_source.h - where a training loop's samples come from: the one of the two things that it knows of its task (the
 * other is trainer/objective.h).
 *
 * A source holds SIZE samples. In every epoch each comes once; which one is at
 * INDEX is the source's own pure function of (epoch, index). So a position in
 * the training is two integers, and going on from it needs no more.
 */
#ifndef TRAINER_SAMPLE_SOURCE_H
#define TRAINER_SAMPLE_SOURCE_H

#include "model/batch.h"

#include <stdint.h>

struct sample_source {
	uint64_t size;			/* samples of an epoch, at least 1 */
	int max_length;			/* tokens of the longest sample */
	int max_predictions;		/* masked places of one sample, at most */
	int targets;			/* numbers that a sample has as targets (batch_limits.C) */

	/*
	 * Adds the sample at INDEX of EPOCH to B, which has room, and calls it KEY (batch_add's SAMPLE): names it to the
	 * dropout. One thread at a time. -1 with the reason set. Cheapest for rising indices.
	 */
	int (*add)(struct sample_source *s, uint64_t epoch, uint64_t index, uint64_t key, struct batch *b);
};

/* The limits of a batch of B samples of S. */
static inline struct batch_limits sample_source_limits(const struct sample_source *s, int B)
{
	return (struct batch_limits){ .B = B, .T = B * s->max_length, .P = B * s->max_predictions, .C = s->targets };
}

#endif
