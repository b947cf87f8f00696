/*
 * source.h - raw bytes of a descriptor or of memory, some of which can be given back.
 * What in.c, unpack.c and pieces.c read from; others use base/in.h.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source {
	int fd;				/* -1: nothing beyond `head` */
	const char *name;		/* for reasons */
	const unsigned char *head;	/* bytes to be given before the descriptor's */
	size_t head_len;
	unsigned char *owned;		/* what `head` points into, when it is ours to free */
	uint64_t offset;		/* of the next byte */
	bool failed;			/* read(2) did */
};

/* At least one byte, at most N: how many, 0 at the end, -1 failed (reason set). */
ssize_t source_read(struct source *s, void *bytes, size_t n);

/* Puts N bytes that were read before whatever comes next. */
int source_unread(struct source *s, const void *bytes, size_t n);

void source_release(struct source *s);	/* leaves the descriptor open */

#endif
