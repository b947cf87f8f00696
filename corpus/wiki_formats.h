/*
 * wiki_formats.h - what a template stands for, as a short text with places for its arguments:
 *
 *	$1 ... $9	an argument by number
 *	$-		the last argument without a name
 *	$*		all arguments without a name, joined
 *	${a|b|c}	the first of these that is not empty: numbers, '-' or names
 *	${a,b,c}	those of these that are not empty, joined by ", "
 *	$^x  $_x	argument x (as above, one character) raised or lowered if it is a number
 *	[...]		put out only when every argument within is not empty; does not nest
 *	\n		ends a paragraph
 *	\c		the character c
 *
 * and everything else is text: "c. $1[ – c. $2]". The project's own formats are wiki_template.h's table;
 * a struct wiki_formats holds the user's, which come first.
 */
#ifndef CORPUS_WIKI_FORMATS_H
#define CORPUS_WIKI_FORMATS_H

#include "base/buf.h"

#include <stddef.h>

struct wiki_args;
struct wiki_formats;

/* Takes N texts "NAME=FORMAT", which must outlive it; an empty format drops the template. Refuses others (EXIT_USAGE). */
int wiki_formats_new(struct wiki_formats **f, const char *const *specs, size_t n);
const char *wiki_formats_get(const struct wiki_formats *f, const char *name, size_t len);	/* of a folded name; NULL when not there, or F is NULL */
void wiki_formats_free(struct wiki_formats *f);						/* accepts NULL */

/* Adds FORMAT with A's arguments to B: 0; 1 when it wants arguments and nothing came of it; -1 failed. */
int wiki_format(const char *format, const struct wiki_args *a, struct buf *b);

#endif
