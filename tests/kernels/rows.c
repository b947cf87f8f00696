/* rows.c - cases of rows_gather and rows_scatter_add. */
#include "tests/kernels/grad.h"

static const struct shape { int N, n, H; } shapes[] = { { 1, 1, 1 }, { 9, 4, 7 }, { 40, 13, 64 }, { 5, 30, 130 }, { 8, 0, 16 } }, benches[] = { { 8192, 1280, 128 }, { 2048, 320, 768 } };

static void fill_gather(struct trial *t, struct rows_gather *a, const struct shape *s)
{
	trial_in(t, &a->x, s->N, s->H, 1);
	trial_indices(t, &a->rows, s->n, -1, s->N - 1);
	trial_out(t, &a->y, s->n, s->H);
	t->bytes = 8.0 * s->n * s->H;
	snprintf(t->label, sizeof(t->label), "%d of %d x %d", s->n, s->N, s->H);
}

static void fill_scatter(struct trial *t, struct rows_scatter_add *a, const struct shape *s)
{
	trial_in(t, &a->y, s->n, s->H, 1);
	trial_indices(t, &a->rows, s->n, -1, s->N - 1);
	trial_add(t, &a->x, s->N, s->H, 1);
	t->bytes = 12.0 * s->n * s->H;
	snprintf(t->label, sizeof(t->label), "%d of %d x %d", s->n, s->N, s->H);
}

static void make_gather(struct trial *t, void *args, int n) { fill_gather(t, args, &shapes[n]); }
static void make_scatter(struct trial *t, void *args, int n) { fill_scatter(t, args, &shapes[n]); }
static void bench_gather(struct trial *t, void *args, int n) { fill_gather(t, args, &benches[n]); }
static void bench_scatter(struct trial *t, void *args, int n) { fill_scatter(t, args, &benches[n]); }

/* The scatter is the gather's transpose. */
static const char *grad(struct trial *t, int n)
{
	struct rows_gather *f = (void *)t->args;
	struct rows_scatter_add a;
	struct grad_case g = { .t = t, .op = OP_rows_gather };

	(void)n;
	fill_gather(t, f, &(struct shape){ 6, 9, 3 });
	trial_run(t, OP_rows_gather);
	a = (struct rows_scatter_add){ .y = trial_random(t, 9, 3), .x = trial_zeros(t, 6, 3), .rows = f->rows };
	grad_run(t, OP_rows_scatter_add, &a, NULL);
	g.output = f->y;
	g.cotangent = a.y;
	grad_input(&g, "x", f->x, a.x);
	return grad_compare(&g);
}

const struct op_test rows_gather_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .make = make_gather, .bench = bench_gather };
const struct op_test rows_scatter_add_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .grads = 1, .make = make_scatter, .bench = bench_scatter, .grad = grad };
