/* norm.h - LayerNorm of one row. */
#ifndef KERNELS_REF_NORM_H
#define KERNELS_REF_NORM_H

/* y = gamma (x - mean) rstd + beta; y may be x. */
static inline void REF(norm_row)(REAL *y, const REAL *x, const REAL *gamma, const REAL *beta, int64_t H, double eps,
				 REAL *mean, REAL *rstd)
{
	double sum = 0, squares = 0, m, r;

	for (int64_t c = 0; c < H; c++)
		sum += (double)x[c];
	m = sum / (double)H;
	for (int64_t c = 0; c < H; c++)
		squares += ((double)x[c] - m) * ((double)x[c] - m);
	r = 1 / sqrt(squares / (double)H + eps);
	for (int64_t c = 0; c < H; c++)
		y[c] = (REAL)((double)gamma[c] * ((double)x[c] - m) * r + (double)beta[c]);
	*mean = (REAL)m;
	*rstd = (REAL)r;
}

/*
 * dx = the gradient of x (+ more, unless NULL); n is the normalised x, g = gamma dy. dx may be dy or more. To SUMS[2H]
 * are added the gradients of gamma, and from H on of beta.
 */
static inline void REF(norm_row_grad)(REAL *dx, const REAL *dy, const REAL *more, const REAL *x, const REAL *gamma,
				      REAL mean, REAL rstd, int64_t H, double *sums)
{
	double g_sum = 0, gn_sum = 0;

	for (int64_t c = 0; c < H; c++) {
		const double n = ((double)x[c] - (double)mean) * (double)rstd, g = (double)gamma[c] * (double)dy[c];

		g_sum += g;
		gn_sum += g * n;
	}
	for (int64_t c = 0; c < H; c++) {
		const double n = ((double)x[c] - (double)mean) * (double)rstd, d = (double)dy[c];

		sums[c] += d * n;
		sums[H + c] += d;
		dx[c] = (REAL)((double)rstd * ((double)gamma[c] * d - g_sum / (double)H - n * gn_sum / (double)H) +
			       (more ? (double)more[c] : 0));
	}
}

/* to[n] += sums[n] */
static inline void REF(sums_add)(REAL *to, const double *sums, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = (REAL)((double)to[i] + sums[i]);
}

#endif
