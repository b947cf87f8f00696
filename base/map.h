/*
 * map.h - byte strings to 64-bit values: a hash map with open addressing.
 *
 *	struct map m = MAP_INIT;
 *	uint64_t *v = map_put(&m, word, len);	(made with value 0 when absent; NULL: out of memory)
 *	(*v)++;
 *	const uint64_t *w = map_get(&m, word, len);	(NULL when absent; no reason set)
 *	for (size_t i = 0; i < m.count; i++)
 *		... m.entries[i].key, .len, .value	(in the order of first insertion)
 *	map_release(&m);
 *
 * Keys are copied into the map. A pointer to a value is good until the next map_put.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	const char *key;	/* followed by a 0 byte */
	uint32_t len;
	uint32_t tag;		/* upper bits of the hash */
	uint64_t value;
};
struct map {
	struct map_entry *entries;
	uint32_t *slots;	/* 1 + index into entries, 0 = free */
	size_t count, cap, n_slots;
	struct arena keys;
};
#define MAP_INIT { NULL, NULL, 0, 0, 0, ARENA_INIT }

uint64_t *map_put(struct map *m, const void *key, size_t len);	/* len < 2^32 */
const uint64_t *map_get(const struct map *m, const void *key, size_t len);
size_t map_bytes(const struct map *m);				/* memory held */
void map_clear(struct map *m);
void map_release(struct map *m);

#endif
