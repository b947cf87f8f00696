#include "tokenizer/token_table.h"

#include "base/err.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BEGINS = 1, ENDS = 2 };		/* the bits of a beginning */

#define CELLS_LEAST_BITS 8
#define TAG_BITS 12
#define ID_BITS 24

static inline uint64_t hash_on(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte ^ 0x100) * 0x9E3779B97F4A7C15u;
}

static uint64_t hash_all(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = hash_on(hash, bytes[i]);
	return hash;
}

struct token_start token_start_of(const char *prefix, size_t len)
{
	return (struct token_start){ prefix, len, hash_all(0, prefix, len) };
}

int token_table_init(struct token_table *t, const char *text, size_t bytes, size_t n)
{
	unsigned bits = CELLS_LEAST_BITS;

	assert(bytes <= TOKEN_TABLE_BYTES && n <= bytes);
	while ((size_t)1 << bits < 2 * bytes)	/* tokens share beginnings, so in truth most stay free */
		bits++;
	*t = (struct token_table){ .text = text, .shift = 64 - bits, .n_slots = (uint32_t)(n + n / 2 + 1) };
	t->cells = calloc(1, (size_t)1 << (bits - 2));
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	if (t->cells && t->slots)
		return 0;
	token_table_release(t);
	return err_memory();
}

void token_table_release(struct token_table *t)
{
	free(t->cells);
	free(t->slots);
	t->cells = NULL;
	t->slots = NULL;
}

static inline unsigned cell_of(const struct token_table *t, uint64_t hash)
{
	const uint64_t cell = hash >> t->shift;

	return t->cells[cell / 4] >> cell % 4 * 2;
}

static void mark(struct token_table *t, uint64_t hash, unsigned bits)
{
	const uint64_t cell = hash >> t->shift;

	t->cells[cell / 4] |= (unsigned char)(bits << cell % 4 * 2);
}

/* Whether the token in a slot is what START begins with and then TEXT. */
static bool is_token(const struct token_table *t, uint64_t slot, const struct token_start *start, const char *text, size_t len)
{
	const char *const token = t->text + (slot >> (TAG_BITS + ID_BITS));

	return (!start->len || !memcmp(token, start->prefix, start->len)) && !memcmp(token + start->len, text, len) &&
	       !token[start->len + len];
}

/* The slot of a token, or the free one where it belongs. */
static inline uint64_t *slot_of(const struct token_table *t, uint64_t hash, const struct token_start *start, const char *text,
				size_t len)
{
	const uint64_t mask = ((uint64_t)1 << TAG_BITS) - 1, tag = hash >> 24 & mask;
	uint64_t i = (hash >> 32) * t->n_slots >> 32;

	while (t->slots[i] && ((t->slots[i] & mask) != tag || !is_token(t, t->slots[i], start, text, len)))
		i = i + 1 < t->n_slots ? i + 1 : 0;
	return &t->slots[i];
}

static inline uint32_t id_of(uint64_t slot)
{
	return slot ? (uint32_t)(slot >> TAG_BITS & (((uint64_t)1 << ID_BITS) - 1)) - 1 : TOKEN_NONE;
}

uint32_t token_table_put(struct token_table *t, uint32_t at, uint32_t len, uint32_t id)
{
	const struct token_start none = token_start_of("", 0);
	const char *const token = t->text + at;
	uint64_t hash = 0, *slot;
	uint32_t before;

	assert(len > 0 && !token[len] && id < TOKEN_NONE);
	for (uint32_t i = 0; i < len; i++) {
		hash = hash_on(hash, token[i]);
		mark(t, hash, BEGINS);
	}
	mark(t, hash, ENDS);
	slot = slot_of(t, hash, &none, token, len);
	before = id_of(*slot);
	*slot = (((uint64_t)at << ID_BITS | (id + 1)) << TAG_BITS) | (hash >> 24 & (((uint64_t)1 << TAG_BITS) - 1));
	return before;
}

uint32_t token_table_find(const struct token_table *t, const char *token, size_t len)
{
	const struct token_start none = token_start_of("", 0);

	return id_of(*slot_of(t, hash_all(0, token, len), &none, token, len));
}

size_t token_table_longest(const struct token_table *t, const struct token_start *start, const char *text, size_t len,
			   uint32_t *id)
{
	for (;;) {
		uint64_t hash = start->hash, longest_hash = 0;
		size_t longest = 0;

		for (size_t i = 0; i < len; i++) {
			unsigned cell;

			hash = hash_on(hash, text[i]);
			cell = cell_of(t, hash);
			if (!(cell & BEGINS))
				break;
			longest = cell & ENDS ? i + 1 : longest;
			longest_hash = cell & ENDS ? hash : longest_hash;
		}
		if (!longest)
			return 0;
		*id = id_of(*slot_of(t, longest_hash, start, text, longest));
		if (*id != TOKEN_NONE)
			return longest;
		len = longest - 1;
	}
}
