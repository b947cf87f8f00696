#include "tokenizer/learn.h"

#include <inttypes.h>

int learn_add_specials(struct learn *l)
{
	if (buf_adds(&l->vocab, "[PAD]\n"))
		return -1;
	for (uint64_t i = 0; i < l->unused; i++)
		if (buf_addf(&l->vocab, "[unused%" PRIu64 "]\n", i))
			return -1;
	return buf_adds(&l->vocab, "[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
}

void learn_release(struct learn *l)
{
	buf_release(&l->vocab);
}
