/*
 * intake.h - so many bytes of a stream as a number in it promises. Room is made
 * as they arrive (doubled each time), so that a damaged number costs no memory.
 */
#ifndef BASE_INTAKE_H
#define BASE_INTAKE_H

#include "base/buf.h"
#include "base/in.h"

/* The next N bytes of IN into B (replaced; memory is reused). 0 also when the stream ended before: B->len < N. */
int intake_read(struct in *in, struct buf *b, uint64_t n);

#endif
