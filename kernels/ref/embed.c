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

/* Whether a row before T goes to T's place in a table too. */
static bool REF(embed_came)(const int32_t *index, const int32_t *ids, int64_t t)
{
	for (int64_t u = 0; u < t; u++)
		if (index[u] == index[t] && ids[u] >= 0)
			return true;
	return false;
}

/* Rows of dx[T,E] are added to their places in TABLE: each place's sum is made in SUMS[E]. */
static void REF(embed_scatter)(struct tensor table, const int32_t *index, const int32_t *ids, const REAL *dx, int64_t T, double *sums)
{
	const int64_t E = table.cols;

	for (int64_t t = 0; t < T; t++) {
		if (ids[t] < 0 || REF(embed_came)(index, ids, t))
			continue;
		memset(sums, 0, (size_t)E * sizeof(*sums));
		for (int64_t u = t; u < T; u++) {
			for (int64_t c = 0; ids[u] >= 0 && index[u] == index[t] && c < E; c++)
				sums[c] += (double)dx[u * E + c];
		}
		REF(sums_add)((REAL *)table.data + index[t] * E, sums, E);
	}
}

/* Space: sums[2E], of LayerNorm's gradients and then of places; dx[T,E], and a row of embeddings. */
void REF(embed_bwd)(struct queue *q, const struct embed_bwd *a)
{
	const int64_t T = a->dy.rows, E = a->dy.cols;
	const REAL *mean = a->mean.data, *rstd = a->rstd.data;
	double *sums = a->space;
	REAL *dx = (REAL *)(sums + 2 * E), *x = dx + T * E;

	(void)q;
	memset(sums, 0, 2 * (size_t)E * sizeof(*sums));
	for (int64_t t = 0; t < T; t++) {
		const struct row_drop drop = row_drop_at(&a->drop, &a->seqs, t);
		REAL *d = dx + t * E;

		if (a->ids[t] < 0)
			continue;
		REF(embed_sum)(x, t, a->ids, a->positions, a->types, a->word, a->position, a->type);
		for (int64_t c = 0; c < E; c++)
			d[c] = (REAL)((double)((const REAL *)a->dy.data)[t * E + c] * row_drop_factor(&drop, c));
		REF(norm_row_grad)(d, d, NULL, x, a->gamma.data, mean[t], rstd[t], E, sums);
	}
	REF(sums_add)(a->dgamma.data, sums, E);
	REF(sums_add)(a->dbeta.data, sums + E, E);
	REF(embed_scatter)(a->dword, a->ids, a->ids, dx, T, sums);
	REF(embed_scatter)(a->dposition, a->positions, a->ids, dx, T, sums);
	if (tensor_given(a->type))
		REF(embed_scatter)(a->dtype, a->types, a->ids, dx, T, sums);
}
