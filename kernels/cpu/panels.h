/*
 * panels.h - the part of a matrix product that one thread does.
 *
 * c = a b in two steps: panels_pack lays b out as panels of NR columns, [K][NR] each, the last one filled up with zeros;
 * panels_multiply sums tiles of MR rows by NR columns in registers. Each element of c is one chain of multiply-adds over
 * k, in order, whatever M and N are and wherever in a tile it stands.
 */
#ifndef KERNELS_CPU_PANELS_H
#define KERNELS_CPU_PANELS_H

#include "kernels/cpu/vec.h"
#include "kernels/ops.h"

#if VL == 16
#define MR 8			/* 24 sums, 3 of b, and room, of 32 registers */
#else
#define MR 4			/* 12 sums, 3 of b, 1 of a: 16 registers */
#endif
#define NV 3
#define NR (NV * VL)
#define PANELS_K 768		/* longest K where a stands turned (col != 1) */
#define PACK_ROWS 16		/* of which then as many are packed at once: a cache line */

/* Floats of the panels of b[K,N]; enough for every kind of processor. */
static inline int64_t panels_size(int64_t N, int64_t K) { return (N + 48) * K; }

/* What is done to an element of c when its sum is complete. */
struct panels_end {
	const float *bias;	/* [N] is added; NULL: none */
	float *pre;		/* rows ldc apart, as c; what came of it is kept here; NULL: not */
	enum act act;
};

/* Panels FIRST .. END-1 of b; element (k, j) of b is b[k row + j col], row or col being 1. */
void CPU(panels_pack)(float *panels, const float *b, int64_t row, int64_t col, int64_t N, int64_t K, int64_t first, int64_t end);

/*
 * Columns of panels FIRST .. END-1 of c[M,N], whose rows are LDC apart: = a b or, with ADD, += a b. Element (i, k) of a
 * is a[i row + k col], row or col being 1; where it is row, K is at most PANELS_K. END_OF may be NULL.
 */
void CPU(panels_multiply)(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *panels, int64_t M, int64_t N, int64_t K,
			  int64_t first, int64_t end, bool add, const struct panels_end *end_of);

VEC_FN int64_t panels_count(int64_t N) { return (N + NR - 1) / NR; }

#endif
