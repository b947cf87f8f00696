/* losses.c - cases of mlm_loss, xent, mse and span_xent. */
#include "tests/kernels/grad.h"

#include <math.h>

/* --- mlm_loss ---------------------------------------------------------------------------------------------------------------- */

static const struct mlm_shape { int P, V, E; bool bias, grads; double spread; } mlm_shapes[] = {
	{ 1, 1, 1, true, true, 1 }, { 3, 10, 5, true, true, 1 }, { 17, 97, 33, false, true, 1 }, { 40, 1030, 64, true, true, 1 },
	{ 9, 513, 128, true, false, 1 }, { 5, 77, 16, true, true, 12 }, { 0, 9, 4, true, true, 1 }, { 70, 40, 24, true, true, 1 },
}, mlm_benches[] = { { 1280, 30522, 128, true, true, 1 }, { 1280, 30522, 128, true, false, 1 }, { 160, 30522, 768, true, true, 1 } };

static void fill_mlm(struct trial *t, struct mlm_loss *a, const struct mlm_shape *s)
{
	trial_in(t, &a->h, s->P, s->E, sqrt(s->spread));
	trial_in(t, &a->table, s->V, s->E, sqrt(s->spread / s->E));
	if (s->bias)
		trial_in(t, &a->bias, 1, s->V, 1);
	trial_indices(t, &a->labels, s->P, -1, s->V - 1);
	if (s->P != 3)
		trial_out(t, &a->nll, 1, s->P);
	if (s->grads) {
		trial_out(t, &a->dh, s->P, s->E);
		trial_add(t, &a->dtable, s->V, s->E, 0.01);
		if (s->bias)
			trial_add(t, &a->dbias, 1, s->V, 0.01);
	}
	trial_loss(t, &a->loss, s->P + 1);
	t->tolerance = s->spread > 1 ? 4 : 1;
	t->flops = (s->grads ? 6.0 : 2.0) * s->P * s->V * s->E;
	t->bytes = (s->grads ? 16.0 : 4.0) * s->V * s->E;
	snprintf(t->label, sizeof(t->label), "P %d, V %d, E %d%s", s->P, s->V, s->E, s->grads ? "" : ", loss only");
}

static void make_mlm(struct trial *t, void *args, int n) { fill_mlm(t, args, &mlm_shapes[n]); }
static void bench_mlm(struct trial *t, void *args, int n) { fill_mlm(t, args, &mlm_benches[n]); }

/* Gradients that an op added to or overwrote, as they stand in its own arguments: apart, and from 0. */
static struct tensor taken(struct trial *t, struct tensor x)
{
	struct tensor y = trial_zeros(t, x.rows, x.cols);

	memcpy(y.data, x.data, tensor_bytes(x));
	return y;
}

static void zero(struct tensor x) { memset(x.data, 0, tensor_bytes(x)); }

static const char *grad_mlm(struct trial *t, int n)
{
	struct mlm_loss *a = (void *)t->args;
	struct grad_case g = { .t = t, .op = OP_mlm_loss };

	fill_mlm(t, a, &mlm_shapes[1 + n]);
	a->loss.scale = NULL;
	zero(a->dtable);
	if (tensor_given(a->dbias))
		zero(a->dbias);
	trial_run(t, OP_mlm_loss);
	g.loss = a->loss.sum;
	grad_input(&g, "h", a->h, taken(t, a->dh));
	grad_input(&g, "table", a->table, taken(t, a->dtable));
	if (tensor_given(a->dbias))
		grad_input(&g, "bias", a->bias, taken(t, a->dbias));
	return grad_compare(&g);
}

/* --- xent ---------------------------------------------------------------------------------------------------------------------- */

static const struct { int N, C; bool nll, inplace; double spread; } xent_shapes[] = {
	{ 1, 1, true, false, 1 }, { 9, 2, true, false, 1 }, { 33, 3, false, true, 1 }, { 17, 1000, true, false, 3 }, { 20, 9, true, true, 100 }, { 0, 2, true, false, 1 },
};

static void make_xent(struct trial *t, void *args, int n)
{
	struct xent *a = args;
	const int N = xent_shapes[n].N, C = xent_shapes[n].C;

	trial_in(t, &a->logits, N, C, xent_shapes[n].spread);
	trial_indices(t, &a->labels, N, -1, C - 1);
	if (xent_shapes[n].nll)
		trial_out(t, &a->nll, 1, N);
	if (xent_shapes[n].inplace)
		trial_alias(t, &a->dlogits, &a->logits, ROLE_ADD);
	else
		trial_out(t, &a->dlogits, N, C);
	trial_loss(t, &a->loss, N + 1);
}

static const char *grad_xent(struct trial *t, int n)
{
	struct xent *a = (void *)t->args;
	struct grad_case g = { .t = t, .op = OP_xent };

	make_xent(t, a, n == 0 ? 1 : 3);
	a->loss.scale = NULL;
	trial_run(t, OP_xent);
	g.loss = a->loss.sum;
	grad_input(&g, "logits", a->logits, taken(t, a->dlogits));
	return grad_compare(&g);
}

/* --- mse ----------------------------------------------------------------------------------------------------------------------- */

static void make_mse(struct trial *t, void *args, int n)
{
	static const int sizes[][2] = { { 1, 1 }, { 13, 1 }, { 7, 33 }, { 0, 1 } };
	struct mse *a = args;
	const int N = sizes[n][0], C = sizes[n][1];

	trial_in(t, &a->y, N, C, 1);
	trial_in(t, &a->target, N, C, 3);
	for (int i = 0; i < N * C; i += 5)
		((double *)a->target.data)[i] = NAN;
	if (n == 2)
		trial_alias(t, &a->dy, &a->y, ROLE_ADD);
	else
		trial_out(t, &a->dy, N, C);
	trial_loss(t, &a->loss, N * C + 1);
}

static const char *grad_mse(struct trial *t, int n)
{
	struct mse *a = (void *)t->args;
	struct grad_case g = { .t = t, .op = OP_mse };

	(void)n;
	make_mse(t, a, 1);
	a->loss.scale = NULL;
	trial_run(t, OP_mse);
	g.loss = a->loss.sum;
	grad_input(&g, "y", a->y, taken(t, a->dy));
	return grad_compare(&g);
}

/* --- span_xent -------------------------------------------------------------------------------------------------------------------- */

static void make_span(struct trial *t, void *args, int n)
{
	static const int sizes[][3] = { { 1, 1, 0 }, { 3, 9, 0 }, { 4, 50, 5 }, { 2, 384, 0 } };
	struct span_xent *a = args;
	const int B = sizes[n][0], T = trial_packing(t, &a->seqs, B, NULL, sizes[n][1], sizes[n][2]);
	int32_t *first = trial_indices(t, &a->first, B, 0, 0), *last = trial_indices(t, &a->last, B, 0, 0);

	for (int b = 0; b < B; b++) {
		const int length = a->seqs.starts[b + 1] - a->seqs.starts[b];

		first[b] = trial_int(t, b == 0 ? 0 : -1, length - 1);
		last[b] = trial_int(t, b == 0 ? 0 : -1, length - 1);
	}
	trial_in(t, &a->logits, T, 2, n == 3 ? 20 : 2);
	trial_out(t, &a->dlogits, T, 2);
	trial_out(t, &a->nll, 1, B);
	trial_loss(t, &a->loss, B);
}

static const char *grad_span(struct trial *t, int n)
{
	struct span_xent *a = (void *)t->args;
	struct grad_case g = { .t = t, .op = OP_span_xent };

	(void)n;
	make_span(t, a, 1);
	a->loss.scale = NULL;
	trial_run(t, OP_span_xent);
	g.loss = a->loss.sum;
	grad_input(&g, "logits", a->logits, taken(t, a->dlogits));
	return grad_compare(&g);
}

const struct op_test mlm_loss_test = { .cases = TRIAL_COUNT(mlm_shapes), .benches = TRIAL_COUNT(mlm_benches), .grads = 3, .make = make_mlm, .bench = bench_mlm, .grad = grad_mlm };
const struct op_test xent_test = { .cases = TRIAL_COUNT(xent_shapes), .grads = 2, .make = make_xent, .grad = grad_xent };
const struct op_test mse_test = { .cases = 4, .grads = 1, .make = make_mse, .grad = grad_mse };
const struct op_test span_xent_test = { .cases = 4, .grads = 1, .make = make_span, .grad = grad_span };
