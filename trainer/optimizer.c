/* optimizer.c - from gradients to weights. */
#include "trainer/optimizer.h"

#include "base/err.h"

#define TORCH_CLIP_EPS 1e-6

struct optimizer_opts optimizer_defaults(enum adam kind)
{
	return (struct optimizer_opts){ .kind = kind, .beta1 = 0.9, .beta2 = 0.999, .eps = kind == ADAM_TORCH ? 1e-8 : 1e-6,
					.weight_decay = 0.01, .clip = 1 };
}

/* One for each parameter that is not another one by another name. */
static int count_segments(const struct params *p)
{
	int n = 0;

	for (int i = 0; i < p->count; i++)
		n += p->items[i].tied < 0;
	return n;
}

static void fill_segments(const struct params *p, double decay, struct segment *segments)
{
	for (int i = 0, n = 0; i < p->count; i++) {
		const struct param *item = &p->items[i];

		if (item->tied < 0)
			segments[n++] = (struct segment){ .first = item->first, .count = item->count, .decay = item->decays ? decay : 0 };
	}
}

static struct tensor flat(const struct model *m, void *data)
{
	return tensor_of(data, m->dtype, 1, m->params.total);
}

static struct sumsq_finite norm_args(const struct optimizer *o)
{
	return (struct sumsq_finite){ .x = flat(o->model, o->model->gradients), .segments = o->segments, .n_segments = o->n_segments,
				      .sums = tensor_of(o->sums, DTYPE_F64, 1, o->n_segments), .space = o->space };
}

int optimizer_open(struct optimizer *o, const struct model *m, const struct optimizer_opts *opts)
{
	const struct kernels *k = m->k;
	const size_t bytes = (size_t)count_segments(&m->params) * sizeof(struct segment);
	struct sumsq_finite norm;
	void *host = NULL;
	int rc = -1;

	*o = (struct optimizer){ .opts = *opts, .model = m, .n_segments = count_segments(&m->params) };
	if (k->alloc(&o->m, model_bytes(m)) || k->alloc(&o->v, model_bytes(m)) || k->alloc((void **)&o->segments, bytes) ||
	    k->alloc((void **)&o->sums, (size_t)o->n_segments * sizeof(double)) || k->host_alloc(&host, bytes))
		goto out;
	fill_segments(&m->params, opts->weight_decay, host);
	k->upload(m->q, o->segments, host, bytes);
	if (k->sync(m->q))
		goto out;
	norm = norm_args(o);
	o->space_bytes = kernels_space(k, OP_sumsq_finite, &norm);
	if (o->space_bytes && k->alloc(&o->space, o->space_bytes))
		goto out;
	rc = 0;
out:
	k->host_free(host, bytes);
	if (rc)
		optimizer_close(o);
	return rc;
}

void optimizer_close(struct optimizer *o)
{
	const struct kernels *k;

	if (!o->model)
		return;
	k = o->model->k;
	k->free(o->m, model_bytes(o->model));
	k->free(o->v, model_bytes(o->model));
	k->free(o->segments, (size_t)o->n_segments * sizeof(*o->segments));
	k->free(o->sums, (size_t)o->n_segments * sizeof(*o->sums));
	k->free(o->space, o->space_bytes);
	*o = (struct optimizer){ .m = NULL };
}

size_t optimizer_bytes(const struct model *m)
{
	return 2 * model_bytes(m) + (size_t)count_segments(&m->params) * (sizeof(struct segment) + sizeof(double));
}

void optimizer_apply(struct optimizer *o, struct step_tally *on)
{
	const struct model *m = o->model;
	struct sumsq_finite norm = norm_args(o);

	norm.bad = &on->bad;
	m->k->sumsq_finite(m->q, &norm);
	m->k->grad_scale(m->q, &(struct grad_scale){ .sums = norm.sums, .bad = &on->bad, .max_norm = o->opts.clip,
						     .eps = o->opts.kind == ADAM_TORCH ? TORCH_CLIP_EPS : 0, .step = &on->step });
	m->k->adamw(m->q, &(struct adamw){ .w = flat(m, m->weights), .m = flat(m, o->m), .v = flat(m, o->v),
					   .g = flat(m, m->gradients), .segments = o->segments, .n_segments = o->n_segments,
					   .kind = o->opts.kind, .beta1 = o->opts.beta1, .beta2 = o->opts.beta2, .eps = o->opts.eps,
					   .step = &on->step });
}
