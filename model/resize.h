/*
 * resize.h - a model with another vocabulary.
 *
 * Rows of the word embeddings, and of the MLM part's table (where it is not
 * the same) and bias, belong to tokens. Each row of the new model is the mean of rows of
 * the old one: of one, where a token stays; of its pieces', where it is new. All else is copied.
 *
 *	struct model to;
 *	const struct vocab_rows r = { .pieces = ..., .ends = ..., .count = ... };
 *	if (model_resize(&to, &from, &r))
 *		return -1;
 *	model_dir_save(&to, "out")
 *	model_release(&to);
 */
#ifndef MODEL_RESIZE_H
#define MODEL_RESIZE_H

#include "model/model.h"

struct vocab_rows {
	const uint32_t *pieces;		/* rows of the old model: new row i is the mean of pieces[ends[i-1]..ends[i]), at least one */
	const size_t *ends;		/* [count]; ends[-1] read as 0 */
	size_t count;			/* tokens of the new vocabulary, at least 1, below 2^31 */
	int pad_token_id;		/* of the new vocabulary; -1: as it was */
};

/*
 * Makes *TO, with weights, on the backend of FROM, which has its weights, in F32. -1 with the reason set, and *TO is empty then: out
 * of memory, or (EXIT_FAILED) a piece beyond the rows of FROM.
 */
int model_resize(struct model *to, const struct model *from, const struct vocab_rows *r);

#endif
