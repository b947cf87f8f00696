/*
 * train_log.h - what a run leaves of its course: log.jsonl, and the same numbers as TensorBoard events.
 *
 *	struct train_log *l;
 *	if (train_log_open(&l, run, step))
 *		return -1;
 *	train_log_step(l, step, json_pack("{s:f}", "average_loss", 9.5))
 *	train_log_note(l, "PARAMETER", json_pack(...))
 *	train_log_close(l);
 *
 * A line is a JSON object as dllogger writes it: "type", "step" (a number, "PARAMETER"
 * for what a run was started with, [] for what is true of the whole), "timestamp" and
 * "elapsedtime" in seconds, "data". Names inside "data" are dllogger's and
 * google-research/bert's where they have one.
 *
 * A run that goes on from STEP first takes lines of later steps, and one cut short by
 * a kill, out of the file: it will write them again.
 */
#ifndef TRAINER_TRAIN_LOG_H
#define TRAINER_TRAIN_LOG_H

#include <jansson.h>
#include <stdint.h>

#define TRAIN_LOG_NAME "log.jsonl"

struct train_log;
int train_log_open(struct train_log **l, const char *run, uint64_t step);

/*
 * Opens it and writes the first line of this start, what was asked for: FACTS (borrowed), MORE (taken; NULL is "out of
 * memory"), and first_step, which is STEP.
 */
int train_log_start(struct train_log **l, const char *run, uint64_t step, const json_t *facts, json_t *more);

/* DATA is taken; NULL is "out of memory". Its numbers become scalars of the events too. */
int train_log_step(struct train_log *l, uint64_t step, json_t *data);

/* STEP "PARAMETER", or NULL for []. */
int train_log_note(struct train_log *l, const char *step, json_t *data);

int train_log_close(struct train_log *l);	/* accepts NULL */

#endif
