/*
 * pieces.h - unpacking bzip2 files of several streams, and zstd files of
 * several frames, on several threads. Used by in.c; others use base/in.h.
 *
 * The packed bytes are cut where streams begin, the pieces unpacked by
 * threads, each by a reader of its own (base/unpack.h), and given in order.
 * A cut may be wrong (the mark of a stream's begin can occur inside one), and a
 * stream may be too long to be held: whenever a piece does not turn out to
 * be whole by itself, everything from its first byte on is unpacked again in
 * sequence, and what was given of it already is skipped. So the bytes given,
 * and the fault reported, are those of unpack.h.
 */
#ifndef BASE_PIECES_H
#define BASE_PIECES_H

#include "base/unpack.h"

struct pieces;

bool pieces_can(enum packing p);	/* whether P can be cut */

/* S must outlive the reader and stand at the first packed byte. */
int pieces_open(struct pieces **p, enum packing packing, struct source *s, unsigned threads);
ssize_t pieces_next(struct pieces *p, const void **bytes);	/* as unpack_next */
uint64_t pieces_offset(const struct pieces *p);			/* how far into the packed bytes what was given reaches */
void pieces_close(struct pieces *p);				/* accepts NULL */

#endif
