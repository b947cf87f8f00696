/*
 * tfrecord.h - TensorFlow's record files: framing with masked CRC32C.
 *
 * A record is u64 length, u32 masked CRC of the length, the bytes, u32 masked
 * CRC of the bytes, all little-endian (tensorflow/core/lib/io/record_writer.h).
 */
#ifndef BASE_TFRECORD_H
#define BASE_TFRECORD_H

#include "base/buf.h"
#include "base/in.h"
#include "base/out.h"

#include <stdbool.h>

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);	/* start with 0; Castagnoli's polynomial */
int tfrecord_write(struct out *o, const void *bytes, size_t n);
#define TFRECORD_HEAD 12		/* bytes of a record's length and its sum */
bool tfrecord_begins(const void *bytes, size_t n);	/* whether these, a file's first, are such ones */
/* The next record into B (replaced): 1, 0 at the end, -1 failed (EXIT_CORRUPT: bad sum, or cut short). */
int tfrecord_read(struct in *in, struct buf *b);

/*
 * The same for many records: read in large pieces, and their bytes' sums left to
 * whoever takes them apart, perhaps on other threads.
 *
 *	struct tfrecord_reader r = { .in = in };	(the caller's)
 *	while ((rc = tfrecord_next(&r, &t)) > 0)	(1, 0 at the end, -1 failed)
 *		tfrecord_check(name, &t)		(t.bytes are good until the next tfrecord_next)
 *	tfrecord_reader_release(&r)
 */
struct tfrecord {
	const void *bytes;
	size_t len;
	uint32_t sum;			/* as stored */
	uint64_t offset;		/* in the file */
};
struct tfrecord_reader {
	struct in *in;
	struct buf ahead;		/* read already; */
	size_t used;			/* so much of it is given */
	bool at_end;
};
int tfrecord_next(struct tfrecord_reader *r, struct tfrecord *t);
int tfrecord_check(const char *name, const struct tfrecord *t);
void tfrecord_reader_release(struct tfrecord_reader *r);

#endif
