/*
 * stretch.h - finding a place in plain files that are read as if joined by cat, a missing last newline
 * supplied. For lines.c.
 *
 * A place is an offset into the joined files; every line has one, that of its
 * first byte in its file, a byte-order mark included.
 */
#ifndef BASE_STRETCH_H
#define BASE_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stretch {
	size_t file;		/* where to read from; n_files when the place is past all of them */
	uint64_t base;		/* place of that file's first byte */
	uint64_t offset;	/* in that file */
	bool inside;		/* OFFSET is inside a line, which is not blank: its rest is to be passed over */
};

int stretch_total(const char *const *files, size_t n_files, uint64_t *bytes);

/*
 * Where to read from so as to know, at the first line at or after PLACE,
 * whether the line before it is blank: from inside that line when a glance shows
 * that it is not, else from its begin, else from the begin of everything.
 */
int stretch_find(const char *const *files, size_t n_files, uint64_t place, struct stretch *s);

/* Whether neither white space nor a byte-order mark has this byte, so that one of it tells that a line is not blank. */
bool stretch_never_space(unsigned char byte);

#endif
