/* ref.c - the reference backend's table: each op by the dtype of its tensor. */
#include "kernels/ref/ref.h"

#define OP(name, by, f32, bf16, cuda, what) \
	void name##_ref(struct queue *q, const struct name *a) \
	{ \
		name##_shapes(a); \
		if (a->by.dtype == DTYPE_F64) \
			name##_ref_f64(q, a); \
		else \
			name##_ref_f32(q, a); \
	}
#include "kernels/kernels.def"
#undef OP

/* Sums, in double; see each op. */
static size_t sums(int64_t n) { return (size_t)n * sizeof(double); }

static size_t embed_bwd_space(const struct kernels *k, const void *args)
{
	const struct embed_bwd *a = args;

	(void)k;
	return sums(2 * a->dy.cols) + (size_t)((a->dy.rows + 1) * a->dy.cols) * dtype_size(a->dy.dtype);
}

static size_t residual_norm_bwd_space(const struct kernels *k, const void *args)
{
	const struct residual_norm_bwd *a = args;

	(void)k;
	return sums(2 * a->dy.cols);
}

static size_t mlm_loss_space(const struct kernels *k, const void *args)
{
	const struct mlm_loss *a = args;

	(void)k;
	return sums(a->h.rows + a->h.cols);
}

void ref_fill(struct kernels *k)
{
	k->name = "ref";
	k->gemm = "ref";
	k->dtypes = 1u << DTYPE_F32 | 1u << DTYPE_F64;
#define OP(op, by, f32, bf16, cuda, what) k->op = op##_ref; k->via[OP_##op] = "ref";
#include "kernels/kernels.def"
#undef OP
	k->space[OP_embed_bwd] = embed_bwd_space;
	k->space[OP_residual_norm_bwd] = residual_norm_bwd_space;
	k->space[OP_mlm_loss] = mlm_loss_space;
}
