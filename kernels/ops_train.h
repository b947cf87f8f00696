/*
 * ops_train.h - arguments of the losses, the optimizers and plain arithmetic. The
 * rules at the head of ops.h hold here too.
 *
 * Losses compute value and gradient in one call, since the gradient of the total
 * is known: factor * scale. Without the gradient tensors they only evaluate.
 */
#ifndef KERNELS_OPS_TRAIN_H
#define KERNELS_OPS_TRAIN_H

#include "kernels/ops.h"

/* Cross-entropy of softmax(h table^T + bias) against labels over the whole vocabulary; never P x V in memory. */
struct mlm_loss {
	struct tensor h, table, bias;				/* [P,E] [V,E] [V] */
	const int32_t *labels;					/* [P] */
	struct tensor nll;					/* [P] = each loss, 0 without a label; may be none */
	struct tensor dh, dtable, dbias;			/* [P,E] = , [V,E] += , [V] += ; none to evaluate: all or nothing */
	struct loss loss;					/* a hit: no id scores higher, none as high is lower */
	void *space;
};

/* Cross-entropy of softmax(logits) against labels. */
struct xent {
	struct tensor logits;					/* [N,C] */
	const int32_t *labels;					/* [N] */
	struct tensor nll;					/* [N] = ; may be none */
	struct tensor dlogits;					/* [N,C] = ; may be logits, or none */
	struct loss loss;
};

/* (y - target)^2; a target that is NaN is none. No hits. */
struct mse {
	struct tensor y, target;				/* [N,C] [N,C] */
	struct tensor dy;					/* [N,C] = ; may be y, or none */
	struct loss loss;
};

/* Column 0 scores a sequence's rows as starts of the answer, column 1 as ends: the mean of both cross-entropies. */
struct span_xent {
	struct tensor logits;					/* [T,2] */
	const int32_t *first, *last;				/* [B] place within the sequence, -1: that half counts nothing */
	struct tensor nll;					/* [B] = the mean of both halves; may be none */
	struct tensor dlogits;					/* [T,2] = , 0 in rows of no sequence; may be none */
	struct loss loss;					/* a hit: both highest, the first of equals */
	struct packing seqs;
};

/* Squared norms and the search for what is not finite, in one pass over a flat range. */
struct sumsq_finite {
	struct tensor x;					/* [1,n] */
	const struct segment *segments;				/* [n_segments], rising */
	int n_segments;
	struct tensor sums;					/* [n_segments] = */
	int32_t *bad;						/* [1] becomes 1 where an element is infinite or NaN; never cleared here */
	void *space;
};

/*
 * From the squared norms (added over ranks by then) to step->grad_norm, grad_scale and skip. With c = max_norm > 0,
 * gradients are multiplied by min(1, c / (norm + eps)): eps 0 is google's and LAMB's clipping, 1e-6 is torch's.
 */
struct grad_scale {
	struct tensor sums;					/* [n] */
	const int32_t *bad;					/* [1] */
	double max_norm, eps;					/* max_norm 0: no clipping */
	struct step *step;
};

/*
 * One update of a flat range: reads g, m, v, w, writes m, v, w in one pass.
 *	ADAM_GOOGLE (google-research/bert)	u = m / (sqrt(v) + eps) + decay w,  w -= lr u;  no bias correction
 *	ADAM_TORCH (torch.optim.AdamW)		w -= lr decay w,  w -= lr m^ / (sqrt(v^) + eps);  m^ = m / (1 - beta1^time), v^ alike
 */
enum adam { ADAM_GOOGLE, ADAM_TORCH };
struct adamw {
	struct tensor w, m, v;					/* [1,n] += */
	struct tensor g;					/* [1,n] */
	struct tensor low;					/* [1,n] = w in low precision; may be none */
	const struct segment *segments;
	int n_segments;
	enum adam kind;
	double beta1, beta2, eps;
	const struct step *step;
};

/* LAMB (You et al., 2020, and NVIDIA's NVLAMB): u = m^ / (sqrt(v^) + eps) + decay w, both bias-corrected. */
struct lamb_direction {
	struct tensor w;					/* [1,n] */
	struct tensor m, v;					/* [1,n] += */
	struct tensor g, u;					/* [1,n] [1,n] = ; u may be g */
	const struct segment *segments;
	int n_segments;
	double beta1, beta2, eps;
	struct tensor w_sums, u_sums;				/* [n_segments] = squared norms of w and u */
	const struct step *step;
	void *space;
};
/* w -= lr r u; r = |w| / |u| where the segment says trust and neither is 0, else 1. The sums were added over the ranks. */
struct lamb_apply {
	struct tensor w, u, low;				/* [1,n] += , [1,n], [1,n] = or none */
	const struct segment *segments;
	int n_segments;
	struct tensor w_sums, u_sums;				/* [n_segments] */
	const struct step *step;
};

/* Plain arithmetic over all elements. */
struct cast { struct tensor x, y; };				/* y = x in y's dtype, to nearest even */
struct copy { struct tensor x, y; };				/* y = x, one dtype */
struct fill { struct tensor y; double value; };			/* y = value; 0 is zero in every bit, so counts can be cleared as F64 */
struct scale { struct tensor x, y; const double *factor; };	/* y = *factor x; y may be x */
struct add { struct tensor a, b, y; };				/* y = a + b; y may be a or b */

#endif
