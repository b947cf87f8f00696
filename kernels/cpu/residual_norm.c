/* residual_norm.c - y = LayerNorm(x + dropout(h)), a block of rows a task. */
#include "kernels/cpu/columns.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/drop.h"
#include "kernels/cpu/norm.h"

/* sum = x + factors h */
static void CPU(residual_row)(float *sum, const float *x, const float *h, const struct row_drop *drop, int64_t H)
{
	float factors[DROP_CHUNK] __attribute__((aligned(64)));

	VEC_EACH(c, H) {
		const int64_t n = vec_left(c, H);

		if (c % DROP_CHUNK == 0)
			drop_chunk(drop, c, factors);
		vf_store_n(sum + c, vf_fma(vf_load_n(h + c, n), vf_load(factors + c % DROP_CHUNK), vf_load_n(x + c, n)), n);
	}
}

void CPU(residual_norm_fwd)(struct queue *q, const struct residual_norm_fwd *a)
{
	const int64_t N = a->x.rows, H = a->x.cols;

	residual_norm_fwd_shapes(a);
	PARALLEL_LOOP(q, cpu_blocks(N) > 1)
	for (int64_t block = 0; block < cpu_blocks(N); block++) {
		const int64_t first = block * CPU_BLOCK_ROWS, end = first + CPU_BLOCK_ROWS < N ? first + CPU_BLOCK_ROWS : N;
		struct drop_walk walk = drop_start(&a->drop, &a->seqs);

		for (int64_t r = first; r < end; r++) {
			const float *x = (const float *)a->x.data + r * H, *sum = x;

			if (tensor_given(a->h)) {
				const struct row_drop drop = drop_row(&walk, r);

				sum = (const float *)a->sum.data + r * H;
				CPU(residual_row)((float *)a->sum.data + r * H, x, (const float *)a->h.data + r * H, &drop, H);
			}
			vec_norm_row((float *)a->y.data + r * H, sum, a->gamma.data, a->beta.data, H, a->eps, (float *)a->mean.data + r, (float *)a->rstd.data + r);
		}
	}
}

/* Rows FIRST .. END-1, whose sums of dgamma and dbeta are written. */
static void CPU(residual_norm_rows_bwd)(const struct residual_norm_bwd *a, float *dgamma, float *dbeta, int64_t first, int64_t end)
{
	const int64_t H = a->dy.cols;
	struct drop_walk walk = drop_start(&a->drop, &a->seqs);

	memset(dgamma, 0, (size_t)H * sizeof(float));
	memset(dbeta, 0, (size_t)H * sizeof(float));
	for (int64_t r = first; r < end; r++) {
		const float *more = tensor_given(a->dsum) ? (const float *)a->dsum.data + r * H : NULL;
		float *dx = (float *)a->dx.data + r * H;

		vec_norm_row_grad(dx, (const float *)a->dy.data + r * H, more, (const float *)a->sum.data + r * H, a->gamma.data,
				  ((const float *)a->mean.data)[r], ((const float *)a->rstd.data)[r], H, dgamma, dbeta);
		if (tensor_given(a->dh)) {
			const struct row_drop drop = drop_row(&walk, r);

			drop_apply((float *)a->dh.data + r * H, dx, &drop, H);
		}
	}
}

void CPU(residual_norm_bwd)(struct queue *q, const struct residual_norm_bwd *a)
{
	const int64_t N = a->dy.rows, H = a->dy.cols, blocks = cpu_blocks(N);
	float *sums = a->space;		/* [blocks][2][H] */

	residual_norm_bwd_shapes(a);
	PARALLEL_LOOP(q, blocks > 1)
	for (int64_t block = 0; block < blocks; block++) {
		const int64_t first = block * CPU_BLOCK_ROWS, end = first + CPU_BLOCK_ROWS;

		CPU(residual_norm_rows_bwd)(a, sums + block * 2 * H, sums + (block * 2 + 1) * H, first, end < N ? end : N);
	}
	columns_add(q, a->dgamma.data, sums, 2 * H, blocks, H);
	columns_add(q, a->dbeta.data, sums + H, 2 * H, blocks, H);
}
