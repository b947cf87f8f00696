/*
 * lz4_frames.h - follows the framing of lz4 data, in which libarchive takes a
 * cut, garbage between frames and some kinds of blocks for granted. For unpack.c.
 *
 * The format is lz4_Frame_format.md 1.6.3 and its legacy frames.
 */
#ifndef BASE_LZ4_FRAMES_H
#define BASE_LZ4_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lz4_fault {
	LZ4_GOOD,
	LZ4_CUT,	/* the data end inside a frame */
	LZ4_GARBAGE,	/* what follows a frame is none */
	LZ4_DICTIONARY,	/* a frame needs a dictionary */
	LZ4_LINKED,	/* libarchive would unpack a block wrongly, see lz4_frames_unpacked */
};

struct lz4_frames;

int lz4_frames_new(struct lz4_frames **f);

/* Packed bytes, in order. -1 only for want of memory; nothing more is followed after a fault. */
int lz4_frames_packed(struct lz4_frames *f, const unsigned char *bytes, size_t n);

/*
 * The next block was unpacked, to N bytes. A linked block may copy from the 64 KiB
 * before it; libarchive keeps no more of them than the one block before, so that
 * LZ4_LINKED is returned for a block behind a short one that is not the
 * frame's first. (Writers make such by flushing often.)
 */
enum lz4_fault lz4_frames_unpacked(struct lz4_frames *f, size_t n);

/* What is wrong when no bytes follow, and where: *OFFSET in the packed data. */
enum lz4_fault lz4_frames_end(const struct lz4_frames *f, uint64_t *offset);

void lz4_frames_free(struct lz4_frames *f);	/* accepts NULL */

#endif
