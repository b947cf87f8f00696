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

#define PACK_AHEAD 12		/* lines that are asked for before they are needed */

/*
 * to = ROWS rows of a, contiguous over rows, MR at a time: [blocks of rows][K][MR]. All rows of a cache line are taken at
 * once, since a's lines are far apart.
 */
static void CPU(pack_rows)(float *to, const float *a, int64_t col, int64_t rows, int64_t K)
{
	for (int64_t k = 0; k < K; k++, a += col) {
		__builtin_prefetch(a + PACK_AHEAD * col);
		if (rows == PACK_ROWS) {
#pragma GCC unroll 4
			for (int64_t r = 0; r < PACK_ROWS; r += MR)
				memcpy(to + r * K + k * MR, a + r, MR * sizeof(float));
			continue;
		}
		for (int64_t r = 0; r < rows; r++)
			to[r / MR * MR * K + k * MR + r % MR] = a[r];
	}
}

/* --- tiles -------------------------------------------------------------------------------------------------------------------- */

/* Where a tile goes: c, rows LD apart, = or, with ADD, +=; then plus bias, unless that is NULL. */
struct tile_out {
	float *c;
	int64_t ld;
	bool add;
	const float *bias;
};

/*
 * out = a panel. BY_ROWS: a is [rows][K], LD apart; else packed, [K][MR]. ROWS, VECTORS and BY_ROWS are constants
 * wherever this is used, so that the sums are registers until the end.
 */
VEC_FN void CPU(tile_sum)(const struct tile_out *out, const float *a, int64_t ld, const float *panel, int64_t K, const int rows, const int vectors,
			  const bool by_rows)
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
		for (int v = 0; v < vectors; v++) {
			float *c = out->c + r * out->ld + v * VL;
			vf x = sum[r][v];

			if (out->add)
				x = vf_load(c) + x;
			if (out->bias)
				x = x + vf_load(out->bias + v * VL);
			vf_store(c, x);
		}
	}
}

typedef void CPU(tile_fn)(const struct tile_out *out, const float *a, int64_t ld, const float *panel, int64_t K);

#define TILE(rows, vectors, by_rows) \
	static void CPU(tile_##rows##_##vectors##_##by_rows)(const struct tile_out *out, const float *a, int64_t ld, const float *panel, int64_t K) \
	{ \
		CPU(tile_sum)(out, a, ld, panel, K, rows, vectors, by_rows); \
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

/* c as panels_multiply() has it, from its row I and column J on. */
struct tile_place {
	float *c;
	int64_t ldc, i, j;
	bool add;
	const struct panels_end *end_of;
};

/* 1 << LOG rows and COLS columns at a place = or += a panel, and the end of it where K ends. */
VEC_FN void CPU(tile_put)(const struct tile_place *at, const float *a, int64_t ld, const float *panel, int64_t K, bool by_rows, int log, int64_t cols)
{
	CPU(tile_fn) *const tile = CPU(tiles)[by_rows][log][(cols - 1) / VL];
	const struct panels_end *e = at->end_of;
	const int64_t first = at->i * at->ldc + at->j;
	float sums[MR * NR] __attribute__((aligned(64)));

	if (cols % VL == 0 && (!e || (!e->pre && e->act == ACT_NONE))) {
		tile(&(struct tile_out){ .c = at->c + first, .ld = at->ldc, .add = at->add, .bias = e && e->bias ? e->bias + at->j : NULL }, a, ld, panel, K);
		return;
	}
	tile(&(struct tile_out){ .c = sums, .ld = NR }, a, ld, panel, K);
	for (int64_t r = 0; r < 1 << log; r++)
		CPU(row_put)(at->c + first + r * at->ldc, sums + r * NR, cols, at->add, e, at->j, first + r * at->ldc);
}

void CPU(panels_multiply)(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *panels, int64_t M, int64_t N, int64_t K,
			  int64_t first, int64_t end, bool add, const struct panels_end *end_of)
{
	const bool by_rows = col == 1;
	struct tile_place at = { .c = c, .ldc = ldc, .add = add, .end_of = end_of };
	float packed[PANELS_K * PACK_ROWS] __attribute__((aligned(64)));
	int log = LOG_MR;

	for (; at.i < M; at.i += 1 << log) {
		const float *rows = by_rows ? a + at.i * row : packed + at.i % PACK_ROWS / MR * MR * K + at.i % MR;

		while (1 << log > M - at.i)
			log--;
		if (!by_rows && at.i % PACK_ROWS == 0)
			CPU(pack_rows)(packed, a + at.i, col, M - at.i < PACK_ROWS ? M - at.i : PACK_ROWS, K);
		for (int64_t p = first; p < end; p++) {
			at.j = p * NR;
			CPU(tile_put)(&at, rows, row, panels + at.j * K, K, by_rows, log, N - at.j < NR ? N - at.j : NR);
		}
	}
}
