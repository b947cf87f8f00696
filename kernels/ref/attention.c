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

static int64_t REF(columns_left)(int64_t c, int64_t D) { return D - c < REF_COLUMNS ? D - c : REF_COLUMNS; }

/* context[width] = the sum over j of p[i,j] v[j], columns C and so on */
static void REF(context_part)(const struct REF(head) *h, int64_t i, const struct row_drop *drop, REAL *context, int64_t c)
{
	const int64_t width = REF(columns_left)(c, h->D);
	double sums[REF_COLUMNS] = { 0 };

	for (int64_t j = 0; j < h->len; j++) {
		const double p = REF(prob)(h, i, j) * row_drop_factor(drop, j);

		for (int64_t n = 0; n < width; n++)
			sums[n] += p * (double)h->v[j * h->ld + c + n];
	}
	for (int64_t n = 0; n < width; n++)
		context[n] = (REAL)sums[n];
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
			for (int64_t c = 0; c < D; c += REF_COLUMNS)
				REF(context_part)(&h, i, &drop, context + c, c);
		}
	}
}

/*
 * Backward, with P = p times its dropout factor: dv[j] = the sum over i of P dcontext[i], dp = factor dcontext[i] . v[j], and
 * through the softmax ds = p (dp - sum over j of p dp), where that sum is dcontext . context; then dq[i] = the sum over j of
 * ds k[j], dk[j] = that over i of ds q[i], scaled.
 */
struct REF(head_grad) {
	struct REF(head) h;
	const REAL *dcontext, *context;		/* [len, D], rows LD_CONTEXT elements apart */
	int64_t ld_context;
	const struct dropout *drop;
	const struct packing *seqs;
	int b, head;
};

/* scale ds[i,j], and P in *DROPPED */
static double REF(dscore)(const struct REF(head_grad) *g, int64_t i, int64_t j, double *dropped)
{
	const struct row_drop drop = REF(prob_drop)(g->drop, g->seqs, g->b, g->head, i);
	const REAL *dcontext = g->dcontext + i * g->ld_context;
	const double p = REF(prob)(&g->h, i, j), factor = row_drop_factor(&drop, j);
	const double mean = REF(dot)(dcontext, g->context + i * g->ld_context, g->h.D);

	*dropped = p * factor;
	return g->h.scale * p * (factor * REF(dot)(dcontext, g->h.v + j * g->h.ld, g->h.D) - mean);
}

/* dq[i], columns C and so on */
static void REF(dq_part)(const struct REF(head_grad) *g, int64_t i, REAL *dq, int64_t c)
{
	const int64_t width = REF(columns_left)(c, g->h.D);
	double sums[REF_COLUMNS] = { 0 }, dropped;

	for (int64_t j = 0; j < g->h.len; j++) {
		const double ds = REF(dscore)(g, i, j, &dropped);

		for (int64_t n = 0; n < width; n++)
			sums[n] += ds * (double)g->h.k[j * g->h.ld + c + n];
	}
	for (int64_t n = 0; n < width; n++)
		dq[n] = (REAL)sums[n];
}

/* dk[j] and dv[j], columns C and so on */
static void REF(dkv_part)(const struct REF(head_grad) *g, int64_t j, REAL *dk, REAL *dv, int64_t c)
{
	const int64_t width = REF(columns_left)(c, g->h.D);
	double k_sums[REF_COLUMNS] = { 0 }, v_sums[REF_COLUMNS] = { 0 }, dropped;

	for (int64_t i = 0; i < g->h.len; i++) {
		const double ds = REF(dscore)(g, i, j, &dropped);

		for (int64_t n = 0; n < width; n++) {
			k_sums[n] += ds * (double)g->h.q[i * g->h.ld + c + n];
			v_sums[n] += dropped * (double)g->dcontext[i * g->ld_context + c + n];
		}
	}
	for (int64_t n = 0; n < width; n++) {
		dk[n] = (REAL)k_sums[n];
		dv[n] = (REAL)v_sums[n];
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
		const int64_t at = h.first * AD + head * D;
		const struct REF(head_grad) g = { .h = h, .dcontext = (const REAL *)a->dcontext.data + at,
						  .context = (const REAL *)a->context.data + at, .ld_context = AD,
						  .drop = &a->drop, .seqs = &a->seqs, .b = b, .head = head };

		for (int64_t i = 0; i < h.len; i++) {
			REAL *dq = (REAL *)a->dqkv.data + (h.first + i) * h.ld + head * D;

			for (int64_t c = 0; c < D; c += REF_COLUMNS) {
				REF(dq_part)(&g, i, dq + c, c);
				REF(dkv_part)(&g, i, dq + AD + c, dq + 2 * AD + c, c);
			}
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
