/* mse.c - mean squared error. */
#include "kernels/ref/ref.h"

void REF(mse)(struct queue *q, const struct mse *a)
{
	const REAL *y = a->y.data, *target = a->target.data;
	REAL *dy = a->dy.data;

	(void)q;
	for (int64_t i = 0; i < tensor_count(a->y); i++) {
		const double difference = isnan(target[i]) ? 0 : (double)y[i] - (double)target[i];

		loss_add(&a->loss, difference * difference, false);
		if (dy)
			dy[i] = (REAL)(2 * difference * loss_gradient(&a->loss));
	}
}
