/* acts.c - the memory of a pass, and how much an op may need beside it. */
#include "model/acts.h"

#include "base/err.h"
#include "model/model.h"

#include <assert.h>

#define ALIGN 64

/* Buffers carved one after the other out of memory at BASE. */
struct carve {
	uintptr_t base;
	size_t offset;
	enum dtype dtype;
	bool overflow;
};

static struct tensor take(struct carve *c, int64_t rows, int64_t cols)
{
	const struct tensor t = tensor_of((void *)(c->base + c->offset), c->dtype, rows, cols);
	size_t bytes;

	if (__builtin_mul_overflow((size_t)rows, (size_t)cols * dtype_size(c->dtype), &bytes) ||
	    __builtin_add_overflow(c->offset, bytes, &c->offset) ||
	    __builtin_add_overflow(c->offset, ALIGN - 1, &c->offset))
		c->overflow = true;
	c->offset -= c->offset % ALIGN;
	return t;
}

/* --- what there is, by mode ------------------------------------------------------- */

static void carve_layer(struct carve *c, struct layer_acts *x, const struct config *config, const struct layer_config *l,
			int64_t T, bool keep)
{
	const int64_t H = config->hidden_size, AD = (int64_t)l->heads * config_head_size(config), F = l->intermediate_size;

	x->qkv = take(c, T, 3 * AD);
	x->context = take(c, T, AD);
	x->lse = take(c, T, l->heads);
	x->sum1 = take(c, T, H);
	x->mean1 = take(c, T, 1);
	x->rstd1 = take(c, T, 1);
	x->y1 = take(c, T, H);
	x->pre = keep ? take(c, T, F) : (struct tensor){ 0 };
	x->act = take(c, T, F);
	x->sum2 = take(c, T, H);
	x->mean2 = take(c, T, 1);
	x->rstd2 = take(c, T, 1);
}

/* The same buffers for another layer, which needs no more columns of each. */
static struct tensor narrowed(struct tensor t, int64_t cols)
{
	assert(!tensor_given(t) || cols <= t.cols);
	t.cols = cols;
	return t;
}

static void share_layer(struct layer_acts *x, const struct layer_acts *all, const struct config *config,
			const struct layer_config *l)
{
	const int64_t AD = (int64_t)l->heads * config_head_size(config);

	*x = *all;
	x->qkv = narrowed(all->qkv, 3 * AD);
	x->context = narrowed(all->context, AD);
	x->lse = narrowed(all->lse, l->heads);
	x->pre = narrowed(all->pre, l->intermediate_size);
	x->act = narrowed(all->act, l->intermediate_size);
}

/* Heads of the layer with most, and the widest FFN. */
static struct layer_config largest_layer(const struct config *c)
{
	struct layer_config most = { 0 };

	for (int l = 0; l < c->num_hidden_layers; l++) {
		most.heads = c->layers[l].heads > most.heads ? c->layers[l].heads : most.heads;
		if (c->layers[l].intermediate_size > most.intermediate_size)
			most.intermediate_size = c->layers[l].intermediate_size;
	}
	return most;
}

static void carve_encoder(struct acts *a, struct carve *c, const struct config *config)
{
	const int64_t T = a->max.T, H = config->hidden_size;
	const struct layer_config most = largest_layer(config);
	struct layer_acts all;

	a->embed_mean = take(c, T, 1);
	a->embed_rstd = take(c, T, 1);
	for (int l = 0; l <= config->num_hidden_layers; l++)
		a->hidden[l] = l && a->mode == ACTS_FORWARD ? a->hidden[0] : take(c, T, H);
	if (a->mode != ACTS_TRAIN)
		carve_layer(c, &all, config, &most, T, a->mode == ACTS_RECOMPUTE);
	for (int l = 0; l < config->num_hidden_layers; l++) {
		const struct layer_config *size = &config->layers[l];

		if (a->mode == ACTS_TRAIN)
			carve_layer(c, &a->layers[l], config, size, T, true);
		else
			share_layer(&a->layers[l], &all, config, size);
	}
}

static void carve_heads(struct acts *a, struct carve *c, const struct config *config)
{
	const bool per_token = head_infos[config->head].per_token, keep = a->mode >= ACTS_RECOMPUTE;
	const int64_t H = config->hidden_size, P = a->max.P, B = a->max.B, N = per_token ? a->max.T : B;

	if (config_has_pooler(config)) {
		a->first = take(c, B, H);
		a->pooler_pre = keep ? take(c, B, H) : (struct tensor){ 0 };
		a->pooled = take(c, B, H);
	}
	if (config_scores(config))
		a->scores = take(c, N, config_scores(config));
	if (config_scores_dropout(config) > 0)
		a->dropped = take(c, N, H);
	if (!head_infos[config->head].mlm || !P)
		return;
	a->mlm_rows = take(c, P, H);
	a->mlm_pre = keep ? take(c, P, H) : (struct tensor){ 0 };
	a->mlm_act = take(c, P, H);
	a->mlm_mean = take(c, P, 1);
	a->mlm_rstd = take(c, P, 1);
	a->mlm_h = take(c, P, H);
}

static void carve_backward(struct acts *a, struct carve *c, const struct config *config)
{
	const struct layer_config most = largest_layer(config);
	const int64_t H = config->hidden_size, qkvc = 4 * (int64_t)most.heads * config_head_size(config);

	a->dhidden = take(c, a->max.T, H);
	a->dsum = take(c, a->max.T, H);
	a->wide = take(c, a->max.T, qkvc > most.intermediate_size ? qkvc : most.intermediate_size);
	if (config_scores(config))
		a->dscores = take(c, a->scores.rows, a->scores.cols);
	if (config_has_pooler(config)) {
		a->dpooled = take(c, a->max.B, H);
		a->dfirst = take(c, a->max.B, H);
	}
	if (a->mlm_h.rows) {
		a->dmlm_h = take(c, a->max.P, H);
		a->dmlm_rows = take(c, a->max.P, H);
	}
}

/* All tensors of A, in memory at BASE. Returns the bytes, SIZE_MAX when there is no such number. */
static size_t lay_out(struct acts *a, const struct model *m, void *base)
{
	struct carve c = { .base = (uintptr_t)base, .dtype = m->dtype };

	carve_encoder(a, &c, &m->config);
	carve_heads(a, &c, &m->config);
	if (a->mode >= ACTS_RECOMPUTE)
		carve_backward(a, &c, &m->config);
	return c.overflow ? SIZE_MAX : c.offset;
}

/* --- space: the passes are run with ops that only measure ------------------------- */

struct measure {
	const struct kernels *k;	/* the backend that will run them */
	size_t most;
};

static void measure(struct queue *q, enum op op, const void *args)
{
	struct measure *m = (struct measure *)(void *)q;
	const size_t n = kernels_space(m->k, op, args);

	m->most = n > m->most ? n : m->most;
}

#define OP(name, by, f32, bf16, cuda, what) \
	static void measure_##name(struct queue *q, const struct name *args) { measure(q, OP_##name, args); }
#include "kernels/kernels.def"
#undef OP

/* Addresses that are never followed. */
static void *nowhere(void) { return (void *)(uintptr_t)4096; }

/* Passes over the largest batch, into A, which is laid out anywhere. */
static void measure_passes(const struct model *m, const struct batch_limits *max, struct acts *a)
{
	const struct batch b = { .max = *max, .B = max->B, .T = max->T, .P = max->P, .rows = max->T, .preds = max->P,
				 .S = max->T < m->config.max_position_embeddings ? max->T : m->config.max_position_embeddings,
				 .on = { .starts = nowhere() } };
	const struct step step = { 0 };
	const struct pass pass = { .step = &step };
	const struct losses losses = { .mlm.sum = nowhere(), .scores.sum = nowhere() };
	const int tile = max->P < MODEL_MLM_TILE ? max->P : MODEL_MLM_TILE;

	model_forward(m, &b, &pass, a);
	if (head_infos[m->config.head].mlm && tile)
		model_mlm_scores(m, a, 0, tile, tensor_of(nowhere(), m->dtype, tile, m->config.vocab_size));
	model_loss(m, &b, &losses, a->mode >= ACTS_RECOMPUTE, a);
	if (a->mode >= ACTS_RECOMPUTE)
		model_backward(m, &b, &pass, a);
}

/* Bytes of space for the op that needs most, A being laid out anywhere. */
static int measure_space(const struct model *m, struct acts *a, size_t *bytes)
{
	struct measure result = { .k = m->k };
	struct kernels k = *m->k;
	struct model planned = *m;
	int rc = -1;

#define OP(name, by, f32, bf16, cuda, what) k.name = measure_##name;
#include "kernels/kernels.def"
#undef OP
	planned.k = &k;
	planned.q = (struct queue *)(void *)&result;
	planned.gradients = nowhere();
	planned.w.layers = planned.g.layers = NULL;
	if (!weights_init(&planned.w, &m->params, &m->config, nowhere(), m->dtype) &&
	    !weights_init(&planned.g, &m->params, &m->config, nowhere(), m->dtype)) {
		measure_passes(&planned, &a->max, a);
		*bytes = result.most;
		rc = 0;
	}
	weights_release(&planned.w);
	weights_release(&planned.g);
	return rc;
}

/* --- open and close ---------------------------------------------------------------- */

/* Lays A out nowhere, and counts. */
static int plan(struct acts *a, const struct model *m, const struct batch_limits *max, enum acts_mode mode)
{
	*a = (struct acts){ .mode = mode, .max = *max, .k = m->k };
	a->max.T = batch_round(max->T);
	a->max.P = batch_round(max->P);
	a->hidden = calloc((size_t)m->config.num_hidden_layers + 1, sizeof(*a->hidden));
	a->layers = calloc((size_t)m->config.num_hidden_layers, sizeof(*a->layers));
	if (!a->hidden || !a->layers)
		return err_memory();
	a->bytes = lay_out(a, m, nowhere());
	if (a->bytes >= SIZE_MAX / 2)
		return err_fail("a batch of %d tokens needs more memory than there is", max->T);
	return measure_space(m, a, &a->space_bytes);
}

int acts_open(struct acts *a, const struct model *m, const struct batch_limits *max, enum acts_mode mode)
{
	if (plan(a, m, max, mode) || m->k->alloc(&a->memory, a->bytes) || m->k->alloc(&a->space, a->space_bytes)) {
		acts_close(a);
		return -1;
	}
	lay_out(a, m, a->memory);
	return 0;
}

void acts_close(struct acts *a)
{
	if (!a->k)
		return;
	a->k->free(a->space, a->space_bytes);
	a->k->free(a->memory, a->bytes);
	free(a->layers);
	free(a->hidden);
	*a = (struct acts){ 0 };
}

int acts_plan(const struct model *m, const struct batch_limits *max, enum acts_mode mode, size_t *bytes)
{
	struct acts a;
	const int rc = plan(&a, m, max, mode);

	*bytes = rc ? 0 : a.bytes + a.space_bytes;
	acts_close(&a);
	return rc;
}
