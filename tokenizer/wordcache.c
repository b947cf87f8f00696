#include "tokenizer/wordcache.h"

#include "base/err.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LINE 64			/* bytes of a cache line: a set lies in one */
#define PAGE ((uintptr_t)4096)
#define BITS_LEAST 6

static_assert(sizeof(((struct wordcache *)NULL)->sets[0]) == LINE, "a set is a cache line");

/* Fewer page-table misses, where the system grants them. */
static void ask_for_huge_pages(char *bytes, size_t n)
{
	const uintptr_t start = ((uintptr_t)bytes + PAGE - 1) & -PAGE, end = ((uintptr_t)bytes + n) & -PAGE;

	if (start < end)
		(void)madvise(bytes + (start - (uintptr_t)bytes), end - start, MADV_HUGEPAGE);
}

struct wordcache *wordcache_new(size_t bytes, bool wide)
{
	struct wordcache *c = calloc(1, sizeof(*c));
	unsigned bits = BITS_LEAST;

	if (!c) {
		err_memory();
		return NULL;
	}
	while (sizeof(*c->sets) << (bits + 1) <= bytes)
		bits++;
	c->shift = 64 - bits;
	c->wide = wide;
	c->memory = calloc(((size_t)1 << bits) + 1, sizeof(*c->sets));
	if (!c->memory) {
		err_memory();
		wordcache_free(c);
		return NULL;
	}
	c->sets = (void *)(c->memory + (-(uintptr_t)c->memory & (LINE - 1)));
	ask_for_huge_pages(c->memory, sizeof(*c->sets) << bits);
	return c;
}

void wordcache_free(struct wordcache *c)
{
	if (!c)
		return;
	free(c->memory);
	free(c);
}

void wordcache_put(const struct wordcache *c, struct wordcache_entry *set, struct wordkey k, const uint32_t *ids, size_t n)
{
	if (n > (c->wide ? WORDCACHE_WIDE : WORDCACHE_NARROW))
		return;
	set[1] = set[0];
	set[0].key = k;
	set[0].count = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		if (c->wide)
			set[0].wide[i] = ids[i];
		else
			set[0].narrow[i] = (uint16_t)ids[i];
	}
}
