/* linear.c - cases of linear_fwd and linear_bwd. */
#include "tests/kernels/grad.h"

static const struct shape { int N, k, n; enum act act; bool bias, keep, add; } shapes[] = {
	{ 1, 1, 1, ACT_NONE, false, false, false }, { 5, 7, 3, ACT_NONE, true, false, true }, { 3, 33, 17, ACT_GELU, true, true, false },
	{ 16, 64, 48, ACT_GELU_TANH, true, true, true }, { 65, 129, 31, ACT_RELU, false, true, false }, { 30, 40, 2, ACT_TANH, true, true, false },
	{ 130, 257, 300, ACT_NONE, true, true, false }, { 7, 600, 70, ACT_GELU, true, true, true }, { 2, 19, 520, ACT_GELU, true, false, false },
	{ 0, 5, 4, ACT_NONE, true, false, false },
}, benches[] = {
	{ 4096, 128, 384, ACT_NONE, true, false, false }, { 4096, 128, 512, ACT_GELU, true, true, true }, { 4096, 512, 128, ACT_NONE, true, false, false },
	{ 1024, 768, 2304, ACT_NONE, true, false, false }, { 1024, 768, 3072, ACT_GELU, true, true, true }, { 1024, 3072, 768, ACT_NONE, true, false, true },
};

static void fill(struct trial *t, struct linear_fwd *a, const struct shape *s)
{
	const double spread = s->k % 2 ? 1 : 1e6;	/* large times small is as exact as any */

	trial_in(t, &a->x, s->N, s->k, spread);
	trial_in(t, &a->w, s->n, s->k, 2 / spread);
	if (s->bias)
		trial_in(t, &a->b, 1, s->n, 1);
	if (s->keep)
		trial_out(t, &a->pre, s->N, s->n);
	trial_out(t, &a->y, s->N, s->n);
	a->act = s->act;
	t->flops = 2.0 * s->N * s->k * s->n;
	t->bytes = 4.0 * ((double)s->N * s->k + (double)s->n * s->k + (double)s->N * s->n * (s->keep ? 2 : 1));
	snprintf(t->label, sizeof(t->label), "%d x %d x %d%s", s->N, s->k, s->n, s->act ? ", act" : "");
}

static void make_fwd(struct trial *t, void *args, int n) { fill(t, args, &shapes[n]); }
static void bench_fwd(struct trial *t, void *args, int n) { fill(t, args, &benches[n]); }

static void fill_bwd(struct trial *t, struct linear_bwd *a, const struct shape *s)
{
	trial_in(t, &a->x, s->N, s->k, 1);
	trial_in(t, &a->w, s->n, s->k, 1);
	if (s->act == ACT_NONE) {
		trial_in(t, &a->dy, s->N, s->n, 1);
	} else {
		trial_add(t, &a->dy, s->N, s->n, 1);
		trial_in(t, &a->pre, s->N, s->n, 2);
	}
	if (s->add)
		trial_add(t, &a->dx, s->N, s->k, 1);
	else
		trial_out(t, &a->dx, s->N, s->k);
	trial_add(t, &a->dw, s->n, s->k, 1);
	if (s->bias)
		trial_add(t, &a->db, 1, s->n, 1);
	a->act = s->act;
	a->add_dx = s->add;
	t->flops = 4.0 * s->N * s->k * s->n;
	t->bytes = 4.0 * (2.0 * s->N * s->k + 3.0 * s->n * s->k + (double)s->N * s->n * (s->act ? 3 : 1));
	snprintf(t->label, sizeof(t->label), "%d x %d x %d%s", s->N, s->k, s->n, s->act ? ", act" : "");
}

static void make_bwd(struct trial *t, void *args, int n) { fill_bwd(t, args, &shapes[n]); }
static void bench_bwd(struct trial *t, void *args, int n) { fill_bwd(t, args, &benches[n]); }

static const char *grad(struct trial *t, int n)
{
	static const struct shape small[] = {
		{ 5, 7, 3, ACT_NONE, true, true, false }, { 3, 9, 4, ACT_GELU, true, true, false }, { 4, 5, 6, ACT_GELU_TANH, true, true, false },
		{ 3, 7, 5, ACT_RELU, true, true, false }, { 2, 5, 3, ACT_TANH, true, true, false },
	};
	struct linear_fwd *f = (void *)t->args;
	struct linear_bwd a;
	struct grad_case g = { .t = t, .op = OP_linear_fwd };
	struct tensor cotangent, dy;

	fill(t, f, &small[n]);
	trial_run(t, OP_linear_fwd);
	cotangent = trial_random(t, f->y.rows, f->y.cols);
	dy = trial_zeros(t, f->y.rows, f->y.cols);
	memcpy(dy.data, cotangent.data, tensor_bytes(dy));
	a = (struct linear_bwd){
		.dy = dy, .x = f->x, .w = f->w, .pre = f->pre, .dx = trial_zeros(t, f->x.rows, f->x.cols),
		.dw = trial_zeros(t, f->w.rows, f->w.cols), .db = trial_zeros(t, 1, f->w.rows), .act = f->act,
	};
	grad_run(t, OP_linear_bwd, &a, &a.space);
	g.output = f->y;
	g.cotangent = cotangent;
	grad_input(&g, "x", f->x, a.dx);
	grad_input(&g, "w", f->w, a.dw);
	grad_input(&g, "b", f->b, a.db);
	return grad_compare(&g);
}

const struct op_test linear_fwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .make = make_fwd, .bench = bench_fwd };
const struct op_test linear_bwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .grads = 5, .make = make_bwd, .bench = bench_bwd, .grad = grad };
