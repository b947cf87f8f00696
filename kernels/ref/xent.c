/* xent.c - cross-entropy of a small head. */
#include "kernels/ref/ref.h"

void REF(xent)(struct queue *q, const struct xent *a)
{
	const int64_t C = a->logits.cols;

	(void)q;
	for (int64_t r = 0; r < a->logits.rows; r++) {
		const REAL *x = (const REAL *)a->logits.data + r * C;
		REAL *dx = tensor_given(a->dlogits) ? (REAL *)a->dlogits.data + r * C : NULL;
		const int32_t label = a->labels[r];
		const double factor = label < 0 ? 0 : loss_gradient(&a->loss);
		double sum = 0, lse, nll;
		int64_t best = 0;

		assert(label < C);
		for (int64_t c = 1; c < C; c++)
			best = x[c] > x[best] ? c : best;
		for (int64_t c = 0; c < C; c++)
			sum += exp((double)x[c] - (double)x[best]);
		lse = (double)x[best] + log(sum);
		nll = label < 0 ? 0 : lse - (double)x[label];
		if (label >= 0)
			loss_add(&a->loss, nll, best == label);
		if (tensor_given(a->nll))
			((REAL *)a->nll.data)[r] = (REAL)nll;
		for (int64_t c = 0; dx && c < C; c++)
			dx[c] = label < 0 ? 0 : (REAL)((exp((double)x[c] - lse) - (c == label)) * factor);
	}
}
