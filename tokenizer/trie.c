#include "tokenizer/trie.h"

#include "base/err.h"

#include <assert.h>
#include <stdlib.h>

int trie_init(struct trie *t, size_t bytes)
{
	assert(bytes < (size_t)1 << 31);
	t->n_slots = (uint32_t)(bytes + bytes / 8 + 1);	/* tokens share beginnings, so in truth most stay free */
	t->slots = calloc(t->n_slots, sizeof(*t->slots));
	return t->slots ? 0 : err_memory();
}

void trie_release(struct trie *t)
{
	free(t->slots);
	t->slots = NULL;
}

uint32_t trie_add(struct trie *t, const char *token, size_t len, uint32_t value)
{
	uint32_t node = TRIE_ROOT, before;

	assert(len > 0 && value < TRIE_NONE);
	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char)token[i];
		const uint32_t slot = trie_slot_of(t, node, byte);

		if (!t->slots[slot].parent)
			t->slots[slot] = (struct trie_slot){ node + 1, TRIE_NONE << 8 | byte };
		node = slot + 1;
	}
	before = trie_value(t, node);
	t->slots[node - 1].value_and_byte = value << 8 | (t->slots[node - 1].value_and_byte & 0xFF);
	return before;
}
