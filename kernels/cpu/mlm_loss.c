/*
 * mlm_loss.c - cross-entropy over the vocabulary, MLM_TILE ids at a time.
 *
 * The first pass over the tiles finds each row's largest logit and the sum of exponentials; the second, only where
 * gradients are wanted, computes the logits again, turns them into their gradients in place, and multiplies twice.
 */
#include "kernels/cpu/columns.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vmath.h"

/* What is known of a row so far. */
struct CPU(mlm_row) {
	double sum;		/* of exp(logit - top) */
	float top, label;	/* the highest logit, and the label's */
	int64_t best;		/* whose the highest is */
};

struct CPU(mlm) {
	const struct mlm_loss *a;
	struct CPU(mlm_row) *rows;	/* [P] */
	float *sums, *logits, *space;	/* [blocks, MLM_TILE] [P, tile] */
	int64_t v, n;			/* the tile: ids v .. v+n-1 */
};

/* logits[P,n] = h table^T + bias of the tile */
static void CPU(mlm_logits)(struct queue *q, const struct CPU(mlm) *m)
{
	const struct mlm_loss *a = m->a;
	const int64_t E = a->h.cols;
	const float *bias = a->bias.data;

	CPU(gemm)(q, &(struct gemm){ .M = a->h.rows, .N = m->n, .K = E, .a = a->h.data, .a_row = E, .a_col = 1, .b = (const float *)a->table.data + m->v * E,
				     .b_row = 1, .b_col = E, .c = m->logits, .end = { .bias = bias ? bias + m->v : NULL }, .space = m->space });
}

/* Joins a tile's logits to what is known of row P. */
static void CPU(mlm_join)(const struct CPU(mlm) *m, int64_t p)
{
	struct CPU(mlm_row) *row = &m->rows[p];
	const float *x = m->logits + p * m->n;
	const int64_t label = m->a->labels[p] - m->v;
	vf largest = vf_set(-INFINITY), sum = vf_set(0);
	float top;

	VEC_EACH(j, m->n)
		largest = vf_max(largest, vf_first_or(vf_load_n(x + j, vec_left(j, m->n)), vec_left(j, m->n), -INFINITY));
	top = vf_largest(largest);
	if (top > row->top) {
		row->sum *= exp((double)row->top - (double)top);
		row->top = top;
		for (row->best = 0; x[row->best] != top; row->best++)
			;
		row->best += m->v;
	}
	VEC_EACH(j, m->n)
		sum = sum + vf_first(vf_exp(vf_load_n(x + j, vec_left(j, m->n)) - row->top), vec_left(j, m->n));
	row->sum += (double)vf_sum(sum);
	if (label >= 0 && label < m->n)
		row->label = x[label];
}

/* Row P of the tile becomes its gradient, FACTOR (softmax - label); sums[n] = or, unless FIRST, += it. */
static void CPU(mlm_slope)(const struct CPU(mlm) *m, int64_t p, float factor, float *sums, bool first)
{
	const struct CPU(mlm_row) *row = &m->rows[p];
	const int64_t label = m->a->labels[p] - m->v;
	const float share = m->a->labels[p] < 0 ? 0 : (float)(factor / row->sum);
	float *x = m->logits + p * m->n;

	VEC_EACH(j, m->n) {
		const int64_t n = vec_left(j, m->n);

		vf_store_n(x + j, vf_exp(vf_load_n(x + j, n) - row->top) * share, n);
	}
	if (label >= 0 && label < m->n)
		x[label] -= factor;
	VEC_EACH(j, m->n) {
		const int64_t n = vec_left(j, m->n);
		const vf d = vf_load_n(x + j, n);

		vf_store_n(sums + j, first ? d : d + vf_load_n(sums + j, n), n);
	}
}

/* Gradients of a tile: the logits', then dh, dtable and dbias. */
static void CPU(mlm_grad)(struct queue *q, const struct CPU(mlm) *m, float factor)
{
	const struct mlm_loss *a = m->a;
	const int64_t P = a->h.rows, E = a->h.cols;
	const float *table = (const float *)a->table.data + m->v * E;

	PARALLEL_LOOP(q, cpu_blocks(P) > 1)
	for (int64_t block = 0; block < cpu_blocks(P); block++) {
		for (int64_t p = block * CPU_BLOCK_ROWS; p < P && p < (block + 1) * CPU_BLOCK_ROWS; p++)
			CPU(mlm_slope)(m, p, factor, m->sums + block * MLM_TILE, p == block * CPU_BLOCK_ROWS);
	}
	if (tensor_given(a->dbias))
		columns_add(q, (float *)a->dbias.data + m->v, m->sums, MLM_TILE, cpu_blocks(P), m->n);
	CPU(gemm)(q, &(struct gemm){ .M = P, .N = E, .K = m->n, .a = m->logits, .a_row = m->n, .a_col = 1, .b = table, .b_row = E, .b_col = 1,
				     .c = a->dh.data, .add = m->v > 0, .space = m->space });
	CPU(gemm)(q, &(struct gemm){ .M = m->n, .N = E, .K = P, .a = m->logits, .a_row = 1, .a_col = m->n, .b = a->h.data, .b_row = E, .b_col = 1,
				     .c = (float *)a->dtable.data + m->v * E, .add = true, .space = m->space });
}

/* Losses and hits, in the order of the rows. */
static void CPU(mlm_sum)(const struct CPU(mlm) *m)
{
	const struct mlm_loss *a = m->a;

	for (int64_t p = 0; p < a->h.rows; p++) {
		const struct CPU(mlm_row) *row = &m->rows[p];
		const bool labelled = a->labels[p] >= 0;
		const double nll = labelled ? (double)row->top + log(row->sum) - (double)row->label : 0;

		assert(a->labels[p] < a->table.rows);
		if (labelled)
			loss_add(&a->loss, nll, row->best == a->labels[p]);
		if (tensor_given(a->nll))
			((float *)a->nll.data)[p] = (float)nll;
	}
}

void CPU(mlm_loss)(struct queue *q, const struct mlm_loss *a)
{
	const int64_t P = a->h.rows, V = a->table.rows;
	struct CPU(mlm) m = { .a = a, .rows = a->space };

	mlm_loss_shapes(a);
	_Static_assert(sizeof(struct CPU(mlm_row)) == MLM_ROW_BYTES, "space.c counts with it");
	m.sums = (float *)(m.rows + P);
	m.logits = m.sums + cpu_blocks(P) * MLM_TILE;
	m.space = m.logits + P * MLM_TILE;
	for (int64_t p = 0; p < P; p++)
		m.rows[p] = (struct CPU(mlm_row)){ .top = -INFINITY };
	for (m.v = 0; P && m.v < V; m.v += MLM_TILE) {
		m.n = V - m.v < MLM_TILE ? V - m.v : MLM_TILE;
		CPU(mlm_logits)(q, &m);
		PARALLEL_LOOP(q, P * m.n > CPU_CHUNK)
		for (int64_t p = 0; p < P; p++)
			CPU(mlm_join)(&m, p);
	}
	CPU(mlm_sum)(&m);
	for (m.v = 0; P && tensor_given(a->dh) && m.v < V; m.v += MLM_TILE) {
		m.n = V - m.v < MLM_TILE ? V - m.v : MLM_TILE;
		CPU(mlm_logits)(q, &m);
		CPU(mlm_grad)(q, &m, (float)loss_gradient(&a->loss));
	}
}
