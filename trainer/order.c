/* order.c - the order of training, computed and never stored. */
#include "trainer/order.h"

#include "base/rng.h"

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

static void open_stream(struct rng *r, uint64_t seed, uint64_t epoch, uint64_t which)
{
	rng_open(r, seed, RNG_SAMPLE_ORDER, which, epoch, 0, 0, 0);
}

static uint32_t scramble(const struct rng *r, uint32_t round, uint32_t x)
{
	const uint32_t in[4] = { x, round, r->high[0], r->high[1] };
	uint32_t out[4];

	rng_philox(r->key, in, out);
	return out[0];
}

static uint64_t feistel(const struct rng *r, unsigned half, uint64_t x)
{
	const uint32_t mask = (uint32_t)(((uint64_t)1 << half) - 1);
	uint32_t left = (uint32_t)(x >> half), right = (uint32_t)x & mask;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t next = left ^ (scramble(r, round, right) & mask);

		left = right;
		right = next;
	}
	return (uint64_t)left << half | right;
}

static uint64_t feistel_back(const struct rng *r, unsigned half, uint64_t y)
{
	const uint32_t mask = (uint32_t)(((uint64_t)1 << half) - 1);
	uint32_t left = (uint32_t)(y >> half), right = (uint32_t)y & mask;

	for (uint32_t round = ROUNDS; round-- > 0;) {
		const uint32_t before = right ^ (scramble(r, round, left) & mask);

		right = left;
		left = before;
	}
	return (uint64_t)left << half | right;
}

uint64_t order_permute(uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n, uint64_t x)
{
	const unsigned half = half_bits(n);
	struct rng r;

	assert(x < n);
	open_stream(&r, seed, epoch, which);
	do
		x = feistel(&r, half, x);
	while (x >= n);
	return x;
}

uint64_t order_permute_back(uint64_t seed, uint64_t epoch, uint64_t which, uint64_t n, uint64_t y)
{
	const unsigned half = half_bits(n);
	struct rng r;

	assert(y < n);
	open_stream(&r, seed, epoch, which);
	do
		y = feistel_back(&r, half, y);
	while (y >= n);
	return y;
}

/* Permutation 0 is that of the blocks, w + 1 that of window w. */

void order_init(struct order *o, uint64_t seed, uint64_t size)
{
	*o = (struct order){ .seed = seed, .size = size, .blocks = (size + ORDER_BLOCK - 1) / ORDER_BLOCK };
	o->short_by = o->blocks * ORDER_BLOCK - size;
}

/* The place of the short block in EPOCH's order of blocks. */
static uint64_t short_place(const struct order *o, uint64_t epoch)
{
	return order_permute_back(o->seed, epoch, 0, o->blocks, o->blocks - 1);
}

/* Instances in the first PLACES blocks of the epoch's order. */
static uint64_t before(const struct order *o, uint64_t places, uint64_t short_at)
{
	return places * ORDER_BLOCK - (places > short_at ? o->short_by : 0);
}

/* Window number of INDEX, and where it begins and ends. */
static uint64_t find_window(const struct order *o, uint64_t index, uint64_t short_at, uint64_t *first, uint64_t *end)
{
	const uint64_t per = (uint64_t)ORDER_BLOCK * ORDER_WINDOW;
	uint64_t w = index / per, places;

	if (index >= before(o, (w + 1) * ORDER_WINDOW, short_at))	/* the short block lies in front of it */
		w++;
	*first = before(o, w * ORDER_WINDOW, short_at);
	places = (w + 1) * ORDER_WINDOW;
	*end = before(o, places < o->blocks ? places : o->blocks, short_at);
	return w;
}

void order_window(const struct order *o, uint64_t epoch, uint64_t index, uint64_t *first, uint64_t *count)
{
	uint64_t end;

	assert(index < o->size);
	find_window(o, index, short_place(o, epoch), first, &end);
	*count = end - *first;
}

uint64_t order_at(const struct order *o, uint64_t epoch, uint64_t index)
{
	const uint64_t short_at = short_place(o, epoch);
	uint64_t first, end, w, place, in_order;

	assert(index < o->size);
	w = find_window(o, index, short_at, &first, &end);
	in_order = first + order_permute(o->seed, epoch, w + 1, end - first, index - first);
	/* Which block that is, counted in the epoch's order, and the place in it. */
	place = in_order / ORDER_BLOCK;
	if (in_order >= before(o, place + 1, short_at))
		place++;
	return order_permute(o->seed, epoch, 0, o->blocks, place) * ORDER_BLOCK + (in_order - before(o, place, short_at));
}
