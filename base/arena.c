#include "base/arena.h"

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LEAST ((size_t)4 << 10)
#define BLOCK_MOST ((size_t)1 << 20)
#define ALIGN 16

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) char bytes[];
};

/*
 * The first block is the one that is filled. One made for a large request alone
 * goes behind it, so that its room is not lost.
 */
static struct arena_block *add_block(struct arena *a, size_t n)
{
	struct arena_block *head = a->blocks, *b;
	size_t size = !head ? BLOCK_LEAST : head->size < BLOCK_MOST ? 2 * head->size : BLOCK_MOST;
	const int alone = head && n > size / 4;

	if (n > SIZE_MAX / 2)
		goto fail;
	if (alone || size < n)
		size = n;
	b = malloc(sizeof(*b) + size);
	if (!b)
		goto fail;
	b->used = 0;
	b->size = size;
	if (alone) {
		b->next = head->next;
		head->next = b;
	} else {
		b->next = head;
		a->blocks = b;
	}
	a->bytes += sizeof(*b) + size;
	return b;
fail:
	err_memory();
	return NULL;
}

static void *take(struct arena *a, size_t n, size_t align)
{
	struct arena_block *b = a->blocks;
	size_t at = b ? (b->used + align - 1) & ~(align - 1) : 0;

	if (!b || at > b->size || n > b->size - at) {
		b = add_block(a, n);
		if (!b)
			return NULL;
		at = 0;
	}
	b->used = at + n;
	return b->bytes + at;
}

void *arena_alloc(struct arena *a, size_t n)
{
	return take(a, n, ALIGN);
}

char *arena_dup(struct arena *a, const char *bytes, size_t n)
{
	char *s = n < SIZE_MAX ? take(a, n + 1, 1) : (err_memory(), NULL);

	if (!s)
		return NULL;
	if (n)
		memcpy(s, bytes, n);
	s[n] = 0;
	return s;
}

static void free_from(struct arena *a, struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		a->bytes -= sizeof(*b) + b->size;
		free(b);
		b = next;
	}
}

void arena_clear(struct arena *a)
{
	if (!a->blocks)
		return;
	free_from(a, a->blocks->next);
	a->blocks->next = NULL;
	a->blocks->used = 0;
}

void arena_release(struct arena *a)
{
	free_from(a, a->blocks);
	*a = (struct arena)ARENA_INIT;
}
