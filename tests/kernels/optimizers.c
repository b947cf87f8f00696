/* optimizers.c - cases of sumsq_finite, grad_scale, adamw, lamb_direction and lamb_apply. */
#include "tests/kernels/trial.h"

#include <math.h>

static const int sizes[] = { 1, 100, 4097, 70000, 33 }, big[] = { 4500000 };

/* Cuts 0 .. n-1 into at most 5 segments with a gap of one element between them; returns how many. */
static int segments(struct trial *t, const struct segment **field, int64_t n)
{
	struct segment *s = trial_pointer(t, field, ROLE_IN, 5 * sizeof(*s));
	int64_t first = 0;
	int count = 0;

	while (count < 5 && first < n) {
		const int64_t left = n - first, length = count == 4 ? left : 1 + (int64_t)rng_below(&t->rng, (uint32_t)left);

		s[count] = (struct segment){ .first = first, .count = length, .decay = count % 2 ? 0 : 0.01, .trust = count % 3 != 1 };
		first += length + 1;
		count++;
	}
	return count;
}

static void fill_sumsq(struct trial *t, struct sumsq_finite *a, int64_t n, double poison)
{
	trial_in(t, &a->x, 1, n, 1);
	a->n_segments = segments(t, &a->segments, n);
	trial_fixed(t, &a->sums, ROLE_OUT, DTYPE_F64, 1, a->n_segments);
	trial_pointer(t, &a->bad, ROLE_ADD, sizeof(int32_t));
	if (poison != 0)
		((double *)a->x.data)[a->segments[a->n_segments - 1].first] = poison;
	t->bytes = 4.0 * (double)n;
	snprintf(t->label, sizeof(t->label), "%lld elements", (long long)n);
}

static void make_sumsq(struct trial *t, void *args, int n)
{
	static const double poison[] = { 0, 0, INFINITY, 0, NAN };

	fill_sumsq(t, args, sizes[n], poison[n]);
}

static void bench_sumsq(struct trial *t, void *args, int n) { fill_sumsq(t, args, big[n], 0); }

static void make_grad_scale(struct trial *t, void *args, int n)
{
	struct grad_scale *a = args;

	trial_fixed(t, &a->sums, ROLE_IN, DTYPE_F64, 1, 3);
	for (int i = 0; i < 3; i++)
		((double *)a->sums.data)[i] = n == 3 ? 1e-4 : pow(trial_normal(t), 2) * 1e4;
	if (n == 4)
		((double *)a->sums.data)[1] = NAN;
	*(int32_t *)trial_pointer(t, &a->bad, ROLE_IN, sizeof(int32_t)) = n == 1;
	trial_step(t, &a->step)->loss_scale = 16;
	t->slots[t->n_slots - 1].role = ROLE_ADD;
	a->max_norm = n == 2 ? 0 : 1;
	a->eps = n % 2 ? 1e-6 : 0;
}

static void moments(struct trial *t, struct tensor *m, struct tensor *v, int64_t n)
{
	trial_add(t, m, 1, n, 0.1);
	trial_add(t, v, 1, n, 0.1);
	for (int64_t i = 0; i < n; i++) {
		double *x = (double *)v->data + i;

		*x = i % 17 == 0 ? 0 : *x * *x;
	}
}

static void fill_adamw(struct trial *t, struct adamw *a, int64_t n, int kind)
{
	struct step *step = trial_step(t, &a->step);

	step->time = kind == 3 ? 1 : step->time;
	step->skip = kind == 4;
	trial_add(t, &a->w, 1, n, 1);
	moments(t, &a->m, &a->v, n);
	trial_in(t, &a->g, 1, n, 0.3);
	for (int64_t i = 0; i < n; i += 13)
		((double *)a->g.data)[i] = 0;
	if (kind == 2 || kind == 3)
		trial_fixed(t, &a->low, ROLE_ADD, kind == 2 ? DTYPE_F32 : DTYPE_F64, 1, n);
	a->n_segments = segments(t, &a->segments, n);
	a->kind = kind % 2 ? ADAM_TORCH : ADAM_GOOGLE;
	a->beta1 = 0.9;
	a->beta2 = 0.999;
	a->eps = kind % 2 ? 1e-8 : 1e-6;
	t->bytes = 28.0 * (double)n;
	snprintf(t->label, sizeof(t->label), "%lld parameters", (long long)n);
}

static void make_adamw(struct trial *t, void *args, int n) { fill_adamw(t, args, sizes[n], n); }
static void bench_adamw(struct trial *t, void *args, int n) { fill_adamw(t, args, big[n / 2], n % 2); }

static void fill_direction(struct trial *t, struct lamb_direction *a, int64_t n, int kind)
{
	trial_step(t, &a->step)->skip = kind == 4;
	trial_in(t, &a->w, 1, n, 1);
	moments(t, &a->m, &a->v, n);
	if (kind % 2) {
		trial_in(t, &a->g, 1, n, 0.3);
		trial_add(t, &a->u, 1, n, 0);
	} else {
		trial_in(t, &a->g, 1, n, 0.3);
		trial_alias(t, &a->u, &a->g, ROLE_ADD);
	}
	a->n_segments = segments(t, &a->segments, n);
	a->beta1 = 0.9;
	a->beta2 = 0.999;
	a->eps = 1e-6;
	trial_fixed(t, &a->w_sums, ROLE_ADD, DTYPE_F64, 1, a->n_segments);
	trial_fixed(t, &a->u_sums, ROLE_ADD, DTYPE_F64, 1, a->n_segments);
	t->bytes = 28.0 * (double)n;
	snprintf(t->label, sizeof(t->label), "%lld parameters", (long long)n);
}

static void make_direction(struct trial *t, void *args, int n) { fill_direction(t, args, sizes[n], n); }
static void bench_direction(struct trial *t, void *args, int n) { fill_direction(t, args, big[n], 0); }

static void fill_apply(struct trial *t, struct lamb_apply *a, int64_t n, int kind)
{
	trial_step(t, &a->step)->skip = kind == 4;
	trial_add(t, &a->w, 1, n, 1);
	trial_in(t, &a->u, 1, n, 1);
	if (kind == 2)
		trial_fixed(t, &a->low, ROLE_ADD, DTYPE_F32, 1, n);
	a->n_segments = segments(t, &a->segments, n);
	trial_fixed(t, &a->w_sums, ROLE_IN, DTYPE_F64, 1, a->n_segments);
	trial_fixed(t, &a->u_sums, ROLE_IN, DTYPE_F64, 1, a->n_segments);
	for (int i = 0; i < a->n_segments; i++) {
		((double *)a->w_sums.data)[i] = i == 2 ? 0 : pow(trial_normal(t), 2);
		((double *)a->u_sums.data)[i] = i == 3 ? 0 : pow(trial_normal(t), 2) + 0.1;
	}
	t->bytes = 12.0 * (double)n;
	snprintf(t->label, sizeof(t->label), "%lld parameters", (long long)n);
}

static void make_apply(struct trial *t, void *args, int n) { fill_apply(t, args, sizes[n], n); }
static void bench_apply(struct trial *t, void *args, int n) { fill_apply(t, args, big[n], 0); }

const struct op_test sumsq_finite_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_sumsq, .bench = bench_sumsq };
const struct op_test grad_scale_test = { .cases = 5, .make = make_grad_scale };
const struct op_test adamw_test = { .cases = TRIAL_COUNT(sizes), .benches = 2, .make = make_adamw, .bench = bench_adamw };
const struct op_test lamb_direction_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_direction, .bench = bench_direction };
const struct op_test lamb_apply_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_apply, .bench = bench_apply };
