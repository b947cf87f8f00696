/*
 * step_tally.h - what one step tells the backend and hears from it, in the backend's
 * memory at a fixed address: uploaded before the step, downloaded after it.
 */
#ifndef TRAINER_STEP_TALLY_H
#define TRAINER_STEP_TALLY_H

#include "kernels/step.h"

#include <stdint.h>

struct step_tally {
	struct step step;
	double loss[STEP_LOSSES];	/* += each loss, a mean over the whole step */
	int64_t hits[STEP_LOSSES];	/* += predictions that were right */
	int32_t bad;			/* 1: a gradient is not finite */
	int32_t reserved;
};

#endif
