/*
 * estimate.h - what a training will need, known before it starts.
 */
#ifndef TRAINER_ESTIMATE_H
#define TRAINER_ESTIMATE_H

#include "trainer/feed.h"

#include <jansson.h>

/* What a step is made of, on average. */
struct estimate_load {
	double sequences, tokens, predictions;
};

/*
 * Floating-point operations of a step, forward and backward, a multiplication and an
 * addition being two: three times those of the matrix products of a forward pass,
 * attention's at the mean length, the MLM part's for predictions only.
 */
double estimate_flops(const struct config *c, const struct estimate_load *load);

struct estimate_plan {
	const struct model *model;		/* planned; needs no weights */
	const struct feed_opts *feed;		/* source, batch, micro_batch */
	uint64_t steps;
	struct estimate_load load;
};

/* Parameters, bytes, operations, steps and epochs, as an object; NULL with the reason set. */
json_t *estimate_report(const struct estimate_plan *p);

#endif
