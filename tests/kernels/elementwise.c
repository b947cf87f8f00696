/* elementwise.c - cases of cast, copy, fill, scale and add. */
#include "tests/kernels/trial.h"

static const int sizes[] = { 0, 1, 31, 1000, 70001 }, big[] = { 1 << 22 };

static void label(struct trial *t, int64_t n, double bytes)
{
	t->bytes = bytes * (double)n;
	snprintf(t->label, sizeof(t->label), "%lld elements", (long long)n);
}

static void fill_cast(struct trial *t, struct cast *a, int64_t n, enum dtype to)
{
	trial_in(t, &a->x, 1, n, 1);
	trial_fixed(t, &a->y, ROLE_OUT, to, 1, n);
	for (int64_t i = 0; i < n; i += 7)
		((double *)a->x.data)[i] *= i % 2 ? 1e-6 : 1e6;
	label(t, n, 4.0 + (double)dtype_size(to));
}

static void make_cast(struct trial *t, void *args, int n)
{
	static const enum dtype to[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F16, DTYPE_F32, DTYPE_BF16 };

	fill_cast(t, args, sizes[n], to[n]);
}

static void bench_cast(struct trial *t, void *args, int n) { fill_cast(t, args, big[n], DTYPE_BF16); }

static void fill_copy(struct trial *t, struct copy *a, int64_t n)
{
	trial_in(t, &a->x, 1, n, 1);
	trial_out(t, &a->y, 1, n);
	label(t, n, 8);
}

static void make_copy(struct trial *t, void *args, int n) { fill_copy(t, args, sizes[n]); }
static void bench_copy(struct trial *t, void *args, int n) { fill_copy(t, args, big[n]); }

static void fill_fill(struct trial *t, struct fill *a, int64_t n)
{
	trial_out(t, &a->y, 1, n);
	a->value = n % 2 ? -0.5 : 0;
	label(t, n, 4);
}

static void make_fill(struct trial *t, void *args, int n) { fill_fill(t, args, sizes[n]); }
static void bench_fill(struct trial *t, void *args, int n) { fill_fill(t, args, big[n]); }

static void fill_scale(struct trial *t, struct scale *a, int64_t n)
{
	trial_in(t, &a->x, 1, n, 1);
	if (n % 2)
		trial_alias(t, &a->y, &a->x, ROLE_ADD);
	else
		trial_out(t, &a->y, 1, n);
	trial_doubles(t, &a->factor, ROLE_IN, 1, 1.5);
	label(t, n, 8);
}

static void make_scale(struct trial *t, void *args, int n) { fill_scale(t, args, sizes[n]); }
static void bench_scale(struct trial *t, void *args, int n) { fill_scale(t, args, big[n]); }

static void fill_add(struct trial *t, struct add *a, int64_t n)
{
	trial_in(t, &a->a, 1, n, 1);
	trial_in(t, &a->b, 1, n, 1);
	if (n % 2)
		trial_alias(t, &a->y, &a->b, ROLE_ADD);
	else
		trial_out(t, &a->y, 1, n);
	label(t, n, 12);
}

static void make_add(struct trial *t, void *args, int n) { fill_add(t, args, sizes[n]); }
static void bench_add(struct trial *t, void *args, int n) { fill_add(t, args, big[n]); }

const struct op_test cast_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_cast, .bench = bench_cast };
const struct op_test copy_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_copy, .bench = bench_copy };
const struct op_test fill_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_fill, .bench = bench_fill };
const struct op_test scale_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_scale, .bench = bench_scale };
const struct op_test add_test = { .cases = TRIAL_COUNT(sizes), .benches = 1, .make = make_add, .bench = bench_add };
