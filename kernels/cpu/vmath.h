/*
 * vmath.h - exponentials and activations of a vector. Polynomials are minimax fits in
 * double, rounded to float; errors are measured over all of the range.
 */
#ifndef KERNELS_CPU_VMATH_H
#define KERNELS_CPU_VMATH_H

#include "kernels/cpu/vec.h"
#include "kernels/ops.h"

/*
 * e^x to 9e-8 of its size, x first cut to -87.33 .. 88.37: 2^n p(r), x = n ln 2 + r. Adding 1.5 2^23 rounds x / ln 2 to
 * n and leaves n in the sum's low bits, from where it is shifted into the exponent.
 */
VEC_FN vf vf_exp(vf x)
{
	static const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f, magic = 12582912;
	vf t, n, r, p;

	x = -vf_max(vf_set(-88.37f), -vf_max(vf_set(-87.33f), x));	/* a NaN stays one */
	t = vf_fma(x, vf_set(1.44269504f), vf_set(magic));
	n = t - magic;
	r = vf_fma(n, vf_set(-ln2_high), x);
	r = vf_fma(n, vf_set(-ln2_low), r);
	p = vf_set(0.0013836845755577087f);
	p = vf_fma(p, r, vf_set(0.008374815806746483f));
	p = vf_fma(p, r, vf_set(0.04166822507977486f));
	p = vf_fma(p, r, vf_set(0.16666419804096222f));
	p = vf_fma(p, r, vf_set(0.49999991059303284f));
	p = vf_fma(p, r, vf_set(1));
	p = vf_fma(p, r, vf_set(1));
	return (vf)((vi)p + ((vi)t << 23));
}

/*
 * The normal distribution's Phi(x) to 2.2e-7; *GAUSS = e^(-x^2/2). The tail 1 - Phi(z) = e^(-z^2/2) R(1 / (1 + 0.3 z)) is
 * good to 6e-8 of its own size up to z = 13.2, but for the rounding of z^2.
 */
VEC_FN vf vf_phi(vf x, vf *gauss)
{
	const vf z = vf_abs(x), t = 1 / vf_fma(z, vf_set(0.3f), vf_set(1));
	vf r = vf_set(0.03829892352223396f), tail;

	r = vf_fma(r, t, vf_set(-0.16877973079681396f));
	r = vf_fma(r, t, vf_set(0.22786052525043488f));
	r = vf_fma(r, t, vf_set(-0.07559021562337875f));
	r = vf_fma(r, t, vf_set(0.14190123975276947f));
	r = vf_fma(r, t, vf_set(0.09495440870523453f));
	r = vf_fma(r, t, vf_set(0.12185082584619522f));
	r = vf_fma(r, t, vf_set(0.11949747055768967f));
	r = vf_fma(r, t, vf_set(6.592578756681178e-06f));
	*gauss = vf_exp(x * x * -0.5f);
	tail = r * *gauss;
	return vf_select(x < 0, tail, 1 - tail);
}

/* tanh: below 0.65 x p(x^2), to 1e-7 of its size; above 1 - 2 / (e^2x + 1) */
VEC_FN vf vf_tanh(vf x)
{
	const vf z = vf_abs(x), s = x * x, big = 1 - 2 / (vf_exp(z * 2) + 1);
	vf p = vf_set(-0.005468268413096666f);

	p = vf_fma(p, s, vf_set(0.02041519433259964f));
	p = vf_fma(p, s, vf_set(-0.05366528034210205f));
	p = vf_fma(p, s, vf_set(0.1333041489124298f));
	p = vf_fma(p, s, vf_set(-0.3333323001861572f));
	p = vf_fma(p, s, vf_set(1));
	return vf_select(z < 0.65f, x * p, vf_select(x < 0, -big, big));
}

/* (1 + tanh(u)) / 2 of GELU's approximation, u = sqrt(2 / pi) (x + 0.044715 x^3) */
VEC_FN vf vf_gelu_gate(vf x)
{
	const vf u2 = x * -1.5957691216f * vf_fma(x * x, vf_set(0.044715f), vf_set(1));

	return 1 / (1 + vf_exp(u2));
}

VEC_FN vf vf_act(enum act act, vf x)
{
	vf gauss;

	switch (act) {
	case ACT_GELU: return x * vf_phi(x, &gauss);
	case ACT_GELU_TANH: return x * vf_gelu_gate(x);
	case ACT_RELU: return vf_max(vf_set(0), x);
	case ACT_TANH: return vf_tanh(x);
	default: return x;
	}
}

/* The derivative of act at x. */
VEC_FN vf vf_act_slope(enum act act, vf x)
{
	vf gauss, y;

	switch (act) {
	case ACT_GELU:
		y = vf_phi(x, &gauss);
		return vf_fma(x * 0.3989422804f, gauss, y);
	case ACT_GELU_TANH:
		y = vf_gelu_gate(x);
		return vf_fma(x * y * (1 - y), 1.5957691216f * vf_fma(x * x, vf_set(3 * 0.044715f), vf_set(1)), y);
	case ACT_RELU: return vf_select(x > 0, vf_set(1), vf_set(0));
	case ACT_TANH:
		y = vf_tanh(x);
		return vf_fma(-y, y, vf_set(1));
	default: return vf_set(1);
	}
}

#endif
