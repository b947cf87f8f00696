/*
 * order.h - the order of training: which instance is the INDEX-th of an epoch.
 *
 *	struct order o;
 *	order_init(&o, seed, instances);
 *	number = order_at(&o, epoch, index)
 *
 * A pure function of (seed, instances, epoch, index): nothing is stored, so going
 * on in the middle of an epoch costs nothing, whatever came before. Each epoch
 * has every instance once.
 *
 * It is made for instances that lie in blocks on a disk. Runs of ORDER_BLOCK
 * neighbours are permuted over all shards; ORDER_WINDOW of these runs, as they
 * come, are shuffled together. So whoever reads a window ahead, in the order
 * of numbers, touches few blocks, and each once.
 *
 * The permutations are Feistel networks over the smallest even number of bits
 * that holds N, whose rounds are Philox streams (base/rng.h, RNG_SAMPLE_ORDER);
 * a result outside N goes through again until it is inside (Black and Rogaway,
 * "Ciphers with Arbitrary Finite Domains", 2002).
 */
#ifndef TRAINER_ORDER_H
#define TRAINER_ORDER_H

#include <stdint.h>

#define ORDER_BLOCK 256		/* instances */
#define ORDER_WINDOW 16		/* blocks */

struct order {
	uint64_t seed, size;
	uint64_t blocks;		/* the last one may be short */
	uint64_t short_by;		/* instances that it lacks */
};

void order_init(struct order *o, uint64_t seed, uint64_t size);

/* INDEX < size. */
uint64_t order_at(const struct order *o, uint64_t epoch, uint64_t index);

/* The window that INDEX is in: places FIRST .. FIRST+COUNT-1 of the epoch, at most ORDER_BLOCK * ORDER_WINDOW. */
void order_window(const struct order *o, uint64_t epoch, uint64_t index, uint64_t *first, uint64_t *count);

/* A permutation of 0 .. N-1, named by its other arguments, and its inverse; N >= 1, at most 2^62. */
uint64_t order_permute(uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n, uint64_t x);
uint64_t order_permute_back(uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n, uint64_t y);

#endif
