/*
 * pages.h - memory for tables that looks fall all over: zeros, on huge pages
 * where they fit and the system grants them, so that a look costs one wait and
 * not two.
 */
#ifndef TOKENIZER_PAGES_H
#define TOKENIZER_PAGES_H

#include <stddef.h>

struct pages {
	void *start;		/* at a page's beginning */
	void *memory;		/* all that is mapped, ... */
	size_t size;		/* ... and how much */
};

int pages_map(struct pages *p, size_t bytes);	/* -1 out of memory, P empty */
void pages_unmap(struct pages *p);		/* accepts an empty (zeroed) one */

#endif
