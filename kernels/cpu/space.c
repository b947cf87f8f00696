/* space.c - the space of the cpu backend's ops. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/gemm.h"

static size_t floats(int64_t n) { return (size_t)n * sizeof(float); }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Elements of a row of N, such that the next begins on a cache line. */
static int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }

/* dx rows, and dgamma, dbeta and a row to work in of each block */
size_t embed_bwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct embed_bwd *a = args;

	(void)k;
	return floats((cpu_blocks(a->dy.rows) * 3 + a->dy.rows) * a->dy.cols);
}

size_t linear_fwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct linear_fwd *a = args;

	(void)k;
	return floats(gemm_size(a->w.rows, a->x.cols));
}

size_t linear_bwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct linear_bwd *a = args;
	const int64_t N = a->x.rows, in = a->x.cols, out = a->w.rows;

	(void)k;
	return floats(larger(cpu_blocks(N) * out, gemm_size(in, larger(out, N))));
}

struct attention_space attention_fwd_parts(int64_t S, int64_t D)
{
	struct attention_space s = { .panels = padded(panels_size(S, D) + panels_size(D, S)), .rows = ATTENTION_ROWS * padded(S) };

	s.whole = s.panels + s.rows;
	return s;
}

struct attention_space attention_bwd_parts(int64_t S, int64_t D)
{
	struct attention_space s = { .panels = padded(2 * panels_size(S, D) + panels_size(D, S) + 2 * panels_size(D, ATTENTION_ROWS)),
				     .rows = ATTENTION_ROWS * padded(S) };

	s.whole = s.panels + 2 * s.rows;
	return s;
}

size_t attention_fwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct attention_fwd *a = args;

	return floats(k->threads * attention_fwd_parts(a->seqs.S, a->context.cols / a->A).whole);
}

size_t attention_bwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct attention_bwd *a = args;

	return floats(k->threads * attention_bwd_parts(a->seqs.S, a->context.cols / a->A).whole);
}

/* dgamma and dbeta of each block */
size_t residual_norm_bwd_cpu_space(const struct kernels *k, const void *args)
{
	const struct residual_norm_bwd *a = args;

	(void)k;
	return floats(cpu_blocks(a->dy.rows) * 2 * a->dy.cols);
}

/* See struct mlm_space in mlm_loss.c: a tile of logits, a block's sums of bias gradients, the products' panels. */
size_t mlm_loss_cpu_space(const struct kernels *k, const void *args)
{
	const struct mlm_loss *a = args;
	const int64_t P = a->h.rows, E = a->h.cols;

	(void)k;
	return (size_t)P * MLM_ROW_BYTES + floats(cpu_blocks(P) * MLM_TILE + P * MLM_TILE) +
	       floats(larger(gemm_size(MLM_TILE, E), gemm_size(E, larger(MLM_TILE, P))));
}

/* Chunks that segments within N elements can have. */
static int64_t chunks(int64_t n, int n_segments) { return n / CPU_CHUNK + n_segments; }

size_t sumsq_finite_cpu_space(const struct kernels *k, const void *args)
{
	const struct sumsq_finite *a = args;

	(void)k;
	return (size_t)chunks(tensor_count(a->x), a->n_segments) * sizeof(double);
}

size_t lamb_direction_cpu_space(const struct kernels *k, const void *args)
{
	const struct lamb_direction *a = args;

	(void)k;
	return 2 * (size_t)chunks(tensor_count(a->w), a->n_segments) * sizeof(double);
}
