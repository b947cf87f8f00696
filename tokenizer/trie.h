/*
 * trie.h - a set of tokens, walked byte by byte.
 *
 * All edges of the trie lie in one hash table, and a node is the slot of the
 * edge that leads to it. So a step is one look into the table, nothing needs
 * to be balanced or packed, and a vocabulary is loaded in milliseconds.
 *
 *	struct trie t;
 *	trie_init(&t, bytes)			(of all tokens that will be added)
 *	trie_add(&t, "una", 3, 14477)
 *	uint32_t node = TRIE_ROOT;
 *	for (i = 0; i < len && (node = trie_step(&t, node, text[i])) != TRIE_NOWHERE; i++)
 *		if (trie_value(&t, node) != TRIE_NONE)
 *			...			(text[0..i] is a token)
 *	trie_release(&t);
 */
#ifndef TOKENIZER_TRIE_H
#define TOKENIZER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#define TRIE_ROOT 0u
#define TRIE_NOWHERE UINT32_MAX
#define TRIE_NONE 0xFFFFFFu		/* of a node where no token ends; values are below it */

struct trie_slot {
	uint32_t parent;		/* 1 + the node that the edge comes from; 0: the slot is free */
	uint32_t value_and_byte;	/* value << 8 | byte */
};

struct trie {
	struct trie_slot *slots;	/* node n > 0 is slots[n - 1] */
	uint32_t n_slots;
};

int trie_init(struct trie *t, size_t bytes);		/* BYTES < 2^31; room for tokens that long together */
void trie_release(struct trie *t);

/* Adds a token, or gives one a new value. Returns the value it had, TRIE_NONE if it was not there. */
uint32_t trie_add(struct trie *t, const char *token, size_t len, uint32_t value);

/* The slot of the edge from NODE by BYTE, or the free one where it belongs. */
static inline uint32_t trie_slot_of(const struct trie *t, uint32_t node, unsigned char byte)
{
	const uint64_t hash = ((uint64_t)node << 8 | byte) * 0x9E3779B97F4A7C15u;
	uint32_t i = (uint32_t)((hash >> 32) * t->n_slots >> 32);

	while (t->slots[i].parent && (t->slots[i].parent != node + 1 || (unsigned char)t->slots[i].value_and_byte != byte))
		if (++i == t->n_slots)
			i = 0;
	return i;
}

/* The node that BYTE leads to from NODE. */
static inline uint32_t trie_step(const struct trie *t, uint32_t node, unsigned char byte)
{
	const uint32_t i = trie_slot_of(t, node, byte);

	return t->slots[i].parent ? i + 1 : TRIE_NOWHERE;
}

/* The value of the token that ends at NODE, which is not the root. */
static inline uint32_t trie_value(const struct trie *t, uint32_t node)
{
	return t->slots[node - 1].value_and_byte >> 8;
}

/* The node of all of TEXT, or TRIE_NOWHERE. */
static inline uint32_t trie_walk(const struct trie *t, const char *text, size_t len)
{
	uint32_t node = TRIE_ROOT;

	for (size_t i = 0; i < len && node != TRIE_NOWHERE; i++)
		node = trie_step(t, node, (unsigned char)text[i]);
	return node;
}

#endif
