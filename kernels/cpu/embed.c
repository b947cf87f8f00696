/* embed.c - rows of the embedding tables, added, normalised, dropped out. */
#include "kernels/cpu/columns.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/drop.h"
#include "kernels/cpu/norm.h"

/* x[E] = the sum of row T's embeddings */
static void CPU(embed_sum)(float *x, int64_t t, const int32_t *ids, const int32_t *positions, const int32_t *types, struct tensor word,
			   struct tensor position, struct tensor type)
{
	const int64_t E = word.cols;
	const float *w = (const float *)word.data + ids[t] * E, *p = (const float *)position.data + positions[t] * E;
	const float *s = tensor_given(type) ? (const float *)type.data + types[t] * E : NULL;

	assert(ids[t] < word.rows && positions[t] >= 0 && positions[t] < position.rows);
	VEC_EACH(c, E) {
		const int64_t n = vec_left(c, E);
		const vf sum = vf_load_n(w + c, n) + vf_load_n(p + c, n);

		vf_store_n(x + c, s ? sum + vf_load_n(s + c, n) : sum, n);
	}
}

void CPU(embed_fwd)(struct queue *q, const struct embed_fwd *a)
{
	const int64_t T = a->y.rows, E = a->y.cols;

	embed_fwd_shapes(a);
	PARALLEL_LOOP(q, cpu_blocks(T) > 1)
	for (int64_t block = 0; block < cpu_blocks(T); block++) {
		struct drop_walk walk = drop_start(&a->drop, &a->seqs);

		for (int64_t t = block * CPU_BLOCK_ROWS; t < T && t < (block + 1) * CPU_BLOCK_ROWS; t++) {
			float *y = (float *)a->y.data + t * E, *mean = (float *)a->mean.data + t, *rstd = (float *)a->rstd.data + t;
			struct row_drop drop;

			if (a->ids[t] < 0) {
				*mean = *rstd = 0;
				memset(y, 0, (size_t)E * sizeof(float));
				continue;
			}
			CPU(embed_sum)(y, t, a->ids, a->positions, a->types, a->word, a->position, a->type);
			vec_norm_row(y, y, a->gamma.data, a->beta.data, E, a->eps, mean, rstd);
			if (a->drop.rate == 0)
				continue;
			drop = drop_row(&walk, t);
			drop_apply(y, y, &drop, E);
		}
	}
}

/* dx[rows,E] = gradients of the embeddings' sums, for rows FIRST .. END-1; sums[3][E]: dgamma, dbeta, and a row to work in */
static void CPU(embed_rows_bwd)(const struct embed_bwd *a, float *dx, float *sums, int64_t first, int64_t end)
{
	const int64_t E = a->dy.cols;
	float *x = sums + 2 * E;
	struct drop_walk walk = drop_start(&a->drop, &a->seqs);

	memset(sums, 0, 2 * (size_t)E * sizeof(float));
	for (int64_t t = first; t < end; t++) {
		const struct row_drop drop = drop_row(&walk, t);

		if (a->ids[t] < 0)
			continue;
		CPU(embed_sum)(x, t, a->ids, a->positions, a->types, a->word, a->position, a->type);
		drop_apply(dx + t * E, (const float *)a->dy.data + t * E, &drop, E);
		vec_norm_row_grad(dx + t * E, dx + t * E, NULL, x, a->gamma.data, ((const float *)a->mean.data)[t], ((const float *)a->rstd.data)[t], E, sums, sums + E);
	}
}

/* N columns from C on of every row go to their places in a table, in the order of the rows. */
static void CPU(embed_scatter)(struct tensor table, const int32_t *index, const int32_t *ids, const float *dx, int64_t T, int64_t c, int64_t n)
{
	const int64_t E = table.cols;

	for (int64_t t = 0; t < T; t++) {
		float *to;

		if (ids[t] < 0)
			continue;
		to = (float *)table.data + index[t] * E + c;
		VEC_EACH(i, n) {
			const int64_t left = vec_left(i, n);

			vf_store_n(to + i, vf_load_n(to + i, left) + vf_load_n(dx + t * E + c + i, left), left);
		}
	}
}

void CPU(embed_bwd)(struct queue *q, const struct embed_bwd *a)
{
	const int64_t T = a->dy.rows, E = a->dy.cols, blocks = cpu_blocks(T), slice = 4 * VL;
	float *sums = a->space, *dx = sums + blocks * 3 * E;

	embed_bwd_shapes(a);
	PARALLEL_LOOP(q, blocks > 1)
	for (int64_t block = 0; block < blocks; block++) {
		const int64_t first = block * CPU_BLOCK_ROWS, end = first + CPU_BLOCK_ROWS;

		CPU(embed_rows_bwd)(a, dx, sums + block * 3 * E, first, end < T ? end : T);
	}
	columns_add(q, a->dgamma.data, sums, 3 * E, blocks, E);
	columns_add(q, a->dbeta.data, sums + E, 3 * E, blocks, E);
	PARALLEL_LOOP(q, T * E > CPU_CHUNK)
	for (int64_t c = 0; c < E; c += slice) {
		const int64_t n = E - c < slice ? E - c : slice;

		CPU(embed_scatter)(a->dword, a->ids, a->ids, dx, T, c, n);
		CPU(embed_scatter)(a->dposition, a->positions, a->ids, dx, T, c, n);
		if (tensor_given(a->type))
			CPU(embed_scatter)(a->dtype, a->types, a->ids, dx, T, c, n);
	}
}
