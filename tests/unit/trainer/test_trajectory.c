/*
 * Ten steps of AdamW beside facts computed elsewhere in double (tests/data/train/make.py): losses, rates, and the
 * weights after steps 1, 2 and 10, within twice what floats stray there; and whether micro-batches matter.
 */
#include "trainer/schedule.h"
#include "trainer/update.h"
#include "tests/unit/model/golden.h"

enum { STEPS = 10 };

struct facts {
	struct safetensors *file;
	int B, S, P;
	int32_t *ids, *mask, *types, *positions, *labels, *next;
	float *weights;
};

static void facts_open(struct facts *f)
{
	const struct safetensor *ids, *labels;

	OK(safetensors_open(&f->file, tiny_path("../train/trajectories.safetensors")));
	ids = safetensors_find(f->file, "input_ids");
	labels = safetensors_find(f->file, "masked_lm_ids");
	f->B = (int)ids->shape[1];
	f->S = (int)ids->shape[2];
	f->P = (int)labels->shape[2];
	f->ids = golden_tensor(f->file, "input_ids");
	f->mask = golden_tensor(f->file, "input_mask");
	f->types = golden_tensor(f->file, "segment_ids");
	f->positions = golden_tensor(f->file, "masked_lm_positions");
	f->labels = golden_tensor(f->file, "masked_lm_ids");
	f->weights = golden_tensor(f->file, "masked_lm_weights");
	f->next = golden_tensor(f->file, "next_sentence_labels");
}

static void facts_close(struct facts *f)
{
	free(f->next);
	free(f->weights);
	free(f->labels);
	free(f->positions);
	free(f->types);
	free(f->mask);
	free(f->ids);
	safetensors_close(f->file);
}

/* Sequence I of step T, packed. */
static void add_sequence(struct batch *b, const struct facts *f, int t, int i)
{
	const int s = t * f->B + i, *mask = f->mask + s * f->S;
	int n = 0, at, row;

	while (n < f->S && mask[n])
		n++;
	at = batch_add(b, n, (uint64_t)s);
	row = b->host.starts[at];
	memcpy(b->host.ids + row, f->ids + s * f->S, (size_t)n * sizeof(int32_t));
	memcpy(b->host.types + row, f->types + s * f->S, (size_t)n * sizeof(int32_t));
	for (int p = 0; p < f->P; p++)
		if (f->weights[s * f->P + p] > 0)
			batch_add_prediction(b, at, f->positions[s * f->P + p], f->labels[s * f->P + p]);
	b->host.class_labels[at] = f->next[s];
}

struct setting {
	struct facts f;
	struct ground g;
	struct model m;
	struct optimizer o;
	struct update u;
	struct batch *batches;
	int micro, n;				/* sequences of a micro-batch, micro-batches */
};

static void setting_open_frozen(struct setting *x, enum adam kind, const char *backend, enum dtype dtype, int micro, int frozen)
{
	struct optimizer_opts opts = optimizer_defaults(kind);
	struct config c;
	struct model_source *s;
	struct batch_limits limits;

	opts.frozen = frozen;
	facts_open(&x->f);
	ground_open(&x->g, backend);
	OK(model_dir_config(&c, tiny_path("tiny"), HEAD_PRETRAINING));
	c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0;
	OK(model_init(&x->m, &x->g.k, x->g.q, &c, dtype));
	OK(model_dir_open(&s, &x->m, tiny_path("tiny")));
	OK(model_dir_read(s, &x->m, 1));
	model_dir_close(s);
	OK(model_add_gradients(&x->m));
	OK(optimizer_open(&x->o, &x->m, &opts));
	limits = (struct batch_limits){ .B = micro, .T = micro * x->f.S, .P = micro * x->f.P, .C = 1 };
	OK(update_open(&x->u, &x->m, &limits, &objective_pretraining, &x->o, 1));
	x->micro = micro;
	x->n = (x->f.B + micro - 1) / micro;
	x->batches = calloc((size_t)x->n, sizeof(*x->batches));
	for (int i = 0; i < x->n; i++)
		OK(batch_open(&x->batches[i], &x->g.k, &limits, dtype));
}

static void setting_open(struct setting *x, enum adam kind, const char *backend, enum dtype dtype, int micro)
{
	setting_open_frozen(x, kind, backend, dtype, micro, 0);
}

static void setting_close(struct setting *x)
{
	for (int i = 0; i < x->n; i++)
		batch_close(&x->batches[i]);
	free(x->batches);
	update_close(&x->u);
	optimizer_close(&x->o);
	model_release(&x->m);
	ground_close(&x->g);
	facts_close(&x->f);
}

static void train_step(struct setting *x, int t, double lr, struct update_result *r)
{
	for (int k = 0; k < x->n; k++) {
		batch_clear(&x->batches[k]);
		for (int i = k * x->micro; i < (k + 1) * x->micro && i < x->f.B; i++)
			add_sequence(&x->batches[k], &x->f, t, i);
		OK(batch_finish(&x->batches[k], &x->m.config));
	}
	OK(update_train(&x->u, x->batches, x->n, &(struct update_when){ .number = (uint32_t)t, .time = (uint32_t)t, .lr = lr }, r));
	assert_true(r->finite);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct param *const *)a)->name, (*(const struct param *const *)b)->name);
}

/* Key biases have no true gradient: what they get is rounding, which Adam makes large. */
static bool is_noise(const struct param *p)
{
	return strstr(p->name, ".key.bias") != NULL;
}

/* The most that floats stray in parameters of the one kind or the other. */
static double most(const double *strays, const struct param *const *list, int n, bool noise)
{
	double x = 0;

	for (int i = 0; i < n; i++)
		if (is_noise(list[i]) == noise && strays[i] > x)
			x = strays[i];
	return x;
}

/* Sum, norm and first elements of each parameter, in the order of names. STRAYS times FACTOR is what an element may be off by. */
static void check_weights(const struct setting *x, const char *what, int step, double factor)
{
	const struct param **list = calloc((size_t)x->m.params.count, sizeof(*list));
	char name[64];
	double *want, *strays, worst = 0;
	int n = 0;

	for (int i = 0; i < x->m.params.count; i++)
		if (x->m.params.items[i].tied < 0)
			list[n++] = &x->m.params.items[i];
	qsort(list, (size_t)n, sizeof(*list), by_name);
	snprintf(name, sizeof(name), "%s.%d", what, step);
	assert_int_equal(safetensors_find(x->f.file, name)->shape[0], n);
	want = golden_tensor(x->f.file, name);
	snprintf(name, sizeof(name), "%s.%d.strays", what, step);
	strays = golden_tensor(x->f.file, name);
	for (int i = 0; i < n; i++) {
		const double noise = is_noise(list[i]) ? 10 : 1;
		const double allowed = factor * noise * most(strays, list, n, is_noise(list[i])) + 1e-14;
		double sum = 0, squares = 0, off = 0;

		for (int64_t j = 0; j < list[i]->count; j++) {
			const double v = tiny_value(x->m.weights, x->m.dtype, list[i]->first + j);

			sum += v;
			squares += v * v;
			if (j < 4 && fabs(v - want[6 * i + 2 + j]) > off)
				off = fabs(v - want[6 * i + 2 + j]);
		}
		off = fmax(off, fabs(sum - want[6 * i]) / (double)list[i]->count);
		off = fmax(off, fabs(sqrt(squares) - want[6 * i + 1]) / sqrt((double)list[i]->count));
		if (!(off <= allowed))
			fail_msg("%s, step %d, %s: off by %g, %g is allowed", what, step, list[i]->name, off, allowed);
		worst = is_noise(list[i]) ? worst : fmax(worst, off);
	}
	print_message("%s, %s %s, step %d: off by %.2g, floats stray by %.2g\n", what, x->g.k.name, dtype_name(x->m.dtype), step, worst,
		      most(strays, list, n, false));
	free(strays);
	free(want);
	free(list);
}

static void check_run(enum adam kind, const char *backend, enum dtype dtype, int micro, double factor)
{
	const char *what = kind == ADAM_TORCH ? "torch" : "google";
	const struct schedule schedule = { .decay = DECAY_LINEAR, .peak = 1e-3, .steps = 12, .warmup = 3,
					   .first = kind == ADAM_TORCH ? SCHEDULE_FROM_ONE : SCHEDULE_FROM_ZERO };
	struct setting x;
	char name[64];
	double *losses, *rates, strays;

	setting_open(&x, kind, backend, dtype, micro);
	snprintf(name, sizeof(name), "%s.loss", what);
	losses = golden_tensor(x.f.file, name);
	snprintf(name, sizeof(name), "%s.rate", what);
	rates = golden_tensor(x.f.file, name);
	snprintf(name, sizeof(name), "%s.loss_strays", what);
	strays = golden_number(x.f.file, name);
	for (int t = 0; t < STEPS; t++) {
		const double lr = schedule_rate(&schedule, (uint64_t)t);
		struct update_result r;

		assert_true(fabs(lr - rates[t]) < 1e-15);
		train_step(&x, t, lr, &r);
		if (!(fabs(r.total - losses[t]) <= factor * strays))
			fail_msg("%s, step %d: loss %.9g for %.9g, floats stray by %g", what, t + 1, r.total, losses[t], strays);
		if (t == 0 || t == 1 || t == 9)
			check_weights(&x, what, t + 1, factor);
	}
	free(rates);
	free(losses);
	setting_close(&x);
}

static void test_google(void **state)
{
	(void)state;
	check_run(ADAM_GOOGLE, "ref", DTYPE_F64, 4, 1e-4);
	check_run(ADAM_GOOGLE, "ref", DTYPE_F32, 4, 2);
	check_run(ADAM_GOOGLE, "cpu", DTYPE_F32, 4, 2);
}

static void test_torch(void **state)
{
	(void)state;
	check_run(ADAM_TORCH, "ref", DTYPE_F64, 4, 1e-4);
	check_run(ADAM_TORCH, "ref", DTYPE_F32, 4, 2);
	check_run(ADAM_TORCH, "cpu", DTYPE_F32, 4, 2);
}

/* Each loss is a mean over the whole step, however it is cut, though its pieces differ in predictions. */
static void test_micro_batches(void **state)
{
	(void)state;
	check_run(ADAM_GOOGLE, "ref", DTYPE_F64, 1, 1e-4);
	check_run(ADAM_GOOGLE, "ref", DTYPE_F64, 3, 1e-4);
	check_run(ADAM_TORCH, "cpu", DTYPE_F32, 1, 2);
}

/* The other optimizer's facts must not fit, or this file tests nothing. */
static void test_can_fail(void **state)
{
	struct setting x;
	double *want, got;

	(void)state;
	setting_open(&x, ADAM_TORCH, "ref", DTYPE_F64, 4);
	for (int t = 0; t < 2; t++) {
		struct update_result r;

		train_step(&x, t, 1e-3, &r);
	}
	want = golden_tensor(x.f.file, "google.2");
	got = tiny_value(x.m.weights, x.m.dtype, x.m.params.items[params_find(&x.m.params, "bert.embeddings.LayerNorm.bias")].first);
	assert_true(fabs(got - want[2]) > 1e-5);
	free(want);
	setting_close(&x);
}

/* An infinite gradient: the step says so, and changes nothing. */
static void test_not_finite(void **state)
{
	struct setting x;
	struct update_result r;
	float before;
	float *w;

	(void)state;
	setting_open(&x, ADAM_TORCH, "ref", DTYPE_F32, 4);
	train_step(&x, 0, 1e-3, &r);
	w = x.m.weights;
	before = w[0];
	w[x.m.params.items[params_find(&x.m.params, "cls.seq_relationship.bias")].first] = INFINITY;
	OK(update_train(&x.u, x.batches, x.n, &(struct update_when){ .number = 1, .time = 1, .lr = 1e-3 }, &r));
	assert_false(r.finite);
	assert_true(memcmp(&before, w, sizeof(before)) == 0);
	setting_close(&x);
}

/* The norm of the gradients of what is trained, as they stand. */
static double trained_norm(const struct setting *x, int64_t first)
{
	double sum = 0;

	for (int64_t i = first; i < x->m.params.total; i++)
		sum += pow(tiny_value(x->m.gradients, x->m.dtype, i), 2);
	return sqrt(sum);
}

/* Frozen parts stay as they were to the bit, without a part in the norm; all others move. */
static void check_frozen(const char *backend, int frozen)
{
	struct setting x;
	struct update_result r;
	float *before, *w;
	int64_t first, count;

	setting_open_frozen(&x, ADAM_TORCH, backend, DTYPE_F32, 4, frozen);
	params_range(&x.m.params, frozen - 1, &first, &count);
	w = x.m.weights;
	before = malloc(model_bytes(&x.m));
	memcpy(before, w, model_bytes(&x.m));
	for (int t = 0; t < 3; t++)
		train_step(&x, t, 1e-3, &r);
	assert_memory_equal(before, w, (size_t)first * sizeof(float));
	assert_true(fabs(r.grad_norm - trained_norm(&x, first)) < 1e-5 * r.grad_norm);
	for (int i = 0; i < x.m.params.count; i++) {
		const struct param *p = &x.m.params.items[i];

		assert_true(p->first < first || memcmp(before + p->first, w + p->first, (size_t)p->count * sizeof(float)));
	}
	free(before);
	setting_close(&x);
}

static void test_frozen(void **state)
{
	(void)state;
	for (int frozen = 1; frozen <= 3; frozen++) {
		check_frozen("ref", frozen);
		check_frozen("cpu", frozen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_google), cmocka_unit_test(test_torch), cmocka_unit_test(test_micro_batches),
		cmocka_unit_test(test_can_fail), cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_frozen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
