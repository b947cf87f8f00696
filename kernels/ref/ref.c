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

/* Two rows of E elements: the sum of a row's embeddings and its gradient. */
static size_t embed_bwd_space(const struct kernels *k, const void *args)
{
	const struct embed_bwd *a = args;

	(void)k;
	return 2 * (size_t)a->dy.cols * dtype_size(a->dy.dtype);
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
}
