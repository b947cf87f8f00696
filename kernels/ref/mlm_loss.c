/* mlm_loss.c - cross-entropy over the vocabulary; a logit is computed wherever it is used. */
#include "kernels/ref/ref.h"

static double REF(logit)(const struct mlm_loss *a, int64_t p, int64_t v)
{
	const int64_t E = a->h.cols;
	const REAL *h = (const REAL *)a->h.data + p * E, *w = (const REAL *)a->table.data + v * E;
	double sum = tensor_given(a->bias) ? (double)((const REAL *)a->bias.data)[v] : 0;

	for (int64_t c = 0; c < E; c++)
		sum += (double)h[c] * (double)w[c];
	return sum;
}

/* log of the sum over v of exp(logit), and which is the highest */
static double REF(lse)(const struct mlm_loss *a, int64_t p, int64_t *best)
{
	double largest = -INFINITY, sum = 0;

	*best = 0;
	for (int64_t v = 0; v < a->table.rows; v++) {
		const double x = REF(logit)(a, p, v);

		if (x > largest) {
			sum *= exp(largest - x);
			largest = x;
			*best = v;
		}
		sum += exp(x - largest);
	}
	return largest + log(sum);
}

/* d = gradient of the logit: (softmax - label) * the loss's factor */
static void REF(mlm_grad)(const struct mlm_loss *a, int64_t p, double lse)
{
	const int64_t E = a->h.cols;
	const REAL *h = (const REAL *)a->h.data + p * E;
	REAL *dh = (REAL *)a->dh.data + p * E;

	for (int64_t v = 0; v < a->table.rows; v++) {
		const double d = (exp(REF(logit)(a, p, v) - lse) - (v == a->labels[p])) * loss_gradient(&a->loss);
		const REAL *w = (const REAL *)a->table.data + v * E;
		REAL *dw = (REAL *)a->dtable.data + v * E;

		for (int64_t c = 0; c < E; c++) {
			dh[c] += (REAL)(d * (double)w[c]);
			dw[c] += (REAL)(d * (double)h[c]);
		}
		if (tensor_given(a->dbias))
			((REAL *)a->dbias.data)[v] += (REAL)d;
	}
}

void REF(mlm_loss)(struct queue *q, const struct mlm_loss *a)
{
	REAL *nll = a->nll.data;

	(void)q;
	if (tensor_given(a->dh))
		memset(a->dh.data, 0, tensor_bytes(a->dh));
	for (int64_t p = 0; p < a->h.rows; p++) {
		const int32_t label = a->labels[p];
		int64_t best;
		double lse, loss;

		if (nll)
			nll[p] = 0;
		if (label < 0)
			continue;
		assert(label < a->table.rows);
		lse = REF(lse)(a, p, &best);
		loss = lse - REF(logit)(a, p, label);
		if (nll)
			nll[p] = (REAL)loss;
		loss_add(&a->loss, loss, best == label);
		if (tensor_given(a->dh))
			REF(mlm_grad)(a, p, lse);
	}
}
