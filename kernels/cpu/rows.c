/* rows.c - picks rows, and adds them back. */
#include "kernels/cpu/cpu.h"

void CPU(rows_gather)(struct queue *q, const struct rows_gather *a)
{
	const size_t bytes = (size_t)a->y.cols * sizeof(float);

	rows_gather_shapes(a);
	PARALLEL_LOOP(q, tensor_count(a->y) > CPU_CHUNK)
	for (int64_t r = 0; r < a->y.rows; r++) {
		char *to = (char *)a->y.data + (size_t)r * bytes;

		assert(a->rows[r] < a->x.rows);
		if (a->rows[r] < 0)
			memset(to, 0, bytes);
		else
			memcpy(to, (const char *)a->x.data + (size_t)a->rows[r] * bytes, bytes);
	}
}

/* Columns are shared out, so that rows are added in order. */
void CPU(rows_scatter_add)(struct queue *q, const struct rows_scatter_add *a)
{
	const int64_t H = a->y.cols, slice = 4 * VL;

	rows_scatter_add_shapes(a);
	PARALLEL_LOOP(q, tensor_count(a->y) > CPU_CHUNK)
	for (int64_t c = 0; c < H; c += slice) {
		for (int64_t r = 0; r < a->y.rows; r++) {
			float *x = (float *)a->x.data + a->rows[r] * H;
			const float *y = (const float *)a->y.data + r * H;

			for (int64_t i = c; a->rows[r] >= 0 && i < H && i < c + slice; i += VL) {
				const int64_t n = vec_left(i, H);

				vf_store_n(x + i, vf_load_n(x + i, n) + vf_load_n(y + i, n), n);
			}
		}
	}
}
