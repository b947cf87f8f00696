/*
 * predict.h - a tuned model's predictions for a file of examples: what bert-predict runs.
 *
 *	struct predict p = { .task = t, .model = "tuned", .input = "reviews.tsv", .out = out, ... };
 *	if (predict_run(&p))
 *		return -1;
 *	... p.examples, p.unknown
 *
 * Examples are read, and their predictions written, some thousand at a time: memory
 * does not grow with the file.
 */
#ifndef FINETUNE_PREDICT_H
#define FINETUNE_PREDICT_H

#include "base/progress.h"
#include "finetune/task.h"
#include "finetune/tuned_on.h"

struct predict {
	const struct task *task;
	struct task_opts data;
	const char *model, *input;	/* a directory; a file or "-" */
	const char *backend;
	unsigned threads;
	int compat;			/* TUNED_ON_MODEL, ... (finetune/tuned_on.h) */
	bool segmented;			/* texts are cut into words, as the model's segmenter does it */
	uint64_t max_seq_length;	/* 0: as the model was tuned */
	struct out *out;		/* not committed here */
	struct progress *progress;	/* may be NULL */
	/* filled: */
	uint64_t examples, cut, empty;	/* of which so many lost tokens, or have none */
	uint64_t unknown, first_unknown;	/* labels in the file that are no class of the model; the line of the first */
	uint64_t bad_bytes;
};

int predict_run(struct predict *p);

#endif
