/*
 * convert.h - BF16 and F16 in plain C: to nearest, ties to even; NaN stays NaN. For kernels/ only.
 *
 * BF16 is the upper half of an F32. F16 is IEEE binary16: what is too large
 * becomes infinite, what is too small becomes subnormal, then zero.
 */
#ifndef KERNELS_CONVERT_H
#define KERNELS_CONVERT_H

#include "kernels/tensor.h"

#include <string.h>

static inline uint32_t f32_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static inline float f32_of_bits(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static inline float f32_of_bf16(uint16_t h) { return f32_of_bits((uint32_t)h << 16); }

static inline uint16_t bf16_of_f32(float x)
{
	const uint32_t u = f32_bits(x);

	if ((u & 0x7FFFFFFFu) > 0x7F800000u)
		return (uint16_t)(u >> 16 | 0x40);	/* a NaN, made quiet */
	return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1)) >> 16);
}

static inline float f32_of_f16(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3FF;

	if (exponent == 31)
		return f32_of_bits(sign | 0x7F800000u | fraction << 13);
	if (exponent == 0)
		return (sign ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
	return f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

static inline uint16_t f16_of_f32(float x)
{
	const uint32_t u = f32_bits(x), sign = u >> 16 & 0x8000, magnitude = u & 0x7FFFFFFFu;

	if (magnitude > 0x7F800000u)
		return (uint16_t)(sign | 0x7E00);
	if (magnitude >= 0x477FF000u)			/* 65520 and up */
		return (uint16_t)(sign | 0x7C00);
	if (magnitude < 0x38800000u) {			/* below 2^-14: in units of 2^-24, rounded by the addition */
		const float shifted = f32_of_bits(magnitude) + 0.5f;

		return (uint16_t)(sign | (f32_bits(shifted) - f32_bits(0.5f)));
	}
	return (uint16_t)(sign | (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13);
}

/* Element I of DATA. */
static inline double element_get(const void *data, enum dtype d, int64_t i)
{
	switch (d) {
	case DTYPE_F64: return ((const double *)data)[i];
	case DTYPE_BF16: return f32_of_bf16(((const uint16_t *)data)[i]);
	case DTYPE_F16: return f32_of_f16(((const uint16_t *)data)[i]);
	default: return ((const float *)data)[i];
	}
}

/* BF16 and F16 are rounded from F32. */
static inline void element_put(void *data, enum dtype d, int64_t i, double x)
{
	switch (d) {
	case DTYPE_F64: ((double *)data)[i] = x; break;
	case DTYPE_BF16: ((uint16_t *)data)[i] = bf16_of_f32((float)x); break;
	case DTYPE_F16: ((uint16_t *)data)[i] = f16_of_f32((float)x); break;
	default: ((float *)data)[i] = (float)x; break;
	}
}

#endif
