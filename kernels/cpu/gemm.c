/*
 * gemm.c - the matrix product on all threads: of each chunk of K they pack b together, then share the rows of c. What the
 * chunks before gave stands in c, and the next one adds to it.
 */
#include "kernels/cpu/gemm.h"

#include "kernels/cpu/parallel.h"

#define SMALL 65536			/* multiply-adds that are done sooner than other threads are woken */
#define SECOND_CACHE (512 << 10)	/* bytes of panels that stay there while the rows of a task pass by */

/* Rows I .. and panels FIRST .. END-1 of c, for the chunk of K that begins at K. */
static void CPU(gemm_task)(const struct gemm *g, int64_t i, int64_t rows, int64_t first, int64_t end, int64_t k, int64_t chunk)
{
	const int64_t fit = SECOND_CACHE / (NR * chunk * (int64_t)sizeof(float)), step = fit ? fit : 1;
	struct panels_end last = g->end;

	if (last.pre)
		last.pre += i * g->N;
	for (int64_t p = first; p < end; p += step)
		CPU(panels_multiply)(g->c + i * g->N, g->N, g->a + i * g->a_row + k * g->a_col, g->a_row, g->a_col, g->space, rows, g->N, chunk, p,
				     p + step < end ? p + step : end, g->add || k > 0, k + chunk == g->K ? &last : NULL);
}

static int64_t CPU(ceil_div)(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Rows of a task: as many as may be, of those with which the busiest thread has the fewest. */
static int64_t CPU(task_rows)(int64_t M, int64_t threads)
{
	int64_t best = GEMM_ROWS, least = INT64_MAX;

	for (int64_t rows = GEMM_ROWS; rows >= MR; rows -= MR) {
		const int64_t busiest = CPU(ceil_div)(CPU(ceil_div)(M, rows), threads) * rows;

		if (busiest < least) {
			least = busiest;
			best = rows;
		}
	}
	return best;
}

void CPU(gemm)(struct queue *q, const struct gemm *g)
{
	const int64_t rows = CPU(task_rows)(g->M, q->threads), blocks = CPU(ceil_div)(g->M, rows), panels = panels_count(g->N);
	const int64_t idle = blocks ? q->threads / blocks : 1, groups = idle <= 1 ? 1 : idle < panels ? idle : panels;	/* where rows are too few */

#if VL == 16
	if (g->a_col != 1 && gemm_dnnl(q, g))
		return;
#endif
	PARALLEL(q, g->M * g->N * g->K > SMALL)
	for (int64_t k = 0; k < g->K; k += GEMM_K) {
		const int64_t chunk = g->K - k < GEMM_K ? g->K - k : GEMM_K;

		SHARE
		for (int64_t p = 0; p < panels; p++)
			CPU(panels_pack)(g->space, g->b + k * g->b_row, g->b_row, g->b_col, g->N, chunk, p, p + 1);
		SHARE
		for (int64_t task = 0; task < blocks * groups; task++) {
			const int64_t i = task / groups * rows, group = task % groups;

			CPU(gemm_task)(g, i, g->M - i < rows ? g->M - i : rows, panels * group / groups, panels * (group + 1) / groups, k, chunk);
		}
	}
}
