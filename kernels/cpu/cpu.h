/* cpu.h - the ops that the cpu backend has code of its own for, and the space they need. A new op is a line here. */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/vec.h"
#include "kernels/host.h"

/* X(op, function that says its space; NULL: none) */
#define CPU_OPS(X) \
	X(embed_fwd, NULL) \
	X(embed_bwd, embed_bwd_cpu_space) \
	X(linear_fwd, linear_fwd_cpu_space) \
	X(linear_bwd, linear_bwd_cpu_space) \
	X(attention_fwd, attention_fwd_cpu_space) \
	X(attention_bwd, attention_bwd_cpu_space) \
	X(residual_norm_fwd, NULL) \
	X(residual_norm_bwd, residual_norm_bwd_cpu_space) \
	X(dropout_rows, NULL) \
	X(rows_gather, NULL) \
	X(rows_scatter_add, NULL) \
	X(mlm_loss, mlm_loss_cpu_space) \
	X(sumsq_finite, sumsq_finite_cpu_space) \
	X(adamw, NULL) \
	X(lamb_direction, lamb_direction_cpu_space) \
	X(lamb_apply, NULL) \
	X(cast, NULL) \
	X(copy, NULL) \
	X(fill, NULL) \
	X(scale, NULL) \
	X(add, NULL)

#define CPU_PROTOTYPES(op, space) \
	void op##_c(struct queue *q, const struct op *a); \
	void op##_avx2(struct queue *q, const struct op *a); \
	void op##_avx512(struct queue *q, const struct op *a);
CPU_OPS(CPU_PROTOTYPES)
#undef CPU_PROTOTYPES

#define CPU_BLOCK_ROWS 64	/* of which gradients are summed apart, then block by block: the order depends on no thread */
#define CPU_CHUNK 16384		/* parameters that are one task */

/* See space.c: the floats, in parts, that some ops need. */
struct attention_space {
	int64_t panels, rows, whole;	/* floats of a head's panels, of one block of query rows, of all of a thread's */
};
#define ATTENTION_ROWS 32	/* queries whose probabilities are in memory at once, per thread */
struct attention_space attention_fwd_parts(int64_t S, int64_t D);
struct attention_space attention_bwd_parts(int64_t S, int64_t D);
#define MLM_TILE 768		/* ids whose logits are in memory at once */
#define MLM_ROW_BYTES 24	/* what is kept of each row */

size_t embed_bwd_cpu_space(const struct kernels *k, const void *args);
size_t linear_fwd_cpu_space(const struct kernels *k, const void *args);
size_t linear_bwd_cpu_space(const struct kernels *k, const void *args);
size_t attention_fwd_cpu_space(const struct kernels *k, const void *args);
size_t attention_bwd_cpu_space(const struct kernels *k, const void *args);
size_t residual_norm_bwd_cpu_space(const struct kernels *k, const void *args);
size_t mlm_loss_cpu_space(const struct kernels *k, const void *args);
size_t sumsq_finite_cpu_space(const struct kernels *k, const void *args);
size_t lamb_direction_cpu_space(const struct kernels *k, const void *args);

static inline int64_t cpu_blocks(int64_t rows) { return (rows + CPU_BLOCK_ROWS - 1) / CPU_BLOCK_ROWS; }

#endif
