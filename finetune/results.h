/*
 * results.h - what several seeds gave, in one object.
 *
 * Members are sorted by name:
 *
 *	{"task": "classify", "measured_on": "dev", "examples": 490, "labels": [...], "majority": 0.5,
 *	 "accuracy": {"mean": 0.81, "sd": 0.01, "min": 0.80, "max": 0.82}, ...	(each of the task's metrics)
 *	 "degenerate": 0, "best_seed": 12346,
 *	 "seeds": [{"seed": 12345, "steps": 318, "degenerate": false, "accuracy": 0.80, ...}, ...]}
 *
 * The standard deviation has n - 1 in its denominator, and is 0 of one seed.
 */
#ifndef FINETUNE_RESULTS_H
#define FINETUNE_RESULTS_H

#include "finetune/tune_data.h"

/* SEEDS: an array of tune_seed's results, borrowed. NULL with the reason set. */
json_t *results_of_seeds(const struct tune_opts *o, const struct tune_data *d, json_t *seeds);

/* Them as text, an object of lines; the caller frees. NULL: out of memory. */
char *results_text(const json_t *results);

/* The index of the best of SEEDS by the task's main metric, the first of equals. */
size_t results_best(const struct task *task, const json_t *seeds);

#endif
