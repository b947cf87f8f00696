/*
 * vec.h - one vector type for three kinds of processor.
 *
 * The files of kernels/cpu/ are written over vf, a vector of VL floats. Compiled by
 * themselves they are the op in plain C vectors of 16 bytes, which any processor has
 * ("c"); ops_avx2.c and ops_avx512.c include them again for wider ones. CPU(name)
 * gives each its own name. The order of every sum is written down here or there, so
 * results depend on VL but not on the compiler, threads or alignment.
 */
#ifndef KERNELS_CPU_VEC_H
#define KERNELS_CPU_VEC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef CPU
#define CPU(name) name##_c
#define VL 4
#endif
#if VL > 4
#include <immintrin.h>
#endif

typedef float vf __attribute__((vector_size(4 * VL)));
typedef int32_t vi __attribute__((vector_size(4 * VL)));
typedef uint32_t vu __attribute__((vector_size(4 * VL)));
typedef float vf_any __attribute__((vector_size(4 * VL), aligned(4), may_alias));	/* in memory, wherever it stands */
typedef uint32_t vu_any __attribute__((vector_size(4 * VL), aligned(4), may_alias));

/* for (i = 0, VL, 2 VL ... below n): vec_left(i, n) elements each */
#define VEC_EACH(i, n) for (int64_t i = 0; i < (n); i += VL)

#define VEC_FN static inline __attribute__((always_inline, unused))

VEC_FN vf vf_load(const float *p) { return *(const vf_any *)p; }
VEC_FN void vf_store(float *p, vf x) { *(vf_any *)p = x; }
VEC_FN vf vf_set(float x) { return x - (vf){ 0 }; }
VEC_FN vi vi_set(int32_t x) { return x - (vi){ 0 }; }
VEC_FN vu vu_set(uint32_t x) { return x - (vu){ 0 }; }

/* Elements that are left of N from I on, at most VL. */
VEC_FN int64_t vec_left(int64_t i, int64_t n) { return n - i < VL ? n - i : VL; }

/* The first N (1 .. VL) elements; loads give 0 for the rest. */
VEC_FN vf vf_load_n(const float *p, int64_t n)
{
	vf x = { 0 };

	if (n >= VL)
		return vf_load(p);
#if VL == 16
	x = (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
	for (int64_t i = 0; i < n; i++)
		x[i] = p[i];
#endif
	return x;
}

VEC_FN void vf_store_n(float *p, vf x, int64_t n)
{
	if (n >= VL) {
		vf_store(p, x);
		return;
	}
#if VL == 16
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#else
	for (int64_t i = 0; i < n; i++)
		p[i] = x[i];
#endif
}

/* a b + c, rounded once where the processor can */
VEC_FN vf vf_fma(vf a, vf b, vf c)
{
#if VL == 16
	return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif VL == 8
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return a * b + c;
#endif
}

/* Element by element: a where MASK is all ones, b where it is 0. */
VEC_FN vf vf_select(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }

/* x with REST from element N on */
VEC_FN vf vf_first_or(vf x, int64_t n, float rest)
{
	vi lane;

	if (n >= VL)
		return x;
	for (int i = 0; i < VL; i++)
		lane[i] = i;
	return vf_select(lane < (int32_t)n, x, vf_set(rest));
}

/* x with zeros from element N on */
VEC_FN vf vf_first(vf x, int64_t n) { return vf_first_or(x, n, 0); }

/* b where one of them is NaN */
VEC_FN vf vf_max(vf a, vf b)
{
#if VL == 16
	return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VL == 8
	return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
	return vf_select(a > b, a, b);
#endif
}

VEC_FN vf vf_abs(vf x) { return (vf)((vi)x & vi_set(0x7FFFFFFF)); }

VEC_FN vf vf_sqrt(vf x)
{
#if VL == 16
	return (vf)_mm512_sqrt_ps((__m512)x);
#elif VL == 8
	return (vf)_mm256_sqrt_ps((__m256)x);
#else
	for (int i = 0; i < VL; i++)
		x[i] = sqrtf(x[i]);
	return x;
#endif
}

/* x[0] and x[1], element by element in turn: x0[0] x1[0] x0[1] x1[1] ... */
VEC_FN void vf_interleave(vf x[2])
{
#if VL == 16
	static const int32_t low[16] = { 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 };
	const __m512i index = _mm512_loadu_si512(low);
	const __m512 a = (__m512)x[0], b = (__m512)x[1];

	x[0] = (vf)_mm512_permutex2var_ps(a, index, b);
	x[1] = (vf)_mm512_permutex2var_ps(a, _mm512_add_epi32(index, _mm512_set1_epi32(8)), b);
#elif VL == 8
	const __m256 a = _mm256_unpacklo_ps((__m256)x[0], (__m256)x[1]), b = _mm256_unpackhi_ps((__m256)x[0], (__m256)x[1]);

	x[0] = (vf)_mm256_permute2f128_ps(a, b, 0x20);
	x[1] = (vf)_mm256_permute2f128_ps(a, b, 0x31);
#else
	const vf a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);

	x[0] = a;
	x[1] = b;
#endif
}

typedef float vec_four __attribute__((vector_size(16)));
typedef float vec_four_any __attribute__((vector_size(16), aligned(4), may_alias));

#if VL > 4
VEC_FN vec_four vec_fold_sum(vf x)
{
#if VL == 16
	const __m256 y = _mm256_add_ps(_mm512_castps512_ps256((__m512)x), _mm512_extractf32x8_ps((__m512)x, 1));
#else
	const __m256 y = (__m256)x;
#endif
	return (vec_four)_mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
}

VEC_FN vec_four vec_fold_max(vf x)
{
#if VL == 16
	const __m256 y = _mm256_max_ps(_mm512_castps512_ps256((__m512)x), _mm512_extractf32x8_ps((__m512)x, 1));
#else
	const __m256 y = (__m256)x;
#endif
	return (vec_four)_mm_max_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
}
#else
VEC_FN vf vec_fold_sum(vf x) { return x; }
VEC_FN vf vec_fold_max(vf x) { return x; }
#endif

/* The sum of all elements, by halves. */
VEC_FN float vf_sum(vf x)
{
	const vec_four f = vec_fold_sum(x);

	return (f[0] + f[2]) + (f[1] + f[3]);
}

VEC_FN float vf_largest(vf x)
{
	const vec_four f = vec_fold_max(x);
	const float a = f[0] > f[2] ? f[0] : f[2], b = f[1] > f[3] ? f[1] : f[3];

	return a > b ? a : b;
}

#endif
