/*
 * classify.h - what the parts of the task "classify" share: the form of its predictions, and of its metrics.
 *
 * Predictions are tab-separated, with a header: the example's number in its file from
 * 0, the name of its class, and the probability of that.
 */
#ifndef FINETUNE_TASKS_CLASSIFY_H
#define FINETUNE_TASKS_CLASSIFY_H

#include "finetune/metrics.h"
#include "finetune/task.h"

#define CLASSIFY_INDEX "index"
#define CLASSIFY_PREDICTION "prediction"

/* {"accuracy", "f1", "matthews_correlation"}, as transformers' glue metrics name them; NULL: out of memory. */
json_t *classify_metrics_json(const struct class_metrics *m);

/* task.h's SCORE: the same of a file of predictions, and "examples", "majority", "labels", "f1_of". */
int classify_score(const struct task_opts *o, const char *gold, const char *predictions, json_t **metrics);

#endif
