/* dropout_rows.c - y = dropout(x). */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/drop.h"

void CPU(dropout_rows)(struct queue *q, const struct dropout_rows *a)
{
	const int64_t N = a->x.rows, H = a->x.cols;

	dropout_rows_shapes(a);
	PARALLEL_LOOP(q, cpu_blocks(N) > 1)
	for (int64_t block = 0; block < cpu_blocks(N); block++) {
		struct drop_walk walk = drop_start(&a->drop, &a->seqs);

		for (int64_t r = block * CPU_BLOCK_ROWS; r < N && r < (block + 1) * CPU_BLOCK_ROWS; r++) {
			const struct row_drop drop = drop_row(&walk, r);

			drop_apply((float *)a->y.data + r * H, (const float *)a->x.data + r * H, &drop, H);
		}
	}
}
