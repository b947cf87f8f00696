/* sumsq_finite.c - squared norms, and whether all is finite. */
#include "kernels/ref/ref.h"

void REF(sumsq_finite)(struct queue *q, const struct sumsq_finite *a)
{
	const REAL *x = a->x.data;

	(void)q;
	for (int s = 0; s < a->n_segments; s++) {
		const int64_t first = a->segments[s].first, end = first + a->segments[s].count;
		double sum = 0;

		for (int64_t i = first; i < end; i++) {
			sum += (double)x[i] * (double)x[i];
			if (!isfinite(x[i]))
				*a->bad = 1;
		}
		((double *)a->sums.data)[s] = sum;
	}
}
