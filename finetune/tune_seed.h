/*
 * tune_seed.h - one run of a fine-tuning: that of one seed, from the model's weights to its metrics.
 *
 *	struct tune_seed t = { .opts = &opts, .data = &data, .config = &config, .k = &k, .q = q, .facts = facts, .seed = 7 };
 *	if (tune_seed_open(&t))			(locks OUT/seed-7; t.result is there where the run was done before)
 *		return -1;
 *	if (!t.result && tune_seed_train(&t, &signal))	(SIGNAL: stopped, and saved)
 *		return -1;
 *	... t.model, t.result
 *	tune_seed_finish(&t)			(writes result.json; its checkpoint is not needed any more)
 *	tune_seed_close(&t);
 */
#ifndef FINETUNE_TUNE_SEED_H
#define FINETUNE_TUNE_SEED_H

#include "finetune/tune_data.h"
#include "model/model.h"
#include "trainer/optimizer.h"
#include "trainer/run_folder.h"

struct tune_seed {
	const struct tune_opts *opts;
	const struct tune_data *data;
	const struct config *config;	/* of the tuned model */
	const struct kernels *k;
	struct queue *q;
	const json_t *facts;		/* of all seeds */
	uint64_t seed;
	/* filled: */
	json_t *result;			/* {"seed", "steps", the task's metrics, "degenerate"} */
	struct model model;		/* after training */
	/* private */
	char *folder;
	struct run_folder run;
	struct optimizer optimizer;
};

int tune_seed_open(struct tune_seed *t);
int tune_seed_train(struct tune_seed *t, int *signal);
int tune_seed_finish(struct tune_seed *t);
void tune_seed_close(struct tune_seed *t);

/* Steps of a run: examples / batch times epochs, rounded down as google-research/bert does, at least 1. */
uint64_t tune_steps(const struct tune_opts *o, const struct tune_data *d);

#endif
