/*
 * unpack.h - unpacking one stream of packed bytes on the caller's thread (libarchive).
 * Used by in.c and pieces.c; others use base/in.h.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include "base/source.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_BZIP2, PACKING_XZ, PACKING_ZSTD, PACKING_LZ4 };

/*
 * What a file is that begins with BYTES. *MORE is set when further bytes could
 * change the answer; at the file's end it may be ignored.
 */
enum packing packing_of(const unsigned char *bytes, size_t n, bool *more);
const char *packing_name(enum packing p);

struct unpack;

/* S must outlive the reader and stand at the first packed byte. */
int unpack_open(struct unpack **u, enum packing p, struct source *s);

/*
 * Some unpacked bytes, good until the next call, to *BYTES: how many, 0 at
 * the end, -1 failed. The end is given only once everything was found whole
 * (sums where the format has them) and S to have nothing further, except that
 * zero bytes may follow gzip data, as gzip has it.
 */
ssize_t unpack_next(struct unpack *u, const void **bytes);
void unpack_close(struct unpack *u);	/* accepts NULL */

#endif
