/*
 * evaluate.h - losses and accuracies over held-out samples, all of them, in their order.
 *
 *	struct evaluation e;
 *	if (evaluation_open(&e, source, &update, micro_batch))
 *		return -1;
 *	evaluation_run(&e, &result)		(means over all samples)
 *	evaluation_close(&e);
 *
 * It changes nothing of a training. The update must have room for the source's
 * batches (sample_source_limits).
 */
#ifndef TRAINER_EVALUATE_H
#define TRAINER_EVALUATE_H

#include "trainer/sample_source.h"
#include "trainer/update.h"

#include <jansson.h>

struct evaluation {
	struct sample_source *source;
	struct update *update;
	int micro_batch;
	struct batch batch;
};

int evaluation_open(struct evaluation *e, struct sample_source *source, struct update *u, int micro_batch);
int evaluation_run(struct evaluation *e, struct update_result *r);
void evaluation_close(struct evaluation *e);	/* of a zeroed struct too */

/* Adds R's losses and accuracies to a line of the log, each name after PREFIX; those without a count are left out. -1: out of memory. */
int evaluation_report(json_t *data, const char *prefix, const struct objective *o, const struct update_result *r);

#endif
