/*
 * keys.h - arithmetic of document keys (base/key.h): sums, and the ring of
 * all keys cut into shards. All exact. Shards are counted from 0, at most
 * KEYS_SHARDS_MAX of them.
 */
#ifndef SHARDS_KEYS_H
#define SHARDS_KEYS_H

#include "base/key.h"

#include <stdint.h>

#define KEYS_SHARDS_MAX 1000000
#define KEY_BYTES 16

struct key key_add(struct key a, struct key b);				/* modulo 2^128 */

/* 16 bytes, most significant first: they compare as the keys do. */
void key_put(struct key k, unsigned char out[KEY_BYTES]);
struct key key_get(const unsigned char in[KEY_BYTES]);

uint32_t key_shard(struct key k, uint32_t shards);			/* floor(k * shards / 2^128) */
/* The least key of SHARD: ceil(shard * 2^128 / shards) */
struct key key_shard_first(uint32_t shard, uint32_t shards);

/* The point (SHARD + U / 2^64) / SHARDS of the ring: floor((SHARD * 2^64 + U) * 2^64 / SHARDS). */
struct key key_point(uint32_t shard, uint32_t shards, uint64_t u);

#endif
