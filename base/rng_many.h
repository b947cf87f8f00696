/*
 * rng_many.h - the draws of rng.h, many at a time: with AVX2 or AVX-512 where the
 * processor has them, else one after the other. The same draws.
 *
 *	struct rng_ahead a;
 *	rng_open(&r, ...)
 *	rng_ahead_open(&a, &r, 40)	(about 40 draws will be made: their words are made now)
 *	... rng_ahead_u32(&a) ...	(any number of them; R stays as it is)
 */
#ifndef BASE_RNG_MANY_H
#define BASE_RNG_MANY_H

#include "base/rng.h"

#include <stddef.h>

#define RNG_AHEAD 192

struct rng_ahead {
	uint32_t key[2], high[2];
	uint64_t block;			/* the next one */
	unsigned used, have;		/* words given, words made */
	uint32_t words[RNG_AHEAD];
};

/* The stream of R, from which nothing was drawn since it was opened. */
void rng_ahead_open(struct rng_ahead *a, const struct rng *r, unsigned n);

/* Has N words ready, 128 at most; perhaps more. What is drawn does not depend on it. */
void rng_ahead_more(struct rng_ahead *a, unsigned n);

/* As rng_u32, rng_below, rng_unit. */
static inline uint32_t rng_ahead_u32(struct rng_ahead *a)
{
	if (a->used == a->have)
		rng_ahead_more(a, 1);
	return a->words[a->used++];
}

static inline uint32_t rng_ahead_below(struct rng_ahead *a, uint32_t n)
{
	uint64_t m = (uint64_t)rng_ahead_u32(a) * n;

	if ((uint32_t)m < n) {
		const uint32_t floor = (0u - n) % n;

		while ((uint32_t)m < floor)
			m = (uint64_t)rng_ahead_u32(a) * n;
	}
	return (uint32_t)(m >> 32);
}

static inline double rng_ahead_unit(struct rng_ahead *a)
{
	return rng_ahead_u32(a) * 0x1p-32;
}

/* OUT[i] = the first rng_u64 of the stream (K, PURPOSE, OCCURRENCE, PASS[i], ITEM[i]), i < N. */
void rng_u64_each(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		  const uint32_t *item, size_t n, uint64_t *out);

/* --- by processor --------------------------------------------------------------------- */

#define RNG_LANES 8		/* streams at a time */
#define RNG_BLOCKS_MORE 15

struct rng_many {
	/* Blocks FROM, FROM + 1, ... of the stream of KEY and HIGH to OUT: N of them, and up to RNG_BLOCKS_MORE; how many. */
	unsigned (*blocks)(const uint32_t key[2], const uint32_t high[2], uint64_t from, unsigned n, uint32_t *out);
	/* As rng_u64_each, of RNG_LANES streams. */
	void (*firsts)(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
		       const uint32_t *item, uint64_t *out);
};
extern const struct rng_many rng_many_avx2, rng_many_avx512;

#endif
