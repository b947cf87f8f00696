/*
 * listing.h - a list that was flattened into one line: "1) First 2) Second".
 *
 *	struct listing l;
 *	listing_start(&l, text, len, false);
 *	while (l.next < len) {
 *		...				(an item begins at l.next)
 *		listing_advance(&l, text, len);
 *	}
 *
 * The line must begin with a mark: a bullet, or a number (or small letter)
 * with ")", ".)" or ".", a bullet or "(" before it or none. Only the very next
 * number in the very same dress is the next mark, and only between spaces.
 */
#ifndef CORPUS_LISTING_H
#define CORPUS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#define LISTING_MARK_MAX 32

struct listing {
	char head[LISTING_MARK_MAX], mark[LISTING_MARK_MAX];	/* what stands before a number; the next mark */
	const char *tail;		/* what stands after it */
	unsigned mark_len;		/* 0: the line is no list, or has no more items */
	unsigned number;		/* in the next mark; 0: bullets only */
	bool lettered;			/* 1 is "a" */
	size_t next;			/* where the next item begins; len: no more */
};

/* ORDINALS: the language writes "3." for "third", so "1." begins no list. */
void listing_start(struct listing *l, const char *text, size_t len, bool ordinals);

/* Moves on to the item after the one at l->next, which is not LEN. */
void listing_advance(struct listing *l, const char *text, size_t len);

#endif
