/* span_xent.c - cross-entropy of an answer's start and end over the rows of its sequence. */
#include "kernels/ref/ref.h"

/* One column of one sequence: x[2 i], i < len. Returns the loss, and writes the gradient; *HIT: label is the first highest. */
static double REF(span_half)(const REAL *x, REAL *dx, int64_t len, int32_t label, double factor, bool *hit)
{
	int64_t best = 0;
	double sum = 0, lse;

	*hit = false;
	if (label < 0)
		return 0;
	assert(label < len);
	for (int64_t i = 1; i < len; i++)
		best = x[2 * i] > x[2 * best] ? i : best;
	for (int64_t i = 0; i < len; i++)
		sum += exp((double)x[2 * i] - (double)x[2 * best]);
	lse = (double)x[2 * best] + log(sum);
	for (int64_t i = 0; dx && i < len; i++)
		dx[2 * i] = (REAL)((exp((double)x[2 * i] - lse) - (i == label)) * factor);
	*hit = best == label;
	return lse - (double)x[2 * label];
}

void REF(span_xent)(struct queue *q, const struct span_xent *a)
{
	const double factor = loss_gradient(&a->loss) / 2;

	(void)q;
	if (tensor_given(a->dlogits))
		memset(a->dlogits.data, 0, tensor_bytes(a->dlogits));
	for (int b = 0; b < a->seqs.B; b++) {
		const int64_t first = a->seqs.starts[b], len = a->seqs.starts[b + 1] - first;
		const REAL *x = (const REAL *)a->logits.data + 2 * first;
		REAL *dx = tensor_given(a->dlogits) ? (REAL *)a->dlogits.data + 2 * first : NULL;
		bool hit_first, hit_last;
		double nll = REF(span_half)(x, dx, len, a->first[b], factor, &hit_first) / 2;

		nll += REF(span_half)(x + 1, dx ? dx + 1 : NULL, len, a->last[b], factor, &hit_last) / 2;
		loss_add(&a->loss, nll, hit_first && hit_last);
		if (tensor_given(a->nll))
			((REAL *)a->nll.data)[b] = (REAL)nll;
	}
}
