/*
 * pretrain.h - a pre-training from options to checkpoints: what bert-train runs.
 *
 *	struct pretrain_opts o = PRETRAIN_DEFAULT;
 *	o.data = &(struct mixture_set){ "shards", 1 }; o.sets = 1; o.output = "run"; o.config = "config.json";
 *	if (pretrain_run(&o, &end))
 *		return -1;
 *
 * All it does is to open things in order and to hand them to the loop
 * (trainer/loop.h): backend, model, shards, the run's folder, weights (from its
 * last checkpoint, from another model, or new), optimizer, evaluation, log.
 */
#ifndef TRAINER_PRETRAIN_H
#define TRAINER_PRETRAIN_H

#include "shards/mixture.h"
#include "trainer/loop.h"

enum pretrain_compat { PRETRAIN_GOOGLE, PRETRAIN_TORCH };
#define PRETRAIN_COMPAT_WORDS "google|torch"

struct pretrain_opts {
	const struct mixture_set *data;				/* [sets]: what is trained on */
	size_t sets;
	double data_exponent;					/* of the sets' sizes (shards/mixture.h) */
	struct mask_choice masks;				/* of dynamic shards that are trained on; held-out ones keep theirs */
	const char *const *eval;				/* [evals]: held-out shards */
	size_t evals;
	bool map;						/* shards are mapped, not read */
	const char *output, *config, *init;			/* config or init */
	const char *backend;
	unsigned threads;
	uint64_t seed;
	uint64_t batch, micro_batch, steps;			/* micro_batch 0: the batch, at most 32 */
	uint64_t warmup;					/* steps */
	int optimizer;						/* enum optimizer_rule */
	int compat;						/* enum pretrain_compat: of optimizer and schedule */
	int decay;						/* enum decay */
	double learning_rate, power, weight_decay, clip;
	uint64_t save_every, keep, eval_every, log_every;
	uint64_t eval_instances;				/* of each of EVAL; 0: all */
	double time_budget;
	/* How it tells a user what is no failure (base/log.h's, for a tool); NULL: not at all. */
	void (*warn)(const char *fmt, ...);
	void (*info)(const char *fmt, ...);
	int (*stopped)(void);
	struct progress *progress;
};

/* Batch size, rate and save interval are those of google-research/bert's run_pretraining. */
#define PRETRAIN_DEFAULT { .data_exponent = 1, .masks = MASK_CHOICE_NONE, .backend = "auto", .threads = 1, .seed = 12345, .batch = 32, .steps = 100000, .warmup = 10000, \
	.learning_rate = 5e-5, .power = 1, .weight_decay = 0.01, .clip = 1, .save_every = 1000, .keep = 5, .log_every = 10 }

struct pretrain_end {
	struct loop_end loop;
	struct position at;
};

int pretrain_run(const struct pretrain_opts *o, struct pretrain_end *end);

/* What it would need (trainer/estimate.h), without touching the output; NULL with the reason set. */
json_t *pretrain_estimate(const struct pretrain_opts *o);

#endif
