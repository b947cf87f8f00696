/*
 * optimizer.h - from gradients to weights: global norm, clipping, AdamW.
 *
 *	struct optimizer o;
 *	if (optimizer_open(&o, &model, &opts))
 *		return -1;
 *	optimizer_apply(&o, tally);		(queued: reads and writes tally->step, tally->bad)
 *	optimizer_close(&o);
 *
 * google (google-research/bert, AdamWeightDecayOptimizer): no bias correction,
 * epsilon 1e-6, gradients multiplied by min(1, clip / norm). torch (torch.optim.AdamW
 * after clip_grad_norm_): bias correction, epsilon 1e-8, min(1, clip / (norm + 1e-6)).
 * Both decay weights apart from the gradient, but for biases and LayerNorms.
 *
 * Nothing changes in a step whose gradients are not all finite: step.skip is 1.
 */
#ifndef TRAINER_OPTIMIZER_H
#define TRAINER_OPTIMIZER_H

#include "model/model.h"
#include "trainer/step_tally.h"

struct optimizer_opts {
	enum adam kind;
	double beta1, beta2, eps;
	double weight_decay;
	double clip;			/* of the global norm; 0: none */
};

/* Each kind's own numbers. */
struct optimizer_opts optimizer_defaults(enum adam kind);

struct optimizer {
	struct optimizer_opts opts;
	const struct model *model;
	void *m, *v;			/* moments, like the weights; backend memory, zero at first */
	/* private */
	struct segment *segments;
	int n_segments;
	double *sums;			/* [n_segments] */
	void *space;
	size_t space_bytes;
};

int optimizer_open(struct optimizer *o, const struct model *m, const struct optimizer_opts *opts);
void optimizer_close(struct optimizer *o);	/* once open has been called, or of a zeroed struct */
void optimizer_apply(struct optimizer *o, struct step_tally *on);

/* Bytes of moments and the rest, for a plan. */
size_t optimizer_bytes(const struct model *m);

#endif
