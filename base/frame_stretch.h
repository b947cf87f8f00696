/*
 * frame_stretch.h - runs of blocks of a framed file (base/frame.h), found by
 * their place: the index, which grows with the file, is not read, and nothing
 * that is kept grows with it. For who needs a little of each of many files, and
 * is told by the file itself where that is.
 *
 *	struct frame_ends *f;
 *	frame_ends_open(&f, path, "TOKD")		(header and trailer are read and checked)
 *	frame_ends_read(f, offset, bytes, n)		(any bytes before the index)
 *	struct frame_stretch s = { .at = from, .end = to };
 *	while ((rc = frame_stretch_next(f, &s, &block)) > 0) ...	(0: at TO, exactly)
 *	frame_ends_close(f);				(accepts NULL)
 *
 * A block's head and bytes are checked, as frame_read does; that it is one of this file's, and how many there
 * are, only the index says. first_record of a block is not known: 0. What is wrong is EXIT_CORRUPT, with
 * file and offset. All but opening is thread-safe.
 */
#ifndef BASE_FRAME_STRETCH_H
#define BASE_FRAME_STRETCH_H

#include "base/frame.h"

#define FRAME_STRETCH_HEAD 40

struct frame_ends;
int frame_ends_open(struct frame_ends **f, const char *path, const char kind[4]);
const char *frame_ends_name(const struct frame_ends *f);
uint64_t frame_ends_blocks_end(const struct frame_ends *f);	/* the offset of the index */
int frame_ends_read(const struct frame_ends *f, uint64_t offset, void *bytes, size_t n);
void frame_ends_scattered(const struct frame_ends *f);	/* what is read is short, and what follows it is not wanted */
void frame_ends_close(struct frame_ends *f);

struct frame_stretch {
	uint64_t at, end;		/* offsets of the next block's head, and of what follows the last block */
	bool has_head;			/* HEAD is the next block's */
	unsigned char head[FRAME_STRETCH_HEAD];
};
/* 1, 0, -1 failed */
int frame_stretch_next(const struct frame_ends *f, struct frame_stretch *s, struct frame_block *b);

#endif
