/* linear.c - y = act(x w^T + b). */
#include "kernels/ref/ref.h"

/* tanh's argument in the approximation of GELU (Hendrycks and Gimpel, 2016) is sqrt(2 / pi) (x + 0.044715 x^3). */
static double REF(act)(enum act act, double x)
{
	switch (act) {
	case ACT_GELU: return x / 2 * erfc(-x * M_SQRT1_2);
	case ACT_GELU_TANH: return x / 2 * (1 + tanh(sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
	case ACT_RELU: return x < 0 ? 0 : x;
	case ACT_TANH: return tanh(x);
	default: return x;
	}
}

static double REF(act_slope)(enum act act, double x)
{
	const double t = tanh(act == ACT_TANH ? x : sqrt(M_2_PI) * (x + 0.044715 * x * x * x));

	switch (act) {
	case ACT_GELU: return erfc(-x * M_SQRT1_2) / 2 + x * exp(-x * x / 2) / sqrt(2 * M_PI);
	case ACT_GELU_TANH: return (1 + t) / 2 + x / 2 * (1 - t * t) * sqrt(M_2_PI) * (1 + 3 * 0.044715 * x * x);
	case ACT_RELU: return x > 0;
	case ACT_TANH: return 1 - t * t;
	default: return 1;
	}
}

void REF(linear_fwd)(struct queue *q, const struct linear_fwd *a)
{
	const int64_t N = a->x.rows, k = a->x.cols, n = a->w.rows;
	const REAL *b = a->b.data;

	(void)q;
	for (int64_t r = 0; r < N; r++) {
		const REAL *x = (const REAL *)a->x.data + r * k;
		REAL *y = (REAL *)a->y.data + r * n;

		for (int64_t j = 0; j < n; j++) {
			const REAL *w = (const REAL *)a->w.data + j * k;
			double sum = b ? (double)b[j] : 0;

			for (int64_t i = 0; i < k; i++)
				sum += (double)x[i] * (double)w[i];
			if (tensor_given(a->pre))
				((REAL *)a->pre.data)[r * n + j] = (REAL)sum;
			y[j] = (REAL)REF(act)(a->act, (double)(REAL)sum);
		}
	}
}

/* dx[k] = or += dpre[n] w */
static void REF(linear_dx)(REAL *dx, const REAL *dpre, const REAL *w, int64_t n, int64_t k, bool add)
{
	for (int64_t i = 0; i < k; i++) {
		double sum = add ? (double)dx[i] : 0;

		for (int64_t j = 0; j < n; j++)
			sum += (double)dpre[j] * (double)w[j * k + i];
		dx[i] = (REAL)sum;
	}
}

/* dw[width] += the sum over r of dpre[r] x[r,width]; rows of dpre are n apart, those of x k */
static void REF(linear_dw_part)(REAL *dw, const REAL *dpre, const REAL *x, int64_t N, int64_t n, int64_t k, int64_t width)
{
	double sums[REF_COLUMNS];

	for (int64_t i = 0; i < width; i++)
		sums[i] = (double)dw[i];
	for (int64_t r = 0; r < N; r++) {
		for (int64_t i = 0; i < width; i++)
			sums[i] += (double)dpre[r * n] * (double)x[r * k + i];
	}
	for (int64_t i = 0; i < width; i++)
		dw[i] = (REAL)sums[i];
}

/* dw[n,k] += dpre^T x */
static void REF(linear_dw)(REAL *dw, const REAL *dpre, const REAL *x, int64_t N, int64_t n, int64_t k)
{
	for (int64_t j = 0; j < n; j++) {
		for (int64_t i = 0; i < k; i += REF_COLUMNS)
			REF(linear_dw_part)(dw + j * k + i, dpre + j, x + i, N, n, k, k - i < REF_COLUMNS ? k - i : REF_COLUMNS);
	}
}

/* db[n] += the sums of dpre's columns */
static void REF(linear_db)(REAL *db, const REAL *dpre, int64_t N, int64_t n)
{
	for (int64_t j = 0; j < n; j++) {
		double sum = (double)db[j];

		for (int64_t r = 0; r < N; r++)
			sum += (double)dpre[r * n + j];
		db[j] = (REAL)sum;
	}
}

void REF(linear_bwd)(struct queue *q, const struct linear_bwd *a)
{
	const int64_t N = a->x.rows, k = a->x.cols, n = a->w.rows;

	(void)q;
	for (int64_t r = 0; r < N; r++) {
		REAL *dpre = (REAL *)a->dy.data + r * n;

		for (int64_t j = 0; a->act != ACT_NONE && j < n; j++)
			dpre[j] = (REAL)((double)dpre[j] * REF(act_slope)(a->act, (double)((const REAL *)a->pre.data)[r * n + j]));
		if (tensor_given(a->dx))
			REF(linear_dx)((REAL *)a->dx.data + r * k, dpre, a->w.data, n, k, a->add_dx);
	}
	if (tensor_given(a->dw))
		REF(linear_dw)(a->dw.data, a->dy.data, a->x.data, N, n, k);
	if (tensor_given(a->db))
		REF(linear_db)(a->db.data, a->dy.data, N, n);
}
