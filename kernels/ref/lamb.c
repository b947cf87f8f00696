/* lamb.c - LAMB in two parts: the directions with their norms, and the step. */
#include "kernels/ref/ref.h"

void REF(lamb_direction)(struct queue *q, const struct lamb_direction *a)
{
	const double correct1 = 1 - pow(a->beta1, a->step->time), correct2 = 1 - pow(a->beta2, a->step->time);
	const REAL *w = a->w.data, *g = a->g.data;
	REAL *m = a->m.data, *v = a->v.data, *u = a->u.data;

	(void)q;
	for (int s = 0; s < a->n_segments && !a->step->skip; s++) {
		const struct segment *part = &a->segments[s];
		double w_sum = 0, u_sum = 0;

		for (int64_t i = part->first; i < part->first + part->count; i++) {
			const double gradient = (double)g[i] * a->step->grad_scale;

			m[i] = (REAL)(a->beta1 * (double)m[i] + (1 - a->beta1) * gradient);
			v[i] = (REAL)(a->beta2 * (double)v[i] + (1 - a->beta2) * gradient * gradient);
			u[i] = (REAL)((double)m[i] / correct1 / (sqrt((double)v[i] / correct2) + a->eps) + part->decay * (double)w[i]);
			w_sum += (double)w[i] * (double)w[i];
			u_sum += (double)u[i] * (double)u[i];
		}
		((double *)a->w_sums.data)[s] = w_sum;
		((double *)a->u_sums.data)[s] = u_sum;
	}
}

void REF(lamb_apply)(struct queue *q, const struct lamb_apply *a)
{
	const double *w_sums = a->w_sums.data, *u_sums = a->u_sums.data;
	const REAL *u = a->u.data;
	REAL *w = a->w.data;

	(void)q;
	for (int s = 0; s < a->n_segments && !a->step->skip; s++) {
		const struct segment *part = &a->segments[s];
		const bool trusts = part->trust && w_sums[s] > 0 && u_sums[s] > 0;
		const double rate = a->step->lr * (trusts ? sqrt(w_sums[s] / u_sums[s]) : 1);

		for (int64_t i = part->first; i < part->first + part->count; i++) {
			w[i] = (REAL)((double)w[i] - rate * (double)u[i]);
			if (tensor_given(a->low))
				element_put(a->low.data, a->low.dtype, i, (double)w[i]);
		}
	}
}
