/* sumsq_finite.c - squared norms, and whether all is finite. */
#include "kernels/cpu/params.h"

static double CPU(sumsq_chunk)(const float *x, int64_t n, bool *bad)
{
	vd sum[2] = { 0 };
	vi wrong = { 0 };

	VEC_EACH(i, n) {
		const vf v = vf_load_n(x + i, vec_left(i, n));

		wrong |= ((vi)v & 0x7F800000) == 0x7F800000;
		vd_add_squares(sum, v);
	}
	for (int i = 0; i < VL; i++)
		*bad |= wrong[i] != 0;
	return vd_sum(sum);
}

void CPU(sumsq_finite)(struct queue *q, const struct sumsq_finite *a)
{
	const int64_t n = chunks_count(a->segments, a->n_segments);
	double *parts = a->space;
	int32_t wrong = 0;

	sumsq_finite_shapes(a);
	PARALLEL(q, n > 1)
	{
		bool bad = false;

		SHARE
		for (int64_t i = 0; i < n; i++) {
			const struct chunk c = chunk_at(a->segments, i);

			parts[i] = CPU(sumsq_chunk)((const float *)a->x.data + c.first, c.count, &bad);
		}
		if (bad)
			__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
	}
	if (wrong)
		*a->bad = 1;
	chunks_add(a->sums.data, parts, 1, a->segments, a->n_segments);
}
