/*
 * rng.h - random numbers as a pure function of what they are for.
 *
 * Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
 * SC'11): a keyed bijection of 128-bit counters. A stream is named by (seed,
 * purpose, document key, occurrence, pass, item) and holds 2^66 draws:
 *
 *	P(k, x)   Philox4x32-10 with 64-bit key k on the 128-bit block x
 *	t = P(seed, (key.lo, key.hi))
 *	s = P(seed, t xor (purpose, occurrence, pass, item))
 *	block i of the stream = P((s.w2, s.w3), (i.lo, i.hi, s.w0, s.w1))
 *
 * with words w0..w3 of 32 bits, least significant first: seed is the key's
 * (w0, w1) = (low, high half); draws take a block's words w0, w1, w2, w3 in order.
 * shards/FORMAT.md specifies this with test vectors; it never changes within a
 * format version. Plain C that compiles as CUDA too.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

#ifdef __CUDACC__
#define RNG_FN static inline __host__ __device__
#else
#define RNG_FN static inline
#endif

/* What a stream is for; the numbers are part of the formats. */
enum rng_purpose {
	RNG_INSTANCES = 1,	/* lengths, splits and next sentences of a document's pass */
	RNG_ORDER = 2,		/* an instance's place in its shard */
	RNG_STATIC_MASK = 3,	/* masks drawn when the shard is made */
	RNG_DYNAMIC_MASK = 4,	/* masks drawn by the reader; pass = epoch */
	RNG_SPLIT = 5,		/* hold-out */
	RNG_SAMPLE_ORDER = 6,	/* order of training */
	RNG_DROPOUT = 7,
	RNG_INIT = 8,		/* initial weights */
	RNG_TEST = 99,
};

/* What the seed and a document's key make of a stream's name: for many streams of one document. */
struct rng_key {
	uint32_t seed[2], t[4];
};

struct rng {
	uint32_t key[2];
	uint32_t high[2];	/* upper half of the counter */
	uint64_t block;		/* next block */
	uint32_t words[4];
	unsigned used;		/* words of the current block already given; 4 = none left */
};

RNG_FN void rng_philox(const uint32_t key[2], const uint32_t in[4], uint32_t out[4])
{
	uint32_t k0 = key[0], k1 = key[1], a = in[0], b = in[1], c = in[2], d = in[3];

	for (int round = 0; round < 10; round++) {
		uint64_t p = (uint64_t)0xD2511F53u * a, q = (uint64_t)0xCD9E8D57u * c;

		a = (uint32_t)(q >> 32) ^ b ^ k0;
		b = (uint32_t)q;
		c = (uint32_t)(p >> 32) ^ d ^ k1;
		d = (uint32_t)p;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
}

RNG_FN void rng_key_open(struct rng_key *k, uint64_t seed, uint64_t key_hi, uint64_t key_lo)
{
	const uint32_t x[4] = { (uint32_t)key_lo, (uint32_t)(key_lo >> 32), (uint32_t)key_hi, (uint32_t)(key_hi >> 32) };

	k->seed[0] = (uint32_t)seed;
	k->seed[1] = (uint32_t)(seed >> 32);
	rng_philox(k->seed, x, k->t);
}

/* Opens the stream of K and the other arguments. */
RNG_FN void rng_open_of(struct rng *r, const struct rng_key *k, uint32_t purpose, uint32_t occurrence, uint32_t pass,
			uint32_t item)
{
	const uint32_t x[4] = { k->t[0] ^ purpose, k->t[1] ^ occurrence, k->t[2] ^ pass, k->t[3] ^ item };
	uint32_t s[4];

	rng_philox(k->seed, x, s);
	r->high[0] = s[0];
	r->high[1] = s[1];
	r->key[0] = s[2];
	r->key[1] = s[3];
	r->block = 0;
	r->used = 4;
}

/* Opens the stream named by all its arguments but R. key_hi, key_lo: a document's key, or (0, index) for what has none. */
RNG_FN void rng_open(struct rng *r, uint64_t seed, uint32_t purpose, uint64_t key_hi, uint64_t key_lo,
		     uint32_t occurrence, uint32_t pass, uint32_t item)
{
	struct rng_key k;

	rng_key_open(&k, seed, key_hi, key_lo);
	rng_open_of(r, &k, purpose, occurrence, pass, item);
}

/* 32 uniform bits. */
RNG_FN uint32_t rng_u32(struct rng *r)
{
	if (r->used == 4) {
		const uint32_t in[4] = { (uint32_t)r->block, (uint32_t)(r->block >> 32), r->high[0], r->high[1] };

		rng_philox(r->key, in, r->words);
		r->block++;
		r->used = 0;
	}
	return r->words[r->used++];
}

/* 64 uniform bits: the first draw is the low half. */
RNG_FN uint64_t rng_u64(struct rng *r)
{
	uint64_t low = rng_u32(r);

	return low | (uint64_t)rng_u32(r) << 32;
}

/* Uniform in [0, n), n >= 1, without bias: Lemire's multiply-shift with rejection (ACM TOMACS 29, 2019). */
RNG_FN uint32_t rng_below(struct rng *r, uint32_t n)
{
	uint64_t m = (uint64_t)rng_u32(r) * n;

	if ((uint32_t)m < n) {
		const uint32_t floor = (0u - n) % n;

		while ((uint32_t)m < floor)
			m = (uint64_t)rng_u32(r) * n;
	}
	return (uint32_t)(m >> 32);
}

/* Uniform in [0, 1), a multiple of 2^-32: compare with a probability as rng_unit(r) < p. */
RNG_FN double rng_unit(struct rng *r)
{
	return rng_u32(r) * 0x1p-32;
}

#endif
