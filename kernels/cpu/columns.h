/* columns.h - sums over rows that were summed block by block. */
#ifndef KERNELS_CPU_COLUMNS_H
#define KERNELS_CPU_COLUMNS_H

#include "kernels/cpu/cpu.h"

/* to[n] += the sums of the blocks, in order: block i is at sums[i ld]. */
VEC_FN void columns_add(struct queue *q, float *to, const float *sums, int64_t ld, int64_t blocks, int64_t n)
{
	PARALLEL_LOOP(q, n * blocks > CPU_CHUNK)
	for (int64_t c = 0; c < n; c += VL) {
		const int64_t left = vec_left(c, n);
		vf sum = vf_set(0);

		for (int64_t i = 0; i < blocks; i++)
			sum = sum + vf_load_n(sums + i * ld + c, left);
		vf_store_n(to + c, vf_load_n(to + c, left) + sum, left);
	}
}

#endif
