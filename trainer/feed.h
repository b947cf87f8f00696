/*
 * feed.h - the micro-batches of coming steps, made on a thread of its own.
 *
 *	struct feed *f;
 *	if (feed_open(&f, &(struct feed_opts){ .source = s, .model = &m, .batch = 256, .micro_batch = 32, .at = { .epoch = 0 } }))
 *		return -1;
 *	while ((s = feed_take(f))) {		(NULL: failed)
 *		... s->batches[0 .. s->n-1], finished
 *		feed_give(f, s);		(when all that was queued with them is done)
 *	}
 *	feed_close(f);
 *
 * A step has BATCH samples; where an epoch ends inside it, it goes on with the
 * next. Two steps exist, the one in hand and the one that is being made, whose
 * memory is all there from the start. Which samples a step has follows from its
 * place alone.
 */
#ifndef TRAINER_FEED_H
#define TRAINER_FEED_H

#include "model/model.h"
#include "trainer/sample_source.h"

#include <stdbool.h>

/* A place in the samples; INDEX may be the source's size, which is the next epoch's 0. */
struct feed_place {
	uint64_t epoch, index;
};

struct feed_opts {
	struct sample_source *source;
	const struct model *model;		/* its backend, dtype and config */
	int batch, micro_batch;			/* samples */
	struct feed_place at;			/* of the first sample */
	uint64_t steps;				/* no more than that are made ahead */
};

struct feed_step {
	struct batch *batches;
	int n;
	struct feed_place after;		/* of the sample that follows */
};

struct feed;
int feed_open(struct feed **f, const struct feed_opts *o);
struct feed_step *feed_take(struct feed *f);
void feed_give(struct feed *f, struct feed_step *s);
void feed_close(struct feed *f);		/* accepts NULL; waits for its thread */

/*
 * Samples of a micro-batch of S's: ASKED, or 32 where that is 0, and no more than BATCH.
 * -1 with the reason set: their tokens are more than can be counted.
 */
int feed_micro_batch(const struct sample_source *s, uint64_t batch, uint64_t asked, int *micro_batch);

/* Bytes of the batches, on each of the host's and the backend's side. */
size_t feed_bytes(const struct feed_opts *o);

#endif
