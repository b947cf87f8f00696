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

void CPU(gemm)(struct queue *q, const struct gemm *g)
{
	const int64_t panels = panels_count(g->N), want = 3 * q->threads;	/* tasks, so that all are busy to the end */
	const int64_t share = (g->M + want - 1) / want, rows = share >= GEMM_ROWS ? GEMM_ROWS : (share + MR - 1) / MR * MR;
	const int64_t blocks = g->M ? (g->M + rows - 1) / rows : 0, spare = blocks ? want / blocks : 1;
	const int64_t groups = spare <= 1 ? 1 : spare < panels ? spare : panels;	/* of panels, where rows are too few */

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
