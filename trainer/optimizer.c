/* optimizer.c - from gradients to weights. */
#include "trainer/optimizer.h"

#include "base/err.h"

#define TORCH_CLIP_EPS 1e-6
#define SUMS 3			/* squared norms of a segment: gradient, weight, update */

struct optimizer_opts optimizer_defaults(enum adam kind)
{
	return (struct optimizer_opts){ .kind = kind, .beta1 = 0.9, .beta2 = 0.999, .eps = kind == ADAM_TORCH ? 1e-8 : 1e-6,
					.weight_decay = 0.01, .clip = 1 };
}

struct optimizer_opts optimizer_lamb_defaults(enum adam kind)
{
	struct optimizer_opts o = optimizer_defaults(kind);

	o.rule = OPTIMIZER_LAMB;
	o.eps = 1e-6;
	return o;
}

/* Not those that are others by another name, nor frozen ones. */
static bool is_trained(const struct param *p, int frozen) { return p->tied < 0 && !layer_is_frozen(p->layer, frozen); }

/* One for each parameter that is trained. */
static int count_segments(const struct params *p, int frozen)
{
	int n = 0;

	for (int i = 0; i < p->count; i++)
		n += is_trained(&p->items[i], frozen);
	return n;
}

static void fill_segments(const struct params *p, const struct optimizer_opts *o, struct segment *segments)
{
	for (int i = 0, n = 0; i < p->count; i++) {
		const struct param *item = &p->items[i];
		const double decay = item->decays ? o->weight_decay : 0;

		if (is_trained(item, o->frozen))
			segments[n++] = (struct segment){ .first = item->first, .count = item->count, .decay = decay,
							  .trust = o->kind == ADAM_GOOGLE || decay > 0 };
	}
}

static struct tensor flat(const struct model *m, void *data)
{
	return tensor_of(data, m->dtype, 1, m->params.total);
}

/* Squared norms of every segment: the WHICH-th row. */
static struct tensor norms(const struct optimizer *o, int which)
{
	return tensor_of(o->sums + (size_t)which * (size_t)o->n_segments, DTYPE_F64, 1, o->n_segments);
}

static struct sumsq_finite norm_args(const struct optimizer *o)
{
	return (struct sumsq_finite){ .x = flat(o->model, o->model->gradients), .segments = o->segments, .n_segments = o->n_segments,
				      .sums = norms(o, 0), .space = o->space };
}

/* The updates take the gradients' place. */
static struct lamb_direction lamb_args(const struct optimizer *o, const struct step *step)
{
	const struct model *m = o->model;

	return (struct lamb_direction){ .w = flat(m, m->weights), .m = flat(m, o->m), .v = flat(m, o->v), .g = flat(m, m->gradients),
					.u = flat(m, m->gradients), .segments = o->segments, .n_segments = o->n_segments,
					.beta1 = o->opts.beta1, .beta2 = o->opts.beta2, .eps = o->opts.eps, .w_sums = norms(o, 1),
					.u_sums = norms(o, 2), .step = step, .space = o->space };
}

/* Bytes of space for the op that needs most. */
static size_t space_of(const struct optimizer *o)
{
	const struct sumsq_finite norm = norm_args(o);
	const struct lamb_direction lamb = lamb_args(o, NULL);
	const size_t a = kernels_space(o->model->k, OP_sumsq_finite, &norm);
	const size_t b = o->opts.rule == OPTIMIZER_LAMB ? kernels_space(o->model->k, OP_lamb_direction, &lamb) : 0;

	return a > b ? a : b;
}

int optimizer_open(struct optimizer *o, const struct model *m, const struct optimizer_opts *opts)
{
	const struct kernels *k = m->k;
	const int n = count_segments(&m->params, opts->frozen);
	const size_t bytes = (size_t)n * sizeof(struct segment);
	void *host = NULL;
	int rc = -1;

	*o = (struct optimizer){ .opts = *opts, .model = m, .n_segments = n };
	if (k->alloc(&o->m, model_bytes(m)) || k->alloc(&o->v, model_bytes(m)) || k->alloc((void **)&o->segments, bytes) ||
	    k->alloc((void **)&o->sums, SUMS * (size_t)n * sizeof(double)) || k->host_alloc(&host, bytes))
		goto out;
	fill_segments(&m->params, opts, host);
	k->upload(m->q, o->segments, host, bytes);
	if (k->sync(m->q))
		goto out;
	o->space_bytes = space_of(o);
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
	k->free(o->sums, SUMS * (size_t)o->n_segments * sizeof(*o->sums));
	k->free(o->space, o->space_bytes);
	*o = (struct optimizer){ .m = NULL };
}

size_t optimizer_bytes(const struct model *m)
{
	return 2 * model_bytes(m) + (size_t)count_segments(&m->params, 0) * (sizeof(struct segment) + SUMS * sizeof(double));
}

static void adamw(const struct optimizer *o, const struct step *step)
{
	const struct model *m = o->model;

	m->k->adamw(m->q, &(struct adamw){ .w = flat(m, m->weights), .m = flat(m, o->m), .v = flat(m, o->v),
					   .g = flat(m, m->gradients), .segments = o->segments, .n_segments = o->n_segments,
					   .kind = o->opts.kind, .beta1 = o->opts.beta1, .beta2 = o->opts.beta2, .eps = o->opts.eps,
					   .step = step });
}

static void lamb(const struct optimizer *o, const struct step *step)
{
	const struct model *m = o->model;
	const struct lamb_direction to = lamb_args(o, step);

	m->k->lamb_direction(m->q, &to);
	m->k->lamb_apply(m->q, &(struct lamb_apply){ .w = to.w, .u = to.u, .segments = o->segments, .n_segments = o->n_segments,
						     .w_sums = to.w_sums, .u_sums = to.u_sums, .step = step });
}

void optimizer_apply(struct optimizer *o, struct step_tally *on)
{
	const struct kernels *k = o->model->k;
	const bool torch_clip = o->opts.rule == OPTIMIZER_ADAMW && o->opts.kind == ADAM_TORCH;
	struct sumsq_finite norm = norm_args(o);

	norm.bad = &on->bad;
	k->sumsq_finite(o->model->q, &norm);
	k->grad_scale(o->model->q, &(struct grad_scale){ .sums = norm.sums, .bad = &on->bad, .max_norm = o->opts.clip,
							 .eps = torch_clip ? TORCH_CLIP_EPS : 0, .step = &on->step });
	if (o->opts.rule == OPTIMIZER_LAMB)
		lamb(o, &on->step);
	else
		adamw(o, &on->step);
}
