/*
 * model_host.h - a model directory together with the backend that it runs on, opened in one.
 *
 *	struct model_host h;
 *	if (model_host_open(&h, &(struct model_host_opts){ .backend = "auto", .threads = 2, .folder = "bert-mini", .head = HEAD_UNSAID }))
 *		return -1;
 *	... h.source->map			(what is mapped, missing, unused; no weights yet)
 *	if (!model_host_read(&h))
 *		... h.model, on h.k and h.q
 *	model_host_close(&h);
 *
 * The struct stays where it is while it is open: the model points into it.
 */
#ifndef MODEL_MODEL_HOST_H
#define MODEL_MODEL_HOST_H

#include "model/model_dir.h"

struct model_host {
	struct kernels k;
	struct queue *q;
	struct model model;		/* F32 */
	struct model_source *source;
};

struct model_host_opts {
	const char *backend;		/* kernels_open */
	unsigned threads;
	const char *folder;
	enum head head;			/* HEAD_UNSAID: the one that its config names */
};

/* -1 with the reason set, and nothing is open then. */
int model_host_open(struct model_host *h, const struct model_host_opts *o);
int model_host_read(struct model_host *h);	/* the weights; -1 also where a parameter is missing */
void model_host_close(struct model_host *h);	/* of a zeroed struct too */

#endif
