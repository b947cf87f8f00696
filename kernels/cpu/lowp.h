/* lowp.h - vectors from and to tensors of any dtype; element by element but for F32. */
#ifndef KERNELS_CPU_LOWP_H
#define KERNELS_CPU_LOWP_H

#include "kernels/convert.h"
#include "kernels/cpu/vec.h"

/* N elements from FIRST on. */
VEC_FN vf vf_load_any(struct tensor t, int64_t first, int64_t n)
{
	vf x = { 0 };

	if (t.dtype == DTYPE_F32)
		return vf_load_n((const float *)t.data + first, n);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)element_get(t.data, t.dtype, first + i);
	return x;
}

VEC_FN vu vu_bf16(vf x)
{
	const vu u = (vu)x, rounded = (u + 0x7FFF + (u >> 16 & 1)) >> 16, quiet = u >> 16 | 0x40;

	return (vu)vf_select((vi)(u & 0x7FFFFFFF) > 0x7F800000, (vf)quiet, (vf)rounded);
}

VEC_FN void vf_store_any(struct tensor t, int64_t first, vf x, int64_t n)
{
	if (t.dtype == DTYPE_F32) {
		vf_store_n((float *)t.data + first, x, n);
	} else if (t.dtype == DTYPE_BF16 && n == VL) {
		typedef uint16_t narrow __attribute__((vector_size(2 * VL)));
		const narrow y = __builtin_convertvector(vu_bf16(x), narrow);

		memcpy((uint16_t *)t.data + first, &y, sizeof(y));
	} else {
		for (int64_t i = 0; i < n; i++)
			element_put(t.data, t.dtype, first + i, (double)x[i]);
	}
}

#endif
