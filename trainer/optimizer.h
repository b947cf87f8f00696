/*
 * optimizer.h - from gradients to weights: global norm, clipping, AdamW or LAMB.
 *
 *	struct optimizer o;
 *	if (optimizer_open(&o, &model, &opts))
 *		return -1;
 *	optimizer_apply(&o, tally);		(queued: reads and writes tally->step, tally->bad)
 *	optimizer_close(&o);
 *
 * AdamW. google (google-research/bert, AdamWeightDecayOptimizer): no bias correction,
 * epsilon 1e-6, gradients multiplied by min(1, clip / norm). torch (torch.optim.AdamW
 * after clip_grad_norm_): bias correction, epsilon 1e-8, min(1, clip / (norm + 1e-6)).
 *
 * LAMB (You et al., "Large Batch Optimization for Deep Learning", 2020, as NVIDIA's
 * DeepLearningExamples have it): gradients multiplied by min(1, clip / norm) before
 * anything else, bias correction, epsilon 1e-6 outside the root, and each parameter's
 * update scaled by |w| / |u|, 1 where either is 0. google: every parameter's, as their
 * TensorFlow code; torch: only of those that decay, as their apex kernel.
 *
 * All decay weights apart from the gradient, but for biases and LayerNorms.
 *
 * Frozen parameters take no part in anything: not in the norm, decay or update.
 *
 * Nothing changes in a step whose gradients are not all finite: step.skip is 1.
 */
#ifndef TRAINER_OPTIMIZER_H
#define TRAINER_OPTIMIZER_H

#include "model/model.h"
#include "trainer/step_tally.h"

enum optimizer_rule { OPTIMIZER_ADAMW, OPTIMIZER_LAMB };
#define OPTIMIZER_WORDS "adamw|lamb"

struct optimizer_opts {
	enum optimizer_rule rule;
	enum adam kind;			/* whose details */
	double beta1, beta2, eps;
	double weight_decay;
	double clip;			/* of the global norm; 0: none */
	int frozen;			/* parts from the bottom that stay as they are (model/params.h) */
};

/* Each kind's own numbers, of AdamW and of LAMB. */
struct optimizer_opts optimizer_defaults(enum adam kind);
struct optimizer_opts optimizer_lamb_defaults(enum adam kind);

struct optimizer {
	struct optimizer_opts opts;
	const struct model *model;
	void *m, *v;			/* moments, like the weights; backend memory, zero at first */
	/* private */
	struct segment *segments;	/* of what is trained */
	int n_segments;
	double *sums;			/* [n_segments] squared norms: of gradients; for LAMB two more, of weights and updates */
	void *space;
	size_t space_bytes;
};

int optimizer_open(struct optimizer *o, const struct model *m, const struct optimizer_opts *opts);
void optimizer_close(struct optimizer *o);	/* once open has been called, or of a zeroed struct */

/* After it the gradients' memory holds whatever the rule left there. */
void optimizer_apply(struct optimizer *o, struct step_tally *on);

/* Bytes of moments and the rest, whatever the rule, for a plan. */
size_t optimizer_bytes(const struct model *m);

#endif
