/* params.h - flat ranges of parameters, in chunks that are one task each. */
#ifndef KERNELS_CPU_PARAMS_H
#define KERNELS_CPU_PARAMS_H

#include "kernels/cpu/cpu.h"

struct chunk {
	int segment;
	int64_t first, count;
};

/* How many chunks there are; none lies in two segments. */
VEC_FN int64_t chunks_count(const struct segment *s, int n)
{
	int64_t count = 0;

	for (int i = 0; i < n; i++)
		count += (s[i].count + CPU_CHUNK - 1) / CPU_CHUNK;
	return count;
}

/* Chunk I of them. */
VEC_FN struct chunk chunk_at(const struct segment *s, int64_t i)
{
	int segment = 0;
	int64_t in = (s[0].count + CPU_CHUNK - 1) / CPU_CHUNK, left;

	while (i >= in) {
		i -= in;
		segment++;
		in = (s[segment].count + CPU_CHUNK - 1) / CPU_CHUNK;
	}
	left = s[segment].count - i * CPU_CHUNK;
	return (struct chunk){ .segment = segment, .first = s[segment].first + i * CPU_CHUNK, .count = left < CPU_CHUNK ? left : CPU_CHUNK };
}

/* sums[segments] = of the chunks' sums, in order; those of chunk i are at parts[i step]. */
VEC_FN void chunks_add(double *sums, const double *parts, int step, const struct segment *s, int n)
{
	int64_t at = 0;

	for (int i = 0; i < n; i++) {
		sums[i] = 0;
		for (int64_t end = at + (s[i].count + CPU_CHUNK - 1) / CPU_CHUNK; at < end; at++)
			sums[i] += parts[at * step];
	}
}

/* The sum of squares of a vector's elements is added to sum[2], in double. */
typedef double vd __attribute__((vector_size(4 * VL)));
typedef float vf_half __attribute__((vector_size(2 * VL)));

VEC_FN void vd_add_squares(vd sum[2], vf x)
{
	vf_half half[2];
	vd d;

	memcpy(half, &x, sizeof(x));
	for (int i = 0; i < 2; i++) {
		d = __builtin_convertvector(half[i], vd);
		sum[i] += d * d;
	}
}

VEC_FN double vd_sum(const vd sum[2])
{
	double total = 0;

	for (int i = 0; i < VL / 2; i++)
		total += sum[0][i] + sum[1][i];
	return total;
}

/*
 * Moments decay towards zero where a gradient is zero, and numbers below 1e-38 cost a hundred cycles each: they are
 * flushed to zero between these two calls.
 */
#if defined(__SSE__)
#include <xmmintrin.h>
VEC_FN unsigned tiny_off(void)
{
	const unsigned was = _mm_getcsr();

	_mm_setcsr(was | 0x8040);
	return was;
}
VEC_FN void tiny_back(unsigned was) { _mm_setcsr(was); }
#else
VEC_FN unsigned tiny_off(void) { return 0; }
VEC_FN void tiny_back(unsigned was) { (void)was; }
#endif

#endif
