/* cpu.c - the cpu backend's table: ref's, and over it the widest vectors that this processor has. */
#include "kernels/cpu/cpu.h"

#include "base/cpu.h"

#define SLOT(op, name, space_fn) k->op = op##_##name; k->via[OP_##op] = #name; k->space[OP_##op] = space_fn;
#define SLOT_C(op, space_fn) SLOT(op, c, space_fn)
#define SLOT_AVX2(op, space_fn) SLOT(op, avx2, space_fn)
#define SLOT_AVX512(op, space_fn) SLOT(op, avx512, space_fn)

void cpu_fill(struct kernels *k)
{
	k->name = "cpu";
	k->dtypes = 1u << DTYPE_F32;
	k->gemm = "c";
	CPU_OPS(SLOT_C)
#if HAVE_AVX2
	if (cpu_has(CPU_AVX2)) {
		CPU_OPS(SLOT_AVX2)
		k->gemm = "avx2";
	}
#endif
#if HAVE_AVX512
	if (cpu_has(CPU_AVX512)) {
		CPU_OPS(SLOT_AVX512)
		k->gemm = HAVE_DNNL ? "avx512, dnnl" : "avx512";
	}
#endif
}
