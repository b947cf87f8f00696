/*
 * canon_list.h - canonical JSON (shards/canon.h) of an object with one long list in it, which
 * is never held as JSON: an element at a time is, and beside it the rest.
 *
 *	struct canon_list l;
 *	if (canon_list_open(&l, "shards", text, len))
 *		...				(a reason, EXIT_CORRUPT)
 *	... l.rest				(as JSON, its "shards" empty)
 *	while ((rc = canon_list_next(&l, &o)) > 0)
 *		... json_decref(o);
 *	canon_list_release(&l);
 *
 * What is read must be the one text that canon_print would make of it. Elements have no numbers with fractions: how many
 * digits these have is of one piece with the rest.
 */
#ifndef SHARDS_CANON_LIST_H
#define SHARDS_CANON_LIST_H

#include "base/key.h"

#include <jansson.h>
#include <stddef.h>

struct canon_list {
	const char *text;		/* the caller's */
	size_t len, first, end, at;	/* of its elements: where they begin, and end; the next */
	size_t n;			/* elements */
	const char *name;
	json_t *rest;
};
#define CANON_LIST_INIT { .text = NULL }

/* On failure L is empty. The order of TEXT and its white space are held to the canonical form here, but for the elements. */
int canon_list_open(struct canon_list *l, const char *name, const char *text, size_t len);
int canon_list_next(struct canon_list *l, json_t **o);	/* 1: *O, the caller's; 0: that was the last; -1 */
void canon_list_release(struct canon_list *l);

/* The 128 bits of XXH3 of the text without its member "digest"; good once canonical to the last element. */
int canon_list_digest(const struct canon_list *l, struct key *digest);

/* What is printed: REST, which has an empty list NAME, with N elements in it. ITEM makes one, the caller's; NULL: reason set. */
struct canon_list_source {
	const json_t *rest;
	const char *name;
	size_t n;
	json_t *(*item)(const void *ctx, size_t i);
	const void *ctx;
};
int canon_list_print(const struct canon_list_source *s, int (*put)(void *ctx, const void *text, size_t len), void *ctx);

/* The digest of what would be printed, REST having no member "digest". */
int canon_list_source_digest(const struct canon_list_source *s, struct key *digest);

#endif
