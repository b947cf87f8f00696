/* norm.h - LayerNorm of one row, in vectors. Every sum is over lanes first, then by halves. */
#ifndef KERNELS_CPU_NORM_H
#define KERNELS_CPU_NORM_H

#include "kernels/cpu/vec.h"

/* y = gamma (x - mean) rstd + beta; y may be x */
VEC_FN void vec_norm_row(float *y, const float *x, const float *gamma, const float *beta, int64_t H, double eps, float *mean, float *rstd)
{
	vf sum = vf_set(0), squares = vf_set(0), m, r;

	VEC_EACH(c, H)
		sum = sum + vf_load_n(x + c, vec_left(c, H));
	*mean = vf_sum(sum) / (float)H;
	m = vf_set(*mean);
	VEC_EACH(c, H) {
		const int64_t n = vec_left(c, H);
		const vf d = vf_load_n(x + c, n) - m;

		squares = vf_fma(d, vf_first(d, n), squares);
	}
	*rstd = (float)(1 / sqrt((double)vf_sum(squares) / (double)H + eps));
	r = vf_set(*rstd);
	VEC_EACH(c, H) {
		const int64_t n = vec_left(c, H);

		vf_store_n(y + c, vf_fma((vf_load_n(x + c, n) - m) * r, vf_load_n(gamma + c, n), vf_load_n(beta + c, n)), n);
	}
}

/* dx = the gradient of x (+ more, unless NULL), dgamma and dbeta += theirs. dx may be dy or more. */
VEC_FN void vec_norm_row_grad(float *dx, const float *dy, const float *more, const float *x, const float *gamma, float mean, float rstd, int64_t H,
			      float *dgamma, float *dbeta)
{
	const vf m = vf_set(mean), r = vf_set(rstd);
	vf g_sum = vf_set(0), gn_sum = vf_set(0), g_mean, gn_mean;

	VEC_EACH(c, H) {
		const int64_t n = vec_left(c, H);
		const vf normal = (vf_load_n(x + c, n) - m) * r, d = vf_load_n(dy + c, n), g = d * vf_load_n(gamma + c, n);

		g_sum = g_sum + g;
		gn_sum = vf_fma(g, normal, gn_sum);	/* g is 0 beyond the end */
		vf_store_n(dgamma + c, vf_fma(d, normal, vf_load_n(dgamma + c, n)), n);
		vf_store_n(dbeta + c, d + vf_load_n(dbeta + c, n), n);
	}
	g_mean = vf_set(vf_sum(g_sum) / (float)H);
	gn_mean = vf_set(vf_sum(gn_sum) / (float)H);
	VEC_EACH(c, H) {
		const int64_t n = vec_left(c, H);
		const vf normal = (vf_load_n(x + c, n) - m) * r, g = vf_load_n(dy + c, n) * vf_load_n(gamma + c, n);
		vf d = r * (g - g_mean - normal * gn_mean);

		if (more)
			d = d + vf_load_n(more + c, n);
		vf_store_n(dx + c, d, n);
	}
}

#endif
