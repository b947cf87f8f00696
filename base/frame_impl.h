/*
 * frame_impl.h - what the frame_*.c files share and nobody else includes: the
 * layout of shards/FORMAT.md, "The frame", and the reader's two halves.
 */
#ifndef BASE_FRAME_IMPL_H
#define BASE_FRAME_IMPL_H

#include "base/err.h"
#include "base/file_view.h"
#include "base/frame.h"

#include <xxhash.h>

enum {
	FRAME_PRELUDE = 32,	/* sizes in bytes */
	FRAME_CHECKSUM = 8,
	FRAME_BLOCK_HEAD = 40,	/* its last 8: the block's checksum */
	FRAME_INDEX_HEAD = 16,
	FRAME_ENTRY = 40,
	FRAME_TRAILER = 96,
	FRAME_JSON_MAX = 16 << 20,	/* header and totals, each */
};
enum frame_codec { FRAME_RAW = 0, FRAME_ZSTD = 1 };

/* Four characters as a little-endian number. */
#define FRAME_MARK(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define FRAME_MARK_BLOCK FRAME_MARK('B', 'L', 'K', '1')
#define FRAME_MARK_INDEX FRAME_MARK('I', 'D', 'X', '1')

/* One block, as its head and the index describe it. */
struct frame_entry {
	uint64_t offset;	/* of its head in the file */
	uint64_t first_record;
	uint64_t raw_bytes, packed_bytes;
	uint64_t checksum;
	uint32_t records;
	uint8_t type;
};

/* What the blocks so far add up to. */
struct frame_sums {
	uint64_t offset;	/* of the next byte of the file */
	uint64_t blocks, raw_bytes, packed_bytes;
	uint64_t records[256];	/* by type */
};

uint32_t frame_get32(const unsigned char *p);
uint64_t frame_get64(const unsigned char *p);
void frame_put32(unsigned char *p, uint32_t v);
void frame_put64(unsigned char *p, uint64_t v);

void frame_put_prelude(unsigned char out[FRAME_PRELUDE], const char kind[4], uint32_t header_len);
void frame_put_block_head(unsigned char out[FRAME_BLOCK_HEAD], const struct frame_entry *e);
void frame_put_index_head(unsigned char out[FRAME_INDEX_HEAD], uint32_t totals_len, uint64_t blocks);
void frame_put_entry(unsigned char out[FRAME_ENTRY], const struct frame_entry *e);
/* FILE has seen all bytes before the trailer and is taken to the field that holds its digest. */
void frame_put_trailer(unsigned char out[FRAME_TRAILER], const struct frame_trailer *t, uint64_t index_offset,
		       XXH3_state_t *file);

/* The checksum of a block: of its packed bytes, seeded by that of its head. HEAD's last 8 bytes are not looked at. */
uint64_t frame_block_checksum(const unsigned char head[FRAME_BLOCK_HEAD], const void *packed, size_t n);

/* Each of these checks what NAME holds and sets the reason, with the place, when it is not right. */
int frame_check_prelude(const char *name, const unsigned char *p, size_t n, const char kind[4], uint32_t *header_len);
int frame_prelude_version(const unsigned char *p, size_t n);	/* 0: there is none */
int frame_check_block_head(const char *name, uint64_t number, uint64_t offset, const unsigned char *head,
			   struct frame_entry *e);
int frame_check_trailer(const char *name, uint64_t offset, const unsigned char *trailer, struct frame_trailer *t,
			uint64_t *index_offset);
int frame_check_sums(const char *name, uint64_t offset, const struct frame_trailer *t, const struct frame_sums *s);
bool frame_has_trailer(const unsigned char *trailer);	/* whether it ends as one */
/* What it ought to say of the FILE before it. */
uint64_t frame_trailer_checksum(const unsigned char *trailer, XXH3_state_t *file);
uint64_t frame_trailer_says(const unsigned char *trailer);	/* what it says */

int frame_sums_add(struct frame_sums *s, const struct frame_entry *e);	/* -1 when a sum passes 2^64 */

/* PACKED, one zstd frame, into RAW (replaced); never more than RAW_BYTES. The reason names no file. */
int frame_unpack(const void *packed, size_t n, uint64_t raw_bytes, struct buf *raw);

/* R, zero but for its name and its view's fd -1, becomes the file of that name, open, its header and trailer checked (frame_file.c). */
struct frame_reader;
int frame_open_ends(struct frame_reader *r, const char kind[4], uint64_t *index_offset);

struct frame_reader {
	char *name;
	char kind[5];
	struct buf header, totals;
	struct frame_trailer trailer;
	struct frame_sums sums;

	/* in sequence (frame_read.c) */
	struct in *in;
	struct buf entries;		/* of the blocks seen, as the index must hold them */
	XXH3_state_t *file, *content;
	bool at_end;
	struct err failure;		/* code not EXIT_DONE: given again by every later call */

	/* by record (frame_file.c) */
	struct file_view file_view;	/* its fd is -1 in sequence */
	struct frame_entry *blocks;
	uint64_t *order;		/* block numbers by type, then by first record */
	uint64_t type_start[257];	/* where each type begins in ORDER */
};

#endif
