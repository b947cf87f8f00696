/* infer.c - a model's scores of sequences. */
#include "finetune/infer.h"

#include "finetune/sequence_source.h"

#include <assert.h>
#include <string.h>

#define TOKENS 4096		/* of a batch, but for one sequence that is longer */
#define SEQUENCES 64

int infer_open(struct infer *i, const struct model *m, int longest)
{
	const struct batch_limits limits = { .B = SEQUENCES, .T = longest > TOKENS ? longest : TOKENS };

	assert(m->dtype == DTYPE_F32 && !head_infos[m->config.head].per_token);
	*i = (struct infer){ .model = m, .host_bytes = (size_t)SEQUENCES * (size_t)config_scores(&m->config) * sizeof(float) };
	if (m->k->host_alloc((void **)&i->host, i->host_bytes) || batch_open(&i->batch, m->k, &limits, m->dtype) ||
	    acts_open(&i->acts, m, &limits, ACTS_FORWARD)) {
		infer_close(i);
		return -1;
	}
	return 0;
}

void infer_close(struct infer *i)
{
	if (!i->model)
		return;
	acts_close(&i->acts);
	batch_close(&i->batch);
	i->model->k->host_free(i->host, i->host_bytes);
	*i = (struct infer){ .model = NULL };
}

/* The batch's scores to SCORES. */
static int run_batch(struct infer *i, float *scores)
{
	const struct model *m = i->model;
	const struct pass pass = { .step = NULL };
	const size_t bytes = (size_t)i->batch.B * (size_t)config_scores(&m->config) * sizeof(float);

	if (batch_finish(&i->batch, &m->config))
		return -1;
	batch_upload(&i->batch, m->q);
	model_forward(m, &i->batch, &pass, &i->acts);
	m->k->download(m->q, i->host, i->acts.scores.data, bytes);
	if (m->k->sync(m->q))
		return -1;
	memcpy(scores, i->host, bytes);
	return 0;
}

int infer_scores(struct infer *i, const struct sequences *s, float *scores)
{
	const size_t C = (size_t)config_scores(&i->model->config);

	for (size_t at = 0; at < s->n;) {
		const size_t first = at;

		batch_clear(&i->batch);
		while (at < s->n && batch_has_room(&i->batch, sequences_length(s, at), 0)) {
			sequence_add_to_batch(s, at, at, &i->batch);
			at++;
		}
		if (run_batch(i, scores + first * C))
			return -1;
		i->done += at - first;
		if (i->progress)
			progress_update(i->progress, i->done, 0);
	}
	return 0;
}
