/*
 * objective.h - what a training loop minimizes: the other of the two things that it
 * knows of its task (trainer/sample_source.h is the first).
 *
 * An objective is a sum of up to STEP_LOSSES losses, each a mean over the whole
 * step: its count is added up over all micro-batches before the first backward
 * pass, so that any split into micro-batches trains the same model.
 */
#ifndef TRAINER_OBJECTIVE_H
#define TRAINER_OBJECTIVE_H

#include "model/model.h"
#include "trainer/step_tally.h"

struct objective {
	int n;					/* losses */
	const char *loss[STEP_LOSSES];		/* names in logs: "masked_lm_loss" */
	const char *accuracy[STEP_LOSSES];	/* of hits / count: "masked_lm_accuracy"; NULL: it has no hits */

	/* Adds to COUNTS [n] what each loss of a finished batch is a mean over. */
	void (*count)(const struct objective *o, const struct batch *b, int64_t *counts);

	/* After a forward pass: queues the losses into ON (backend memory) and, with GRADIENTS, the gradients of what the heads put out. */
	void (*apply)(const struct objective *o, const struct model *m, const struct batch *b, struct step_tally *on,
		      bool gradients, struct acts *a);
};

/* Masked-LM and, where instances are pairs, next sentence: Devlin et al. 2018. Of HEAD_PRETRAINING. */
extern const struct objective objective_pretraining;

#endif
