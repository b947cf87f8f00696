/*
 * letter_trie.h - strings of code points that share their beginnings.
 *
 *	struct letter_trie t;
 *	letter_trie_init(&t);
 *	node = letter_trie_put(&t, LETTER_ROOT, 'a');	(made when it is not there; LETTER_NONE: out of memory)
 *	node = letter_trie_step(&t, node, 'b');		(LETTER_NONE: there is no such node)
 *	... t.nodes[node].letter, .parent
 *	letter_trie_clear(&t);				(for reuse)
 *	letter_trie_release(&t);
 *
 * Nodes are numbered as they are made, so a node's number is above its parent's, and
 * the caller keeps what belongs to a node in arrays of its own.
 */
#ifndef TOKENIZER_LETTER_TRIE_H
#define TOKENIZER_LETTER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#define LETTER_ROOT 0u
#define LETTER_NONE UINT32_MAX

struct letter_node {
	uint32_t parent, letter;
};

struct letter_trie {
	struct letter_node *nodes;	/* the root is the first */
	size_t count, cap;
	uint32_t *slots;		/* nodes by parent and letter, 0: free */
	size_t n_slots;			/* a power of two */
};

int letter_trie_init(struct letter_trie *t);
void letter_trie_clear(struct letter_trie *t);
void letter_trie_release(struct letter_trie *t);

uint32_t letter_trie_put(struct letter_trie *t, uint32_t parent, uint32_t letter);
uint32_t letter_trie_step(const struct letter_trie *t, uint32_t parent, uint32_t letter);

#endif
