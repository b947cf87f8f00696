#include "tokenizer/letter_trie.h"

#include "base/buf.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST ((size_t)1 << 12)
#define NODES_MOST ((size_t)1 << 31)

int letter_trie_init(struct letter_trie *t)
{
	*t = (struct letter_trie){ .n_slots = SLOTS_LEAST };
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	if (!t->slots)
		return err_memory();
	if (array_grow(&t->nodes, &t->cap, 1, sizeof(*t->nodes))) {
		letter_trie_release(t);
		return -1;
	}
	t->nodes[t->count++] = (struct letter_node){ LETTER_ROOT, 0 };
	return 0;
}

void letter_trie_clear(struct letter_trie *t)
{
	memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
	t->count = 1;
}

void letter_trie_release(struct letter_trie *t)
{
	free(t->nodes);
	free(t->slots);
	memset(t, 0, sizeof(*t));
}

/* The slot that holds the node, or the free one where it belongs. At least half of the slots are free, so this ends. */
static size_t find_slot(const struct letter_trie *t, uint32_t parent, uint32_t letter)
{
	const uint64_t hash = ((uint64_t)parent << 32 | letter) * 0x9E3779B97F4A7C15u;
	const size_t mask = t->n_slots - 1;
	size_t i = (size_t)(hash ^ hash >> 32) & mask;

	for (; t->slots[i]; i = (i + 1) & mask) {
		const struct letter_node *n = &t->nodes[t->slots[i]];

		if (n->parent == parent && n->letter == letter)
			break;
	}
	return i;
}

static int grow_slots(struct letter_trie *t)
{
	uint32_t *slots = calloc(2 * t->n_slots, sizeof(*slots));

	if (!slots)
		return err_memory();
	free(t->slots);
	t->slots = slots;
	t->n_slots *= 2;
	for (size_t i = 1; i < t->count; i++)
		t->slots[find_slot(t, t->nodes[i].parent, t->nodes[i].letter)] = (uint32_t)i;
	return 0;
}

uint32_t letter_trie_put(struct letter_trie *t, uint32_t parent, uint32_t letter)
{
	size_t slot = find_slot(t, parent, letter);

	if (t->slots[slot])
		return t->slots[slot];
	if (t->count >= NODES_MOST) {
		err_fail("more than %zu different endings of words", NODES_MOST);
		return LETTER_NONE;
	}
	if (t->count >= t->n_slots / 2) {
		if (grow_slots(t))
			return LETTER_NONE;
		slot = find_slot(t, parent, letter);
	}
	if (array_grow(&t->nodes, &t->cap, t->count + 1, sizeof(*t->nodes)))
		return LETTER_NONE;
	t->nodes[t->count] = (struct letter_node){ parent, letter };
	t->slots[slot] = (uint32_t)t->count;
	return (uint32_t)t->count++;
}

uint32_t letter_trie_step(const struct letter_trie *t, uint32_t parent, uint32_t letter)
{
	const uint32_t node = t->slots[find_slot(t, parent, letter)];

	return node ? node : LETTER_NONE;
}
