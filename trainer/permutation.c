/* Permutations, computed and never stored. */
#include "trainer/permutation.h"

#include <assert.h>

#define ROUNDS 6

/* Half the bits of the smallest domain 2^(2 half) that holds N. */
static unsigned half_bits(uint64_t n)
{
	unsigned half = 1;

	while (half < 31 && (uint64_t)1 << 2 * half < n)
		half++;
	return half;
}

void permutation_open(struct permutation *p, uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n)
{
	rng_open(&p->rounds, seed, RNG_SAMPLE_ORDER, which, epoch, 0, 0, 0);
	p->n = n;
	p->half = half_bits(n);
}

static uint32_t scramble(const struct rng *r, uint32_t round, uint32_t x)
{
	const uint32_t in[4] = { x, round, r->high[0], r->high[1] };
	uint32_t out[4];

	rng_philox(r->key, in, out);
	return out[0];
}

static uint64_t feistel(const struct permutation *p, uint64_t x)
{
	const uint32_t mask = (uint32_t)(((uint64_t)1 << p->half) - 1);
	uint32_t left = (uint32_t)(x >> p->half), right = (uint32_t)x & mask;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t next = left ^ (scramble(&p->rounds, round, right) & mask);

		left = right;
		right = next;
	}
	return (uint64_t)left << p->half | right;
}

static uint64_t feistel_back(const struct permutation *p, uint64_t y)
{
	const uint32_t mask = (uint32_t)(((uint64_t)1 << p->half) - 1);
	uint32_t left = (uint32_t)(y >> p->half), right = (uint32_t)y & mask;

	for (uint32_t round = ROUNDS; round-- > 0;) {
		const uint32_t before = right ^ (scramble(&p->rounds, round, left) & mask);

		right = left;
		left = before;
	}
	return (uint64_t)left << p->half | right;
}

uint64_t permutation_at(const struct permutation *p, uint64_t x)
{
	assert(x < p->n);
	do
		x = feistel(p, x);
	while (x >= p->n);
	return x;
}

uint64_t permutation_back(const struct permutation *p, uint64_t y)
{
	assert(y < p->n);
	do
		y = feistel_back(p, y);
	while (y >= p->n);
	return y;
}
