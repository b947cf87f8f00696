/* Gradients: beside facts computed elsewhere, beside finite differences in double, and beside themselves. */
#include "tests/unit/model/golden.h"
#include "tests/unit/model/passes.h"

/* Norms of every parameter's gradient, and the loss. */
static void check_norms(enum head head, const char *backend, enum dtype dtype, double tolerance)
{
	struct ground g;
	struct model m;
	struct safetensors *s;
	struct batch b;
	struct acts a;
	struct tally t = { 0 };
	char name[128];

	snprintf(name, sizeof(name), "%s.safetensors", head_infos[head].word);
	ground_open(&g, backend);
	tiny_load(&m, &g, head, dtype);
	OK(model_add_gradients(&m));
	OK(safetensors_open(&s, tiny_path(name)));
	golden_batch(&b, &m, s);
	OK(acts_open(&a, &m, &b.max, ACTS_TRAIN));
	t.mlm_factor = b.P ? 1.0 / b.P : 0;
	t.scores_factor = golden_factor(&m, &b);
	tiny_pass(&m, &b, &(struct pass){ 0 }, &t, true, &a);
	assert_true(fabs(t.mlm + t.scores - golden_number(s, "out.loss")) < tolerance);
	for (int i = 0; i < m.params.count; i++) {
		const struct param *p = &m.params.items[i];
		double sum = 0, want;

		snprintf(name, sizeof(name), "gradnorm.%s", p->name);
		want = golden_number(s, name);
		for (int64_t j = 0; j < p->count; j++)
			sum += pow(tiny_value(m.gradients, dtype, p->first + j), 2);
		if (p->tied < 0 && fabs(sqrt(sum) - want) > tolerance * (1 + want))
			fail_msg("%s, %s: %s: %.15g for %.15g", head_infos[head].word, backend, p->name, sqrt(sum), want);
	}
	acts_close(&a);
	batch_close(&b);
	safetensors_close(s);
	model_release(&m);
	ground_close(&g);
}

static void test_norms(void **state)
{
	static const enum head heads[] = { HEAD_PRETRAINING, HEAD_CLASSIFY, HEAD_SPAN, HEAD_TOKENS };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		check_norms(heads[i], "ref", DTYPE_F64, 1e-12);
		check_norms(heads[i], "ref", DTYPE_F32, 1e-5);
		check_norms(heads[i], "cpu:none", DTYPE_F32, 1e-5);
		check_norms(heads[i], "cpu:avx2", DTYPE_F32, 1e-5);
		check_norms(heads[i], "cpu:native", DTYPE_F32, 1e-5);
	}
}

/* --- finite differences ------------------------------------------------------------ */

static const int lengths[] = { 9, 1, 12, 5, 0 };

struct setting {
	struct ground g;
	struct model m;
	struct batch b;
	struct acts a;
	struct step step;
	struct pass pass;
	struct tally t;
};

static void setting_open_on(struct setting *x, const char *backend, const char *changes, enum head head, enum dtype dtype,
			    enum acts_mode mode)
{
	*x = (struct setting){ .step = { .seed = 1, .number = 9, .loss_scale = 1 } };
	ground_open(&x->g, backend);
	tiny_fresh(&x->m, &x->g, changes, head, dtype);
	OK(model_add_gradients(&x->m));
	tiny_batch(&x->b, &x->m, lengths, dtype);
	OK(acts_open(&x->a, &x->m, &x->b.max, mode));
	x->pass = (struct pass){ .step = &x->step };
	x->t.mlm_factor = 0.3;
	x->t.scores_factor = 0.7;
}

static void setting_open(struct setting *x, const char *changes, enum head head, enum dtype dtype, enum acts_mode mode)
{
	setting_open_on(x, "ref", changes, head, dtype, mode);
}

static void setting_close(struct setting *x)
{
	acts_close(&x->a);
	batch_close(&x->b);
	model_release(&x->m);
	ground_close(&x->g);
}

/* The loss with parameter P moved by H along DIRECTION. */
static double loss_at(struct setting *x, const struct param *p, const double *direction, double h)
{
	double *w = (double *)x->m.weights + p->first;

	for (int64_t i = 0; i < p->count; i++)
		w[i] += h * direction[i];
	tiny_pass(&x->m, &x->b, &x->pass, &x->t, false, &x->a);
	for (int64_t i = 0; i < p->count; i++)
		w[i] -= h * direction[i];
	return x->t.mlm + x->t.scores;
}

/* Along a random direction the loss must grow by the gradient's part in it. */
static void check_param(struct setting *x, const struct param *p, const char *changes)
{
	const double *gradient = (const double *)x->m.gradients + p->first, h = 1e-4;
	double *direction = malloc((size_t)p->count * sizeof(*direction)), want, got = 0, size = 0;
	struct rng r;

	rng_open(&r, 8, RNG_TEST, 0, (uint64_t)p->first, 0, 0, 0);
	for (int64_t i = 0; i < p->count; i++) {
		direction[i] = 2 * rng_unit(&r) - 1;
		got += gradient[i] * direction[i];
		size += fabs(gradient[i] * direction[i]);
	}
	/* Two central differences, the error in h^2 taken out. */
	want = (8 * (loss_at(x, p, direction, h) - loss_at(x, p, direction, -h)) - loss_at(x, p, direction, 2 * h) +
		loss_at(x, p, direction, -2 * h)) / (12 * h);
	if (!(fabs(want - got) <= 1e-8 * (1 + size)))
		fail_msg("%s of %s: %.12g, and differences say %.12g", p->name, changes, got, want);
	free(direction);
}

static void test_differences(void **state)
{
	static const struct {
		const char *changes;
		enum head head;
	} cases[] = {
		{ "{}", HEAD_PRETRAINING },
		{ "{\"tie_word_embeddings\": false, \"hidden_act\": \"gelu_new\", \"hidden_dropout_prob\": 0.3}", HEAD_PRETRAINING },
		{ "{\"pruned_heads\": {\"1\": [0]}, \"intermediate_sizes\": [5, 17], \"hidden_act\": \"tanh\"}", HEAD_MLM },
		{ "{\"attention_probs_dropout_prob\": 0, \"hidden_dropout_prob\": 0}", HEAD_NSP },
		{ "{\"classifier_dropout\": 0.4}", HEAD_CLASSIFY },
		{ "{\"problem_type\": \"regression\"}", HEAD_CLASSIFY },
		{ "{\"layer_norm_eps\": 0.01}", HEAD_SPAN },
		{ "{\"classifier_dropout\": 0.2}", HEAD_TOKENS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct setting x;

		setting_open(&x, cases[i].changes, cases[i].head, DTYPE_F64, ACTS_TRAIN);
		tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
		assert_true(x.t.mlm + x.t.scores > 0.1);
		for (int p = 0; p < x.m.params.count; p++)
			if (x.m.params.items[p].tied < 0)
				check_param(&x, &x.m.params.items[p], cases[i].changes);
		setting_close(&x);
	}
}

/* --- the same another way ----------------------------------------------------------- */

/* Layers made again in the backward pass: the same bits. */
static void test_recompute(void **state)
{
	static const char *const changes[] = { "{}", "{\"pruned_heads\": {\"0\": [1]}, \"intermediate_sizes\": [31, 9]}" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct setting x, y;

		setting_open(&x, changes[i], HEAD_PRETRAINING, DTYPE_F32, ACTS_TRAIN);
		setting_open(&y, changes[i], HEAD_PRETRAINING, DTYPE_F32, ACTS_RECOMPUTE);
		tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
		tiny_pass(&y.m, &y.b, &y.pass, &y.t, true, &y.a);
		assert_memory_equal(x.m.gradients, y.m.gradients, model_bytes(&x.m));
		assert_true(x.t.mlm == y.t.mlm && x.t.scores == y.t.scores);
		assert_true(y.a.bytes < x.a.bytes);
		setting_close(&y);
		setting_close(&x);
	}
}

/* Copies what is said to be ready, when it is said. */
struct watch {
	const struct setting *x;
	char *copy;
	int64_t covered;
	int calls;
};

static void take_ready(void *ctx, int64_t first, int64_t count)
{
	struct watch *w = ctx;
	const size_t size = dtype_size(w->x->m.dtype);

	memcpy(w->copy + (size_t)first * size, (const char *)w->x->m.gradients + (size_t)first * size, (size_t)count * size);
	w->covered += count;
	w->calls++;
}

/* Ranges are ready once each, all in all, and final when they are. */
static void test_ready(void **state)
{
	struct setting x;
	struct watch w = { .x = &x };

	(void)state;
	setting_open(&x, "{}", HEAD_PRETRAINING, DTYPE_F32, ACTS_TRAIN);
	w.copy = calloc(1, model_bytes(&x.m));
	x.pass.grads_ready = take_ready;
	x.pass.ctx = &w;
	tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
	assert_int_equal(w.covered, x.m.params.total);
	assert_int_equal(w.calls, 4);
	assert_memory_equal(w.copy, x.m.gradients, model_bytes(&x.m));
	free(w.copy);
	setting_close(&x);
}

/* With FROZEN parts: the other gradients are WANT's to the bit, those of frozen parameters are not touched. */
static void check_frozen(struct setting *x, int frozen, const float *want)
{
	struct watch w = { .x = x, .copy = calloc(1, model_bytes(&x->m)) };
	int64_t trained, below;

	params_range(&x->m.params, frozen - 1, &trained, &below);
	model_clear_gradients(&x->m);
	x->pass.frozen = frozen;
	x->pass.grads_ready = take_ready;
	x->pass.ctx = &w;
	tiny_pass(&x->m, &x->b, &x->pass, &x->t, true, &x->a);
	assert_int_equal(w.covered, x->m.params.total - trained);
	assert_int_equal(w.calls, 4 - frozen);
	for (int i = 0; i < x->m.params.count; i++) {
		const struct param *p = &x->m.params.items[i];
		const float *got = (const float *)x->m.gradients + p->first;
		const bool is_frozen = p->first < trained, is_table = head_infos[x->m.config.head].mlm && p->first == 0;

		for (int64_t j = 0; is_frozen && !is_table && j < p->count; j++)
			assert_true(got[j] == 0);
		if (!is_frozen && memcmp(got, want + p->first, (size_t)p->count * sizeof(*got)))
			fail_msg("%s, %d frozen: %s differs", head_infos[x->m.config.head].word, frozen, p->name);
	}
	assert_memory_equal((float *)(void *)w.copy + trained, (float *)x->m.gradients + trained,
			    (size_t)(x->m.params.total - trained) * sizeof(float));
	free(w.copy);
}

static void test_frozen(void **state)
{
	static const enum head heads[] = { HEAD_PRETRAINING, HEAD_MLM, HEAD_NSP, HEAD_CLASSIFY, HEAD_SPAN, HEAD_TOKENS };
	static const char *const backends[] = { "ref", "cpu" };

	(void)state;
	for (int i = 0; i < 24; i++) {
		struct setting x;
		float *want;

		setting_open_on(&x, backends[i % 2], "{\"classifier_dropout\": 0.2}", heads[i / 4], DTYPE_F32,
				i & 2 ? ACTS_RECOMPUTE : ACTS_TRAIN);
		tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
		want = malloc(model_bytes(&x.m));
		memcpy(want, x.m.gradients, model_bytes(&x.m));
		for (int frozen = 0; frozen <= 3; frozen++)
			check_frozen(&x, frozen, want);
		free(want);
		setting_close(&x);
	}
}

/* A batch in two halves adds up to the same gradients: dropout and factors do not know how it was cut. */
static void test_halves(void **state)
{
	struct setting x;
	double *whole, mlm, scores;

	(void)state;
	setting_open(&x, "{}", HEAD_PRETRAINING, DTYPE_F64, ACTS_TRAIN);
	tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
	whole = malloc(model_bytes(&x.m));
	memcpy(whole, x.m.gradients, model_bytes(&x.m));
	mlm = x.t.mlm;
	scores = x.t.scores;
	model_clear_gradients(&x.m);
	for (int half = 0; half < 2; half++) {
		batch_clear(&x.b);
		for (int i = 2 * half; i < 2 * half + 2; i++)
			tiny_add(&x.b, &x.m.config, lengths[i], 100 + (uint64_t)i);
		OK(batch_finish(&x.b, &x.m.config));
		batch_upload(&x.b, x.m.q);
		tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
		mlm -= x.t.mlm;
		scores -= x.t.scores;
	}
	assert_true(fabs(mlm) < 1e-12 && fabs(scores) < 1e-12);
	for (int64_t i = 0; i < x.m.params.total; i++)
		assert_true(fabs(whole[i] - ((double *)x.m.gradients)[i]) < 1e-12);
	free(whole);
	setting_close(&x);
}

/* Losses that are not asked for leave no gradient; the loss scale multiplies all. */
static void test_losses_alone(void **state)
{
	struct setting x;
	struct losses l;
	double *both, scale = 8;

	(void)state;
	setting_open(&x, "{}", HEAD_PRETRAINING, DTYPE_F64, ACTS_TRAIN);
	tiny_pass(&x.m, &x.b, &x.pass, &x.t, true, &x.a);
	both = malloc(model_bytes(&x.m));
	memcpy(both, x.m.gradients, model_bytes(&x.m));
	model_clear_gradients(&x.m);
	for (int part = 0; part < 2; part++) {
		l = tally_losses(&x.t);
		l.mlm.scale = l.scores.scale = &scale;
		if (part)
			l.mlm.sum = NULL;
		else
			l.scores.sum = NULL;
		model_forward(&x.m, &x.b, &x.pass, &x.a);
		model_loss(&x.m, &x.b, &l, true, &x.a);
		model_backward(&x.m, &x.b, &x.pass, &x.a);
	}
	for (int64_t i = 0; i < x.m.params.total; i++)
		assert_true(fabs(8 * both[i] - ((double *)x.m.gradients)[i]) < 1e-11);
	free(both);
	setting_close(&x);
}

static void test_several_labels(void **state)
{
	struct ground g;
	struct model m;

	(void)state;
	ground_open(&g, "ref");
	tiny_fresh(&m, &g, "{\"problem_type\": \"multi_label_classification\"}", HEAD_CLASSIFY, DTYPE_F32);
	FAILS(model_add_gradients(&m), EXIT_FAILED, "'problem_type'");
	model_release(&m);
	ground_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_norms), cmocka_unit_test(test_differences), cmocka_unit_test(test_recompute),
		cmocka_unit_test(test_ready), cmocka_unit_test(test_frozen), cmocka_unit_test(test_halves), cmocka_unit_test(test_losses_alone),
		cmocka_unit_test(test_several_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
