/*
 * ids.h - lists of token ids, and places in a text.
 *
 *	struct ids ids = IDS_INIT;
 *	if (ids_add(&ids, 101))
 *		...			(-1, reason "out of memory")
 *	... ids.items[0 .. ids.count-1]
 *	ids.count = 0;			(empty, for the next text)
 *	ids_release(&ids);		(ready for use again)
 */
#ifndef TOKENIZER_IDS_H
#define TOKENIZER_IDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ids {
	uint32_t *items;
	size_t count, cap;
};
#define IDS_INIT { NULL, 0, 0 }

int ids_add(struct ids *ids, uint32_t id);
int ids_grow(struct ids *ids, size_t more);
void ids_release(struct ids *ids);

/* Room for MORE ids after count. */
static inline int ids_reserve(struct ids *ids, size_t more)
{
	return more <= ids->cap - ids->count ? 0 : ids_grow(ids, more);
}

/* Where something came from in the text given: code points, the end excluded. */
struct span {
	uint64_t start, end;
};

#ifdef __cplusplus
}
#endif

#endif
