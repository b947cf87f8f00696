/*
 * arena.h - many small allocations that end together.
 *
 *	struct arena a = ARENA_INIT;
 *	char *s = arena_dup(&a, text, len);	(NULL: out of memory, reason set)
 *	arena_clear(&a);			(forgets all, keeps one block for reuse)
 *	arena_release(&a);
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks;
	size_t bytes;			/* held from the system, for memory accounts */
};
#define ARENA_INIT { NULL, 0 }

void *arena_alloc(struct arena *a, size_t n);			/* aligned to 16 bytes, not cleared */
char *arena_dup(struct arena *a, const char *bytes, size_t n);	/* copies N bytes and adds a 0 byte; not aligned */
void arena_clear(struct arena *a);
void arena_release(struct arena *a);

#endif
