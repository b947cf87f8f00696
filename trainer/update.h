/*
 * update.h - one step: micro-batches, forward and backward, the optimizer. And the same
 * without the latter two, for evaluation.
 *
 *	struct update u;
 *	if (update_open(&u, &model, &limits, &objective, &optimizer, seed))
 *		return -1;
 *	update_train(&u, batches, n, &(struct update_when){ .number = 7, .time = 7, .lr = 1e-4 }, &result)
 *	update_evaluate(&u, batches, n, &result)
 *	update_close(&u);
 *
 * The counts of all micro-batches are summed before the first backward pass, and
 * each loss enters it as a mean over them. Nothing is allocated in a step. Both
 * calls wait until the step is done.
 */
#ifndef TRAINER_UPDATE_H
#define TRAINER_UPDATE_H

#include "trainer/objective.h"
#include "trainer/optimizer.h"

struct update {
	const struct model *model;
	const struct objective *objective;
	struct optimizer *optimizer;		/* NULL: only evaluates */
	uint64_t seed;				/* of the dropout */
	struct acts acts;
	struct step_tally *host, *on;		/* on the host, and in the backend's memory */
};

/* LIMITS: of a micro-batch. The model has gradients where there is an optimizer. */
int update_open(struct update *u, const struct model *m, const struct batch_limits *limits, const struct objective *objective,
		struct optimizer *optimizer, uint64_t seed);
void update_close(struct update *u);		/* once open has been called, or of a zeroed struct */

struct update_when {
	uint32_t number;			/* of the step: other dropout masks */
	uint32_t time;				/* of the optimizer: 0 at its first update */
	double lr;
};

struct update_result {
	double loss[STEP_LOSSES];		/* means; 0 where nothing was counted */
	int64_t hits[STEP_LOSSES], counts[STEP_LOSSES];
	double total;				/* of the losses */
	double grad_norm;			/* before clipping */
	bool finite;				/* loss and gradients; if not, nothing has changed */
	int64_t tokens, sequences;
};

/* BATCHES are finished, and uploaded here. -1 with the reason set where the backend failed. */
int update_train(struct update *u, struct batch *batches, int n, const struct update_when *when, struct update_result *r);
int update_evaluate(struct update *u, struct batch *batches, int n, struct update_result *r);

#endif
