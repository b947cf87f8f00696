/*
 * acts.h - the memory of a pass: all that lives between one op and another.
 *
 *	struct acts a;
 *	if (acts_open(&a, &model, &limits, ACTS_TRAIN))
 *		return -1;
 *	acts_close(&a);
 *
 * Every buffer has a place from the start, for the largest batch that the limits
 * allow, so that memory is known before the first step (acts_plan) and addresses
 * never change. A batch, opened with the same limits, uses the first rows of each.
 */
#ifndef MODEL_ACTS_H
#define MODEL_ACTS_H

#include "kernels/kernels.h"
#include "model/batch.h"

struct model;

enum acts_mode {
	ACTS_FORWARD,		/* layers share their buffers; only the last hidden states are left */
	ACTS_HIDDEN,		/* the same, but all hidden states are left */
	ACTS_RECOMPUTE,		/* for a backward pass that makes each layer's insides again from its hidden states */
	ACTS_TRAIN,		/* for a backward pass: all is kept */
};

/* The insides of a layer, which its backward pass reads. "kept": none where there is no backward pass. */
struct layer_acts {
	struct tensor qkv, context, lse;	/* [T, 3 A D] [T, A D] [T, A] */
	struct tensor sum1, mean1, rstd1, y1;	/* [T, H] [T] [T] [T, H]: around the first LayerNorm */
	struct tensor pre, act;			/* [T, F] kept, [T, F] */
	struct tensor sum2, mean2, rstd2;	/* [T, H] [T] [T] */
};

struct acts {
	enum acts_mode mode;
	struct batch_limits max;
	struct tensor *hidden;			/* [L+1] of [T, H]: 0 is the embedding's, l+1 is layer l's */
	struct layer_acts *layers;		/* [L] */
	struct tensor embed_mean, embed_rstd;	/* [T] [T] */

	struct tensor first, pooler_pre, pooled;	/* [B, H]: first tokens' rows; around the pooler's tanh */
	struct tensor dropped;			/* [B, H] or [T, H]: what the last layer reads, where there is a dropout */
	struct tensor scores;			/* [B, C] or [T, C] */
	struct tensor mlm_rows, mlm_pre, mlm_act, mlm_mean, mlm_rstd, mlm_h;	/* [P, H], means [P] */

	/* Backward. */
	struct tensor dhidden, dsum;		/* [T, H] [T, H] */
	struct tensor wide;			/* [T, max(F, 4 A D)]: gradients inside a layer */
	struct tensor dscores, dpooled, dfirst;	/* like scores; [B, H] [B, H] */
	struct tensor dmlm_h, dmlm_rows;	/* [P, H] [P, H] */

	void *space;				/* of the op that needs most */
	/* private */
	const struct kernels *k;
	void *memory;
	size_t bytes, space_bytes;
};

int acts_open(struct acts *a, const struct model *m, const struct batch_limits *max, enum acts_mode mode);
void acts_close(struct acts *a);

/* Bytes that acts_open would ask for, buffers and space; the weights need not be there. -1 where there is no such number. */
int acts_plan(const struct model *m, const struct batch_limits *max, enum acts_mode mode, size_t *bytes);

#endif
