/* predict.c - a tuned model's predictions. */
#include "finetune/predict.h"

#include "base/err.h"
#include "finetune/infer.h"
#include "model/model_host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 4096			/* examples in memory */

/* All that is open; zeroed parts are not. */
struct work {
	struct predict *p;
	struct model_host host;
	struct tokenizer *tokenizer;
	struct features features;
	struct labels labels;
	struct infer infer;
	struct sequences sequences;
	float *scores;			/* [CHUNK, classes] */
};

static void work_close(struct work *w)
{
	free(w->scores);
	sequences_release(&w->sequences);
	infer_close(&w->infer);
	labels_release(&w->labels);
	features_close(&w->features);
	tokenizer_close(w->tokenizer);
	model_host_close(&w->host);
}

static int open_model(struct work *w)
{
	const struct predict *p = w->p;

	if (model_host_open(&w->host, &(struct model_host_opts){ .backend = p->backend, .threads = p->threads, .folder = p->model,
								 .head = p->task->head }))
		return -1;
	return model_host_read(&w->host);
}

/* The model's classes are numbered as its scores are. */
static int take_labels(struct work *w)
{
	const struct config *c = &w->host.model.config;

	if (config_is_regression(c) || c->problem_type == PROBLEM_SEVERAL)
		return err_fail("cannot use '%s' for task %s: its config.json says that scores are no classes of which one is right",
				w->p->model, w->p->task->name);
	for (int i = 0; i < c->num_labels; i++) {
		const int at = labels_add(&w->labels, c->labels[i]);

		if (at < 0)
			return -1;
		if (at != i)
			return err_fail("'%s' has two classes named '%s'", w->p->model, c->labels[i]);
		if (!*c->labels[i] || strpbrk(c->labels[i], "\t\n\r"))
			return err_fail("cannot use '%s': the name of its class %d is empty, or has a tab or a line end in it", w->p->model, i);
	}
	return 0;
}

static int open_features(struct work *w)
{
	const struct predict *p = w->p;
	const struct config *c = &w->host.model.config;
	struct tokenizer_opts to = { .model = p->model, .segmenter = p->segmented ? "" : NULL };
	struct tuned_on on;

	if (tuned_on_settle(&on, c, p->model, p->max_seq_length, p->compat))
		return -1;
	to.compat = on.compat;
	return tokenizer_open(&w->tokenizer, &to) || features_open(&w->features, w->tokenizer, on.max_seq_length) ? -1 : 0;
}

static int open_infer(struct work *w)
{
	w->infer.progress = w->p->progress;
	w->scores = malloc(CHUNK * (size_t)w->labels.n * sizeof(*w->scores));
	if (!w->scores)
		return err_memory();
	return infer_open(&w->infer, &w->host.model, w->features.max_seq_length);
}

static int predict_file(struct work *w, struct task_reader *r)
{
	struct predict *p = w->p;
	int rc = 1;

	while (rc > 0) {
		const uint64_t first = r->examples;

		sequences_clear(&w->sequences);
		rc = p->task->read(r, &w->sequences, CHUNK);
		if (rc > 0 && (infer_scores(&w->infer, &w->sequences, w->scores) ||
			       p->task->write(p->out, w->scores, w->sequences.n, first, &w->labels)))
			rc = -1;
	}
	p->examples = r->examples;
	p->cut = w->features.cut;
	p->empty = w->features.empty;
	p->unknown = r->unknown;
	p->first_unknown = r->first_unknown;
	p->bad_bytes = r->bad_bytes;
	return rc;
}

int predict_run(struct predict *p)
{
	struct work w = { .p = p, .labels = LABELS_INIT, .sequences = SEQUENCES_INIT };
	struct task_reader r = { .opts = &p->data, .features = &w.features, .labels = &w.labels, .use = LABELS_IGNORE };
	int rc = -1;

	if (!open_model(&w) && !take_labels(&w) && !open_features(&w) && !open_infer(&w) && !p->task->open(&r, p->input))
		rc = predict_file(&w, &r);
	p->task->close(&r);
	work_close(&w);
	return rc;
}
