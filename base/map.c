#include "base/map.h"

#include "base/buf.h"
#include "base/err.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SLOTS_LEAST 32
#define SLOTS_MOST ((size_t)1 << 31)	/* the tag, which says where an entry belongs, has 32 bits */

static uint32_t tag_of(const void *key, size_t len)
{
	return (uint32_t)(XXH3_64bits(key, len) >> 32);
}

/* The slot that holds KEY, or the free one where it belongs. At least half of the slots are free, so this ends. */
static size_t find(const struct map *m, const void *key, size_t len, uint32_t tag)
{
	const size_t mask = m->n_slots - 1;
	size_t i = tag & mask;

	for (; m->slots[i]; i = (i + 1) & mask) {
		const struct map_entry *e = &m->entries[m->slots[i] - 1];

		if (e->tag == tag && e->len == len && (!len || memcmp(e->key, key, len) == 0))
			break;
	}
	return i;
}

static int grow(struct map *m)
{
	const size_t n = m->n_slots ? 2 * m->n_slots : SLOTS_LEAST;
	uint32_t *slots;

	if (n > SLOTS_MOST)
		return err_fail("more than %zu different keys", SLOTS_MOST / 2);
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return err_memory();
	for (size_t e = 0; e < m->count; e++) {
		size_t i = m->entries[e].tag & (n - 1);

		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = (uint32_t)(e + 1);
	}
	free(m->slots);
	m->slots = slots;
	m->n_slots = n;
	return 0;
}

uint64_t *map_put(struct map *m, const void *key, size_t len)
{
	const uint32_t tag = tag_of(key, len);
	struct map_entry *e;
	char *copy;
	size_t slot;

	assert(len <= UINT32_MAX);
	if (m->n_slots) {
		slot = find(m, key, len, tag);
		if (m->slots[slot])
			return &m->entries[m->slots[slot] - 1].value;
	}
	if (m->count >= m->n_slots / 2 && grow(m))
		return NULL;
	if (array_grow(&m->entries, &m->cap, m->count + 1, sizeof(*m->entries)))
		return NULL;
	copy = arena_dup(&m->keys, key, len);
	if (!copy)
		return NULL;
	slot = find(m, key, len, tag);
	e = &m->entries[m->count++];
	*e = (struct map_entry){ .key = copy, .len = (uint32_t)len, .tag = tag, .value = 0 };
	m->slots[slot] = (uint32_t)m->count;
	return &e->value;
}

const uint64_t *map_get(const struct map *m, const void *key, size_t len)
{
	size_t slot;

	if (!m->n_slots)
		return NULL;
	slot = find(m, key, len, tag_of(key, len));
	return m->slots[slot] ? &m->entries[m->slots[slot] - 1].value : NULL;
}

size_t map_bytes(const struct map *m)
{
	return m->cap * sizeof(*m->entries) + m->n_slots * sizeof(*m->slots) + m->keys.bytes;
}

void map_clear(struct map *m)
{
	if (m->count)
		memset(m->slots, 0, m->n_slots * sizeof(*m->slots));
	m->count = 0;
	arena_clear(&m->keys);
}

void map_release(struct map *m)
{
	free(m->entries);
	free(m->slots);
	arena_release(&m->keys);
	*m = (struct map)MAP_INIT;
}
