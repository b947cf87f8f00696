/* adamw.c - one update of AdamW (Loshchilov and Hutter, 2019). */
#include "kernels/ref/ref.h"

void REF(adamw)(struct queue *q, const struct adamw *a)
{
	const bool torch = a->kind == ADAM_TORCH;
	const double correct1 = torch ? 1 - pow(a->beta1, a->step->time) : 1, correct2 = torch ? 1 - pow(a->beta2, a->step->time) : 1;
	const double lr = a->step->lr;
	REAL *w = a->w.data, *m = a->m.data, *v = a->v.data;

	(void)q;
	for (int s = 0; s < a->n_segments && !a->step->skip; s++) {
		const struct segment *g = &a->segments[s];

		for (int64_t i = g->first; i < g->first + g->count; i++) {
			const double gradient = element_get(a->g.data, a->g.dtype, i) * a->step->grad_scale;

			m[i] = (REAL)(a->beta1 * (double)m[i] + (1 - a->beta1) * gradient);
			v[i] = (REAL)(a->beta2 * (double)v[i] + (1 - a->beta2) * gradient * gradient);
			w[i] = (REAL)((double)w[i] - lr * ((double)m[i] / correct1 / (sqrt((double)v[i] / correct2) + a->eps) +
							   g->decay * (double)w[i]));
			if (tensor_given(a->low))
				element_put(a->low.data, a->low.dtype, i, (double)w[i]);
		}
	}
}
