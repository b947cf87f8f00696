/*
 * infer.h - a model's scores of sequences in memory.
 *
 *	struct infer i;
 *	if (infer_open(&i, &model, longest))
 *		return -1;
 *	infer_scores(&i, &sequences, scores)	([sequences.n, classes])
 *	infer_close(&i);
 *
 * Sequences go through packed, as many at a time as come to some thousand tokens; a
 * sequence's scores do not depend on what stands beside it.
 */
#ifndef FINETUNE_INFER_H
#define FINETUNE_INFER_H

#include "base/progress.h"
#include "finetune/sequences.h"
#include "model/model.h"

struct infer {
	const struct model *model;
	struct progress *progress;	/* counts sequences; may be NULL */
	/* private */
	struct batch batch;
	struct acts acts;
	float *host;
	size_t host_bytes;
	uint64_t done;
};

/* M: F32, with one row of scores for each sequence. LONGEST: tokens of the longest sequence that will come. */
int infer_open(struct infer *i, const struct model *m, int longest);
int infer_scores(struct infer *i, const struct sequences *s, float *scores);
void infer_close(struct infer *i);	/* once open has been called, or of a zeroed struct */

#endif
