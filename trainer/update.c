/* update.c - one step. */
#include "trainer/update.h"

#include <assert.h>
#include <math.h>

int update_open(struct update *u, const struct model *m, const struct batch_limits *limits, const struct objective *objective,
		struct optimizer *optimizer, uint64_t seed)
{
	*u = (struct update){ .model = m, .objective = objective, .optimizer = optimizer, .seed = seed };
	assert(objective->n <= STEP_LOSSES && (!optimizer || m->gradients));
	if (m->k->host_alloc((void **)&u->host, sizeof(*u->host)) || m->k->alloc((void **)&u->on, sizeof(*u->on)) ||
	    acts_open(&u->acts, m, limits, optimizer ? ACTS_TRAIN : ACTS_FORWARD)) {
		update_close(u);
		return -1;
	}
	return 0;
}

void update_close(struct update *u)
{
	if (!u->model)
		return;
	acts_close(&u->acts);
	u->model->k->free(u->on, sizeof(*u->on));
	u->model->k->host_free(u->host, sizeof(*u->host));
	*u = (struct update){ .model = NULL };
}

static void count_all(const struct update *u, const struct batch *batches, int n, struct update_result *r)
{
	*r = (struct update_result){ .total = 0 };
	for (int i = 0; i < n; i++) {
		u->objective->count(u->objective, &batches[i], r->counts);
		r->tokens += batches[i].T;
		r->sequences += batches[i].B;
	}
}

/* Puts the step's numbers where ops read them. */
static void tell(struct update *u, const struct update_when *when, const struct update_result *r)
{
	struct step *s = &u->host->step;

	*u->host = (struct step_tally){ .bad = 0 };
	*s = (struct step){ .seed = u->seed, .number = when->number, .time = when->time + 1, .lr = when->lr, .loss_scale = 1 };
	for (int i = 0; i < u->objective->n; i++)
		s->mean[i] = r->counts[i] ? 1.0 / (double)r->counts[i] : 0;
	u->model->k->upload(u->model->q, u->on, u->host, sizeof(*u->host));
}

static int hear(struct update *u, struct update_result *r)
{
	const struct kernels *k = u->model->k;

	k->download(u->model->q, u->host, u->on, sizeof(*u->host));
	if (k->sync(u->model->q))
		return -1;
	for (int i = 0; i < u->objective->n; i++) {
		r->loss[i] = u->host->loss[i];
		r->hits[i] = u->host->hits[i];
		r->total += r->loss[i];
	}
	r->grad_norm = u->host->step.grad_norm;
	r->finite = isfinite(r->total) && !u->host->bad && !u->host->step.skip;
	return 0;
}

static void pass(struct update *u, struct batch *b, const struct pass *p, bool gradients)
{
	batch_upload(b, u->model->q);
	model_forward(u->model, b, p, &u->acts);
	u->objective->apply(u->objective, u->model, b, u->on, gradients, &u->acts);
	if (gradients)
		model_backward(u->model, b, p, &u->acts);
}

int update_train(struct update *u, struct batch *batches, int n, const struct update_when *when, struct update_result *r)
{
	const struct pass p = { .step = &u->on->step, .frozen = u->optimizer->opts.frozen };

	count_all(u, batches, n, r);
	tell(u, when, r);
	u->model->k->fill(u->model->q, &(struct fill){ .y = tensor_of(u->model->gradients, u->model->dtype, 1, u->model->params.total) });
	for (int i = 0; i < n; i++)
		pass(u, &batches[i], &p, true);
	optimizer_apply(u->optimizer, u->on);
	return hear(u, r);
}

int update_evaluate(struct update *u, struct batch *batches, int n, struct update_result *r)
{
	const struct pass p = { .step = NULL };

	count_all(u, batches, n, r);
	tell(u, &(struct update_when){ .lr = 0 }, r);
	for (int i = 0; i < n; i++)
		pass(u, &batches[i], &p, false);
	return hear(u, r);
}
