/* embed.c - rows of the embedding tables, added, normalised, dropped out. */
#include "kernels/ref/ref.h"
#include "kernels/ref/norm.h"

/* x[E] = the sum of row T's embeddings */
static void REF(embed_sum)(REAL *x, int64_t t, const int32_t *ids, const int32_t *positions, const int32_t *types,
			   struct tensor word, struct tensor position, struct tensor type)
{
	const int64_t E = word.cols;
	const REAL *w = (const REAL *)word.data + ids[t] * E, *p = (const REAL *)position.data + positions[t] * E;
	const REAL *s = tensor_given(type) ? (const REAL *)type.data + types[t] * E : NULL;

	for (int64_t c = 0; c < E; c++)
		x[c] = w[c] + p[c] + (s ? s[c] : 0);
}

void REF(embed_fwd)(struct queue *q, const struct embed_fwd *a)
{
	const int64_t T = a->y.rows, E = a->y.cols;
	REAL *mean = a->mean.data, *rstd = a->rstd.data;

	(void)q;
	for (int64_t t = 0; t < T; t++) {
		REAL *y = (REAL *)a->y.data + t * E;
		struct row_drop drop;

		if (a->ids[t] < 0) {
			mean[t] = rstd[t] = 0;
			memset(y, 0, (size_t)E * sizeof(*y));
			continue;
		}
		REF(embed_sum)(y, t, a->ids, a->positions, a->types, a->word, a->position, a->type);
		REF(norm_row)(y, y, a->gamma.data, a->beta.data, E, a->eps, &mean[t], &rstd[t]);
		drop = row_drop_at(&a->drop, &a->seqs, t);
		for (int64_t c = 0; c < E; c++)
			y[c] = (REAL)((double)y[c] * row_drop_factor(&drop, c));
	}
}

static void REF(row_add)(struct tensor table, int64_t row, const REAL *x)
{
	REAL *y = (REAL *)table.data + row * table.cols;

	for (int64_t c = 0; c < table.cols; c++)
		y[c] += x[c];
}

void REF(embed_bwd)(struct queue *q, const struct embed_bwd *a)
{
	const int64_t T = a->dy.rows, E = a->dy.cols;
	const REAL *mean = a->mean.data, *rstd = a->rstd.data;
	REAL *x = a->space;

	(void)q;
	for (int64_t t = 0; t < T; t++) {
		const REAL *dy = (const REAL *)a->dy.data + t * E;
		const struct row_drop drop = row_drop_at(&a->drop, &a->seqs, t);
		REAL *dx;

		if (a->ids[t] < 0)
			continue;
		REF(embed_sum)(x, t, a->ids, a->positions, a->types, a->word, a->position, a->type);
		dx = x + E;
		for (int64_t c = 0; c < E; c++)
			dx[c] = (REAL)((double)dy[c] * row_drop_factor(&drop, c));
		REF(norm_row_grad)(dx, dx, NULL, x, a->gamma.data, mean[t], rstd[t], E, a->dgamma.data, a->dbeta.data);
		REF(row_add)(a->dword, a->ids[t], dx);
		REF(row_add)(a->dposition, a->positions[t], dx);
		if (tensor_given(a->type))
			REF(row_add)(a->dtype, a->types[t], dx);
	}
}
