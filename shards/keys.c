/* Keys as 128-bit numbers. */
#include "shards/keys.h"

#include <assert.h>

struct key key_add(struct key a, struct key b)
{
	struct key sum = { .hi = a.hi + b.hi, .lo = a.lo + b.lo };

	sum.hi += sum.lo < a.lo;
	return sum;
}

void key_put(struct key k, unsigned char out[KEY_BYTES])
{
	for (unsigned i = 0; i < 8; i++) {
		out[i] = (unsigned char)(k.hi >> (56 - 8 * i));
		out[8 + i] = (unsigned char)(k.lo >> (56 - 8 * i));
	}
}

struct key key_get(const unsigned char in[KEY_BYTES])
{
	struct key k = { 0, 0 };

	for (unsigned i = 0; i < 8; i++) {
		k.hi = k.hi << 8 | in[i];
		k.lo = k.lo << 8 | in[8 + i];
	}
	return k;
}

uint32_t key_shard(struct key k, uint32_t shards)
{
	const unsigned __int128 low = (unsigned __int128)k.lo * shards;

	return (uint32_t)(((unsigned __int128)k.hi * shards + (uint64_t)(low >> 64)) >> 64);
}

/* floor((HIGH * 2^128 + MIDDLE * 2^64) / D), which is below 2^128: HIGH < D < 2^32. */
static struct key divide(uint64_t high, uint64_t middle, uint32_t d, uint64_t *remainder)
{
	const unsigned __int128 a = (unsigned __int128)high << 64 | middle;
	const unsigned __int128 b = (a % d) << 64;

	*remainder = (uint64_t)(b % d);
	return (struct key){ .hi = (uint64_t)(a / d), .lo = (uint64_t)(b / d) };
}

struct key key_point(uint32_t shard, uint32_t shards, uint64_t u)
{
	uint64_t remainder;

	assert(shard < shards);
	return divide(shard, u, shards, &remainder);
}

struct key key_shard_first(uint32_t shard, uint32_t shards)
{
	uint64_t remainder;
	struct key k;

	assert(shard < shards);
	k = divide(shard, 0, shards, &remainder);
	return remainder ? key_add(k, (struct key){ 0, 1 }) : k;
}
