/*
 * gzip_sum.h - the sums of gzip members, which libarchive reads and does not check. For unpack.c.
 *
 * A member ends with the CRC-32 and the length of what it holds, but where
 * members end among the packed bytes only the inflater knows. So every place
 * where a header could begin is taken for a possible end of the member before it;
 * it is one when the eight bytes before it are the sum and length of
 * what was unpacked since the last end. The last member's end is known. A damaged
 * member thus runs on into the next ones, and no sum fits any more.
 */
#ifndef BASE_GZIP_SUM_H
#define BASE_GZIP_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GZIP_TRAILER 8
#define GZIP_LOOK_BACK (GZIP_TRAILER + 3)	/* bytes before new ones that gzip_sum_packed looks at too */

struct gzip_sum;

int gzip_sum_new(struct gzip_sum **g);

/*
 * Packed bytes: N new ones at BYTES, the first of which stands at OFFSET; before
 * them lie the GZIP_LOOK_BACK earlier ones (0 where there are none).
 */
int gzip_sum_packed(struct gzip_sum *g, const unsigned char *bytes, size_t n, uint64_t offset);

/* Unpacked bytes (none, once the end was reached); CONSUMED packed ones were used up for all that was unpacked so far. */
void gzip_sum_unpacked(struct gzip_sum *g, const void *bytes, size_t n, uint64_t consumed);

/* Whether the last member's trailer fits. */
bool gzip_sum_fits(const struct gzip_sum *g, const unsigned char trailer[GZIP_TRAILER]);

void gzip_sum_free(struct gzip_sum *g);		/* accepts NULL */

#endif
