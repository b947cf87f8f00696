/* objective.c - the objective of pre-training. */
#include "trainer/objective.h"

enum { MLM, NSP };

static void count(const struct objective *o, const struct batch *b, int64_t *counts)
{
	(void)o;
	for (int p = 0; p < b->P; p++)
		counts[MLM] += b->host.pred_labels[p] >= 0;
	for (int i = 0; i < b->B; i++)
		counts[NSP] += b->host.class_labels[i] >= 0;
}

static void apply(const struct objective *o, const struct model *m, const struct batch *b, struct step_tally *on, bool gradients,
		  struct acts *a)
{
	const struct losses losses = { .mlm = step_tally_loss(on, MLM), .scores = step_tally_loss(on, NSP) };

	(void)o;
	model_loss(m, b, &losses, gradients, a);
}

const struct objective objective_pretraining = {
	.n = 2,
	.loss = { [MLM] = "masked_lm_loss", [NSP] = "next_sentence_loss" },
	.accuracy = { [MLM] = "masked_lm_accuracy", [NSP] = "next_sentence_accuracy" },
	.count = count,
	.apply = apply,
};
