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

/* The gradient of a logit: (softmax - label) * the loss's factor */
static double REF(dlogit)(const struct mlm_loss *a, int64_t p, int64_t v, double lse)
{
	return (exp(REF(logit)(a, p, v) - lse) - (v == a->labels[p])) * loss_gradient(&a->loss);
}

/* dh[p] = the sum over v of dlogit w[v], made in SUMS[E] */
static void REF(mlm_dh)(const struct mlm_loss *a, int64_t p, double lse, double *sums)
{
	const int64_t E = a->h.cols;
	REAL *dh = (REAL *)a->dh.data + p * E;

	memset(sums, 0, (size_t)E * sizeof(*sums));
	for (int64_t v = 0; v < a->table.rows; v++) {
		const double d = REF(dlogit)(a, p, v, lse);
		const REAL *w = (const REAL *)a->table.data + v * E;

		for (int64_t c = 0; c < E; c++)
			sums[c] += d * (double)w[c];
	}
	for (int64_t c = 0; c < E; c++)
		dh[c] = (REAL)sums[c];
}

/* dtable[v] += the sum over p of dlogit h[p], made in SUMS[E], and dbias[v] that of dlogit */
static void REF(mlm_dtable)(const struct mlm_loss *a, int64_t v, const double *lse, double *sums)
{
	const int64_t E = a->h.cols;
	REAL *dw = (REAL *)a->dtable.data + v * E, *db = tensor_given(a->dbias) ? (REAL *)a->dbias.data + v : NULL;
	double sum = db ? (double)*db : 0;

	for (int64_t c = 0; c < E; c++)
		sums[c] = (double)dw[c];
	for (int64_t p = 0; p < a->h.rows; p++) {
		const double d = a->labels[p] < 0 ? 0 : REF(dlogit)(a, p, v, lse[p]);
		const REAL *h = (const REAL *)a->h.data + p * E;

		sum += d;
		for (int64_t c = 0; a->labels[p] >= 0 && c < E; c++)
			sums[c] += d * (double)h[c];
	}
	for (int64_t c = 0; c < E; c++)
		dw[c] = (REAL)sums[c];
	if (db)
		*db = (REAL)sum;
}

/* Space: the log of each row's sum of exponentials, [P], and sums [E]. */
void REF(mlm_loss)(struct queue *q, const struct mlm_loss *a)
{
	const int64_t P = a->h.rows;
	double *lse = a->space, *sums = lse + P;
	REAL *nll = a->nll.data;

	(void)q;
	if (tensor_given(a->dh))
		memset(a->dh.data, 0, tensor_bytes(a->dh));
	for (int64_t p = 0; p < P; p++) {
		const int32_t label = a->labels[p];
		int64_t best;
		double loss;

		if (nll)
			nll[p] = 0;
		if (label < 0)
			continue;
		assert(label < a->table.rows);
		lse[p] = REF(lse)(a, p, &best);
		loss = lse[p] - REF(logit)(a, p, label);
		if (nll)
			nll[p] = (REAL)loss;
		loss_add(&a->loss, loss, best == label);
		if (tensor_given(a->dh))
			REF(mlm_dh)(a, p, lse[p], sums);
	}
	for (int64_t v = 0; tensor_given(a->dh) && v < a->table.rows; v++)
		REF(mlm_dtable)(a, v, lse, sums);
}
