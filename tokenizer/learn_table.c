#include "tokenizer/learn_table.h"

#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BITS_LEAST 10
#define AHEAD 32		/* words whose slots are fetched together; no more than a batch of new words may fill the table */
#define LONGER_BYTES (2 * (sizeof(struct map_entry) + 2 * sizeof(uint32_t)))	/* of a longer word, at most, beside its own */

struct look {
	uint64_t key[2];
	uint64_t hash;
};

static_assert(WORDS_SLACK >= TABLE_WORD_MAX, "a key is read as a whole");
static_assert(AHEAD < (1 << BITS_LEAST) / 4, "a table that is three quarters full has room for a batch");

static bool has_room(size_t words, unsigned bits)
{
	return words <= ((size_t)3 << bits) / 4;
}

int learn_table_init(struct learn_table *t)
{
	*t = (struct learn_table){ .bits = BITS_LEAST, .longer = MAP_INIT };
	t->slots = calloc((size_t)1 << t->bits, sizeof(*t->slots));
	return t->slots ? 0 : err_memory();
}

void learn_table_release(struct learn_table *t)
{
	free(t->slots);
	map_release(&t->longer);
	memset(t, 0, sizeof(*t));
}

int learn_table_restart(struct learn_table *t)
{
	learn_table_release(t);
	return learn_table_init(t);
}

size_t learn_table_bytes(const struct learn_table *t, size_t more)
{
	unsigned bits = t->bits;

	while (!has_room(t->used + more + AHEAD, bits))
		bits++;
	return (sizeof(*t->slots) << bits) + t->longer_bytes;
}

/* --- slots -------------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t key[2])
{
	const unsigned __int128 product = (unsigned __int128)(key[0] ^ 0x9E3779B97F4A7C15u) * (key[1] ^ 0xD1B54A32D192ED03u);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 16 bytes at WORD are readable. */
static struct look look_of(const char *word, size_t len)
{
	static const unsigned char masks[2 * TABLE_WORD_MAX] = { 255, 255, 255, 255, 255, 255, 255, 255,
								 255, 255, 255, 255, 255, 255, 255, 255 };
	struct look l;
	uint64_t mask[2];

	memcpy(l.key, word, sizeof(l.key));
	memcpy(mask, masks + TABLE_WORD_MAX - len, sizeof(mask));
	l.key[0] &= mask[0];
	l.key[1] &= mask[1];
	l.hash = hash_of(l.key);
	return l;
}

static struct table_slot *find(const struct learn_table *t, const struct look *l)
{
	const size_t mask = ((size_t)1 << t->bits) - 1;
	size_t i = (size_t)(l->hash >> (64 - t->bits));

	while (t->slots[i].count && (t->slots[i].key[0] != l->key[0] || t->slots[i].key[1] != l->key[1]))
		i = (i + 1) & mask;
	return &t->slots[i];
}

static void add(struct learn_table *t, const struct look *l, uint64_t n)
{
	struct table_slot *s = find(t, l);

	if (!s->count) {
		s->key[0] = l->key[0];
		s->key[1] = l->key[1];
		t->used++;
	}
	s->count += n;
}

/* Room for MORE words. */
static int grow(struct learn_table *t, size_t more)
{
	const struct learn_table old = *t;
	unsigned bits = t->bits;
	struct table_slot *slots;

	while (!has_room(t->used + more, bits))
		bits++;
	if (bits == t->bits)
		return 0;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return err_memory();
	t->slots = slots;
	t->bits = bits;
	for (size_t i = 0; i < (size_t)1 << old.bits; i++) {
		const struct table_slot *s = &old.slots[i];
		const struct look l = { { s->key[0], s->key[1] }, hash_of(s->key) };

		if (s->count)
			*find(t, &l) = *s;
	}
	free(old.slots);
	return 0;
}

/* --- words -------------------------------------------------------------------------- */

static int add_longer(struct learn_table *t, const char *word, size_t len, uint64_t n)
{
	uint64_t *count = map_put(&t->longer, word, len);

	if (!count)
		return -1;
	if (!*count)
		t->longer_bytes += LONGER_BYTES + len;
	*count += n;
	return 0;
}

int learn_table_put(struct learn_table *t, const char *word, size_t len, uint64_t n)
{
	char bytes[TABLE_WORD_MAX] = { 0 };
	struct look l;

	if (len > TABLE_WORD_MAX || !len || !word[0])
		return add_longer(t, word, len, n);
	if (grow(t, 1))
		return -1;
	memcpy(bytes, word, len);
	l = look_of(bytes, len);
	add(t, &l, n);
	return 0;
}

int learn_table_count(struct learn_table *t, const struct words *batch, table_longer_fn longer, void *ctx)
{
	struct look looks[AHEAD];

	for (size_t i = 0; i < batch->count;) {
		const size_t end = batch->count - i < AHEAD ? batch->count : i + AHEAD;
		size_t n = 0;

		if (grow(t, AHEAD))
			return -1;
		for (; i < end; i++) {
			const char *word = batch->text + batch->starts[i];
			const size_t len = batch->ends[i] - batch->starts[i];

			if (len > TABLE_WORD_MAX) {
				if (longer(ctx, word, len))
					return -1;
				continue;
			}
			looks[n] = look_of(word, len);
			__builtin_prefetch(&t->slots[looks[n].hash >> (64 - t->bits)], 1);
			n++;
		}
		for (size_t k = 0; k < n; k++)
			add(t, &looks[k], 1);
	}
	return 0;
}

int learn_table_join(struct learn_table *t, const struct learn_table *other)
{
	struct table_walk walk = { .slot = 0 };

	/* Words come in the order of their slots here: without all the room at once they would crowd the first ones. */
	if (grow(t, other->used))
		return -1;
	while (learn_table_next(other, &walk))
		if (learn_table_put(t, walk.word, walk.len, walk.count))
			return -1;
	return 0;
}

bool learn_table_next(const struct learn_table *t, struct table_walk *walk)
{
	while (walk->slot < (size_t)1 << t->bits) {
		const struct table_slot *s = &t->slots[walk->slot++];

		if (!s->count)
			continue;
		memcpy(walk->bytes, s->key, TABLE_WORD_MAX);
		walk->bytes[TABLE_WORD_MAX] = 0;
		walk->word = walk->bytes;
		walk->len = strlen(walk->bytes);
		walk->count = s->count;
		return true;
	}
	if (walk->entry == t->longer.count)
		return false;
	walk->word = t->longer.entries[walk->entry].key;
	walk->len = t->longer.entries[walk->entry].len;
	walk->count = t->longer.entries[walk->entry++].value;
	return true;
}
