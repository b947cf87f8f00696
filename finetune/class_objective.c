/* class_objective.c - the objective of a classifier. */
#include "finetune/class_objective.h"

static void count(const struct objective *o, const struct batch *b, int64_t *counts)
{
	(void)o;
	for (int i = 0; i < b->B; i++)
		counts[0] += b->host.class_labels[i] >= 0;
}

static void apply(const struct objective *o, const struct model *m, const struct batch *b, struct step_tally *on, bool gradients,
		  struct acts *a)
{
	const struct losses losses = { .scores = step_tally_loss(on, 0) };

	(void)o;
	model_loss(m, b, &losses, gradients, a);
}

const struct objective objective_classification = {
	.n = 1,
	.loss = { "classification_loss" },
	.accuracy = { "accuracy" },
	.count = count,
	.apply = apply,
};
