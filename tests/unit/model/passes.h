/* passes.h - batches of the tiny models, and passes over them. */
#ifndef TESTS_UNIT_MODEL_PASSES_H
#define TESTS_UNIT_MODEL_PASSES_H

#include "base/rng.h"
#include "tests/unit/model/tiny.h"

/* A sequence of N tokens, all by KEY: ids, types, masked places, labels of every kind. */
static inline void tiny_add(struct batch *b, const struct config *c, int n, uint64_t key)
{
	const int i = batch_add(b, n, key), row = b->host.starts[i], scores = config_scores(c) ? config_scores(c) : 1;
	struct rng r;

	rng_open(&r, 3, RNG_TEST, 0, key, 0, 0, 0);
	for (int t = 0; t < n; t++) {
		b->host.ids[row + t] = (int32_t)rng_below(&r, (uint32_t)c->vocab_size);
		b->host.types[row + t] = t > n / 2;
		b->host.token_labels[row + t] = (int32_t)rng_below(&r, (uint32_t)scores + 1) - 1;
		if (t % 3 == 1 && b->max.P)
			batch_add_prediction(b, i, t, (int32_t)rng_below(&r, (uint32_t)c->vocab_size));
	}
	b->host.class_labels[i] = (int32_t)rng_below(&r, (uint32_t)scores);
	b->host.first[i] = (int32_t)rng_below(&r, (uint32_t)n);
	b->host.last[i] = n - 1;
	for (int j = 0; j < b->max.C; j++)
		batch_set_target(b, i, j, rng_unit(&r));
}

/* Lengths of sequences, ended by 0. */
static inline void tiny_batch(struct batch *b, const struct model *m, const int *lengths, enum dtype dtype)
{
	const struct batch_limits max = { .B = 5, .T = 40, .P = 20, .C = config_scores(&m->config) };

	OK(batch_open(b, m->k, &max, dtype));
	for (int i = 0; lengths[i]; i++)
		tiny_add(b, &m->config, lengths[i], 100 + (uint64_t)i);
	OK(batch_finish(b, &m->config));
	batch_upload(b, m->q);
}

/* Sums of losses, and what the passes need to add to them. Factors are those of the whole batch. */
struct tally {
	double mlm, scores, mlm_factor, scores_factor;
	int64_t mlm_hits, scores_hits;
};

static inline struct losses tally_losses(struct tally *t)
{
	return (struct losses){ .mlm = { .sum = &t->mlm, .hits = &t->mlm_hits, .factor = &t->mlm_factor },
				.scores = { .sum = &t->scores, .hits = &t->scores_hits, .factor = &t->scores_factor } };
}

/* Forward, loss, and with GRADIENTS backward. */
static inline void tiny_pass(const struct model *m, const struct batch *b, const struct pass *pass, struct tally *t, bool gradients,
			     struct acts *a)
{
	const struct losses losses = tally_losses(t);

	t->mlm = t->scores = 0;
	t->mlm_hits = t->scores_hits = 0;
	model_forward(m, b, pass, a);
	model_loss(m, b, &losses, gradients, a);
	if (gradients)
		model_backward(m, b, pass, a);
	OK(m->k->sync(m->q));
}

#endif
