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

uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);	/* start with 0; Castagnoli's polynomial */
int tfrecord_write(struct out *o, const void *bytes, size_t n);
/* The next record into B (replaced): 1, 0 at the end, -1 failed (EXIT_CORRUPT: bad sum, or cut short). */
int tfrecord_read(struct in *in, struct buf *b);

#endif
