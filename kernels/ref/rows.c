/* rows.c - picks rows, and adds them back. */
#include "kernels/ref/ref.h"

void REF(rows_gather)(struct queue *q, const struct rows_gather *a)
{
	const int64_t n = a->y.rows, H = a->y.cols;

	(void)q;
	for (int64_t r = 0; r < n; r++) {
		for (int64_t c = 0; c < H; c++)
			((REAL *)a->y.data)[r * H + c] = a->rows[r] < 0 ? 0 : ((const REAL *)a->x.data)[a->rows[r] * H + c];
	}
}

void REF(rows_scatter_add)(struct queue *q, const struct rows_scatter_add *a)
{
	const int64_t n = a->y.rows, H = a->y.cols;

	(void)q;
	for (int64_t r = 0; r < n; r++) {
		for (int64_t c = 0; a->rows[r] >= 0 && c < H; c++)
			((REAL *)a->x.data)[a->rows[r] * H + c] += ((const REAL *)a->y.data)[r * H + c];
	}
}
