/*
 * step_tally.h - what one step tells the backend and hears from it, in the backend's
 * memory at a fixed address: uploaded before the step, downloaded after it.
 */
#ifndef TRAINER_STEP_TALLY_H
#define TRAINER_STEP_TALLY_H

#include "kernels/ops.h"
#include "kernels/step.h"

#include <stdint.h>

struct step_tally {
	struct step step;
	double loss[STEP_LOSSES];	/* += each loss, a mean over the whole step */
	int64_t hits[STEP_LOSSES];	/* += predictions that were right */
	int32_t bad;			/* 1: a gradient is not finite */
	int32_t reserved;
};

/* Loss WHICH of an objective, as ops take it: its sum, its hits, and 1 / its count. ON is in the backend's memory. */
static inline struct loss step_tally_loss(struct step_tally *on, int which)
{
	return (struct loss){ .sum = &on->loss[which], .hits = &on->hits[which], .factor = &on->step.mean[which],
			      .scale = &on->step.loss_scale };
}

#endif
