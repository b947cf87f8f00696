/* linear.c - y = act(x w^T + b): a matrix product forward, with the rest in its last step, and two backward. */
#include "kernels/cpu/columns.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/vmath.h"

void CPU(linear_fwd)(struct queue *q, const struct linear_fwd *a)
{
	linear_fwd_shapes(a);
	CPU(gemm)(q, &(struct gemm){
		.M = a->x.rows, .N = a->w.rows, .K = a->x.cols, .a = a->x.data, .a_row = a->x.cols, .a_col = 1, .b = a->w.data, .b_row = 1, .b_col = a->w.cols,
		.c = a->y.data, .end = { .bias = a->b.data, .pre = a->pre.data, .act = a->act }, .space = a->space });
}

/* dy becomes dpre; sums[n] = the columns' sums over rows FIRST .. END-1 */
static void CPU(linear_slope)(const struct linear_bwd *a, float *sums, int64_t first, int64_t end)
{
	const int64_t n = a->dy.cols;

	for (int64_t r = first; r < end; r++) {
		float *dy = (float *)a->dy.data + r * n;
		const float *pre = (const float *)a->pre.data + r * n;

		VEC_EACH(c, n) {
			const int64_t left = vec_left(c, n);
			vf d = vf_load_n(dy + c, left);

			if (a->act != ACT_NONE) {
				d = d * vf_act_slope(a->act, vf_load_n(pre + c, left));
				vf_store_n(dy + c, d, left);
			}
			vf_store_n(sums + c, r == first ? d : d + vf_load_n(sums + c, left), left);
		}
	}
}

void CPU(linear_bwd)(struct queue *q, const struct linear_bwd *a)
{
	const int64_t N = a->x.rows, k = a->x.cols, n = a->w.rows;
	float *sums = a->space;

	linear_bwd_shapes(a);
	if (a->act != ACT_NONE || tensor_given(a->db)) {
		PARALLEL_LOOP(q, cpu_blocks(N) > 1)
		for (int64_t block = 0; block < cpu_blocks(N); block++) {
			const int64_t first = block * CPU_BLOCK_ROWS, end = first + CPU_BLOCK_ROWS;

			CPU(linear_slope)(a, sums + block * n, first, end < N ? end : N);
		}
	}
	if (tensor_given(a->db))
		columns_add(q, a->db.data, sums, n, cpu_blocks(N), n);
	if (tensor_given(a->dx))
		CPU(gemm)(q, &(struct gemm){ .M = N, .N = k, .K = n, .a = a->dy.data, .a_row = n, .a_col = 1, .b = a->w.data, .b_row = k, .b_col = 1,
					     .c = a->dx.data, .add = a->add_dx, .space = a->space });
	if (tensor_given(a->dw) && N)
		CPU(gemm)(q, &(struct gemm){ .M = n, .N = k, .K = N, .a = a->dy.data, .a_row = 1, .a_col = n, .b = a->x.data, .b_row = k, .b_col = 1,
					     .c = a->dw.data, .add = true, .space = a->space });
}
