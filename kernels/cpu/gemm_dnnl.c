/*
 * gemm_dnnl.c - matrix products by oneDNN, all that this program asks of it (version 2 or 3; built with HAVE_DNNL=1).
 *
 * Its order of summation depends on M below 16 and may depend on the number of threads, so rows of activations are not
 * given to it; gradients of parameters are, in which it is 1 to 10 percent faster than gemm.c.
 */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"

#if HAVE_DNNL
#include <dnnl.h>

#include "kernels/cpu/parallel.h"

bool gemm_dnnl(struct queue *q, const struct gemm *g)
{
	const bool a_plain = g->a_col == 1, b_plain = g->b_col == 1;
#ifdef _OPENMP
	const int was = omp_get_max_threads();
#endif
	dnnl_status_t status;

	if (g->end.bias || g->end.pre || g->end.act != ACT_NONE)
		return false;
#ifdef _OPENMP
	omp_set_num_threads((int)q->threads);
#endif
	status = dnnl_sgemm(a_plain ? 'N' : 'T', b_plain ? 'N' : 'T', g->M, g->N, g->K, 1, g->a, a_plain ? g->a_row : g->a_col, g->b,
			    b_plain ? g->b_row : g->b_col, g->add ? 1 : 0, g->c, g->N);
#ifdef _OPENMP
	omp_set_num_threads(was);
#endif
	(void)q;
	return status == dnnl_success;
}

#else

bool gemm_dnnl(struct queue *q, const struct gemm *g)
{
	(void)q;
	(void)g;
	return false;
}

#endif
