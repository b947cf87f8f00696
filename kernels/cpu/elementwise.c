/* elementwise.c - cast, copy, fill, scale, add: as fast as memory is. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/lowp.h"

/* Calls the statement that follows for i = 0, VL, ... of n elements, in chunks on all threads. */
#define CPU_ELEMENTS(q, i, n) \
	PARALLEL_LOOP(q, (n) > CPU_CHUNK) \
	for (int64_t chunk_ = 0; chunk_ < (n); chunk_ += CPU_CHUNK) \
		for (int64_t i = chunk_, end_ = (n) < chunk_ + CPU_CHUNK ? (n) : chunk_ + CPU_CHUNK; i < end_; i += VL)

void CPU(cast)(struct queue *q, const struct cast *a)
{
	const int64_t n = tensor_count(a->x);

	cast_shapes(a);
	if (a->x.dtype == DTYPE_F64 || a->y.dtype == DTYPE_F64) {
		cast_ref(q, a);		/* not by way of float */
		return;
	}
	CPU_ELEMENTS(q, i, n)
		vf_store_any(a->y, i, vf_load_any(a->x, i, vec_left(i, n)), vec_left(i, n));
}

void CPU(copy)(struct queue *q, const struct copy *a)
{
	const int64_t bytes = (int64_t)tensor_bytes(a->x), chunk = CPU_CHUNK * (int64_t)sizeof(float);

	copy_shapes(a);
	PARALLEL_LOOP(q, bytes > chunk)
	for (int64_t i = 0; i < bytes; i += chunk)
		memcpy((char *)a->y.data + i, (const char *)a->x.data + i, (size_t)(bytes - i < chunk ? bytes - i : chunk));
}

void CPU(fill)(struct queue *q, const struct fill *a)
{
	const int64_t n = tensor_count(a->y);
	const vf value = vf_set((float)a->value);

	fill_shapes(a);
	if (a->y.dtype == DTYPE_F64) {
		fill_ref(q, a);
		return;
	}
	CPU_ELEMENTS(q, i, n)
		vf_store_any(a->y, i, value, vec_left(i, n));
}

void CPU(scale)(struct queue *q, const struct scale *a)
{
	const int64_t n = tensor_count(a->x);
	const vf factor = vf_set((float)*a->factor);
	const float *x = a->x.data;
	float *y = a->y.data;

	scale_shapes(a);
	CPU_ELEMENTS(q, i, n)
		vf_store_n(y + i, vf_load_n(x + i, vec_left(i, n)) * factor, vec_left(i, n));
}

void CPU(add)(struct queue *q, const struct add *a)
{
	const int64_t n = tensor_count(a->y);
	const float *x = a->a.data, *y = a->b.data;
	float *sum = a->y.data;

	add_shapes(a);
	CPU_ELEMENTS(q, i, n)
		vf_store_n(sum + i, vf_load_n(x + i, vec_left(i, n)) + vf_load_n(y + i, vec_left(i, n)), vec_left(i, n));
}
