/*
 * loop.h - the training loop. It knows a source of samples and an objective, and no task.
 *
 *	struct loop l = { .run = "out", .update = &u, .source = s, .schedule = ..., .log = log, ... };
 *	if (loop_run(&l, &end))
 *		return -1;
 *	... end.why, end.at
 *
 * A step takes BATCH samples in micro-batches (trainer/feed.h), trains on them
 * (trainer/update.h), then, as far as each is due, writes a line of the log,
 * evaluates, and saves a checkpoint, in this order, so that a run that is killed
 * in between goes on from a checkpoint with the log as it was. It stops when
 * all steps are done, the time is used up, or a signal came: always with a
 * checkpoint. A loss or gradient that is not finite fails the run (EXIT_FAILED,
 * naming the step); the weights of that step are not saved. Where an evaluation fails, they are.
 */
#ifndef TRAINER_LOOP_H
#define TRAINER_LOOP_H

#include "base/progress.h"
#include "trainer/checkpoint.h"
#include "trainer/evaluate.h"
#include "trainer/schedule.h"
#include "trainer/train_log.h"

enum loop_why { LOOP_DONE, LOOP_SIGNAL, LOOP_TIME };

struct loop {
	const char *run;			/* the folder */
	struct update *update;			/* model, objective, optimizer */
	struct sample_source *source;
	struct schedule schedule;		/* its steps are the run's */
	int batch, micro_batch;
	uint64_t log_every, save_every, eval_every;	/* steps; 0: only at the end */
	uint64_t keep;				/* checkpoints; 0: all */
	struct evaluation *evaluation;		/* or NULL */
	struct checkpoint_source save;
	double time_budget;			/* seconds of this start, which makes a step at least; 0: any */
	int (*stopped)(void);			/* the signal that asks to stop, or 0; may be NULL */
	struct train_log *log;
	struct progress *progress;		/* or NULL */
	struct position at;			/* where it begins; then where it is */
};

struct loop_end {
	enum loop_why why;
	int signal;
	uint64_t steps;				/* made in this call */
	double seconds;				/* of steps alone */
	double loss;				/* of the last window of the log */
};

int loop_run(struct loop *l, struct loop_end *end);

#endif
