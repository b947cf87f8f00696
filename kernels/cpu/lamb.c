/* lamb.c - LAMB in two parts: the directions with their norms, and the step. */
#include "kernels/cpu/lowp.h"
#include "kernels/cpu/params.h"

/* parts[2] = squared norms of w and u */
static void CPU(lamb_chunk)(const struct lamb_direction *a, struct chunk c, double *parts)
{
	const vf beta1 = vf_set((float)a->beta1), rest1 = vf_set((float)(1 - a->beta1)), beta2 = vf_set((float)a->beta2), rest2 = vf_set((float)(1 - a->beta2));
	const vf scale = vf_set((float)a->step->grad_scale), eps = vf_set((float)a->eps), decay = vf_set((float)a->segments[c.segment].decay);
	const vf fix1 = vf_set((float)(1 / (1 - pow(a->beta1, a->step->time)))), root2 = vf_set((float)(1 / sqrt(1 - pow(a->beta2, a->step->time))));
	const float *w = (const float *)a->w.data + c.first, *g = (const float *)a->g.data + c.first;
	float *m = (float *)a->m.data + c.first, *v = (float *)a->v.data + c.first, *u = (float *)a->u.data + c.first;
	const unsigned was = tiny_off();
	vd w_sum[2] = { 0 }, u_sum[2] = { 0 };

	VEC_EACH(i, c.count) {
		const int64_t n = vec_left(i, c.count);
		const vf d = vf_load_n(g + i, n) * scale, old = vf_load_n(w + i, n);
		const vf m_new = vf_fma(beta1, vf_load_n(m + i, n), rest1 * d), v_new = vf_fma(beta2, vf_load_n(v + i, n), rest2 * d * d);
		const vf to = vf_fma(decay, old, m_new * fix1 / vf_fma(vf_sqrt(v_new), root2, eps));

		vf_store_n(m + i, m_new, n);
		vf_store_n(v + i, v_new, n);
		vf_store_n(u + i, to, n);
		vd_add_squares(w_sum, old);
		vd_add_squares(u_sum, to);
	}
	tiny_back(was);
	parts[0] = vd_sum(w_sum);
	parts[1] = vd_sum(u_sum);
}

void CPU(lamb_direction)(struct queue *q, const struct lamb_direction *a)
{
	const int64_t n = chunks_count(a->segments, a->n_segments);
	double *parts = a->space;	/* [n][2] */

	lamb_direction_shapes(a);
	if (a->step->skip)
		return;
	PARALLEL_LOOP(q, n > 1)
	for (int64_t i = 0; i < n; i++)
		CPU(lamb_chunk)(a, chunk_at(a->segments, i), parts + 2 * i);
	chunks_add(a->w_sums.data, parts, 2, a->segments, a->n_segments);
	chunks_add(a->u_sums.data, parts + 1, 2, a->segments, a->n_segments);
}

void CPU(lamb_apply)(struct queue *q, const struct lamb_apply *a)
{
	const int64_t n = chunks_count(a->segments, a->n_segments);
	const double *w_sums = a->w_sums.data, *u_sums = a->u_sums.data;

	lamb_apply_shapes(a);
	if (a->step->skip)
		return;
	PARALLEL_LOOP(q, n > 1)
	for (int64_t i = 0; i < n; i++) {
		const struct chunk c = chunk_at(a->segments, i);
		const int s = c.segment;
		const bool trusts = a->segments[s].trust && w_sums[s] > 0 && u_sums[s] > 0;
		const vf rate = vf_set((float)(a->step->lr * (trusts ? sqrt(w_sums[s] / u_sums[s]) : 1)));
		float *w = (float *)a->w.data + c.first;
		const float *u = (const float *)a->u.data + c.first;

		VEC_EACH(j, c.count) {
			const int64_t left = vec_left(j, c.count);
			const vf w_new = vf_load_n(w + j, left) - rate * vf_load_n(u + j, left);

			vf_store_n(w + j, w_new, left);
			if (tensor_given(a->low))
				vf_store_any(a->low, c.first + j, w_new, left);
		}
	}
}
