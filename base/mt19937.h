/*
 * mt19937.h - Python 3's random.Random, draw for draw: MT19937 (Matsumoto and
 * Nishimura 1998) with CPython's seeding from an integer and its ways of making
 * floats, ranges and permutations. For --compat google only; everything else
 * uses base/rng.h.
 */
#ifndef BASE_MT19937_H
#define BASE_MT19937_H

#include <stddef.h>
#include <stdint.h>

struct mt19937 {
	uint32_t state[624];
	unsigned index;
};

void mt19937_seed(struct mt19937 *r, uint64_t seed);			/* random.Random(seed), seed >= 0 */
uint32_t mt19937_u32(struct mt19937 *r);				/* getrandbits(32) */
double mt19937_random(struct mt19937 *r);				/* random(): 53 bits */
uint64_t mt19937_below(struct mt19937 *r, uint64_t n);			/* _randbelow(n), 1 <= n < 2^63 */
int64_t mt19937_randint(struct mt19937 *r, int64_t low, int64_t high);	/* randint(low, high), both ends included */
void mt19937_shuffle(struct mt19937 *r, void *items, size_t n, size_t size);	/* shuffle(list); size <= 64 */

#endif
