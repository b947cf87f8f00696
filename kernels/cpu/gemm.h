/* gemm.h - the matrix product of the cpu backend, F32, on all threads of a queue. */
#ifndef KERNELS_CPU_GEMM_H
#define KERNELS_CPU_GEMM_H

#include "kernels/cpu/panels.h"
#include "kernels/host.h"

#define GEMM_K 768		/* K is cut into chunks of this */
#define GEMM_ROWS 64		/* of a, at most, in one task */

/*
 * c = act(a b + bias), or c += a b. Element (i, k) of a is a[i a_row + k a_col], one of the two strides being 1; b
 * alike with (k, j). The order in which an element of c is summed depends on K alone: not on M, N or threads.
 */
struct gemm {
	int64_t M, N, K;
	const float *a, *b;		/* [M,K] [K,N] */
	int64_t a_row, a_col, b_row, b_col;
	float *c;			/* [M,N] */
	bool add;			/* c += ; then the end is none */
	struct panels_end end;		/* pre: [M,N] */
	float *space;			/* gemm_size() floats */
};

static inline int64_t gemm_size(int64_t N, int64_t K) { return panels_size(N, K < GEMM_K ? K : GEMM_K); }

void CPU(gemm)(struct queue *q, const struct gemm *g);

/* The same by oneDNN: false where this build has none, or it cannot; c is then as it was. */
bool gemm_dnnl(struct queue *q, const struct gemm *g);

#endif
