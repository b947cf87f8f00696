/*
 * permutation.h - a permutation of 0 .. N-1 that is computed and never stored.
 *
 *	struct permutation p;
 *	permutation_open(&p, seed, epoch, which, n);
 *	y = permutation_at(&p, x)
 *	x = permutation_back(&p, y)
 *
 * A pure function of all arguments. It is a Feistel network over the smallest
 * even number of bits that holds N, whose rounds are Philox streams
 * (base/rng.h, RNG_SAMPLE_ORDER); a result outside N goes through again until it is inside
 * (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
 */
#ifndef TRAINER_PERMUTATION_H
#define TRAINER_PERMUTATION_H

#include "base/rng.h"

#include <stdint.h>

struct permutation {
	struct rng rounds;
	uint64_t n;
	unsigned half;		/* bits of each half */
};

/* N: 1 to 2^62. */
void permutation_open(struct permutation *p, uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n);
uint64_t permutation_at(const struct permutation *p, uint64_t x);	/* x < n */
uint64_t permutation_back(const struct permutation *p, uint64_t y);	/* y < n */

/* For one X alone. */
static inline uint64_t permutation_of(uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n, uint64_t x)
{
	struct permutation p;

	permutation_open(&p, seed, epoch, which, n);
	return permutation_at(&p, x);
}

#endif
