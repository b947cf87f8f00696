/*
 * evaluate.h - losses and accuracies over held-out samples, all of them, in their order.
 *
 *	struct evaluation e;
 *	if (evaluation_open(&e, source, &update, micro_batch, NULL, 0))
 *		return -1;
 *	evaluation_run(&e, &result)		(means over all samples)
 *	evaluation_close(&e);
 *
 * With parts, runs of samples, each of these has means of its own beside those of all parts together.
 *
 * It changes nothing of a training. The update must have room for the source's
 * batches (sample_source_limits).
 */
#ifndef TRAINER_EVALUATE_H
#define TRAINER_EVALUATE_H

#include "trainer/sample_source.h"
#include "trainer/update.h"

#include <jansson.h>

struct evaluation_part {
	const char *name;
	uint64_t first, count;			/* samples */
	struct update_result result;		/* of the last run */
};

struct evaluation {
	struct sample_source *source;
	struct update *update;
	int micro_batch;
	struct batch batch;
	struct evaluation_part *parts;		/* [n] */
	size_t n;
};

/* PARTS, the caller's, must live as long as E; none: all samples. */
int evaluation_open(struct evaluation *e, struct sample_source *source, struct update *u, int micro_batch,
		    struct evaluation_part *parts, size_t n);
int evaluation_run(struct evaluation *e, struct update_result *r);
void evaluation_close(struct evaluation *e);	/* of a zeroed struct too */

/* Adds R's losses and accuracies to a line of the log, each name after PREFIX; those without a count are left out. -1: out of memory. */
int evaluation_report(json_t *data, const char *prefix, const struct objective *o, const struct update_result *r);

/* Where there are several parts, the same of each, the prefix being eval_NAME/; and loss and instances. */
int evaluation_report_parts(json_t *data, const struct evaluation *e);

#endif
