/* dropout_rows.c - y = dropout(x). */
#include "kernels/ref/ref.h"

void REF(dropout_rows)(struct queue *q, const struct dropout_rows *a)
{
	const int64_t N = a->x.rows, H = a->x.cols;

	(void)q;
	for (int64_t r = 0; r < N; r++) {
		const struct row_drop drop = row_drop_at(&a->drop, &a->seqs, r);
		const REAL *x = (const REAL *)a->x.data + r * H;
		REAL *y = (REAL *)a->y.data + r * H;

		for (int64_t c = 0; c < H; c++)
			y[c] = (REAL)((double)x[c] * row_drop_factor(&drop, c));
	}
}
