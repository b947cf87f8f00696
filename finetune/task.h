/*
 * task.h - what a program must know of a task: a table of them, and no other place that knows a task by its name.
 *
 *	const struct task *t = task_find("classify");	(NULL: no such task; EXIT_USAGE, naming those that are)
 *	struct task_reader r = { .opts = &opts, .features = &features, .labels = &labels, .use = LABELS_KNOWN };
 *	if (t->open(&r, "reviews.tsv"))
 *		return -1;
 *	while ((rc = t->read(&r, &sequences, 4096)) > 0)	(at most so many examples are added)
 *		...
 *	t->close(&r);
 *
 * Reading makes of a file's examples the sequences that a model takes. What a model
 * makes of these, a row of scores each, goes back to the task: to be
 * measured against the sequences' labels, or to be written as predictions. SCORE needs no
 * model: it is told by two files.
 */
#ifndef FINETUNE_TASK_H
#define FINETUNE_TASK_H

#include "base/out.h"
#include "finetune/features.h"
#include "finetune/labels.h"
#include "finetune/sequences.h"
#include "model/heads.h"
#include "trainer/objective.h"

#include <jansson.h>
#include <stdbool.h>

/* How a file is read, where the task leaves it open. */
struct task_opts {
	const char *text;		/* NAME or NAME,NAME2: the columns of the texts */
	const char *label;		/* NAME: the column of the label */
	bool no_header;			/* label, tab, text (tab, text) */
	unsigned threads;		/* for unpacking */
};
#define TASK_OPTS_DEFAULT { .text = "text", .label = "label", .threads = 1 }

enum labels_use {
	LABELS_LEARN,			/* every label is a class; they are numbered when all are read, by labels_sort */
	LABELS_KNOWN,			/* another label than those is an error */
	LABELS_IGNORE,			/* there need be none; those that are no class are counted */
};

struct task_reader {
	const struct task_opts *opts;
	struct features *features;
	struct labels *labels;
	enum labels_use use;
	/* read: */
	uint64_t examples;		/* so far */
	uint64_t unknown, first_unknown;	/* LABELS_IGNORE: labels that are no class, and the line of the first */
	uint64_t bad_bytes;		/* ill-formed parts of the text, replaced */
	void *own;			/* the task's */
};

struct task {
	const char *name;
	const char *what;		/* a line of help */
	enum head head;
	const struct objective *objective;	/* of the tuning */
	const char *main_metric;	/* a member of what measure tells: the higher, the better */

	int (*open)(struct task_reader *r, const char *path);		/* "-" is standard input */
	int (*read)(struct task_reader *r, struct sequences *s, size_t limit);	/* 1 some were added, 0 the end, -1 failed */
	void (*close)(struct task_reader *r);				/* of a zeroed struct too */

	/* SCORES [s->n, classes]: metrics, and whether no more was learnt than one class. The caller owns the object. */
	int (*measure)(const struct sequences *s, const float *scores, const struct labels *l, json_t **metrics, bool *degenerate);

	/* Adds to ABOUT what metrics are to be held against: the classes, the share of the most frequent one. */
	int (*describe)(const struct sequences *s, const struct labels *l, json_t *about);

	/* Predictions of N examples, of which the first is number FIRST of the file; with a header before number 0. */
	int (*write)(struct out *out, const float *scores, size_t n, uint64_t first, const struct labels *l);

	/* Metrics of a file of predictions against one with labels. The caller owns the object. */
	int (*score)(const struct task_opts *o, const char *gold, const char *predictions, json_t **metrics);
};

const struct task *task_find(const char *name);

#endif
