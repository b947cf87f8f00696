/*
 * ops.h - the arguments of the ops, which is to say: what each computes. Here the
 * blocks of the model; losses, optimizers and plain arithmetic are in ops_train.h.
 *
 * One struct an op, filled by designated initializers; what is left out is none.
 *
 *	k.linear_fwd(q, &(struct linear_fwd){ .x = x, .w = w, .b = b, .y = y, .act = ACT_GELU });
 *
 * Rules for all of them
 * - Every pointer and tensor lies in backend memory; the struct itself is read
 *   before the call returns.
 * - "=" is overwritten, "+=" is added to (parameter gradients, losses, counts).
 *   Outputs overlap nothing but where "may be" says so.
 * - Floating tensors of an op have one dtype, but statistics (mean, rstd, lse, nll), which
 *   are F32 where that is BF16 or F16, squared norms (sums), which are F64, and
 *   low-precision copies of parameters.
 * - Sizes are capacities. What is not in use is marked in the index arrays: id,
 *   row or label -1, starts[b] = T, target NaN. Rows of x that belong to no
 *   sequence are finite and their gradients 0: embed and attention write them so,
 *   and the other ops keep it so.
 * - The same rows give the same results whatever stands in other rows: bit for
 *   bit on ref and cpu, within the tolerance on cuda. Sums over rows (gradients
 *   of parameters, losses) have a fixed order for given sizes and threads.
 * - space: kernels_space() bytes (kernels.h), aligned to 64, contents meaningless
 *   before and after.
 */
#ifndef KERNELS_OPS_H
#define KERNELS_OPS_H

#include "kernels/step.h"
#include "kernels/tensor.h"

/* Which packed rows are which sequence: sequence b is rows starts[b] .. starts[b+1]-1. */
struct packing {
	int B;				/* sequences */
	int S;				/* none is longer; below 65536 */
	const int32_t *starts;		/* [B+1], rising */
	const uint64_t *sample;		/* [B] names each to the dropout; used where a rate is above 0 */
};

/* A dropout: see kernels/dropout.h for the masks. */
struct dropout {
	double rate;			/* 0: none, and the rest is not looked at */
	uint32_t site;			/* which one of the model's dropouts this is */
	const struct step *step;	/* seed and number */
};

enum act { ACT_NONE, ACT_GELU, ACT_GELU_TANH, ACT_RELU, ACT_TANH };	/* ACT_GELU: x (1 + erf(x / sqrt 2)) / 2 */

/* Where a loss goes. */
struct loss {
	double *sum;			/* [1] += factor * the sum of the losses */
	int64_t *hits;			/* [1] += predictions that were right; NULL: not counted */
	const double *factor;		/* [1] 1 / count: &step->mean[i] */
	const double *scale;		/* [1] multiplies the gradients too: &step->loss_scale; NULL: 1 */
};

/* A tensor in a flat range of parameters, or the part of it that lies in there. */
struct segment {
	int64_t first, count;		/* elements first .. first+count-1 of the range */
	double decay;			/* weight decay */
	int32_t trust;			/* LAMB scales its step by the trust ratio */
	int32_t reserved;
};

/* y = dropout(LayerNorm(word[ids] + position[positions] + type[types])); y, mean and rstd are 0 where the id is -1 */
struct embed_fwd {
	const int32_t *ids, *positions, *types;			/* [T]; types NULL without type */
	struct tensor word, position, type;			/* [V,E] [max S,E] [types,E]; type may be none */
	struct tensor gamma, beta;				/* [E] */
	struct tensor y, mean, rstd;				/* [T,E] [T] [T] = */
	double eps;
	struct dropout drop;
	struct packing seqs;
};
struct embed_bwd {
	struct tensor dy;					/* [T,E] */
	const int32_t *ids, *positions, *types;			/* and what embed_fwd had */
	struct tensor word, position, type, gamma, mean, rstd;
	struct tensor dword, dposition, dtype, dgamma, dbeta;	/* += */
	struct dropout drop;
	struct packing seqs;
	void *space;
};

/* y = act(pre), pre = x w^T + b */
struct linear_fwd {
	struct tensor x, w, b;					/* [N,k] [n,k] [n]; b may be none */
	struct tensor y, pre;					/* [N,n] = ; pre only when kept for the backward pass */
	enum act act;
	void *space;
};
struct linear_bwd {
	struct tensor dy;					/* [N,n]; where act is not ACT_NONE it becomes the gradient of pre */
	struct tensor x, w, pre;				/* what linear_fwd had; pre only where act is not ACT_NONE */
	struct tensor dx;					/* [N,k] = or, with add_dx, += ; may be none */
	struct tensor dw, db;					/* [n,k] [n] += ; may be none */
	enum act act;
	bool add_dx;
	void *space;
};

/* For each sequence and head: p = softmax(scale q k^T), context = dropout(p) v; nothing S x S is kept. 0 in rows of no sequence. */
struct attention_fwd {
	struct tensor qkv;					/* [T,3,A,D] */
	struct tensor context, lse;				/* [T,A,D] [T,A] = ; lse: log of the sum of exponentials */
	int A;
	double scale;						/* 1 / sqrt(D) */
	struct dropout drop;
	struct packing seqs;
	void *space;
};
struct attention_bwd {
	struct tensor dcontext;					/* [T,A,D] */
	struct tensor qkv, context, lse;			/* as attention_fwd left them */
	struct tensor dqkv;					/* [T,3,A,D] = */
	int A;
	double scale;
	struct dropout drop;
	struct packing seqs;
	void *space;
};
/* The probabilities p themselves, before dropout, for looking at: 0 beyond a sequence's length. */
struct attention_probs {
	struct tensor qkv, lse;					/* as attention_fwd left them */
	struct tensor probs;					/* [B*A*S, S] = */
	int A;
	double scale;
	struct packing seqs;
};

/* sum = x + dropout(h), y = LayerNorm(sum). Without h: y = LayerNorm(x). */
struct residual_norm_fwd {
	struct tensor x, h, gamma, beta;			/* [N,H] [N,H] [H] [H]; h may be none */
	struct tensor y;					/* [N,H] = ; may be x */
	struct tensor sum;					/* [N,H] = ; may be x or h; needed with h (the backward pass reads it) */
	struct tensor mean, rstd;				/* [N] = */
	double eps;
	struct dropout drop;					/* its rows are those of seqs */
	struct packing seqs;
};
struct residual_norm_bwd {
	struct tensor dy;					/* [N,H] */
	struct tensor sum, gamma, mean, rstd;			/* of residual_norm_fwd; without h its x is the sum */
	struct tensor dsum;					/* [N,H] gradient that reaches sum by another way (pre-LN); may be none */
	struct tensor dx, dh;					/* [N,H] = ; dh may be none; dx may be dy or dsum */
	struct tensor dgamma, dbeta;				/* [H] += */
	struct dropout drop;
	struct packing seqs;
	void *space;
};

/* y = dropout(x), and dx = dropout(dy). Without starts, row b is all there is of sequence b (pooled rows). */
struct dropout_rows {
	struct tensor x, y;					/* [N,H]; y may be x */
	struct dropout drop;
	struct packing seqs;
};

/* y[r] = x[rows[r]] (0 where rows[r] is -1), and its transpose x[rows[r]] += y[r], in the order of r */
struct rows_gather {
	struct tensor x, y;					/* [N,H] [n,H] = */
	const int32_t *rows;					/* [n] */
};
struct rows_scatter_add {
	struct tensor y, x;					/* [n,H] [N,H] += */
	const int32_t *rows;					/* [n]; a row may come twice */
};

#endif
