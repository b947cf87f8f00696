/* packing.c - the rows of a sequence are the same bits whatever batch it stands in: alone, among others, in any order. */
#include "tests/kernels/harness.h"

#include <math.h>

enum { SEQUENCES = 6, V = 131, S = 96, H = 72, A = 3, F = 200, TENSORS = 14, ROWS = 512 };

static const int lengths[SEQUENCES] = { 37, 5, 64, 1, 90, 33 };

/* Parameters, and what enters each sequence; all random, all F32. */
struct net {
	struct trial t;			/* only its numbers and memory are used */
	struct tensor word, position, type, gamma, beta, w_qkv, b_qkv, w_out, b_out, w_up, b_up, w_down, b_down, bias;
	int32_t ids[SEQUENCES][S], types[SEQUENCES][S], labels[SEQUENCES][S];
	struct step *step;
	double factor;
};

/* One batch: which sequences, and every tensor of T rows on the way. */
struct run {
	int B, T, which[SEQUENCES];
	int32_t starts[SEQUENCES + 1], ids[ROWS], types[ROWS], positions[ROWS], labels[ROWS];
	uint64_t sample[SEQUENCES];
	struct tensor rows[TENSORS];
	int n_rows;
};

static struct tensor floats(struct trial *t, int64_t rows, int64_t cols, double spread)
{
	struct tensor x = tensor_of(trial_memory(t, (size_t)(rows * cols) * 4), DTYPE_F32, rows, cols);

	for (int64_t i = 0; i < rows * cols; i++)
		((float *)x.data)[i] = (float)(trial_normal(t) * spread);
	return x;
}

static void net_init(struct net *n, uint64_t seed)
{
	struct trial *t = &n->t;

	trial_init(t, NULL, NULL, seed, 1000, 0);
	n->word = floats(t, V, H, 1), n->position = floats(t, S, H, 1), n->type = floats(t, 2, H, 1);
	n->gamma = floats(t, 1, H, 1), n->beta = floats(t, 1, H, 1);
	n->w_qkv = floats(t, 3 * H, H, 0.2), n->b_qkv = floats(t, 1, 3 * H, 1);
	n->w_out = floats(t, H, H, 0.2), n->b_out = floats(t, 1, H, 1);
	n->w_up = floats(t, F, H, 0.2), n->b_up = floats(t, 1, F, 1);
	n->w_down = floats(t, H, F, 0.2), n->b_down = floats(t, 1, H, 1);
	n->bias = floats(t, 1, V, 1);
	n->step = trial_memory(t, sizeof(*n->step));
	*n->step = (struct step){ .seed = seed, .number = 3 };
	n->factor = 0.01;
	for (int i = 0; i < SEQUENCES; i++) {
		for (int j = 0; j < S; j++) {
			n->ids[i][j] = trial_int(t, 0, V - 1);
			n->types[i][j] = trial_int(t, 0, 1);
			n->labels[i][j] = trial_int(t, -1, V - 1);
		}
	}
}

static void run_pack(struct run *r, const struct net *n, int tail)
{
	for (int b = 0; b < r->B; b++) {
		const int i = r->which[b];

		for (int j = 0; j < lengths[i]; j++) {
			const int row = r->starts[b] + j;

			r->ids[row] = n->ids[i][j];
			r->types[row] = n->types[i][j];
			r->labels[row] = n->labels[i][j];
			r->positions[row] = j;
		}
		r->starts[b + 1] = r->starts[b] + lengths[i];
		r->sample[b] = 100 + (uint64_t)i;
	}
	for (r->T = r->starts[r->B]; tail > 0; tail--, r->T++)
		r->ids[r->T] = r->types[r->T] = r->labels[r->T] = r->positions[r->T] = -1;
}

/* A tensor of the run's rows, looked at when all is done. */
static struct tensor rows(struct run *r, struct trial *t, int64_t cols)
{
	return r->rows[r->n_rows++] = floats(t, r->T, cols, 1);
}

static void *space(struct trial *t, const struct kernels *k, enum op op, const void *args) { return trial_memory(t, kernels_space(k, op, args)); }

/* y = act(x w^T + b) as a tensor of the run's rows */
static struct tensor linear(struct run *r, struct trial *t, const struct kernels *k, struct queue *q, struct tensor x, struct tensor w, struct tensor b,
			    enum act act, struct tensor *pre)
{
	struct linear_fwd a = { .x = x, .w = w, .b = b, .y = rows(r, t, w.rows), .act = act };

	if (pre)
		a.pre = *pre = rows(r, t, w.rows);
	a.space = space(t, k, OP_linear_fwd, &a);
	k->linear_fwd(q, &a);
	return a.y;
}

/* dx = dy w, through act, as a tensor of the run's rows */
static struct tensor linear_grad(struct run *r, struct trial *t, const struct kernels *k, struct queue *q, struct tensor dy, struct tensor x, struct tensor w,
				 enum act act, struct tensor pre)
{
	struct linear_bwd a = { .dy = dy, .x = x, .w = w, .pre = pre, .dx = rows(r, t, w.cols), .dw = floats(t, w.rows, w.cols, 1), .act = act };

	a.space = space(t, k, OP_linear_bwd, &a);
	k->linear_bwd(q, &a);
	return a.dx;
}

/* A layer forward and backward, with dropout, and the loss of every row. */
static void run_ops(struct run *r, const struct net *n, struct trial *t, const struct kernels *k, struct queue *q)
{
	const struct packing seqs = { .B = r->B, .S = S, .starts = r->starts, .sample = r->sample };
	struct dropout drop = { .rate = 0.2, .site = 1, .step = n->step };
	const struct tensor mean = floats(t, 1, r->T, 1), rstd = floats(t, 1, r->T, 1), dgamma = floats(t, 1, H, 1), dbeta = floats(t, 1, H, 1);
	struct tensor x, qkv, h, y, up, pre, z, context, dz, dy;
	double sum = 0;
	const struct loss loss = { .sum = &sum, .factor = &n->factor };

	x = rows(r, t, H);
	k->embed_fwd(q, &(struct embed_fwd){ .ids = r->ids, .positions = r->positions, .types = r->types, .word = n->word, .position = n->position, .type = n->type,
					     .gamma = n->gamma, .beta = n->beta, .y = x, .mean = mean, .rstd = rstd, .eps = 1e-12, .drop = drop, .seqs = seqs });
	qkv = linear(r, t, k, q, x, n->w_qkv, n->b_qkv, ACT_NONE, NULL);
	context = rows(r, t, H);
	struct attention_fwd att = { .qkv = qkv, .context = context, .lse = rows(r, t, A), .A = A, .scale = 0.2, .drop = drop, .seqs = seqs };
	att.space = space(t, k, OP_attention_fwd, &att);
	k->attention_fwd(q, &att);
	h = linear(r, t, k, q, context, n->w_out, n->b_out, ACT_NONE, NULL);
	y = rows(r, t, H);
	k->residual_norm_fwd(q, &(struct residual_norm_fwd){ .x = x, .h = h, .sum = h, .gamma = n->gamma, .beta = n->beta, .y = y, .mean = mean, .rstd = rstd,
							     .eps = 1e-12, .drop = drop, .seqs = seqs });
	up = linear(r, t, k, q, y, n->w_up, n->b_up, ACT_GELU, &pre);
	z = linear(r, t, k, q, up, n->w_down, n->b_down, ACT_NONE, NULL);
	dz = rows(r, t, H);
	struct mlm_loss mlm = { .h = z, .table = n->word, .bias = n->bias, .labels = r->labels, .nll = rows(r, t, 1), .dh = dz,
				.dtable = floats(t, V, H, 1), .dbias = floats(t, 1, V, 1), .loss = loss };
	mlm.space = space(t, k, OP_mlm_loss, &mlm);
	k->mlm_loss(q, &mlm);
	dy = linear_grad(r, t, k, q, linear_grad(r, t, k, q, dz, up, n->w_down, ACT_NONE, pre), y, n->w_up, ACT_GELU, pre);
	struct residual_norm_bwd norm = { .dy = dy, .sum = h, .gamma = n->gamma, .mean = mean, .rstd = rstd, .dx = dy, .dh = h, .dgamma = dgamma, .dbeta = dbeta,
					  .drop = drop, .seqs = seqs };
	norm.dh = floats(t, r->T, H, 1);
	norm.space = space(t, k, OP_residual_norm_bwd, &norm);
	k->residual_norm_bwd(q, &norm);
	struct attention_bwd back = { .dcontext = norm.dh, .qkv = qkv, .context = context, .lse = att.lse, .dqkv = qkv, .A = A, .scale = 0.2, .drop = drop, .seqs = seqs };
	back.dqkv = floats(t, r->T, 3 * H, 1);
	back.space = space(t, k, OP_attention_bwd, &back);
	k->attention_bwd(q, &back);
	memcpy(qkv.data, back.dqkv.data, tensor_bytes(qkv));
}

/* NULL, or which tensor differs in the rows of a sequence that both runs hold. */
static const char *run_compare(const struct run *a, const struct run *b)
{
	static char text[128];

	for (int i = 0; i < a->B * b->B * a->n_rows; i++) {
		const int x = i % a->B, y = i / a->B % b->B, n = i / a->B / b->B;
		const size_t row = (size_t)a->rows[n].cols * 4;

		if (a->which[x] != b->which[y])
			continue;
		if (memcmp((char *)a->rows[n].data + (size_t)a->starts[x] * row, (char *)b->rows[n].data + (size_t)b->starts[y] * row, (size_t)lengths[a->which[x]] * row)) {
			snprintf(text, sizeof(text), "tensor %d differs in the rows of sequence %d", n, a->which[x]);
			return text;
		}
	}
	return NULL;
}

static const char *check_variant(const struct net *n, const struct kernels *k, struct queue *q)
{
	struct run all = { .B = SEQUENCES, .which = { 0, 1, 2, 3, 4, 5 } };
	static const struct { int B, tail, which[SEQUENCES]; } others[] = {
		{ 1, 11, { 0 } }, { 1, 0, { 1 } }, { 1, 0, { 2 } }, { 1, 15, { 3 } }, { 1, 6, { 4 } }, { 3, 0, { 4, 3, 0 } }, { 2, 1, { 5, 2 } }, { 6, 10, { 5, 4, 3, 2, 1, 0 } },
	};
	const char *fault = NULL;
	struct trial t;

	trial_init(&t, k, q, 1, 1001, 0);
	run_pack(&all, n, 10);
	run_ops(&all, n, &t, k, q);
	for (int i = 0; i < TRIAL_COUNT(others) && !fault; i++) {
		struct run other = { .B = others[i].B };

		memcpy(other.which, others[i].which, sizeof(other.which));
		run_pack(&other, n, others[i].tail);
		run_ops(&other, n, &t, k, q);
		fault = run_compare(&all, &other);
	}
	if (!fault && k->sync(q))
		fault = "an op failed";
	trial_release(&t);
	return fault;
}

int packing_run(const struct options *o)
{
	static struct net n;
	struct kernels k;
	struct queue *q;

	net_init(&n, o->seed);
	for (int v = 0; v < n_variants; v++) {
		if (!variant_open(&variants[v], o, &k, &q))
			continue;
		tap(check_variant(&n, &k, q), "%s: a sequence's rows are the same bits in every batch, --seed %llu", variants[v].name, (unsigned long long)o->seed);
		variant_close(&k, q);
	}
	trial_release(&n.t);
	return 0;
}
