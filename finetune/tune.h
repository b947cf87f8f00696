/*
 * tune.h - a fine-tuning from options to a model directory: what bert-finetune runs.
 *
 *	struct tune_opts o = TUNE_DEFAULT;
 *	o.task = task_find("classify"); o.model = "bert-mini"; o.train = "train.tsv"; o.output = "out";
 *	if (tune_run(&o, &end))
 *		return -1;
 *	... end.results, end.signal
 *
 *	OUT/			the model of the best seed: config.json, model.safetensors, vocab.txt, ...
 *		results.json	every seed's metrics, and their mean, sd, min, max (finetune/results.h)
 *		run.json	what decides the result; another run's folder is refused
 *		seed-S/		of each seed: log.jsonl, events, result.json; while it runs, its last checkpoint
 *
 * A seed decides the new weights of the head, the order of examples and the dropout. Each is one run of
 * the training loop (trainer/loop.h), with checkpoints at the end of epochs, from which
 * the next start goes on, bit for bit. Metrics are of the file DEV, without one of the training
 * file. The best seed is the one with the highest main metric, the first of equals.
 */
#ifndef FINETUNE_TUNE_H
#define FINETUNE_TUNE_H

#include "base/progress.h"
#include "finetune/task.h"
#include "finetune/tuned_on.h"
#include "trainer/schedule.h"
#include "trainer/warmup.h"

#define TUNE_FREEZE_ENCODER (-1)

struct tune_opts {
	const struct task *task;
	struct task_opts data;
	const char *model, *train, *dev, *output;	/* dev may be NULL */
	const char *backend;
	unsigned threads;
	int compat;				/* TUNED_ON_MODEL, ...: whose ids (finetune/tuned_on.h) */
	bool segmented;				/* texts are cut into words, as the model's segmenter does it */
	uint64_t seed, seeds;			/* SEED, SEED + 1, ..., SEEDS of them */
	uint64_t max_seq_length;		/* 0: as the model was tuned, else 128, or its positions where they are fewer */
	uint64_t batch, micro_batch;		/* micro_batch 0: the batch, at most 32 */
	double epochs;
	double learning_rate, weight_decay, clip;
	struct warmup warmup;
	int decay;				/* enum decay */
	int frozen;				/* parts from the bottom (model/model.h, pass), or TUNE_FREEZE_ENCODER */
	bool random_weights;			/* of the model only its shape and vocabulary */
	/* How it tells a user what is no failure (base/log.h's, for a tool); NULL: not at all. */
	void (*warn)(const char *fmt, ...);
	void (*info)(const char *fmt, ...);
	int (*stopped)(void);			/* the signal that asks to stop, or 0; may be NULL */
	struct progress *progress;		/* may be NULL */
};

/* google-research/bert's run_classifier, but for a batch, a length and epochs that its README uses. */
#define TUNE_DEFAULT { .data = TASK_OPTS_DEFAULT, .backend = "auto", .threads = 1, .seed = 12345, .seeds = 1, \
	.batch = 32, .epochs = 3, .learning_rate = 5e-5, .weight_decay = 0.01, .clip = 1, .warmup = { 0.1, true } }

struct tune_end {
	char *results;				/* results.json; the caller frees; NULL where it was stopped */
	int signal;				/* what stopped it: it has saved, and can go on */
};

int tune_run(const struct tune_opts *o, struct tune_end *end);

#endif
