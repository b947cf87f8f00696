/* panels.c - see panels.h. The blocks are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008). */
#include "kernels/cpu/panels.h"

#include "kernels/cpu/vmath.h"

/* --- packing ------------------------------------------------------------------------------------------------------------------ */

/* to[k][NR] = x[j][k] for 4 k and 4 j: a transposition in registers */
VEC_FN void CPU(pack_square)(float *to, const float *x, int64_t ld)
{
	const vec_four r0 = *(const vec_four_any *)x, r1 = *(const vec_four_any *)(x + ld);
	const vec_four r2 = *(const vec_four_any *)(x + 2 * ld), r3 = *(const vec_four_any *)(x + 3 * ld);
	const vec_four a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), b = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
	const vec_four c = __builtin_shufflevector(r0, r1, 2, 6, 3, 7), d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);

	*(vec_four_any *)to = __builtin_shufflevector(a, b, 0, 1, 4, 5);
	*(vec_four_any *)(to + NR) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
	*(vec_four_any *)(to + 2 * NR) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
	*(vec_four_any *)(to + 3 * NR) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

/* to[k][NR] = x[j][k] for cols columns j, ld from one to the next; 0 in the rest of NR */
static void CPU(pack_turned)(float *to, const float *x, int64_t ld, int64_t cols, int64_t K)
{
	for (int64_t k = 0; k < K; k += 4) {
		for (int64_t j = 0; j < NR; j += 4) {
			if (k + 4 <= K && j + 4 <= cols) {
				CPU(pack_square)(to + k * NR + j, x + j * ld + k, ld);
				continue;
			}
			for (int64_t e = 0; e < 16; e++) {
				if (k + e / 4 < K)
					to[(k + e / 4) * NR + j + e % 4] = j + e % 4 < cols ? x[(j + e % 4) * ld + k + e / 4] : 0;
			}
		}
	}
}

void CPU(panels_pack)(float *panels, const float *b, int64_t row, int64_t col, int64_t N, int64_t K, int64_t first, int64_t end)
{
	for (int64_t p = first; p < end; p++) {
		const int64_t j = p * NR, cols = N - j < NR ? N - j : NR;
		float *to = panels + j * K;

		if (col != 1) {
			CPU(pack_turned)(to, b + j * col, col, cols, K);
			continue;
		}
		for (int64_t k = 0; k < K; k++) {
			for (int64_t v = 0; v < NR; v += VL)
				vf_store(to + k * NR + v, v < cols ? vf_load_n(b + k * row + j + v, vec_left(v, cols)) : vf_set(0));
		}
	}
}

/* to[k][MR] = ROWS rows of a, contiguous over rows */
static void CPU(pack_rows)(float *to, const float *a, int64_t col, int64_t rows, int64_t K)
{
	for (int64_t k = 0; k < K; k++) {
		if (rows == MR)
			memcpy(to + k * MR, a + k * col, MR * sizeof(float));
		else
			memcpy(to + k * MR, a + k * col, (size_t)rows * sizeof(float));
	}
}

/* --- tiles -------------------------------------------------------------------------------------------------------------------- */

/*
 * sums[MR][NR] = a panel. BY_ROWS: a is [rows][K], LD apart; else packed, [K][MR]. ROWS, VECTORS and BY_ROWS are
 * constants wherever this is used, so that the sums are registers until the end.
 */
VEC_FN void CPU(tile_sum)(float *sums, const float *a, int64_t ld, const float *panel, int64_t K, const int rows, const int vectors, const bool by_rows)
{
	const int64_t a_row = by_rows ? ld : 1, a_col = by_rows ? 1 : MR;
	vf sum[MR][NV];

#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			sum[r][v] = vf_set(0);
	}
	for (int64_t k = 0; k < K; k++, a += a_col, panel += NR) {
		vf b[NV];

#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			b[v] = vf_load(panel + v * VL);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
			const vf x = vf_set(a[r * a_row]);

#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++)
				sum[r][v] = vf_fma(x, b[v], sum[r][v]);
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			vf_store(sums + r * NR + v * VL, sum[r][v]);
	}
}

typedef void CPU(tile_fn)(float *sums, const float *a, int64_t ld, const float *panel, int64_t K);

#define TILE(rows, vectors, by_rows) \
	static void CPU(tile_##rows##_##vectors##_##by_rows)(float *sums, const float *a, int64_t ld, const float *panel, int64_t K) \
	{ \
		CPU(tile_sum)(sums, a, ld, panel, K, rows, vectors, by_rows); \
	}
#define TILES(rows, by_rows) TILE(rows, 1, by_rows) TILE(rows, 2, by_rows) TILE(rows, 3, by_rows)
#define TILE_ROW(rows, by_rows) { CPU(tile_##rows##_1_##by_rows), CPU(tile_##rows##_2_##by_rows), CPU(tile_##rows##_3_##by_rows) }

TILES(1, 0) TILES(2, 0) TILES(4, 0)
TILES(1, 1) TILES(2, 1) TILES(4, 1)
#if MR == 8
TILES(8, 0)
TILES(8, 1)
#define TILE_ROWS(by_rows) { TILE_ROW(1, by_rows), TILE_ROW(2, by_rows), TILE_ROW(4, by_rows), TILE_ROW(8, by_rows) }
#define LOG_MR 3
#else
#define TILE_ROWS(by_rows) { TILE_ROW(1, by_rows), TILE_ROW(2, by_rows), TILE_ROW(4, by_rows) }
#define LOG_MR 2
#endif

/* [by rows][log2 of the rows][vectors - 1] */
static CPU(tile_fn) *const CPU(tiles)[2][LOG_MR + 1][NV] = { TILE_ROWS(0), TILE_ROWS(1) };

/* --- the whole --------------------------------------------------------------------------------------------------------------- */

/* COLS columns of one row of a tile go to c; J is the first one's place in N. */
static void CPU(row_put)(float *c, const float *sums, int64_t cols, bool add, const struct panels_end *e, int64_t j, int64_t at)
{
	for (int64_t v = 0; v < cols; v += VL) {
		const int64_t n = cols - v < VL ? cols - v : VL;
		vf x = vf_load(sums + v);

		if (add)
			x = vf_load_n(c + v, n) + x;
		if (e && e->bias)
			x = x + vf_load_n(e->bias + j + v, n);
		if (e && e->pre)
			vf_store_n(e->pre + at + v, x, n);
		if (e && e->act != ACT_NONE)
			x = vf_act(e->act, x);
		vf_store_n(c + v, x, n);
	}
}

void CPU(panels_multiply)(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *panels, int64_t M, int64_t N, int64_t K,
			  int64_t first, int64_t end, bool add, const struct panels_end *end_of)
{
	const bool by_rows = col == 1;
	float packed[PANELS_K * MR] __attribute__((aligned(64))), sums[MR * NR] __attribute__((aligned(64)));
	int log = LOG_MR;

	for (int64_t i = 0; i < M; i += 1 << log) {
		while (1 << log > M - i)
			log--;
		if (!by_rows)
			CPU(pack_rows)(packed, a + i, col, 1 << log, K);
		for (int64_t p = first; p < end; p++) {
			const int64_t j = p * NR, cols = N - j < NR ? N - j : NR;

			CPU(tiles)[by_rows][log][(cols - 1) / VL](sums, by_rows ? a + i * row : packed, row, panels + j * K, K);
			for (int64_t r = 0; r < 1 << log; r++)
				CPU(row_put)(c + (i + r) * ldc + j, sums + r * NR, cols, add, end_of, j, (i + r) * ldc + j);
		}
	}
}
