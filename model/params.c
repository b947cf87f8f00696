/* params.c - the table of parameters. */
#include "model/params.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <xxhash.h>

/* A table in the making: what its next lines have in common. */
struct plan {
	struct params *p;
	const char *prefix;	/* "bert." but for a bare encoder */
	int layer;
	bool failed;
};

static int64_t aligned_up(int64_t n) { return (n + PARAMS_ALIGN - 1) / PARAMS_ALIGN * PARAMS_ALIGN; }

/* A copy of LINE as the last line, under the name PREFIX MODULE.PART. */
static void add(struct plan *plan, struct param line, const char *prefix, const char *module, const char *part)
{
	const int n = snprintf(line.name, sizeof(line.name), "%s%s.%s", prefix, module, part);
	struct params *p = plan->p;
	uint64_t *number;

	assert(n > 0 && (size_t)n < sizeof(line.name));
	number = plan->failed ? NULL : map_put(&p->lines, line.name, (size_t)n);
	if (!number || array_grow(&p->items, &p->cap, (size_t)p->count + 1, sizeof(*p->items))) {
		plan->failed = true;
		return;
	}
	*number = (uint64_t)p->count;
	p->items[p->count++] = line;
}

/* A line for [rows, cols], or for a vector where cols is 0; it begins where the last one ends, or, ALIGNED, a little after. */
static struct param take(struct plan *plan, int64_t rows, int64_t cols, bool aligned)
{
	const int64_t first = aligned ? aligned_up(plan->p->total) : plan->p->total;
	const struct param line = { .n_dims = cols ? 2 : 1, .rows = rows, .cols = cols ? cols : 1, .first = first,
				    .count = rows * (cols ? cols : 1), .layer = plan->layer, .tied = -1, .saved = true };

	plan->p->total = first + line.count;
	return line;
}

/* MODULE's matrix [rows, cols], "weight". */
static void matrix(struct plan *plan, const char *prefix, const char *module, int64_t rows, int64_t cols, bool aligned)
{
	struct param line = take(plan, rows, cols, aligned);

	line.decays = true;
	line.init = INIT_NORMAL;
	add(plan, line, prefix, module, "weight");
}

static void bias(struct plan *plan, const char *prefix, const char *module, int64_t rows, bool aligned)
{
	struct param line = take(plan, rows, 0, aligned);

	line.init = INIT_ZERO;
	add(plan, line, prefix, module, "bias");
}

static void linear(struct plan *plan, const char *prefix, const char *module, int64_t rows, int64_t cols)
{
	matrix(plan, prefix, module, rows, cols, true);
	bias(plan, prefix, module, rows, true);
}

static void norm(struct plan *plan, const char *prefix, const char *module, int64_t width)
{
	struct param line = take(plan, width, 0, true);

	line.init = INIT_ONE;
	add(plan, line, prefix, module, "weight");
	bias(plan, prefix, module, width, true);
}

static void plan_embeddings(struct plan *plan, const struct config *c)
{
	plan->layer = LAYER_EMBEDDINGS;
	matrix(plan, plan->prefix, "embeddings.word_embeddings", c->vocab_size, c->hidden_size, true);
	matrix(plan, plan->prefix, "embeddings.position_embeddings", c->max_position_embeddings, c->hidden_size, true);
	matrix(plan, plan->prefix, "embeddings.token_type_embeddings", c->type_vocab_size, c->hidden_size, true);
	norm(plan, plan->prefix, "embeddings.LayerNorm", c->hidden_size);
}

static void plan_layer(struct plan *plan, const struct config *c, int l)
{
	static const char *const qkv[] = { "query", "key", "value" };
	const int64_t H = c->hidden_size, F = c->layers[l].intermediate_size;
	const int64_t AD = (int64_t)c->layers[l].heads * config_head_size(c);
	char prefix[PARAM_NAME_MAX], module[32];

	plan->layer = l;
	snprintf(prefix, sizeof(prefix), "%sencoder.layer.%d.", plan->prefix, l);
	for (int i = 0; i < 3; i++) {
		snprintf(module, sizeof(module), "attention.self.%s", qkv[i]);
		matrix(plan, prefix, module, AD, H, i == 0);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(module, sizeof(module), "attention.self.%s", qkv[i]);
		bias(plan, prefix, module, AD, i == 0);
	}
	linear(plan, prefix, "attention.output.dense", H, AD);
	norm(plan, prefix, "attention.output.LayerNorm", H);
	linear(plan, prefix, "intermediate.dense", F, H);
	linear(plan, prefix, "output.dense", H, F);
	norm(plan, prefix, "output.LayerNorm", H);
}

/* Another name of line TARGET. */
static void tie(struct plan *plan, const char *module, const char *part, int target, bool saved)
{
	struct param line;

	if (plan->failed)
		return;
	line = plan->p->items[target];
	line.tied = target;
	line.saved = saved;
	add(plan, line, "", module, part);
}

/*
 * The table and bias over the vocabulary. Where nothing is tied, transformers uses decoder.bias and only keeps
 * cls.predictions.bias: both are saved, so that it misses none.
 */
static void plan_decoder(struct plan *plan, const struct config *c)
{
	if (c->tie_word_embeddings) {
		bias(plan, "", "cls.predictions", c->vocab_size, true);
		tie(plan, "cls.predictions.decoder", "weight", 0, false);
		tie(plan, "cls.predictions.decoder", "bias", params_find(plan->p, "cls.predictions.bias"), false);
		return;
	}
	linear(plan, "", "cls.predictions.decoder", c->vocab_size, c->hidden_size);
	tie(plan, "cls.predictions", "bias", params_find(plan->p, "cls.predictions.decoder.bias"), true);
}

static void plan_mlm(struct plan *plan, const struct config *c)
{
	linear(plan, "", "cls.predictions.transform.dense", c->hidden_size, c->hidden_size);
	norm(plan, "", "cls.predictions.transform.LayerNorm", c->hidden_size);
	plan_decoder(plan, c);
}

int params_plan(struct params *p, const struct config *c)
{
	struct plan plan = { .p = p, .prefix = c->head == HEAD_NONE ? "" : "bert." };

	assert(c->head != HEAD_UNSAID);
	*p = (struct params){ .n_layers = c->num_hidden_layers, .lines = MAP_INIT };
	plan_embeddings(&plan, c);
	for (int l = 0; l < c->num_hidden_layers; l++)
		plan_layer(&plan, c, l);
	plan.layer = c->num_hidden_layers;
	if (config_has_pooler(c))
		linear(&plan, plan.prefix, "pooler.dense", c->hidden_size, c->hidden_size);
	if (head_infos[c->head].mlm)
		plan_mlm(&plan, c);
	if (config_scores(c))
		linear(&plan, "", head_infos[c->head].scores, config_scores(c), c->hidden_size);
	p->total = aligned_up(p->total);
	if (plan.failed)
		params_release(p);
	return plan.failed ? -1 : 0;
}

void params_release(struct params *p)
{
	free(p->items);
	map_release(&p->lines);
	*p = (struct params){ .lines = MAP_INIT };
}

int params_find(const struct params *p, const char *name)
{
	const uint64_t *line = map_get(&p->lines, name, strlen(name));

	return line ? (int)*line : -1;
}

/* Where the elements of the first line above LAYER begin. */
static int64_t end_of(const struct params *p, int layer)
{
	for (int i = 0; i < p->count; i++)
		if (p->items[i].tied < 0 && p->items[i].layer > layer)
			return p->items[i].first;
	return p->total;
}

void params_range(const struct params *p, int layer, int64_t *first, int64_t *count)
{
	*first = layer == LAYER_EMBEDDINGS ? 0 : end_of(p, layer - 1);
	*count = end_of(p, layer) - *first;
}

/* Uniform in (0, 1). */
static double open_unit(struct rng *r) { return (rng_u32(r) + 0.5) * 0x1p-32; }

/* Two normal draws, by Box and Muller. */
static void normal_pair(struct rng *r, double x[2])
{
	const double radius = sqrt(-2 * log(open_unit(r))), angle = 2 * M_PI * open_unit(r);

	x[0] = radius * cos(angle);
	x[1] = radius * sin(angle);
}

/* VALUES[count] = normal draws of at most two standard deviations. */
static void fill_normal(struct rng *r, double deviation, int64_t count, float *values)
{
	for (int64_t n = 0; n < count;) {
		double x[2];

		normal_pair(r, x);
		for (int i = 0; i < 2 && n < count; i++)
			if (fabs(x[i]) <= 2)
				values[n++] = (float)(deviation * x[i]);
	}
}

/* A chunk's stream is named by the parameter's name, which is the same in every kind of model, and the chunk's number. */
void param_fill(const struct param *p, const struct config *c, uint64_t seed, int64_t first, int64_t count, float *values)
{
	const char *name = strncmp(p->name, "bert.", 5) ? p->name : p->name + 5;
	const uint64_t key = XXH3_64bits(name, strlen(name));

	assert(first % PARAM_CHUNK == 0);
	for (int64_t done = 0; done < count; done += PARAM_CHUNK) {
		const int64_t n = count - done < PARAM_CHUNK ? count - done : PARAM_CHUNK;
		struct rng r;

		rng_open(&r, seed, RNG_INIT, (uint64_t)((first + done) / PARAM_CHUNK), key, 0, 0, 0);
		if (p->init == INIT_NORMAL)
			fill_normal(&r, c->initializer_range, n, values + done);
		for (int64_t i = 0; p->init != INIT_NORMAL && i < n; i++)
			values[done + i] = p->init == INIT_ONE;
	}
}
