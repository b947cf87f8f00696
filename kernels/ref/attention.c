/* attention.c - softmax(scale q k^T) v over each sequence and head; probabilities are computed where they are used. */
#include "kernels/ref/ref.h"

/* One head of one sequence: rows are LD elements apart. */
struct REF(head) {
	const REAL *q, *k, *v;		/* [len, D] */
	const REAL *lse;		/* [len], A apart */
	int64_t len, D, ld, A;
	double scale;
	int64_t first;			/* packed row of its first token */
};

static struct REF(head) REF(head_of)(struct tensor qkv, struct tensor lse, const struct packing *seqs, int A, double scale,
				     int b, int h)
{
	const int64_t AD = qkv.cols / 3, D = AD / A, first = seqs->starts[b];
	const REAL *q = (const REAL *)qkv.data + first * 3 * AD + h * D;

	return (struct REF(head)){ .q = q, .k = q + AD, .v = q + 2 * AD, .lse = (const REAL *)lse.data + first * A + h,
				   .len = seqs->starts[b + 1] - first, .D = D, .ld = 3 * AD, .A = A, .scale = scale, .first = first };
}

static double REF(dot)(const REAL *x, const REAL *y, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)y[i];
	return sum;
}

static double REF(score)(const struct REF(head) *h, int64_t i, int64_t j)
{
	return h->scale * REF(dot)(h->q + i * h->ld, h->k + j * h->ld, h->D);
}

/* p[i,j], once lse is known */
static double REF(prob)(const struct REF(head) *h, int64_t i, int64_t j)
{
	return exp(REF(score)(h, i, j) - (double)h->lse[i * h->A]);
}

/* log of the sum over j of exp(score[i,j]), the largest taken out */
static double REF(lse_of)(const struct REF(head) *h, int64_t i)
{
	double largest = -INFINITY, sum = 0;

	for (int64_t j = 0; j < h->len; j++)
		largest = fmax(largest, REF(score)(h, i, j));
	for (int64_t j = 0; j < h->len; j++)
		sum += exp(REF(score)(h, i, j) - largest);
	return largest + log(sum);
}

/* The dropout of p's row i: row 65536 head + i of the sequence's stream. */
static struct row_drop REF(prob_drop)(const struct dropout *drop, const struct packing *seqs, int b, int head, int64_t i)
{
	return drop->rate == 0 ? row_drop_none() : row_drop_in(drop, seqs, b, 65536 * (uint32_t)head + (uint32_t)i);
}

void REF(attention_fwd)(struct queue *q, const struct attention_fwd *a)
{
	const int64_t AD = a->context.cols, D = AD / a->A;
	REAL *lse = a->lse.data;

	(void)q;
	memset(a->context.data, 0, tensor_bytes(a->context));
	memset(a->lse.data, 0, tensor_bytes(a->lse));
	for (int64_t task = 0; task < (int64_t)a->seqs.B * a->A; task++) {
		const int b = (int)(task / a->A), head = (int)(task % a->A);
		const struct REF(head) h = REF(head_of)(a->qkv, a->lse, &a->seqs, a->A, a->scale, b, head);

		for (int64_t i = 0; i < h.len; i++) {
			const struct row_drop drop = REF(prob_drop)(&a->drop, &a->seqs, b, head, i);
			REAL *context = (REAL *)a->context.data + (h.first + i) * AD + head * D;

			lse[(h.first + i) * a->A + head] = (REAL)REF(lse_of)(&h, i);
			for (int64_t j = 0; j < h.len; j++) {
				const double p = REF(prob)(&h, i, j) * row_drop_factor(&drop, j);

				for (int64_t c = 0; c < D; c++)
					context[c] += (REAL)(p * (double)h.v[j * h.ld + c]);
			}
		}
	}
}

/*
 * Row i of one head: with P = p times its dropout factor, dv[j] += P dcontext, dp = factor dcontext . v[j], and through
 * the softmax ds = p (dp - sum over j of p dp), where that sum is dcontext . context; then dq += ds k, dk += ds q, scaled.
 */
static void REF(attention_row_bwd)(const struct REF(head) *h, int64_t i, const struct row_drop *drop, const REAL *dcontext,
				   const REAL *context, REAL *dq, REAL *dk, REAL *dv)
{
	const double mean = REF(dot)(dcontext, context, h->D);

	for (int64_t j = 0; j < h->len; j++) {
		const double p = REF(prob)(h, i, j), factor = row_drop_factor(drop, j);
		const double dp = factor * REF(dot)(dcontext, h->v + j * h->ld, h->D), ds = h->scale * p * (dp - mean);

		for (int64_t c = 0; c < h->D; c++) {
			dv[j * h->ld + c] += (REAL)(p * factor * (double)dcontext[c]);
			dq[i * h->ld + c] += (REAL)(ds * (double)h->k[j * h->ld + c]);
			dk[j * h->ld + c] += (REAL)(ds * (double)h->q[i * h->ld + c]);
		}
	}
}

void REF(attention_bwd)(struct queue *q, const struct attention_bwd *a)
{
	const int64_t AD = a->context.cols, D = AD / a->A;

	(void)q;
	memset(a->dqkv.data, 0, tensor_bytes(a->dqkv));
	for (int64_t task = 0; task < (int64_t)a->seqs.B * a->A; task++) {
		const int b = (int)(task / a->A), head = (int)(task % a->A);
		const struct REF(head) h = REF(head_of)(a->qkv, a->lse, &a->seqs, a->A, a->scale, b, head);
		REAL *dq = (REAL *)a->dqkv.data + h.first * h.ld + head * D;

		for (int64_t i = 0; i < h.len; i++) {
			const struct row_drop drop = REF(prob_drop)(&a->drop, &a->seqs, b, head, i);
			const int64_t at = (h.first + i) * AD + head * D;

			REF(attention_row_bwd)(&h, i, &drop, (const REAL *)a->dcontext.data + at, (const REAL *)a->context.data + at,
					       dq, dq + AD, dq + 2 * AD);
		}
	}
}

void REF(attention_probs)(struct queue *q, const struct attention_probs *a)
{
	const int64_t S = a->probs.cols;

	(void)q;
	memset(a->probs.data, 0, tensor_bytes(a->probs));
	for (int64_t task = 0; task < (int64_t)a->seqs.B * a->A; task++) {
		const struct REF(head) h = REF(head_of)(a->qkv, a->lse, &a->seqs, a->A, a->scale, (int)(task / a->A), (int)(task % a->A));
		REAL *probs = (REAL *)a->probs.data + task * S * S;

		for (int64_t i = 0; i < h.len; i++) {
			for (int64_t j = 0; j < h.len; j++)
				probs[i * S + j] = (REAL)REF(prob)(&h, i, j);
		}
	}
}
