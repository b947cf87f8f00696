/*
 * drop.h - the masks of kernels/dropout.h, many columns at a time.
 *
 * Rows are walked in rising order: drop_row finds the sequence of each and opens its stream only when it is another one
 * than before. drop_chunk then gives DROP_CHUNK factors, 0 or the scale, of one row, and drop_apply uses them on all of it.
 */
#ifndef KERNELS_CPU_DROP_H
#define KERNELS_CPU_DROP_H

#include "kernels/cpu/vec.h"
#include "kernels/host.h"

#define DROP_CHUNK (8 * VL)	/* columns; VL Philox blocks at once */

struct drop_walk {
	const struct dropout *drop;
	const struct packing *seqs;
	int64_t first, end;		/* packed rows that NOW is the stream of */
	struct row_drop now;
};

VEC_FN struct drop_walk drop_start(const struct dropout *drop, const struct packing *seqs) { return (struct drop_walk){ .drop = drop, .seqs = seqs }; }

/* The dropout of packed row R. */
VEC_FN struct row_drop drop_row(struct drop_walk *w, int64_t r)
{
	int b;

	if (w->drop->rate == 0 || !w->seqs->starts)
		return row_drop_at(w->drop, w->seqs, r);
	if (r < w->first || r >= w->end) {
		b = packing_find(w->seqs, r);
		w->now = row_drop_at(w->drop, w->seqs, r);
		w->first = b < 0 ? w->seqs->starts[w->seqs->B] : w->seqs->starts[b];
		w->end = b < 0 ? INT64_MAX : w->seqs->starts[b + 1];
	}
	w->now.row = (uint32_t)(r - w->first);
	return w->now;
}

/* The upper and lower halves of x times M, a constant. */
VEC_FN void vu_multiply(vu x, uint32_t m, vu *high, vu *low)
{
#if VL == 16
	const __m512i a = (__m512i)x, f = _mm512_set1_epi32((int)m);
	const __m512i even = _mm512_mul_epu32(a, f), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), f);

	*low = (vu)_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
	*high = (vu)_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
#elif VL == 8
	const __m256i a = (__m256i)x, f = _mm256_set1_epi32((int)m);
	const __m256i even = _mm256_mul_epu32(a, f), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), f);

	*low = (vu)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
	*high = (vu)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
#else
	for (int i = 0; i < VL; i++) {
		const uint64_t product = (uint64_t)x[i] * m;

		(*high)[i] = (uint32_t)(product >> 32);
		(*low)[i] = (uint32_t)product;
	}
#endif
}

/* rng_philox on VL counters. */
VEC_FN void vu_philox(const uint32_t key[2], vu x[4])
{
	uint32_t k0 = key[0], k1 = key[1];

	for (int round = 0; round < 10; round++) {
		vu p_high, p_low, q_high, q_low;

		vu_multiply(x[0], 0xD2511F53u, &p_high, &p_low);
		vu_multiply(x[2], 0xCD9E8D57u, &q_high, &q_low);
		x[0] = q_high ^ x[1] ^ k0;
		x[1] = q_low;
		x[2] = p_high ^ x[3] ^ k1;
		x[3] = p_low;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

/* to[VL][4] = x[4][VL], in the order of lanes that vu_order gives */
VEC_FN void vu_turn(uint32_t *to, const vu x[4])
{
#if VL == 16
	const __m512i a = _mm512_unpacklo_epi32((__m512i)x[0], (__m512i)x[1]), b = _mm512_unpacklo_epi32((__m512i)x[2], (__m512i)x[3]);
	const __m512i c = _mm512_unpackhi_epi32((__m512i)x[0], (__m512i)x[1]), d = _mm512_unpackhi_epi32((__m512i)x[2], (__m512i)x[3]);

	_mm512_storeu_si512(to, _mm512_unpacklo_epi64(a, b));
	_mm512_storeu_si512(to + 16, _mm512_unpackhi_epi64(a, b));
	_mm512_storeu_si512(to + 32, _mm512_unpacklo_epi64(c, d));
	_mm512_storeu_si512(to + 48, _mm512_unpackhi_epi64(c, d));
#elif VL == 8
	const __m256i a = _mm256_unpacklo_epi32((__m256i)x[0], (__m256i)x[1]), b = _mm256_unpacklo_epi32((__m256i)x[2], (__m256i)x[3]);
	const __m256i c = _mm256_unpackhi_epi32((__m256i)x[0], (__m256i)x[1]), d = _mm256_unpackhi_epi32((__m256i)x[2], (__m256i)x[3]);

	_mm256_storeu_si256((__m256i *)to, _mm256_unpacklo_epi64(a, b));
	_mm256_storeu_si256((__m256i *)(to + 8), _mm256_unpackhi_epi64(a, b));
	_mm256_storeu_si256((__m256i *)(to + 16), _mm256_unpacklo_epi64(c, d));
	_mm256_storeu_si256((__m256i *)(to + 24), _mm256_unpackhi_epi64(c, d));
#else
	for (int i = 0; i < VL; i++) {
		for (int w = 0; w < 4; w++)
			to[4 * i + w] = x[w][i];
	}
#endif
}

/* Which block each lane computes, so that vu_turn stores them in order: lane 4q + i, block i VL/4 + q. */
VEC_FN vu vu_order(void)
{
	vu order;

	for (uint32_t lane = 0; lane < VL; lane++)
		order[lane] = lane % 4 * (VL / 4) + lane / 4;
	return order;
}

/* factors[DROP_CHUNK] = those of columns C .. of D's row; C is a multiple of DROP_CHUNK */
VEC_FN void drop_chunk(const struct row_drop *d, int64_t c, float *factors)
{
	const vf scale = vf_set((float)d->scale);
	uint32_t draws[4 * VL] __attribute__((aligned(64)));
	vu x[4] = { vu_order() + (uint32_t)(c / DROPOUT_COLUMNS), vu_set(d->row), vu_set(d->stream.high[0]), vu_set(d->stream.high[1]) };
	vf pair[2];

	if (!d->threshold) {
		for (int i = 0; i < DROP_CHUNK; i += VL)
			vf_store(factors + i, vf_set(1));
		return;
	}
	vu_philox(d->stream.key, x);
	vu_turn(draws, x);
	for (int i = 0; i < 4 * VL; i += VL) {		/* a word holds the draws of two neighbours */
		const vu words = *(const vu_any *)(draws + i), even = words & 0xFFFF, odd = words >> 16;

		pair[0] = vf_select((vi)even >= (vi)vu_set(d->threshold), scale, vf_set(0));
		pair[1] = vf_select((vi)odd >= (vi)vu_set(d->threshold), scale, vf_set(0));
		vf_interleave(pair);
		vf_store(factors + 2 * i, pair[0]);
		vf_store(factors + 2 * i + VL, pair[1]);
	}
}

/* y[n] = x dropped out; y may be x */
VEC_FN void drop_apply(float *y, const float *x, const struct row_drop *d, int64_t n)
{
	float factors[DROP_CHUNK] __attribute__((aligned(64)));

	VEC_EACH(c, n) {
		const int64_t left = vec_left(c, n);

		if (c % DROP_CHUNK == 0)
			drop_chunk(d, c, factors);
		vf_store_n(y + c, vf_load_n(x + c, left) * vf_load(factors + c % DROP_CHUNK), left);
	}
}

#endif
