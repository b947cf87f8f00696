/*
 * rng_lanes.h - rng_many.h in vectors of numbers of 64 bits, of each of which the
 * lower 32 count: so that a product's halves need not be brought together. Included
 * by rng_many_avx2.c and rng_many_avx512.c, which say first what a vector is:
 *
 *	lanes, LANES		the type, and how many it has
 *	lanes_all(x)		X in each
 *	lanes_of(p)		numbers p[0 .. LANES-1]
 *	lanes_count(n)		n + 0, n + 1, ...: in the order in which lanes_put takes them
 *	lanes_mul(a, b)		products of 64 bits
 *	lanes_add(a, b)		sums
 *	lanes_high(a)		upper halves
 *	lanes_xor3(a, b, c)
 *	lanes_pair(a, b)	A's lower halves, B's above them
 *	lanes_store(p, a)	numbers of 64 bits to p[0 .. LANES-1]
 *	lanes_put(p, a, b)	A and B of the first lane, then of the second, ...
 */
#ifndef BASE_RNG_LANES_H
#define BASE_RNG_LANES_H

#include "base/rng_many.h"

struct lanes_block {
	lanes x[4];
};

/* rng_philox, without what is left in upper halves. */
static inline void lanes_round(struct lanes_block *b, lanes k0, lanes k1)
{
	const lanes p = lanes_mul(b->x[0], lanes_all(0xD2511F53u)), q = lanes_mul(b->x[2], lanes_all(0xCD9E8D57u));

	b->x[0] = lanes_xor3(lanes_high(q), b->x[1], k0);
	b->x[1] = q;
	b->x[2] = lanes_xor3(lanes_high(p), b->x[3], k1);
	b->x[3] = p;
}

static inline void lanes_philox(struct lanes_block *b, lanes k0, lanes k1)
{
	for (int round = 0; round < 10; round++) {
		lanes_round(b, k0, k1);
		k0 = lanes_add(k0, lanes_all(0x9E3779B9u));
		k1 = lanes_add(k1, lanes_all(0xBB67AE85u));
	}
}

static inline void lanes_put_block(uint32_t *out, const struct lanes_block *b)
{
	lanes_put(out, lanes_pair(b->x[0], b->x[1]), lanes_pair(b->x[2], b->x[3]));
}

/* Two vectors of blocks at a time, since each waits for its products. */
static inline unsigned lanes_blocks(const uint32_t key[2], const uint32_t high[2], uint64_t from, unsigned n,
				    uint32_t *out)
{
	unsigned done;

	for (done = 0; done < n; done += 2 * LANES) {
		const lanes count = lanes_count(from + done), next = lanes_count(from + done + LANES);
		struct lanes_block a = { { count, lanes_high(count), lanes_all(high[0]), lanes_all(high[1]) } };
		struct lanes_block b = { { next, lanes_high(next), a.x[2], a.x[3] } };
		lanes k0 = lanes_all(key[0]), k1 = lanes_all(key[1]);

		for (int round = 0; round < 10; round++) {
			lanes_round(&a, k0, k1);
			lanes_round(&b, k0, k1);
			k0 = lanes_add(k0, lanes_all(0x9E3779B9u));
			k1 = lanes_add(k1, lanes_all(0xBB67AE85u));
		}
		lanes_put_block(out + 4 * done, &a);
		lanes_put_block(out + 4 * (done + LANES), &b);
	}
	return done;
}

/* The first two words of each of LANES streams. */
static inline void lanes_firsts(const struct rng_key *k, uint32_t purpose, uint32_t occurrence, const uint32_t *pass,
				const uint32_t *item, uint64_t *out)
{
	const lanes none = lanes_all(0);
	struct lanes_block s = { { lanes_all(k->t[0] ^ purpose), lanes_all(k->t[1] ^ occurrence),
				   lanes_xor3(lanes_all(k->t[2]), lanes_of(pass), none),
				   lanes_xor3(lanes_all(k->t[3]), lanes_of(item), none) } };
	struct lanes_block b;

	lanes_philox(&s, lanes_all(k->seed[0]), lanes_all(k->seed[1]));
	b = (struct lanes_block){ { none, none, s.x[0], s.x[1] } };
	lanes_philox(&b, s.x[2], s.x[3]);
	lanes_store(out, lanes_pair(b.x[0], b.x[1]));
}

#endif
