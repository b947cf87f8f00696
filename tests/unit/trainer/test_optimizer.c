/*
 * The optimizer on gradients made here: LAMB beside the same formulas in double, written out for one parameter after
 * the other; what it leaves alone.
 */
#include "base/rng.h"
#include "trainer/optimizer.h"
#include "tests/unit/model/tiny.h"

enum { STEPS = 5 };

struct setting {
	struct ground g;
	struct model m;
	struct optimizer o;
	struct step_tally on;
	double *w, *mean, *square;		/* what they should be */
};

static void setting_open(struct setting *x, const struct optimizer_opts *opts, const char *backend, enum dtype dtype)
{
	*x = (struct setting){ .on = { .bad = 0 } };
	ground_open(&x->g, backend);
	tiny_load(&x->m, &x->g, HEAD_PRETRAINING, dtype);
	OK(model_add_gradients(&x->m));
	OK(optimizer_open(&x->o, &x->m, opts));
	x->w = calloc((size_t)x->m.params.total, sizeof(double));
	x->mean = calloc((size_t)x->m.params.total, sizeof(double));
	x->square = calloc((size_t)x->m.params.total, sizeof(double));
	for (int64_t i = 0; i < x->m.params.total; i++)
		x->w[i] = tiny_value(x->m.weights, dtype, i);
}

static void setting_close(struct setting *x)
{
	free(x->square);
	free(x->mean);
	free(x->w);
	optimizer_close(&x->o);
	model_release(&x->m);
	ground_close(&x->g);
}

static void set(const struct setting *x, int64_t i, double value)
{
	if (x->m.dtype == DTYPE_F64)
		((double *)x->m.gradients)[i] = value;
	else
		((float *)x->m.gradients)[i] = (float)value;
}

/* Gradients of step T, of all sizes; the pooler's bias has none at all. */
static void make_gradients(const struct setting *x, int t)
{
	struct rng r;

	rng_open(&r, 6, RNG_TEST, 0, (uint64_t)t, 0, 0, 0);
	for (int i = 0; i < x->m.params.count; i++) {
		const struct param *p = &x->m.params.items[i];
		const double size = strstr(p->name, "pooler.dense.bias") ? 0 : pow(10, -4 * rng_unit(&r));

		for (int64_t j = 0; p->tied < 0 && j < p->count; j++)
			set(x, p->first + j, size * (2 * rng_unit(&r) - 1));
	}
}

/* What LAMB makes of parameter P: You et al. 2020, algorithm 2, with the global norm taken out first. */
static void lamb_param(struct setting *x, const struct param *p, int time, double lr, double scale)
{
	const struct optimizer_opts *o = &x->o.opts;
	const double decay = p->decays ? o->weight_decay : 0;
	double *w = x->w + p->first, *u = malloc((size_t)p->count * sizeof(*u)), w_norm = 0, u_norm = 0, ratio = 1;

	for (int64_t i = 0; i < p->count; i++) {
		const double g = scale * tiny_value(x->m.gradients, x->m.dtype, p->first + i);
		double *m = &x->mean[p->first + i], *v = &x->square[p->first + i];

		*m = 0.9 * *m + 0.1 * g;
		*v = 0.999 * *v + 0.001 * g * g;
		u[i] = *m / (1 - pow(0.9, time)) / (sqrt(*v / (1 - pow(0.999, time))) + 1e-6) + decay * w[i];
		w_norm += w[i] * w[i];
		u_norm += u[i] * u[i];
	}
	if (w_norm > 0 && u_norm > 0 && (o->kind == ADAM_GOOGLE || decay > 0))
		ratio = sqrt(w_norm) / sqrt(u_norm);
	for (int64_t i = 0; i < p->count; i++)
		w[i] -= lr * ratio * u[i];
	free(u);
}

/* The norm of the gradients of what is trained. */
static double trained_norm(const struct setting *x)
{
	double sum = 0;

	for (int i = 0; i < x->m.params.count; i++) {
		const struct param *p = &x->m.params.items[i];

		for (int64_t j = 0; p->tied < 0 && !layer_is_frozen(p->layer, x->o.opts.frozen) && j < p->count; j++)
			sum += pow(tiny_value(x->m.gradients, x->m.dtype, p->first + j), 2);
	}
	return sqrt(sum);
}

static void lamb_step(struct setting *x, int t, double lr)
{
	double norm, scale;

	make_gradients(x, t);
	norm = trained_norm(x);
	scale = x->o.opts.clip > 0 && norm > x->o.opts.clip ? x->o.opts.clip / norm : 1;
	for (int i = 0; i < x->m.params.count; i++)
		if (x->m.params.items[i].tied < 0 && !layer_is_frozen(x->m.params.items[i].layer, x->o.opts.frozen))
			lamb_param(x, &x->m.params.items[i], t + 1, lr, scale);
	x->on.step = (struct step){ .time = (uint32_t)t + 1, .lr = lr, .loss_scale = 1 };
	optimizer_apply(&x->o, &x->on);
	OK(x->m.k->sync(x->m.q));
	assert_true(!x->on.step.skip && fabs(x->on.step.grad_norm - norm) < 1e-6 * norm);
}

static void check_lamb(enum adam kind, const char *backend, enum dtype dtype, double clip, int frozen, double tolerance)
{
	struct optimizer_opts opts = optimizer_lamb_defaults(kind);
	struct setting x;

	opts.clip = clip;
	opts.frozen = frozen;
	setting_open(&x, &opts, backend, dtype);
	for (int t = 0; t < STEPS; t++) {
		lamb_step(&x, t, 0.02 / (1 + t));
		for (int64_t i = 0; i < x.m.params.total; i++) {
			const double is = tiny_value(x.m.weights, dtype, i);

			if (!(fabs(is - x.w[i]) <= tolerance))
				fail_msg("%s, kind %d, step %d, element %d: %.12g for %.12g", backend, kind, t + 1, (int)i, is, x.w[i]);
		}
	}
	setting_close(&x);
}

static void test_lamb(void **state)
{
	static const enum adam kinds[] = { ADAM_GOOGLE, ADAM_TORCH };

	(void)state;
	for (int i = 0; i < 2; i++) {
		check_lamb(kinds[i], "ref", DTYPE_F64, 1, 0, 1e-13);
		check_lamb(kinds[i], "ref", DTYPE_F64, 0, 0, 1e-13);
		check_lamb(kinds[i], "ref", DTYPE_F64, 1e9, 2, 1e-13);
		check_lamb(kinds[i], "ref", DTYPE_F32, 1, 0, 1e-6);
		check_lamb(kinds[i], "cpu", DTYPE_F32, 1, 0, 1e-6);
		check_lamb(kinds[i], "cpu", DTYPE_F32, 1, 1, 1e-6);
	}
}

/* The two kinds differ where nothing decays, by the trust ratio alone; without one this file would test little. */
static void test_trust(void **state)
{
	struct optimizer_opts opts = optimizer_lamb_defaults(ADAM_GOOGLE);
	struct setting x, y;
	const struct param *norm, *matrix;

	(void)state;
	setting_open(&x, &opts, "ref", DTYPE_F64);
	opts.kind = ADAM_TORCH;
	setting_open(&y, &opts, "ref", DTYPE_F64);
	lamb_step(&x, 0, 0.02);
	lamb_step(&y, 0, 0.02);
	norm = &x.m.params.items[params_find(&x.m.params, "bert.embeddings.LayerNorm.weight")];
	matrix = &x.m.params.items[params_find(&x.m.params, "bert.pooler.dense.weight")];
	assert_true(fabs(((double *)x.m.weights)[norm->first] - ((double *)y.m.weights)[norm->first]) > 1e-4);
	assert_true(((double *)x.m.weights)[matrix->first] == ((double *)y.m.weights)[matrix->first]);
	setting_close(&y);
	setting_close(&x);
}

/* A gradient that is no number: nothing changes, neither weights nor moments. */
static void test_skip(void **state)
{
	const struct optimizer_opts opts = optimizer_lamb_defaults(ADAM_TORCH);
	struct setting x;

	(void)state;
	setting_open(&x, &opts, "cpu", DTYPE_F32);
	make_gradients(&x, 0);
	((float *)x.m.gradients)[77] = NAN;
	x.on.step = (struct step){ .time = 1, .lr = 1, .loss_scale = 1 };
	optimizer_apply(&x.o, &x.on);
	OK(x.m.k->sync(x.m.q));
	assert_true(x.on.step.skip && x.on.bad);
	for (int64_t i = 0; i < x.m.params.total; i++)
		assert_true((double)((float *)x.m.weights)[i] == x.w[i] && ((float *)x.o.m)[i] == 0 && ((float *)x.o.v)[i] == 0);
	setting_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lamb), cmocka_unit_test(test_trust), cmocka_unit_test(test_skip) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
