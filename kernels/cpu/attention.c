/*
 * attention.c - softmax(scale q k^T) v, a head of a sequence a task.
 *
 * A task packs its k and v once, then takes ATTENTION_ROWS queries at a time: scores, softmax and products stay in the
 * thread's own cache, and no more than ATTENTION_ROWS x S of them exist. The backward pass computes them again from lse.
 */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/drop.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/vmath.h"

/* One head of one sequence. */
struct CPU(head) {
	int64_t len, D, A, ld, ld_out;	/* rows of q, k, v are ld apart, of context ld_out */
	int64_t first, at;		/* packed row of its first token; the head's first column of context */
	const float *q, *k, *v;		/* [len,D] */
	float *lse;			/* [len], A apart */
	float scale;
	struct row_drop drop;		/* of the row 0 of its probabilities */
};

static struct CPU(head) CPU(head_of)(struct tensor qkv, struct tensor lse, int A, double scale, const struct dropout *drop, const struct packing *seqs,
				     int64_t task)
{
	const int b = (int)(task / A), h = (int)(task % A);
	const int64_t AD = qkv.cols / 3, D = AD / A, first = seqs->starts[b];
	const float *q = (const float *)qkv.data + first * 3 * AD + h * D;

	return (struct CPU(head)){ .len = seqs->starts[b + 1] - first, .D = D, .A = A, .ld = 3 * AD, .ld_out = AD, .first = first, .at = first * AD + h * D,
				   .q = q, .k = q + AD, .v = q + 2 * AD, .lse = (float *)lse.data + first * A + h, .scale = (float)scale,
				   .drop = drop->rate == 0 ? row_drop_none() : row_drop_in(drop, seqs, b, 65536 * (uint32_t)h) };
}

/* x[len] *= the factors of row I's dropout and FACTOR */
static void CPU(drop_probs)(const struct CPU(head) *h, float *x, int64_t i, float factor)
{
	float factors[DROP_CHUNK] __attribute__((aligned(64)));
	struct row_drop drop = h->drop;

	drop.row += (uint32_t)i;
	VEC_EACH(j, h->len) {
		const int64_t n = vec_left(j, h->len);

		if (j % DROP_CHUNK == 0)
			drop_chunk(&drop, j, factors);
		vf_store_n(x + j, vf_load_n(x + j, n) * vf_load(factors + j % DROP_CHUNK) * factor, n);
	}
}

/* x[len] = scores become exp(scale x - largest); returns their sum, and *LSE = its log with the largest put back. */
static float CPU(softmax_row)(float *x, int64_t len, float scale, float *lse)
{
	vf largest = vf_set(-INFINITY), sum = vf_set(0);
	float top, total;

	VEC_EACH(j, len) {
		const int64_t n = vec_left(j, len);
		const vf s = vf_load_n(x + j, n) * scale;

		vf_store_n(x + j, s, n);
		largest = vf_max(largest, vf_first_or(s, n, -INFINITY));
	}
	top = vf_largest(largest);
	VEC_EACH(j, len) {
		const int64_t n = vec_left(j, len);
		const vf p = vf_exp(vf_load_n(x + j, n) - top);

		vf_store_n(x + j, p, n);
		sum = sum + vf_first(p, n);
	}
	total = vf_sum(sum);
	*lse = top + logf(total);
	return total;
}

static void CPU(attention_head_fwd)(const struct CPU(head) *h, float *context, int64_t S, float *space)
{
	const struct attention_space parts = attention_fwd_parts(S, h->D);
	float *k = space, *v = k + panels_size(S, h->D), *p = space + parts.panels;
	const int64_t ld = parts.rows / ATTENTION_ROWS, over_keys = panels_count(h->len), over_D = panels_count(h->D);

	CPU(panels_pack)(k, h->k, 1, h->ld, h->len, h->D, 0, over_keys);
	CPU(panels_pack)(v, h->v, h->ld, 1, h->D, h->len, 0, over_D);
	for (int64_t i = 0; i < h->len; i += ATTENTION_ROWS) {
		const int64_t rows = h->len - i < ATTENTION_ROWS ? h->len - i : ATTENTION_ROWS;

		CPU(panels_multiply)(p, ld, h->q + i * h->ld, h->ld, 1, k, rows, h->len, h->D, 0, over_keys, false, NULL);
		for (int64_t r = 0; r < rows; r++) {
			const float sum = CPU(softmax_row)(p + r * ld, h->len, h->scale, &h->lse[(i + r) * h->A]);

			CPU(drop_probs)(h, p + r * ld, i + r, 1 / sum);
		}
		CPU(panels_multiply)(context + h->at + i * h->ld_out, h->ld_out, p, ld, 1, v, rows, h->D, h->len, 0, over_D, false, NULL);
	}
}

/* Rows of T rows that belong to no sequence. */
static void CPU(clear_tail)(struct tensor x, const struct packing *seqs)
{
	const int64_t T = seqs->starts[seqs->B];

	memset((float *)x.data + T * x.cols, 0, (size_t)((x.rows - T) * x.cols) * sizeof(float));
}

void CPU(attention_fwd)(struct queue *q, const struct attention_fwd *a)
{
	const int64_t S = a->seqs.S, whole = attention_fwd_parts(S, a->context.cols / a->A).whole;

	attention_fwd_shapes(a);
	PARALLEL(q, a->seqs.B * a->A > 1)
	{
		float *space = (float *)a->space + PARALLEL_SELF() * whole;

		SHARE_UNEVEN
		for (int64_t task = 0; task < (int64_t)a->seqs.B * a->A; task++) {
			const struct CPU(head) h = CPU(head_of)(a->qkv, a->lse, a->A, a->scale, &a->drop, &a->seqs, task);

			assert(h.len <= S);
			CPU(attention_head_fwd)(&h, a->context.data, S, space);
		}
	}
	CPU(clear_tail)(a->context, &a->seqs);
	CPU(clear_tail)(a->lse, &a->seqs);
}

/*
 * Row I: p[len] holds scores, dp[len] = dcontext v^T. With f the dropout's factors and P = softmax, p becomes f P and dp
 * the gradient of the score, scale P (f dp - MEAN), where MEAN = sum of P f dp = dcontext . context.
 */
static void CPU(attention_row_bwd)(const struct CPU(head) *h, float *p, float *dp, int64_t i, float mean)
{
	const float lse = h->lse[i * h->A];
	float factors[DROP_CHUNK] __attribute__((aligned(64)));
	struct row_drop drop = h->drop;

	drop.row += (uint32_t)i;
	VEC_EACH(j, h->len) {
		const int64_t n = vec_left(j, h->len);
		const vf P = vf_exp(vf_load_n(p + j, n) * h->scale - lse);
		vf f;

		if (j % DROP_CHUNK == 0)
			drop_chunk(&drop, j, factors);
		f = vf_load(factors + j % DROP_CHUNK);
		vf_store_n(p + j, P * f, n);
		vf_store_n(dp + j, P * h->scale * (f * vf_load_n(dp + j, n) - mean), n);
	}
}

static float CPU(dot)(const float *x, const float *y, int64_t n)
{
	vf sum = vf_set(0);

	VEC_EACH(c, n)
		sum = vf_fma(vf_load_n(x + c, vec_left(c, n)), vf_load_n(y + c, vec_left(c, n)), sum);
	return vf_sum(sum);
}

static void CPU(attention_head_bwd)(const struct CPU(head) *h, const float *context, const float *dcontext, float *dq, int64_t S, float *space)
{
	const struct attention_space parts = attention_bwd_parts(S, h->D);
	const int64_t D = h->D, len = h->len, ld = parts.rows / ATTENTION_ROWS, over_keys = panels_count(len), over_D = panels_count(D);
	float *k_turned = space, *v_turned = k_turned + panels_size(S, D), *k = v_turned + panels_size(S, D);
	float *q_rows = k + panels_size(D, S), *dc_rows = q_rows + panels_size(D, ATTENTION_ROWS), *p = space + parts.panels, *dp = p + parts.rows;
	float *dk = dq + h->ld_out, *dv = dk + h->ld_out;

	CPU(panels_pack)(k_turned, h->k, 1, h->ld, len, D, 0, over_keys);
	CPU(panels_pack)(v_turned, h->v, 1, h->ld, len, D, 0, over_keys);
	CPU(panels_pack)(k, h->k, h->ld, 1, D, len, 0, over_D);
	for (int64_t i = 0; i < len; i += ATTENTION_ROWS) {
		const int64_t rows = len - i < ATTENTION_ROWS ? len - i : ATTENTION_ROWS;
		const float *dc = dcontext + h->at + i * h->ld_out, *q = h->q + i * h->ld;

		CPU(panels_multiply)(p, ld, q, h->ld, 1, k_turned, rows, len, D, 0, over_keys, false, NULL);
		CPU(panels_multiply)(dp, ld, dc, h->ld_out, 1, v_turned, rows, len, D, 0, over_keys, false, NULL);
		for (int64_t r = 0; r < rows; r++)
			CPU(attention_row_bwd)(h, p + r * ld, dp + r * ld, i + r, CPU(dot)(dc + r * h->ld_out, context + h->at + (i + r) * h->ld_out, D));
		CPU(panels_pack)(q_rows, q, h->ld, 1, D, rows, 0, over_D);
		CPU(panels_pack)(dc_rows, dc, h->ld_out, 1, D, rows, 0, over_D);
		CPU(panels_multiply)(dq + i * h->ld, h->ld, dp, ld, 1, k, rows, D, len, 0, over_D, false, NULL);
		CPU(panels_multiply)(dk, h->ld, dp, 1, ld, q_rows, len, D, rows, 0, over_D, i > 0, NULL);
		CPU(panels_multiply)(dv, h->ld, p, 1, ld, dc_rows, len, D, rows, 0, over_D, i > 0, NULL);
	}
}

void CPU(attention_bwd)(struct queue *q, const struct attention_bwd *a)
{
	const int64_t S = a->seqs.S, AD = a->context.cols, D = AD / a->A, whole = attention_bwd_parts(S, D).whole;

	attention_bwd_shapes(a);
	PARALLEL(q, a->seqs.B * a->A > 1)
	{
		float *space = (float *)a->space + PARALLEL_SELF() * whole;

		SHARE_UNEVEN
		for (int64_t task = 0; task < (int64_t)a->seqs.B * a->A; task++) {
			const struct CPU(head) h = CPU(head_of)(a->qkv, a->lse, a->A, a->scale, &a->drop, &a->seqs, task);
			float *dq = (float *)a->dqkv.data + h.first * h.ld + task % a->A * D;

			assert(h.len <= S);
			CPU(attention_head_bwd)(&h, a->context.data, a->dcontext.data, dq, S, space);
		}
	}
	CPU(clear_tail)(a->dqkv, &a->seqs);
}
