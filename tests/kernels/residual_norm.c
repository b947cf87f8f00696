/* residual_norm.c - cases of residual_norm_fwd, residual_norm_bwd and dropout_rows. */
#include "tests/kernels/grad.h"

enum alias { APART, SUM_IS_H, SUM_IS_X, Y_IS_X };	/* what shares memory */

static const struct shape { int B, S, H, tail; double rate; bool h; enum alias alias; double spread; } shapes[] = {
	{ 1, 1, 3, 0, 0, true, APART, 1 }, { 3, 5, 8, 0, 0, false, APART, 1 }, { 4, 9, 37, 3, 0.1, true, SUM_IS_H, 1 }, { 2, 30, 128, 0, 0.1, true, APART, 1 },
	{ 2, 6, 770, 1, 0.5, true, SUM_IS_X, 1 }, { 3, 4, 130, 0, 0, false, Y_IS_X, 1 }, { 2, 8, 65, 0, 0.1, true, APART, 1e4 }, { 2, 5, 31, 0, 0, false, APART, 1e-4 },
	{ 2, 5, 48, 0, 0.1, true, APART, 0 },
}, benches[] = {
	{ 32, 128, 128, 0, 0.1, true, SUM_IS_H, 1 }, { 32, 128, 128, 0, 0, true, SUM_IS_H, 1 }, { 8, 128, 768, 0, 0.1, true, SUM_IS_H, 1 }, { 8, 128, 768, 0, 0, false, APART, 1 },
};

static void fill(struct trial *t, struct residual_norm_fwd *a, const struct shape *s)
{
	const int N = trial_packing(t, &a->seqs, s->B, NULL, s->S, s->tail);

	trial_in(t, &a->x, N, s->H, s->spread);
	if (s->h) {
		trial_in(t, &a->h, N, s->H, s->spread);
		if (s->alias == SUM_IS_H)
			trial_alias(t, &a->sum, &a->h, ROLE_ADD);
		else if (s->alias == SUM_IS_X)
			trial_alias(t, &a->sum, &a->x, ROLE_ADD);
		else
			trial_out(t, &a->sum, N, s->H);
	}
	trial_in(t, &a->gamma, 1, s->H, 1);
	trial_in(t, &a->beta, 1, s->H, 1);
	if (s->alias == Y_IS_X)
		trial_alias(t, &a->y, &a->x, ROLE_ADD);
	else
		trial_out(t, &a->y, N, s->H);
	trial_out(t, &a->mean, 1, N);
	trial_out(t, &a->rstd, 1, N);
	a->eps = 1e-12;
	trial_dropout(t, &a->drop, s->rate);
	t->bytes = 4.0 * N * s->H * (s->h ? 4 : 2);
	snprintf(t->label, sizeof(t->label), "%d x %d, rate %g%s", N, s->H, s->rate, s->h ? "" : ", no h");
}

static void make_fwd(struct trial *t, void *args, int n) { fill(t, args, &shapes[n]); }
static void bench_fwd(struct trial *t, void *args, int n) { fill(t, args, &benches[n]); }

/* The backward arguments that belong to the forward ones in F, which has run. */
static void fill_bwd(struct trial *t, struct residual_norm_bwd *a, struct trial *f, const struct shape *s)
{
	const struct residual_norm_fwd *forward = (const void *)f->args;
	const int64_t N = forward->y.rows;

	a->drop = forward->drop;
	a->seqs = forward->seqs;
	trial_take(t, &a->drop.step, f, &forward->drop.step);
	trial_take(t, &a->seqs.starts, f, &forward->seqs.starts);
	trial_take(t, &a->seqs.sample, f, &forward->seqs.sample);
	if (s->h)
		trial_take(t, &a->sum, f, &forward->sum);
	else
		trial_take(t, &a->sum, f, &forward->x);
	trial_take(t, &a->gamma, f, &forward->gamma);
	trial_take(t, &a->mean, f, &forward->mean);
	trial_take(t, &a->rstd, f, &forward->rstd);
	trial_in(t, &a->dy, N, s->H, 1);
	if (s->alias == APART && s->S % 2)
		trial_in(t, &a->dsum, N, s->H, 1);
	if (s->alias == SUM_IS_H) {
		trial_alias(t, &a->dx, &a->dy, ROLE_ADD);
	} else if (s->alias == SUM_IS_X) {
		trial_in(t, &a->dsum, N, s->H, 1);
		trial_alias(t, &a->dx, &a->dsum, ROLE_ADD);
	} else {
		trial_out(t, &a->dx, N, s->H);
	}
	if (s->h)
		trial_out(t, &a->dh, N, s->H);
	trial_add(t, &a->dgamma, 1, s->H, 1);
	trial_add(t, &a->dbeta, 1, s->H, 1);
	t->bytes = 4.0 * (double)N * s->H * (s->h ? 4 : 3);
	memcpy(t->label, f->label, sizeof(t->label));
}

static void make_from(struct trial *t, void *args, const struct shape *s)
{
	struct shape apart = *s;
	struct trial f;

	apart.alias = APART;
	trial_init(&f, t->k, t->q, rng_u64(&t->rng), OP_residual_norm_fwd, 0);
	fill(&f, (void *)f.args, &apart);
	trial_round(&f);
	trial_run(&f, OP_residual_norm_fwd);
	fill_bwd(t, args, &f, s);
	trial_release(&f);
}

static void make_bwd(struct trial *t, void *args, int n) { make_from(t, args, &shapes[n]); }
static void bench_bwd(struct trial *t, void *args, int n) { make_from(t, args, &benches[n]); }

static const char *grad(struct trial *t, int n)
{
	static const struct shape small[] = { { 2, 3, 9, 0, 0, false, APART, 1 }, { 2, 4, 12, 1, 0.3, true, APART, 1 } };
	struct residual_norm_fwd *f = (void *)t->args;
	struct residual_norm_bwd a;
	struct grad_case g = { .t = t, .op = OP_residual_norm_fwd };

	fill(t, f, &small[n]);
	trial_run(t, OP_residual_norm_fwd);
	a = (struct residual_norm_bwd){
		.dy = trial_random(t, f->y.rows, f->y.cols), .sum = small[n].h ? f->sum : f->x, .gamma = f->gamma, .mean = f->mean, .rstd = f->rstd,
		.dx = trial_zeros(t, f->y.rows, f->y.cols), .dgamma = trial_zeros(t, 1, f->y.cols), .dbeta = trial_zeros(t, 1, f->y.cols),
		.drop = f->drop, .seqs = f->seqs,
	};
	if (small[n].h)
		a.dh = trial_zeros(t, f->y.rows, f->y.cols);
	grad_run(t, OP_residual_norm_bwd, &a, &a.space);
	g.output = f->y;
	g.cotangent = a.dy;
	grad_input(&g, "x", f->x, a.dx);
	grad_input(&g, "gamma", f->gamma, a.dgamma);
	grad_input(&g, "beta", f->beta, a.dbeta);
	if (small[n].h)
		grad_input(&g, "h", f->h, a.dh);
	return grad_compare(&g);
}

static void fill_dropout(struct trial *t, struct dropout_rows *a, const struct shape *s)
{
	const int T = trial_packing(t, &a->seqs, s->B, NULL, s->S, s->tail), N = s->h ? T : s->B + s->tail;

	trial_in(t, &a->x, N, s->H, 1);
	if (s->alias == APART)
		trial_out(t, &a->y, N, s->H);
	else
		trial_alias(t, &a->y, &a->x, ROLE_ADD);
	if (!s->h)
		a->seqs.starts = NULL;
	trial_dropout(t, &a->drop, s->rate);
	t->bytes = 8.0 * N * s->H;
	snprintf(t->label, sizeof(t->label), "%d x %d, rate %g", N, s->H, s->rate);
}

static void make_dropout(struct trial *t, void *args, int n) { fill_dropout(t, args, &shapes[n]); }
static void bench_dropout(struct trial *t, void *args, int n) { fill_dropout(t, args, &benches[2 * n]); }

const struct op_test residual_norm_fwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .make = make_fwd, .bench = bench_fwd };
const struct op_test residual_norm_bwd_test = { .cases = TRIAL_COUNT(shapes), .benches = TRIAL_COUNT(benches), .grads = 2, .make = make_bwd, .bench = bench_bwd, .grad = grad };
const struct op_test dropout_rows_test = { .cases = TRIAL_COUNT(shapes), .benches = 2, .make = make_dropout, .bench = bench_dropout };
