/*
 * The reference sums in double whatever its dtype: of the same numbers, F32's results are F64's, rounded once. Sums are
 * made long here, so that one in float could not hide.
 */
#include "base/rng.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { N = 3000, H = 70, OUT = 5, B = 2, A = 2 };	/* H: more columns than are summed at once */

/* A tensor in both dtypes, and which of them an op gets. */
struct pair {
	struct tensor f32, f64;
};

struct ground {
	struct kernels k;
	struct queue *q;
	struct rng r;
	void *space;
};

static void ground_open(struct ground *g)
{
	assert_int_equal(kernels_open(&g->k, "ref", 1), 0);
	assert_int_equal(g->k.queue_open(&g->k, &g->q), 0);
	rng_open(&g->r, 4, RNG_TEST, 0, 0, 0, 0, 0);
	g->space = malloc((size_t)8 << 20);
	assert_non_null(g->space);
}

static void ground_close(struct ground *g)
{
	free(g->space);
	g->k.queue_close(g->q);
	kernels_close(&g->k);
}

/* Numbers in -1 .. 1, SHIFT added. */
static struct pair pair_new(struct ground *g, int64_t rows, int64_t cols, double shift)
{
	float *x = malloc((size_t)(rows * cols) * sizeof(*x));
	double *y = malloc((size_t)(rows * cols) * sizeof(*y));

	for (int64_t i = 0; i < rows * cols; i++) {
		x[i] = (float)(2 * rng_unit(&g->r) - 1 + shift);
		y[i] = (double)x[i];
	}
	return (struct pair){ tensor_of(x, DTYPE_F32, rows, cols), tensor_of(y, DTYPE_F64, rows, cols) };
}

static void pair_free(struct pair p)
{
	free(p.f32.data);
	free(p.f64.data);
}

static struct tensor of(struct pair p, int i) { return i ? p.f64 : p.f32; }

/* One rounding at the end, and one where the two orders of rounding part. */
static void pair_check(struct pair p, const char *what)
{
	for (int64_t i = 0; i < tensor_count(p.f32); i++) {
		const double x = (double)((float *)p.f32.data)[i], y = ((double *)p.f64.data)[i];

		if (!(x - y <= 1.2e-7 * (y < 0 ? -y : y) && y - x <= 1.2e-7 * (y < 0 ? -y : y)))
			fail_msg("%s: %.10g for %.10g", what, x, y);
	}
	pair_free(p);
}

static void test_linear(void **state)
{
	struct ground g;
	struct pair dy, x, w, dx, dw, db;

	(void)state;
	ground_open(&g);
	dy = pair_new(&g, N, OUT, 1);
	x = pair_new(&g, N, H, 1);
	w = pair_new(&g, OUT, H, 0);
	dx = pair_new(&g, N, H, 0);
	dw = pair_new(&g, OUT, H, 1);
	db = pair_new(&g, 1, OUT, 1);
	for (int i = 0; i < 2; i++)
		g.k.linear_bwd(g.q, &(struct linear_bwd){ .dy = of(dy, i), .x = of(x, i), .w = of(w, i), .dx = of(dx, i), .dw = of(dw, i), .db = of(db, i) });
	pair_check(dx, "dx");
	pair_check(dw, "dw");
	pair_check(db, "db");
	pair_free(w);
	pair_free(x);
	pair_free(dy);
	ground_close(&g);
}

static void test_residual_norm(void **state)
{
	struct ground g;
	struct pair dy, sum, gamma, mean, rstd, dx, dgamma, dbeta;

	(void)state;
	ground_open(&g);
	dy = pair_new(&g, N, H, 1);
	sum = pair_new(&g, N, H, 5);
	gamma = pair_new(&g, 1, H, 2);
	mean = pair_new(&g, 1, N, 0);
	rstd = pair_new(&g, 1, N, 2);
	dx = pair_new(&g, N, H, 0);
	dgamma = pair_new(&g, 1, H, 1);
	dbeta = pair_new(&g, 1, H, 1);
	for (int i = 0; i < 2; i++)
		g.k.residual_norm_bwd(g.q, &(struct residual_norm_bwd){
			.dy = of(dy, i), .sum = of(sum, i), .gamma = of(gamma, i), .mean = of(mean, i), .rstd = of(rstd, i), .dx = of(dx, i),
			.dgamma = of(dgamma, i), .dbeta = of(dbeta, i), .space = g.space });
	pair_check(dgamma, "dgamma");
	pair_check(dbeta, "dbeta");
	pair_free(dx);
	pair_free(rstd);
	pair_free(mean);
	pair_free(gamma);
	pair_free(sum);
	pair_free(dy);
	ground_close(&g);
}

static void test_mlm_loss(void **state)
{
	enum { P = 40 };
	struct ground g;
	struct pair h, table, bias, dh, dtable, dbias;
	int32_t labels[P];
	double loss[2] = { 0 }, factor = 1.0 / P;

	(void)state;
	ground_open(&g);
	h = pair_new(&g, P, H, 0.1);
	table = pair_new(&g, N, H, 0.1);
	bias = pair_new(&g, 1, N, 0);
	dh = pair_new(&g, P, H, 0);
	dtable = pair_new(&g, N, H, 0);
	dbias = pair_new(&g, 1, N, 0);
	for (int p = 0; p < P; p++)
		labels[p] = p % 9 ? 7 * p : -1;
	for (int i = 0; i < 2; i++)
		g.k.mlm_loss(g.q, &(struct mlm_loss){
			.h = of(h, i), .table = of(table, i), .bias = of(bias, i), .labels = labels, .dh = of(dh, i), .dtable = of(dtable, i),
			.dbias = of(dbias, i), .loss = { .sum = &loss[i], .factor = &factor }, .space = g.space });
	assert_true(loss[0] == loss[1]);
	pair_check(dh, "dh");
	pair_check(dtable, "dtable");
	pair_check(dbias, "dbias");
	pair_free(bias);
	pair_free(table);
	pair_free(h);
	ground_close(&g);
}

static void test_attention(void **state)
{
	static const int32_t starts[B + 1] = { 0, 100, 300 };
	struct ground g;
	struct pair qkv, context, lse, dcontext, dqkv;
	struct packing seqs = { .B = B, .S = 200, .starts = starts };

	(void)state;
	ground_open(&g);
	qkv = pair_new(&g, starts[B], 3 * A * H, 0.2);
	context = pair_new(&g, starts[B], A * H, 0);
	lse = pair_new(&g, starts[B], A, 0);
	dcontext = pair_new(&g, starts[B], A * H, 1);
	dqkv = pair_new(&g, starts[B], 3 * A * H, 0);
	for (int i = 0; i < 2; i++)
		g.k.attention_fwd(g.q, &(struct attention_fwd){
			.qkv = of(qkv, i), .context = of(context, i), .lse = of(lse, i), .A = A, .scale = 0.1, .seqs = seqs });
	for (int64_t i = 0; i < tensor_count(lse.f32); i++)		/* both go back from the same numbers */
		((double *)lse.f64.data)[i] = (double)((float *)lse.f32.data)[i];
	for (int64_t i = 0; i < tensor_count(context.f32); i++) {
		const double x = (double)((float *)context.f32.data)[i];

		assert_true(x - ((double *)context.f64.data)[i] < 1e-6 && ((double *)context.f64.data)[i] - x < 1e-6);
		((double *)context.f64.data)[i] = x;
	}
	for (int i = 0; i < 2; i++)
		g.k.attention_bwd(g.q, &(struct attention_bwd){
			.dcontext = of(dcontext, i), .qkv = of(qkv, i), .context = of(context, i), .lse = of(lse, i), .dqkv = of(dqkv, i),
			.A = A, .scale = 0.1, .seqs = seqs });
	pair_check(dqkv, "dqkv");
	pair_free(dcontext);
	pair_free(lse);
	pair_free(context);
	pair_free(qkv);
	ground_close(&g);
}

/* Rows that go to one place: each is rounded by itself, their sum once. */
static void test_embed(void **state)
{
	static int32_t ids[N], positions[N], types[N];
	struct ground g;
	struct pair dy, word, position, type, gamma, mean, rstd, dword, dposition, dtype, dgamma, dbeta;
	double worst = 0;

	(void)state;
	ground_open(&g);
	dy = pair_new(&g, N, H, 1);
	word = pair_new(&g, 3, H, 0);
	position = pair_new(&g, 9, H, 0);
	type = pair_new(&g, 2, H, 0);
	gamma = pair_new(&g, 1, H, 2);
	mean = pair_new(&g, 1, N, 0);
	rstd = pair_new(&g, 1, N, 2);
	dword = pair_new(&g, 3, H, 0);
	dposition = pair_new(&g, 9, H, 0);
	dtype = pair_new(&g, 2, H, 0);
	dgamma = pair_new(&g, 1, H, 1);
	dbeta = pair_new(&g, 1, H, 1);
	for (int t = 0; t < N; t++) {
		ids[t] = t % 7 ? t % 2 : -1;		/* word 2 has no row */
		positions[t] = t % 9;
		types[t] = t % 2;
	}
	for (int i = 0; i < 2; i++)
		g.k.embed_bwd(g.q, &(struct embed_bwd){
			.dy = of(dy, i), .ids = ids, .positions = positions, .types = types, .word = of(word, i), .position = of(position, i),
			.type = of(type, i), .gamma = of(gamma, i), .mean = of(mean, i), .rstd = of(rstd, i), .dword = of(dword, i),
			.dposition = of(dposition, i), .dtype = of(dtype, i), .dgamma = of(dgamma, i), .dbeta = of(dbeta, i),
			.space = g.space });
	for (int64_t i = 0; i < 2 * H; i++) {
		const double off = (double)((float *)dtype.f32.data)[i] - ((double *)dtype.f64.data)[i];

		worst = off > worst ? off : -off > worst ? -off : worst;
	}
	assert_true(worst < 1.5e-3);	/* sums of some thousands; in float they would be off by 1e-2 */
	pair_free(dtype);
	pair_free(dposition);
	pair_free(dword);
	pair_free(dgamma);
	pair_free(dbeta);
	pair_free(rstd);
	pair_free(mean);
	pair_free(gamma);
	pair_free(type);
	pair_free(position);
	pair_free(word);
	pair_free(dy);
	ground_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear), cmocka_unit_test(test_residual_norm), cmocka_unit_test(test_mlm_loss),
		cmocka_unit_test(test_attention), cmocka_unit_test(test_embed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
