/* residual_norm.c - y = LayerNorm(x + dropout(h)). */
#include "kernels/ref/ref.h"
#include "kernels/ref/norm.h"

void REF(residual_norm_fwd)(struct queue *q, const struct residual_norm_fwd *a)
{
	const int64_t N = a->x.rows, H = a->x.cols;
	REAL *mean = a->mean.data, *rstd = a->rstd.data;

	(void)q;
	for (int64_t r = 0; r < N; r++) {
		const REAL *x = (const REAL *)a->x.data + r * H, *sum = x;
		REAL *y = (REAL *)a->y.data + r * H;

		if (tensor_given(a->h)) {
			const struct row_drop drop = row_drop_at(&a->drop, &a->seqs, r);
			const REAL *h = (const REAL *)a->h.data + r * H;
			REAL *s = (REAL *)a->sum.data + r * H;

			for (int64_t c = 0; c < H; c++)
				s[c] = (REAL)((double)x[c] + (double)h[c] * row_drop_factor(&drop, c));
			sum = s;
		}
		REF(norm_row)(y, sum, a->gamma.data, a->beta.data, H, a->eps, &mean[r], &rstd[r]);
	}
}

void REF(residual_norm_bwd)(struct queue *q, const struct residual_norm_bwd *a)
{
	const int64_t N = a->dy.rows, H = a->dy.cols;
	const REAL *mean = a->mean.data, *rstd = a->rstd.data;
	double *sums = a->space;

	(void)q;
	memset(sums, 0, 2 * (size_t)H * sizeof(*sums));
	for (int64_t r = 0; r < N; r++) {
		const REAL *dy = (const REAL *)a->dy.data + r * H, *sum = (const REAL *)a->sum.data + r * H;
		const REAL *dsum = tensor_given(a->dsum) ? (const REAL *)a->dsum.data + r * H : NULL;
		REAL *dx = (REAL *)a->dx.data + r * H, *dh = tensor_given(a->dh) ? (REAL *)a->dh.data + r * H : NULL;
		const struct row_drop drop = dh ? row_drop_at(&a->drop, &a->seqs, r) : row_drop_none();

		REF(norm_row_grad)(dx, dy, dsum, sum, a->gamma.data, mean[r], rstd[r], H, sums);
		for (int64_t c = 0; dh && c < H; c++)
			dh[c] = (REAL)((double)dx[c] * row_drop_factor(&drop, c));
	}
	REF(sums_add)(a->dgamma.data, sums, H);
	REF(sums_add)(a->dbeta.data, sums + H, H);
}
