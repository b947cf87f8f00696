/* adamw.c - one update of AdamW: g, m, v and w are read, m, v, w and the copy written, in one pass. */
#include "kernels/convert.h"
#include "kernels/cpu/params.h"
#include "kernels/cpu/lowp.h"

/* What does not change along a segment. */
struct CPU(adamw_run) {
	vf beta1, rest1, beta2, rest2, eps, scale, root2, rate, shrink;
};

static struct CPU(adamw_run) CPU(adamw_begin)(const struct adamw *a)
{
	const bool torch = a->kind == ADAM_TORCH;
	const double correct1 = torch ? 1 - pow(a->beta1, a->step->time) : 1, correct2 = torch ? 1 - pow(a->beta2, a->step->time) : 1;

	return (struct CPU(adamw_run)){ .beta1 = vf_set((float)a->beta1), .rest1 = vf_set((float)(1 - a->beta1)), .beta2 = vf_set((float)a->beta2),
					.rest2 = vf_set((float)(1 - a->beta2)), .eps = vf_set((float)a->eps), .scale = vf_set((float)a->step->grad_scale),
					.root2 = vf_set((float)(1 / sqrt(correct2))), .rate = vf_set((float)(a->step->lr / correct1)) };
}

/* w -= rate m / (sqrt(v) root2 + eps) + shrink w */
static void CPU(adamw_chunk)(const struct adamw *a, const struct CPU(adamw_run) *run, struct chunk c, vf shrink)
{
	float *w = (float *)a->w.data + c.first, *m = (float *)a->m.data + c.first, *v = (float *)a->v.data + c.first;
	const unsigned was = tiny_off();

	VEC_EACH(i, c.count) {
		const int64_t n = vec_left(i, c.count);
		const vf g = vf_load_any(a->g, c.first + i, n) * run->scale, old = vf_load_n(w + i, n);
		const vf m_new = vf_fma(run->beta1, vf_load_n(m + i, n), run->rest1 * g), v_new = vf_fma(run->beta2, vf_load_n(v + i, n), run->rest2 * g * g);
		const vf step = run->rate * m_new / vf_fma(vf_sqrt(v_new), run->root2, run->eps), w_new = old - vf_fma(shrink, old, step);

		vf_store_n(m + i, m_new, n);
		vf_store_n(v + i, v_new, n);
		vf_store_n(w + i, w_new, n);
		if (tensor_given(a->low))
			vf_store_any(a->low, c.first + i, w_new, n);
	}
	tiny_back(was);
}

void CPU(adamw)(struct queue *q, const struct adamw *a)
{
	const struct CPU(adamw_run) run = CPU(adamw_begin)(a);
	const int64_t n = chunks_count(a->segments, a->n_segments);

	adamw_shapes(a);
	if (a->step->skip)
		return;
	PARALLEL_LOOP(q, n > 1)
	for (int64_t i = 0; i < n; i++) {
		const struct chunk c = chunk_at(a->segments, i);

		CPU(adamw_chunk)(a, &run, c, vf_set((float)(a->step->lr * a->segments[c.segment].decay)));
	}
}
