/*
 * in.h - input streams: a file or standard input, unpacked on the way.
 *
 *	struct in *in;
 *	if (in_open(&in, path, threads))	("-" is standard input)
 *		return -1;
 *	while ((n = in_read(in, block, sizeof(block))) > 0)
 *		...
 *	in_close(in);				(accepts NULL)
 *	if (n < 0)				(reason names the file; EXIT_CORRUPT when cut short or damaged)
 *		return -1;
 *
 * What the first bytes show to be gzip, bzip2, xz, zstd or lz4 is unpacked
 * (libarchive, filters named one by one: no program is run, no uuencoded text
 * is taken for an archive), once; anything else is given as it is. Several
 * packed streams in a row are read as one. bzip2 files of several streams and
 * zstd files of several frames are unpacked on THREADS threads. Damage and
 * truncation are errors, bytes after the packed data too, but for zero bytes
 * after gzip data.
 *
 * A file that begins with a skippable frame is taken for zstd, as pzstd writes it.
 * Refused (EXIT_FAILED) are what needs a dictionary or a window beyond the
 * libraries' limits, and lz4 frames of linked blocks shorter than 64 KiB.
 */
#ifndef BASE_IN_H
#define BASE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct in;

int in_open(struct in **in, const char *path, unsigned threads);

/*
 * Starts at byte OFFSET of a plain file; refuses packed input and pipes
 * (EXIT_USAGE), since nobody knows where their bytes are.
 */
int in_open_at(struct in **in, const char *path, uint64_t offset);

ssize_t in_read(struct in *in, void *bytes, size_t n);	/* 0 at the end, else fills all N unless the end comes first */
ssize_t in_read_some(struct in *in, void *bytes, size_t n);	/* the same, but gives what is there: waits for one byte only */
ssize_t in_peek(struct in *in, void *bytes, size_t n);	/* the next N <= 64 bytes without taking them; fewer at the end */
const char *in_name(const struct in *in);		/* as given; "standard input" for "-" */
uint64_t in_offset(const struct in *in);		/* bytes given so far (unpacked), from in_open_at's OFFSET */
uint64_t in_packed_size(const struct in *in);		/* bytes of the file on disk, 0 when unknown: for progress */
uint64_t in_packed_offset(const struct in *in);		/* how far into it we are */
bool in_is_packed(const struct in *in);			/* whether it is being unpacked */
void in_close(struct in *in);

#endif
